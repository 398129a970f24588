"""What every decoder shares: a frozen value with a spec, a cost formula and a compiled definition."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, ClassVar, NamedTuple

from pairsim.errors import refusal
from pairsim.kernels import ties as tie_rules

TIES = {"random": tie_rules.RANDOM, "lose": tie_rules.LOSE, "first": tie_rules.FIRST}
TIES_OR_ANY = {**TIES, "any": tie_rules.ANY}
ORDERS = ("random", "given")


class Cost(NamedTuple):
    """The most that one decision can cost: questions asked and rounds waited for."""

    queries: int
    rounds: int


@dataclasses.dataclass(frozen=True)
class Decoder(abc.ABC):
    """Base of the decoders. A subclass is a frozen dataclass with `name`, `summary`, `cost` and `kernel`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    repeats: ClassVar[bool]  # may it ask the same pair twice in one trial?
    adaptive: ClassVar[bool] = False  # does an answer decide what is asked next, so that the cost is only a bound?
    has_smooth_conditional: ClassVar[bool] = False  # is its conditional chance a number in [0, 1], or a 0/1 outcome?

    @abc.abstractmethod
    def cost(self, n: int) -> Cost:
        """Return the questions and rounds for n classes (an upper bound where they depend on the answers)."""

    @abc.abstractmethod
    def kernel(self, n: int) -> Any:
        """Return the NamedTuple that the compiled code knows this decoder by, checked against n classes."""

    @property
    def spec(self) -> str:
        """The decoder as it is written on the command line; `pairsim.decoder(spec)` reads it back.

        Examples
        --------
        >>> from pairsim import Poll
        >>> Poll("3log", ties="lose").spec
        'poll:l=3log,ties=lose'
        """
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if field.default is dataclasses.MISSING or getattr(self, field.name) != field.default
        ]
        return self.name + (":" + ",".join(changed) if changed else "")

    def _check_choice(self, field: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, field)
        if value not in choices:
            listed = ", ".join(repr(choice) for choice in choices)
            raise refusal(type(self).__name__, field, f"one of {listed}", repr(value))
