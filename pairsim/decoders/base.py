"""What every decoder shares: a frozen value with a spec, a cost formula and a compiled definition."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

from pairsim.checks import check_classes
from pairsim.errors import ParameterError, parameter_error, shown
from pairsim.kernels import ties as tie_rules
from pairsim.specs import class_name, code_of, is_built_in, names_user_class, remember_code

TIES = {"random": tie_rules.RANDOM, "lose": tie_rules.LOSE, "first": tie_rules.FIRST}
TIES_OR_ANY = {**TIES, "any": tie_rules.ANY}
ORDERS = ("random", "given")


class SupersededError(ParameterError):
    """A stored task was computed by rules that an earlier version of pairsim had; `spec` is its decoder."""

    spec: str = ""


class Cost(NamedTuple):
    """Maximum cost of one decision: queries and rounds."""

    queries: int
    rounds: int


class Family(NamedTuple):
    """Decoders for a planner to try: `decoder(size)` for the sizes in `grid`, ascending.

    Larger sizes cost more and succeed more often. `caps` says that a member that reaches the target makes costlier
    decoders in more rounds useless, and that a certified sample size of a poll is one of its sizes. Of the families of
    one `group` (by default, each is one of its own), those that are neither cheaper nor faster than another are not
    listed.
    """

    name: str
    decoder: Callable[[int], Decoder]
    grid: list[int]
    caps: bool = False
    group: str = ""


# What a decoder says of its rules. A subclass with a kernel of its own has other rules, so it inherits none of these.
FACTS = (
    *(
        "reference",
        "knock_out",
        "explained_by",
        "finds_champions",
        "assumes",
        "label_free",
        "equivalent",
        "closed_form",
    ),
    *(
        "expected_distinct",
        "asker_only",
        "needs_pair_errors",
        "with_pair_errors",
        "candidates",
        "candidates_knowing",
        "within",
    ),
)


@dataclasses.dataclass(frozen=True)
class Decoder(abc.ABC):
    """Base of the decoders.

    A subclass is a frozen dataclass with `name`, `summary`, `repeats`, `cost` and `kernel`, and a default for every
    field. All other members have defaults that are right for any decoder; those in `FACTS` are about the rules, and
    are not inherited by a subclass that overrides `kernel`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    repeats: ClassVar[bool]  # may it ask the same pair twice in one trial?
    adaptive: ClassVar[bool] = False  # does an answer decide what is asked next, so that the cost is only a bound?
    reference: ClassVar[bool] = False  # is the agreement of other decoders counted against it?
    # a knock-out of `order` in pairs from both ends: "decides" (its winner is predicted), "opens" (who then meets all)
    knock_out: ClassVar[str] = ""
    assumes: ClassVar[str] = ""  # "uniform-p": elsewhere its own probability is wrong, and what it asks may be poor
    finds_champions: ClassVar[bool] = False  # without a budget, does it always predict a class that beats all others?
    always_shown: ClassVar[tuple[str, ...]] = ()  # fields that stand in the spec even where they have their defaults
    loaded: ClassVar[bool] = True  # or is its class known by name only?
    explained_by: ClassVar[str] = "queries"  # which explanation of `pairsim.replay` fits: see EXPLANATIONS there
    plan_order: ClassVar[int] = 100  # its place among the planner's candidates, the cheapest first

    def __init_subclass__(cls, **more: Any) -> None:
        """Take back what a subclass with a kernel of its own would inherit about the rules of another decoder."""
        super().__init_subclass__(**more)
        remember_code(cls)
        for name in FACTS if "kernel" in vars(cls) else ("explained_by",):  # a claim about this class and no other
            owner = next(each for each in cls.__mro__ if name in vars(each))
            if owner is not cls and not getattr(owner.kernel, "__isabstractmethod__", False):  # type: ignore[attr-defined]
                setattr(cls, name, vars(Decoder)[name])

    @property
    def version(self) -> int:
        """The version of the rules: part of a stored task's name, so raise it when winners or costs change."""
        return 1

    @property
    def reads_labels(self) -> bool:
        """Whether class numbers matter: then success and cost depend on which class is the true one.

        In the random oracles that is class 0. False guarantees that relabelling the classes changes no distribution.
        True is always safe: where class numbers mean nothing, the simulator draws them in each trial (`Relabelled`).
        """
        return True

    def label_free(self, n: int) -> Decoder | None:
        """Return a decoder that does, in distribution, what this one does when n classes are numbered at random.

        Only for one that reads labels. None where none is known: the simulator then draws the numbers (`Relabelled`),
        which is right for every decoder, but leaves no exact value and no conditional method.
        """
        return None

    @property
    def equivalent(self) -> Decoder | None:
        """A decoder with a faster simulation that predicts the same class in every trial; None where none is known.

        A `reference` is its own equivalent.
        """
        return None

    @property
    def closed_form(self) -> bool:
        """Whether its success on oracles with one p (`Oracle.uniform`) is a formula that costs nothing."""
        return False

    @property
    def always_names(self) -> bool:
        """Whether it predicts a class in every trial; it does unless ties lose."""
        return getattr(self, "ties", "random") != "lose"

    def expected_distinct(self, n: int) -> float | None:
        """Return the mean number of different pairs that it asks, None where it is not known beforehand.

        Examples
        --------
        >>> from pairsim import Adag, Quick
        >>> Adag().expected_distinct(16), Quick().expected_distinct(16)
        (15.0, None)
        """
        return None if self.repeats or self.adaptive else float(self.cost(n).queries)

    def asker_only(self, number: int) -> bool:
        """Return whether in round `number`, from 0, only the first class of a pair gains by winning."""
        return False

    @property
    def needs_pair_errors(self) -> bool:
        """Whether it would use the estimated errors of the pairs, and has not been given any."""
        return False

    def with_pair_errors(self, errors: Any) -> Decoder:
        """Return the same decoder with estimated errors of the pairs (0,1) (0,2) ..., where it uses them."""
        return self

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        """Yield what a planner should try for n classes under a tie rule: by default, the defaults."""
        has_ties = any(field.name == "ties" for field in dataclasses.fields(cls))
        made = cls(**({"ties": ties} if has_ties else {}))
        yield Family(cls.name, lambda _: made, [1])

    @classmethod
    def candidates_knowing(cls, n: int, ties: str, p: float) -> Iterator[Family]:
        """Yield what a planner should try, too, where the answers are known to be uniform-p."""
        yield from ()

    def within(self, n: int, queries: int | None, rounds: int | None = None) -> Decoder | None:
        """Return this decoder limited to so many queries and rounds, None where it has no such limit and may ask more.

        Examples
        --------
        >>> from pairsim import Adag, Quick
        >>> Quick().within(64, 200), Adag().within(64, 200), Adag().within(64, 50)
        (Quick(ties='random', order='random', budget=200), Adag(order='random'), None)
        """
        cost = self.cost(n)
        fits = (queries is None or cost.queries <= queries) and (rounds is None or cost.rounds <= rounds)
        return self if fits else None

    @abc.abstractmethod
    def cost(self, n: int) -> Cost:
        """Return the queries and rounds for n classes (an upper bound where they depend on the answers)."""

    @abc.abstractmethod
    def kernel(self, n: int) -> Any:
        """Return the NamedTuple that the compiled code knows this decoder by, checked against n classes."""

    def memory(self, n: int) -> int:
        """Return about how many bytes a trial with n classes takes at most: the decoder's state, and the pairs asked.

        Examples
        --------
        >>> from pairsim import Adag
        >>> Adag().memory(1000)
        64000
        """
        n = check_classes(type(self).__name__, n)
        games = n * n // 4 if self.adaptive else 0  # who has met whom, and who has lost how often, in bits
        asked = 32 * self.cost(n).queries if self.repeats else 0  # a set of pairs, at least half of it empty
        return 64 * n + games + asked

    @property
    def spec(self) -> str:
        """The decoder as it is written on the command line; `pairsim.decoder(spec)` reads it back.

        Examples
        --------
        >>> from pairsim import Poll
        >>> Poll("3log", ties="lose").spec
        'poll:l=3log,ties=lose'
        """
        shown_fields = [
            f"{field.name}={_written(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if field.name in self.always_shown
            or field.default is dataclasses.MISSING
            or getattr(self, field.name) != field.default
        ]
        return self.stored_name() + (":" + ",".join(shown_fields) if shown_fields else "")

    @classmethod
    def stored_name(cls) -> str:
        """Return the name in specs and stores: that in the registry, `module:Class` of a user's class."""
        from pairsim.decoders import REGISTRY  # here: it is made of this class

        return cls.name if is_built_in(cls) or REGISTRY.get(cls.name) is cls else class_name(cls)

    def definition(self) -> dict[str, Any]:
        """Return the decoder as plain data for a stored task; `decoder_of` reads it back.

        Examples
        --------
        >>> from pairsim import Poll
        >>> Poll("3log").definition()
        {'name': 'poll', 'l': '3log', 'ties': 'random'}
        """
        name = self.stored_name()
        if names_user_class(name):
            return {"name": name, "settings": self.settings(), "code": self.code, "spec": self.spec}
        plain = {"name": name} | self.settings()
        return plain if self.version == 1 else plain | {"version": self.version}

    @property
    def code(self) -> int | str | None:
        """What tells the code of a user's decoder from another's: its `version` where it declares one, else a hash."""
        owner = next(each for each in type(self).__mro__ if "version" in vars(each))
        return code_of(type(self)) if is_built_in(owner) else self.version

    def settings(self) -> dict[str, Any]:
        """Return the fields by name, as JSON knows them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _check_choice(self, field: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, field)
        if not isinstance(value, str) or value not in choices:
            listed = ", ".join(repr(choice) for choice in choices)
            raise parameter_error(type(self).__name__, field, f"one of {listed}", shown(value))


def _written(value: object) -> str:
    """Return a value as a spec has it: `read_value` in `pairsim.specs` reads it back."""
    return "/".join(map(str, value)) if type(value) in (tuple, list) else str(value)  # type: ignore[call-overload]
