"""Any probabilities: the failure from both sides by one walk over class 0's games.

Fix what class 0 has to show, so that rival j is ahead with probability h(its score), h not decreasing. Rival j's
score is t_j, from its games with the other rivals, plus 1 if it beat class 0, and t_j is a sum of independent games:
a Poisson-binomial. Let f_j(x) = E h(score of j) where x says whether class 0 beat j. Walking over the rivals while
keeping apart how many class 0 has beaten, the sums over all ways to beat exactly k of them of
  mass              their probability,
  first             times the sum of f: the expected number ahead, so that first is the union bound with the exact
  distribution
                    of each pair (class 0, j),
  second, third     times the second and third elementary symmetric functions of f,
  gap               the same as second, of e_j (below),
  failed            times 1 minus the product of 1 - f,
are exact. The scores given class 0's games are negatively associated (see `cells`), so the probability of failure is at
least `failed` and the probabilities that three given rivals are ahead sum to at most `third`. Two rivals i, j share one
game; if i wins it with probability q, then with D the mean rise of h for one more win

    P(both ahead) = f_i f_j - q D_i (1 - q) D_j,    q D_i <= e_i = sum over s >= 1 of P(t_i = s) (h(s) - h(s - 1)),

because q P(t_i without that game = s - 1) <= P(t_i = s), and likewise for j. So the pairs sum to at least
second - gap, and polynomials of degree 3 (see `counting`) give the upper side.

Poll has one more upper side (see `uniform_poll`): by Jensen's inequality nobody is ahead with a probability of at least
the product of exp(E log(1 - h)), scores with h close to 1 set apart. That is a product over the rivals again, so `calm`
is walked like `failed`, with 1 - exp(E log(1 - h)) in the place of f.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.binomial import NEGLIGIBLE, RELATIVE_SLACK
from pairsim.kernels.jit import jit

MASS, FIRST, SECOND, THIRD, GAP_FIRST, GAP, FAILED, CALM = range(8)
SUMS = 8
LARGEST_ROOT = 24  # of the pairs of roots that `bound_sums` tries


@jit
def fill_pmf(wins: NDArray[np.float64], losses: NDArray[np.float64], pmf: NDArray[np.float64]) -> None:
    """Write the distribution of the number of games won to pmf[0 .. games], given both probabilities per game.

    Ends below `NEGLIGIBLE` are cut off as they arise: what is lost is far below the slack, and numbers too small for
    full precision would be slow to add.
    """
    pmf[:] = 0.0
    pmf[0] = 1.0
    lowest, highest = 0, 0
    for i in range(wins.size):
        pmf[highest + 1] = pmf[highest] * wins[i]
        for s in range(highest, lowest, -1):
            pmf[s] = pmf[s] * losses[i] + pmf[s - 1] * wins[i]
        pmf[lowest] *= losses[i]
        highest += 1
        while pmf[highest] < NEGLIGIBLE:
            pmf[highest] = 0.0
            highest -= 1
        while pmf[lowest] < NEGLIGIBLE:
            pmf[lowest] = 0.0
            lowest += 1


@jit
def score_pmfs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distributions of the rivals' scores among themselves: row j - 1 holds P(t_j = s), s = 0 .. n - 2."""
    n = probabilities.shape[0]
    pmfs = np.empty((n - 1, n - 1))
    wins, losses = np.empty(n - 2), np.empty(n - 2)
    for j in range(1, n):
        for i in range(1, n - 1):
            other = i + (i >= j)
            wins[i - 1], losses[i - 1] = probabilities[j, other], probabilities[other, j]
        fill_pmf(wins, losses, pmfs[j - 1])
    return pmfs


@jit
def walk_rivals(
    wins: NDArray[np.float64],
    losses: NDArray[np.float64],
    ahead: NDArray[np.float64],
    rises: NDArray[np.float64],
    calms: NDArray[np.float64],
    least: int,
    most: int,
    sums: NDArray[np.float64],
) -> None:
    """Fill sums[kind, k] for k = least .. most games won by class 0.

    wins[j] and losses[j] are the probabilities of class 0 against rival j; ahead[x, j], rises[x, j] and calms[x, j] are
    f, e and what stands for f in `calm`, of rival j when class 0 beat it (x = 1) or not (x = 0). Other k are spoiled.
    """
    rivals = wins.size
    sums[:, :] = 0.0
    sums[MASS, 0] = 1.0
    old = np.zeros_like(sums)
    for j in range(rivals):
        lowest = max(0, least - (rivals - 1 - j))
        highest = min(j + 1, most)
        start = max(0, lowest - 1)
        old[:, start : highest + 1] = sums[:, start : highest + 1]
        for x in range(2):
            probability = wins[j] if x else losses[j]
            f, e, g = ahead[x, j], rises[x, j], calms[x, j]
            for k in range(max(lowest, x), highest + 1):
                mass, failed = old[MASS, k - x], old[FAILED, k - x]
                first, second = old[FIRST, k - x], old[SECOND, k - x]
                gap_first, calm = old[GAP_FIRST, k - x], old[CALM, k - x]
                kept = 1.0 if x else 0.0  # the second pass adds to what the first one wrote
                sums[MASS, k] = kept * sums[MASS, k] + probability * mass
                sums[FIRST, k] = kept * sums[FIRST, k] + probability * (first + f * mass)
                sums[SECOND, k] = kept * sums[SECOND, k] + probability * (second + f * first)
                sums[THIRD, k] = kept * sums[THIRD, k] + probability * (old[THIRD, k - x] + f * second)
                sums[GAP_FIRST, k] = kept * sums[GAP_FIRST, k] + probability * (gap_first + e * mass)
                sums[GAP, k] = kept * sums[GAP, k] + probability * (old[GAP, k - x] + e * gap_first)
                sums[FAILED, k] = kept * sums[FAILED, k] + probability * (failed + f * max(0.0, mass - failed))
                sums[CALM, k] = kept * sums[CALM, k] + probability * (calm + g * max(0.0, mass - calm))


@jit
def bound_sums(sums: NDArray[np.float64], k: int, rivals: int, set_apart: float) -> tuple[float, float]:
    """Return (low, high) of the probability that class 0 beats exactly k rivals and fails.

    `set_apart` is at least the probability that some rival has a score that `calm` does not cover.
    """
    mass, first, third = sums[MASS, k], sums[FIRST, k], sums[THIRD, k]
    slack = 1.0 + RELATIVE_SLACK
    pairs = max(0.0, sums[SECOND, k] / slack - sums[GAP, k] * slack)
    high = min(mass, sums[CALM, k] + set_apart * mass, first, first * slack - 2.0 / rivals * pairs)
    for z in range(2, LARGEST_ROOT):
        scale = 1.0 / (z * (z + 1))
        high = min(high, first * slack - (4 * z - 2) * scale * pairs + 6.0 * scale * third * slack)
    return min(sums[FAILED, k], mass), high
