"""ddag and adag when every pair with the true class is answered right with the same probability p.

What the other pairs answer does not matter then: the true class only has to win its own games. Under a random order
the number of games depends on its place alone (Kijsirikul, Ussivakul, Meknavin 2002; POLL paper, section 1.4, where
p is the probability of a *wrong* answer). Under the given order class 0 stands first and plays in every round.
"""

from __future__ import annotations

import math


def ddag_random_order(n: int, p: float) -> tuple[float, float]:
    """Return success and failure of ddag on n classes in random order.

    With q = 1 - p and m = n - 1 the success is (p + p^2 + ... + p^m + p^m) / n, and n times the failure is
    (m q - a) / q + 2 a, where a = 1 - p^m.

    Examples
    --------
    >>> ddag_random_order(3, 0.5)  # one game from the middle place, two from either end
    (0.3333333333333333, 0.6666666666666666)
    >>> ddag_random_order(10**9, 1.0 - 2.0**-50)[1]
    4.440890788173635e-07
    """
    if p in (0.0, 1.0):
        return p, 1.0 - p
    q = 1.0 - p
    m = n - 1
    lost = lose_any(p, m)
    success = (p * lost / q + p**m) / n
    failure = (_excess(m, q, lost) / q + 2.0 * lost) / n
    return success, failure


def adag_random_order(n: int, p: float) -> tuple[float, float]:
    """Return success and failure of adag on n classes in random order.

    2n - 2^L of the places play L = ceil(log2 n) games, the others one fewer.

    Examples
    --------
    >>> adag_random_order(3, 0.5)
    (0.3333333333333333, 0.6666666666666666)
    """
    if p in (0.0, 1.0):
        return p, 1.0 - p
    games = (n - 1).bit_length()
    full = 2 * n - (1 << games)
    short = n - full
    success = (full * p**games + short * p ** (games - 1)) / n
    failure = (full * lose_any(p, games) + short * lose_any(p, games - 1)) / n
    return success, failure


def win_all(p: float, games: int) -> tuple[float, float]:
    """Return the probabilities to win all of `games` games, and to lose at least one of them.

    Examples
    --------
    >>> win_all(0.5, 3)
    (0.125, 0.875)
    """
    return float(p**games), lose_any(p, games)


def lose_any(p: float, games: int) -> float:
    """Return 1 - p**games to full relative accuracy: p near 1 is where the plain difference would lose all digits."""
    if p == 0.0:
        return 1.0 if games else 0.0
    return -math.expm1(games * math.log(p))


def _excess(m: int, q: float, lost: float) -> float:
    """Return m q - (1 - (1 - q)^m) to full relative accuracy."""
    if m * q > 1.0:
        return m * q - lost
    # the binomial series from its second term on: each term is less than a third of the one before
    term = m * (m - 1) / 2.0 * q * q
    total = 0.0
    j = 2
    while abs(term) > 1e-20 * total and term != 0.0:
        total += term
        term *= -(m - j) / (j + 1) * q
        j += 1
    return total
