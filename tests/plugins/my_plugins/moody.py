"""MOODY: half the trials are hard, so that the pairs of a trial are not independent."""

from __future__ import annotations

from typing import NamedTuple

from pairsim.checks import check_classes, check_number
from pairsim.kernels.protocol import define_oracle
from pairsim.kernels.stream import low_wins_with
from pairsim.kernels.strengths import strength, strength_key
from pairsim.oracles import Option, Oracle


class MoodyKernel(NamedTuple):
    easy: float
    hard: float


def _low_wins(oracle, trial, i, j):
    ease = strength(strength_key(trial.word[0], trial.position[1]), 0)
    p = oracle.hard if ease < 0.0 else oracle.easy
    return low_wins_with(0.5 if i > 0 else p, trial, i, j)


define_oracle(MoodyKernel, low_wins=_low_wins)


class Moody(Oracle):
    """The true class wins its pairs with probability p in easy trials, and with probability `hard` in the others."""

    name = "moody"
    summary = "half the trials are hard"
    options = (Option("p"), Option("hard", default=0.6, help="p in a hard trial"))
    exchangeable = True

    def __init__(self, n: int, p: float, hard: float = 0.6) -> None:
        self.n = check_classes("Moody", n)
        self.easy = check_number("Moody", "p", p, "a number in [0, 1]")
        self.hard = check_number("Moody", "hard", hard, "a number in [0, 1]")

    @property
    def p(self) -> float:
        return self.easy

    def kernel(self) -> MoodyKernel:
        return MoodyKernel(self.easy, self.hard)
