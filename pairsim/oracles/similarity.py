"""similarity(r): a classifier answers in proportion to how similar the point is to each class (POLL paper, 2.3)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes, check_text
from pairsim.errors import parameter_error, shown
from pairsim.memory import check_memory
from pairsim.oracles.base import Arrays, Oracle, Shapes, as_numbers, define_drawn, fair_matrix, mirror
from pairsim.oracles.options import Option, one_text
from pairsim.oracles.probabilities import PairProbabilities


class SimilarityKernel(NamedTuple):
    """Compiled form of `Similarity`."""

    r: np.ndarray  # float64[n]


def _probability(oracle, i, j):
    both = oracle.r[i] + oracle.r[j]
    return oracle.r[i] / both if both > 0.0 else 0.5


define_drawn(SimilarityKernel, _probability)


def _zipf(n: int, exponent: float) -> NDArray[np.float64]:
    return np.arange(1, n + 1, dtype=np.float64) ** -exponent


def _geometric(n: int, ratio: float) -> NDArray[np.float64]:
    return np.power(ratio, np.arange(n, dtype=np.float64))


def _uniform_rest(n: int, first: float) -> NDArray[np.float64]:
    return np.concatenate(([first], np.full(n - 1, (1.0 - first) / (n - 1))))


class Profile(NamedTuple):
    """A named family of similarities: its shape, what its number may be, and one line about it."""

    shape: Callable[[int, float], NDArray[np.float64]]
    allowed: Callable[[int, float], bool]
    must_be: str
    summary: str


PROFILES: dict[str, Profile] = {
    "zipf": Profile(_zipf, lambda n, x: 0.0 <= x <= 100.0, "an exponent in [0, 100]", "r_i ~ 1 / (i + 1)**s"),
    "geometric": Profile(_geometric, lambda n, x: 0.0 <= x <= 1.0, "a ratio in [0, 1]", "r_i ~ q**i"),
    "uniform-rest": Profile(
        _uniform_rest, lambda n, x: 1.0 / n <= x <= 1.0, "a fraction in [1/n, 1]", "r_0 given, the others equal"
    ),
}


class SimilarityProbabilities(PairProbabilities):
    """Those of `Similarity`, without the n x n table."""

    def __init__(self, oracle: Similarity) -> None:
        super().__init__(oracle)
        self._r = oracle.r

    @functools.cached_property
    def first_row(self) -> NDArray[np.float64]:
        return np.asarray(self._r[0] / (self._r[0] + self._r[1:]))

    @functools.cached_property
    def rest_is_fair(self) -> bool:
        return bool((self._r[1:] == self._r[1]).all())


class Similarity(Oracle):
    """Pair {i, j} answers i with probability r_i / (r_i + r_j), and is a fair coin when both are 0.

    Parameters
    ----------
    r : array_like of shape (n,)
        Similarities: not negative, summing to 1, the largest first (class 0 is the true one).
    label : str
        Name in tables.

    Examples
    --------
    >>> from pairsim import Similarity
    >>> Similarity([0.6, 0.4, 0.0]).matrix()
    array([[0.5, 0.6, 1. ],
           [0.4, 0.5, 1. ],
           [0. , 0. , 0.5]])
    >>> Similarity.profile("zipf:1.0", 3)
    Similarity([0.5454545454545455, 0.27272727272727276, 0.18181818181818182])
    """

    name: ClassVar[str] = "similarity"
    summary: ClassVar[str] = "i wins against j with probability r_i / (r_i + r_j); r from a file or a named profile"
    options: ClassVar[tuple[Option, ...]] = (
        Option("r", one_text, help="a file or a profile such as zipf:1.0", example="zipf:1.0"),
    )
    needs_n: ClassVar[bool] = False

    def __init__(self, r: ArrayLike, label: str = "similarity") -> None:
        self.r = as_numbers("Similarity", "r", r, 1)
        self.n = check_classes("Similarity", self.r.size)
        self._label = label
        if self.r.min() < 0.0:
            raise parameter_error("Similarity", "r", "numbers of at least 0", self.r.min())
        if not abs(self.r.sum() - 1.0) <= 1e-9:
            raise parameter_error("Similarity", "r", "numbers that sum to 1", f"the sum {self.r.sum():.12g}")
        if self.r.argmax() != 0:
            raise parameter_error("Similarity", "r", "largest at class 0", f"the largest at class {self.r.argmax()}")
        self._seal()

    @classmethod
    def profile(cls, text: str, n: int) -> Similarity:
        """Make the similarities of a named profile: "zipf:1.0", "geometric:0.9" or "uniform-rest:0.3"."""
        listed = ", ".join(f"{known}:NUMBER" for known in PROFILES)
        must_be = f"a file or one of {listed}"
        name, _, number = check_text("Similarity", "r", text, must_be).strip().partition(":")
        if name not in PROFILES:
            raise parameter_error("Similarity", "r", must_be, shown(text))
        profile = PROFILES[name]
        n = check_classes("Similarity", n)
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not profile.allowed(n, value):
            raise parameter_error("Similarity", "r", f"{name}:NUMBER with {profile.must_be}", shown(text))
        check_memory("Similarity", "n", n, 32 * n, "one number per class, with copies,")
        weights = profile.shape(n, value)
        return cls(weights / weights.sum(), label=f"similarity:{name}:{value!r}")

    @classmethod
    def make(cls, n: int | None, **values: Any) -> Similarity:
        from pairsim.oracles.files import similarity_from

        return similarity_from(values["r"], n)

    def to_plain(self) -> tuple[dict[str, Any], Arrays]:
        return {"n": self.n}, {"r": self.r}

    @classmethod
    def from_plain(cls, params: dict[str, Any], arrays: Arrays) -> Similarity:
        return Similarity(arrays["r"])

    @classmethod
    def arrays_fit(cls, n: int, shapes: Shapes) -> bool:
        return shapes == {"r": ((n,), np.dtype(np.float64))}

    def probabilities(self) -> PairProbabilities:
        return SimilarityProbabilities(self)

    @property
    def label(self) -> str:
        return self._label

    def kernel(self) -> SimilarityKernel:
        return SimilarityKernel(self.r)

    def matrix(self) -> NDArray[np.float64]:
        upper = fair_matrix(type(self).__name__, self.n)
        both = self.r[:, None] + self.r[None, :]
        np.divide(self.r[:, None], both, out=upper, where=both > 0.0)
        return mirror(upper)

    def _identity(self) -> tuple[object, ...]:
        return (self.r.tobytes(),)

    def __repr__(self) -> str:
        return f"Similarity({self.r.tolist()})"
