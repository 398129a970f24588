"""What every oracle shares: a number of classes, a label for tables, and a compiled definition."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.errors import refusal
from pairsim.kernels.protocol import ORACLES, OracleFunctions, probability
from pairsim.kernels.stream import low_wins_with


class Oracle(abc.ABC):
    """Base of the oracles. A subclass has `name`, `summary`, `n` and `kernel`, and compares by value."""

    name: ClassVar[str]
    summary: ClassVar[str]
    n: int

    @abc.abstractmethod
    def kernel(self) -> Any:
        """Return the NamedTuple that the compiled code knows this oracle by."""

    @property
    def label(self) -> str:
        """The oracle's name in tables and files."""
        return self.name

    @property
    def p(self) -> float | None:
        """The chance that a pair with the true class is answered right, where that is one number."""
        return None

    @property
    def words_per_question(self) -> float:
        """How many words of a slab are answered in the time of one question that is asked alone."""
        return 20.0

    @property
    def rows(self) -> int | None:
        """The number of trials there are: None when they can be drawn without end."""
        return None

    def truth(self, first: int, count: int) -> NDArray[np.int64]:
        """Return the true class of trials first .. first + count - 1."""
        return np.zeros(count, np.int64)

    def matrix(self) -> NDArray[np.float64]:
        """Return P, where P[i, j] is the chance that i wins pair {i, j} (1/2 on the diagonal)."""
        raise refusal(type(self).__name__, "matrix", "asked of an oracle that draws its answers", "recorded answers")

    def _seal(self) -> None:
        """End the construction: from here on the oracle is as frozen as a decoder (kernels trust n and the arrays)."""
        object.__setattr__(self, "_sealed", True)

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_sealed", False):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    @abc.abstractmethod
    def _identity(self) -> tuple[object, ...]:
        """Return what makes two oracles of one class equal."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._identity()))


def _draw_low_wins(oracle, trial, i, j):
    return low_wins_with(probability(oracle, i, j), trial, i, j)


def register_drawn(kernel: type, chance: Any) -> None:
    """Make `kernel` an oracle whose answers are drawn with the chances of `chance(oracle, i, j)`, i < j."""
    ORACLES[kernel] = OracleFunctions(_draw_low_wins, chance)


def mirror(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the full matrix of chances whose part above the diagonal is that of `upper`."""
    chances = np.where(np.tri(len(upper), k=-1, dtype=bool), 1.0 - upper.T, upper)
    np.fill_diagonal(chances, 0.5)
    return chances


def as_numbers(owner: str, name: str, values: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    """Return a read-only float64 copy of `values` with the wanted number of dimensions and no nan."""
    must_be = f"numbers in {dimensions} dimension{'s' if dimensions > 1 else ''}, none of them nan"
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise refusal(owner, name, must_be, repr(values)) from None
    if array.ndim != dimensions:
        raise refusal(owner, name, must_be, f"{array.ndim} dimensions")
    if np.isnan(array).any():
        raise refusal(owner, name, must_be, "nan")
    array.setflags(write=False)
    return array
