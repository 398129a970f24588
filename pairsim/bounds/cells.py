"""Both sides of P(some rival is ahead) where everything about class 0 is fixed: a cell of the sum over its scores.

In uniform(n, p), fix that class 0 beat `lost` classes and that `beat` classes beat it, and let every rival be ahead
with a probability h(its score), independently given the scores, h not decreasing. Then
  * the number ahead has the binomial moments that `joint_scores` spells out, so `counting` bounds it from both sides;
  * the scores of a tournament are negatively associated (Joag-Dev and Proschan, "Negative association of random
    variables, with applications", Annals of Statistics 11, 1983: each game is a pair of negatively associated wins,
    and every score adds up wins of its own), so the probability that nobody is ahead is at most the product of the
    rivals' single probabilities.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.binomial import RELATIVE_SLACK
from pairsim.bounds.counting import counting_polynomials
from pairsim.bounds.joint_scores import ORDER, joint_scores
from pairsim.kernels.jit import jit

UNSEEN = 1e-16  # what a cell can add, against the total so far, for its union bound to be enough
HOPELESS = 30.0  # with so many rivals ahead on average no polynomial says more than "at most 1"


class CellRules(NamedTuple):
    """All that the kernels need beside the cells themselves: tables of plain arrays."""

    order: int
    row_order: NDArray[np.int64]
    row_slot: NDArray[np.int64]
    row_weight: NDArray[np.float64]
    row_places: NDArray[np.int64]
    high: NDArray[np.float64]
    low: NDArray[np.float64]


def cell_rules(rivals: int) -> CellRules:
    """Return the tables for this many rivals; the order is theirs when they are few, and the bounds then exact."""
    order = min(ORDER, rivals)
    table = joint_scores()
    used = table.order <= order
    chosen = counting_polynomials(rivals, order)
    return CellRules(
        order, table.order[used], table.slot[used], table.weight[used], table.places[used], chosen.high, chosen.low
    )


@jit
def fill_moments(ahead: NDArray[np.float64], rules: CellRules, moments: NDArray[np.float64]) -> None:
    """Turn ahead[k] = E h(k + Bin(rivals - order, 1/2)), k = 0 .. order, into a row of moments; spoils `ahead`.

    moments[slot_of(r, w)] is the probability that r given rivals are all ahead when w of them beat class 0.
    """
    moments[:] = 0.0
    row = rules.row_order.size - 1
    for r in range(rules.order, 0, -1):
        while row >= 0 and rules.row_order[row] == r:
            product = rules.row_weight[row]
            for i in range(r):
                product *= ahead[rules.row_places[row, i]]
            moments[rules.row_slot[row]] += product
            row -= 1
        for k in range(r):  # one opponent more outside the group: a fair coin more
            ahead[k] = 0.5 * (ahead[k] + ahead[k + 1])


@jit
def fill_choices(size: int, choices: NDArray[np.float64]) -> None:
    """Write C(size, i) to choices[i]."""
    choices[0] = 1.0
    for i in range(1, choices.size):
        choices[i] = choices[i - 1] * max(0, size - i + 1) / i


@jit
def polynomial_value(coefficients: NDArray[np.float64], sums: NDArray[np.float64], slack: float) -> float:
    """Return the sum of coefficients times sums, plus `slack` times the sum of their sizes."""
    total = 0.0
    for i in range(sums.size):
        term = coefficients[i] * sums[i]
        total += term + slack * abs(term)
    return total


@jit
def bound_cell(
    moments: NDArray[np.float64],
    lost_choices: NDArray[np.float64],
    beat_choices: NDArray[np.float64],
    rules: CellRules,
    sums: NDArray[np.float64],
) -> tuple[float, float]:
    """Return (low, high) of the probability that some rival is ahead; `sums` is scratch of `order` numbers."""
    lost, beat = lost_choices[1], beat_choices[1]
    low = 1.0
    if (lost == 0.0 or moments[0] < 1.0) and (beat == 0.0 or moments[1] < 1.0):
        log_lost = lost * math.log1p(-moments[0]) if lost > 0.0 else 0.0
        log_beat = beat * math.log1p(-moments[1]) if beat > 0.0 else 0.0
        low = -math.expm1(log_lost + log_beat)
    mean = lost * moments[0] + beat * moments[1]
    if mean > HOPELESS:
        return low, 1.0
    for r in range(1, rules.order + 1):
        total = 0.0
        for w in range(r + 1):
            total += lost_choices[r - w] * beat_choices[w] * moments[r * (r + 1) // 2 - 1 + w]
        sums[r - 1] = total
    high = min(1.0, mean)
    for row in range(rules.high.shape[0]):
        high = min(high, polynomial_value(rules.high[row], sums, RELATIVE_SLACK))
    for row in range(rules.low.shape[0]):
        low = max(low, polynomial_value(rules.low[row], sums, -RELATIVE_SLACK))
    return low, high
