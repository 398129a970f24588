"""ranked(n, p, order, difficulty): answers as trained models give them, nearly transitive, on easy and hard points."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_classes, check_number
from pairsim.errors import parameter_error
from pairsim.kernels.bits import LANES, SLAB_TRIALS
from pairsim.kernels.normal import normal_probability, normal_quantile
from pairsim.kernels.protocol import define_oracle
from pairsim.kernels.stream import low_wins_with, place
from pairsim.kernels.strengths import WORD, gap_between, strength, strength_key, varying_words, write_strengths
from pairsim.kernels.tiles import TILE, fill_fair, fill_mixed
from pairsim.oracles.base import Oracle, fair_matrix
from pairsim.oracles.options import Option

TYPICAL_ORDER = 0.95  # about what one-vs-one models have on sets of 26 to 150 classes (experiments/noise_models.py)
TYPICAL_DIFFICULTY = 0.6
COLUMNS = TILE * SLAB_TRIALS  # where the strengths of a tile's columns begin, behind those of its rows

Side = tuple[float, float, float, float]


class RankedKernel(NamedTuple):
    """Compiled form of `Ranked`. A pair's margin is (level + own * strength - other * strength) * scale + noise."""

    p: float
    even: bool  # the true class wins each of its pairs with probability p in every trial
    coins: bool  # pairs of wrong classes are fair coins in every trial
    truth: Side  # (level, own, other, scale) of pairs with the true class
    wrong: Side  # the same of pairs of wrong classes


def _probability(oracle, i, j):
    """Return the probability where it is the same in every trial, else nan."""
    if i == 0:
        return oracle.p if oracle.even else math.nan
    return 0.5 if oracle.coins else math.nan


def _low_wins(oracle, trial, i, j):
    if oracle.even if i == 0 else oracle.coins:
        return low_wins_with(oracle.p if i == 0 else 0.5, trial, i, j)
    key = strength_key(trial.word[0], trial.position[1])
    side = oracle.truth if i == 0 else oracle.wrong
    return low_wins_with(normal_probability(gap_between(side, strength(key, i), strength(key, j))), trial, i, j)


def _fill(oracle, n, low, rows, high, scratch, lanes):
    """Write the answers of classes low .. low + rows - 1 against high .. high + 15, those with i < j."""
    if not oracle.coins or (low == 0 and not oracle.even):
        if low == high or rows < TILE:  # a row of tiles begins on the diagonal; what is written there serves them all
            write_strengths(scratch.words, low, rows, scratch.strengths, 0)
        write_strengths(scratch.words, high, TILE, scratch.strengths, COLUMNS)
    for a in range(rows):
        i = low + a
        if i == 0 and oracle.even:
            fill_mixed(oracle, n, i, high, a, scratch, lanes)
        elif i > 0 and oracle.coins:
            fill_fair(low, high, a, 1, scratch.digits, scratch.tile, lanes)
        else:
            side = oracle.truth if i == 0 else oracle.wrong
            own = np.uint64(a * SLAB_TRIALS)
            for b in range(max(0, i + 1 - high), min(TILE, n - high)):
                varying_words(
                    side,
                    place(i, high + b),
                    own,
                    np.uint64(COLUMNS + b * SLAB_TRIALS),
                    np.uint64((a * TILE + b) * LANES),
                    scratch.words,
                    scratch.digits,
                    scratch.strengths,
                    scratch.bins,
                    scratch.marks,
                    scratch.tile,
                    WORD,
                )


define_oracle(RankedKernel, low_wins=_low_wins, probability=_probability, fill=_fill)


class Ranked(Oracle):
    """In each trial every class has a strength, and pairs are answered by strengths and noise.

    The answers of trained one-vs-one models are nearly transitive, and the pairs with the true class are not
    independent: on an easy point it beats everyone, on a hard one it loses to several. Here the margin of a pair is a
    normal number. Between two wrong classes it is

        sqrt(order / 2) * (x_i - x_j) + sqrt(1 - order) * noise,

    with one strength x_i per class and trial; between the true class (class 0) and class j it is

        t + sqrt(difficulty) * z + sqrt(1 - difficulty) * (the same mixture of -x_j and noise, scaled to variance 1),

    where z is the ease of the trial and t is such that the true class wins with probability p. The sign of the
    margin is the answer. So p, order and difficulty are independent parameters, and some values are known exactly: the
    probability that three wrong classes form a cycle is 1/4 - 3 asin(order / 2) / (2 pi), and given z the number of
    pairs that the true class loses is binomial, whatever the order.

    Class numbers carry no information: decoders that read them (`ties="first"`, `order="given"`) act as if the classes
    were numbered at random in each trial.

    Parameters
    ----------
    n : int
        Number of classes, at least 2.
    p : float
        Probability that a pair with the true class is answered right, in [0, 1], over all trials.
    order : float
        Transitivity of the wrong classes, in [0, 1]: the fraction of a margin's variance that comes from the strengths
        and not from noise. 0: fair coins. 1: a strict order, without any cycle.
    difficulty : float
        Variation in difficulty, in [0, 1]: the fraction of the variance of the true class's margins that all
        of them have in common. 0: every trial is as hard. 1: the true class wins all its pairs or none.

    Notes
    -----
    With order and difficulty 0 this is `Uniform(n, p)`, answer by answer. By themselves they are about what trained
    models have on real data. `fit_oracles` finds all three from recorded answers.

    Examples
    --------
    >>> from pairsim import MaxWin, Poll, Ranked, Uniform, simulate
    >>> decoders = [MaxWin(), Poll("3log")]
    >>> [round(e.success, 1) for e in simulate(Uniform(64, 0.99), decoders, trials=1000)]
    [1.0, 1.0]
    >>> [round(e.success, 1) for e in simulate(Ranked(64, 0.99), decoders, trials=1000)]
    [0.9, 0.3]
    """

    name: ClassVar[str] = "ranked"
    options: ClassVar[tuple[Option, ...]] = (
        Option("p", help="given, for example --p 0.7"),
        Option("order", default=TYPICAL_ORDER, help="how far the wrong classes are ordered, in [0, 1]"),
        Option("difficulty", default=TYPICAL_DIFFICULTY, help="how far trials differ in difficulty, in [0, 1]"),
    )
    exchangeable: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "like trained models: nearly transitive answers between wrong classes, and trials of unequal difficulty"
    )

    def __init__(self, n: int, p: float, order: float = TYPICAL_ORDER, difficulty: float = TYPICAL_DIFFICULTY) -> None:
        self.n = check_classes("Ranked", n)
        self._p, self.order, self.difficulty = (
            _share(name, value) for name, value in (("p", p), ("order", order), ("difficulty", difficulty))
        )
        self._seal()

    @property
    def p(self) -> float:
        return self._p

    @property
    def label(self) -> str:
        return f"ranked:order={self.order:.6g},difficulty={self.difficulty:.6g}"

    @property
    def words_per_question(self) -> float:
        return super().words_per_question if self.order == 0.0 else 0.5

    def kernel(self) -> RankedKernel:
        order, own = self.order, 1.0 - self.difficulty
        rivals = order / (2.0 - order)  # the strengths' share of what a margin of the true class is besides the ease
        level = normal_quantile(self._p) if 0.0 < self._p < 1.0 else math.copysign(math.inf, self._p - 0.5)
        truth = (level, math.sqrt(self.difficulty), math.sqrt(own * rivals), _inverse(math.sqrt(own * (1.0 - rivals))))
        wrong = (0.0, 1.0, 1.0, math.sqrt(order / 2.0) * _inverse(math.sqrt(1.0 - order)))
        return RankedKernel(self._p, order == 0.0 and self.difficulty == 0.0, order == 0.0, truth, wrong)

    def matrix(self) -> NDArray[np.float64]:
        """Return P, where P[i, j] is the probability that i beats j over all trials; pairs are not independent."""
        probabilities = fair_matrix(type(self).__name__, self.n)
        probabilities[0, 1:] = self._p
        probabilities[1:, 0] = 1.0 - self._p
        return probabilities

    def _identity(self) -> tuple[object, ...]:
        return (self.n, self._p, self.order, self.difficulty)

    def __repr__(self) -> str:
        return f"Ranked({self.n}, {self._p!r}, {self.order!r}, {self.difficulty!r})"


def _share(name: str, value: object) -> float:
    number = check_number("Ranked", name, value, "a number in [0, 1]")
    if not 0.0 <= number <= 1.0:
        raise parameter_error("Ranked", name, "a number in [0, 1]", value)
    return number


def _inverse(x: float) -> float:
    return 1.0 / x if x > 0.0 else math.inf
