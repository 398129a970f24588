"""The POLL paper's own theorems, as printed and as corrected.

Bunrupunthunad, Fakcharoenphol and Rakthanmanon, "POLL: multiclass classification from binary classifiers through
random sampling" (2003), sections 2.1 and 2.2. Each function computes a form that can be proved; where the print
differs, `printed=True` gives the formula of the paper, and the docstring says what is wrong with it. Logarithms are to
base 2 unless written ln. The certified bounds of this package do not use anything from here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from pairsim.checks import check_classes, check_flag, check_number
from pairsim.errors import parameter_error, shown


def _number(owner: str, name: str, value: object, low: float, high: float, must_be: str) -> float:
    """Return `value` as a float when low < value <= high and it is finite."""
    number = check_number(owner, name, value, must_be)
    if not low < number <= high or math.isinf(number):
        raise parameter_error(owner, name, must_be, shown(value))
    return number


def chernoff_below(mean: float, delta: float) -> float:
    """Theorem 1, lower tail: P(X <= (1 - delta) mean) < exp(-mean delta**2 / 2) for a sum X of independent 0-1 draws.

    The print asks for probabilities between 1 and 1 where 0 and 1 are meant.

    Parameters
    ----------
    mean : float
        The expectation of X, positive.
    delta : float
        In (0, 1].

    Examples
    --------
    >>> round(chernoff_below(10.0, 0.5), 4)
    0.2865
    """
    mean = _number("chernoff_below", "mean", mean, 0.0, math.inf, "a positive number")
    delta = _number("chernoff_below", "delta", delta, 0.0, 1.0, "a number in (0, 1]")
    return math.exp(-mean * delta**2 / 2.0)


def chernoff_above(mean: float, delta: float) -> float:
    """Theorem 1, upper tail: P(X >= (1 + delta) mean) < (e**delta / (1 + delta)**(1 + delta))**mean.

    Parameters
    ----------
    mean : float
        The expectation of X, positive.
    delta : float
        Positive.

    Examples
    --------
    >>> round(chernoff_above(10.0, 0.5), 4)
    0.3389
    """
    mean = _number("chernoff_above", "mean", mean, 0.0, math.inf, "a positive number")
    delta = _number("chernoff_above", "delta", delta, 0.0, math.inf, "a positive number")
    return math.exp(mean * _log_gamma(delta))


def _log_gamma(delta: float) -> float:
    """Return ln of the paper's gamma, ln(e**delta / (1 + delta)**(1 + delta)): negative for delta > 0."""
    if delta < 1e-3:  # the closed form loses its digits to cancellation; five terms of the series are exact here
        return -(delta**2) * (1 / 2 - delta * (1 / 6 - delta * (1 / 12 - delta * (1 / 20 - delta / 30))))
    return delta - (1.0 + delta) * math.log1p(delta)


def lemma_1(alpha: float, c: float = 1.0, *, printed: bool = False) -> tuple[float, float]:
    """Lemma 1: (c', c'') such that l >= c' log n1 + c'' makes P(s^_1 <= s^_2) < n1**-c on alpha-separated instances.

    With K = max(4 ln 2 (2 alpha / (alpha - 1))**2, 4 / log(1 / gamma)), where
    log gamma = (alpha - 1)/2 log e - (alpha + 1)/2 log((alpha + 1)/2), both halves of the proof need exactly
    l >= K (c log n1 + 1), so c' = K c and c'' = K, for n1 >= 2.

    Errata. The print multiplies by log e = 1.44 where the proof gives ln 2 = 0.69, leaves the 1 that comes from the
    factor 1/2 outside that product, and asks the second half for l > log(gamma) (...), which is negative and so asks
    for nothing; it then compares log gamma with log(e)/2, which has no bearing. The printed constants are
    c' = 4 c log e (2 alpha / (alpha - 1))**2 and c'' = 2. They do suffice for alpha of at least about 1.43, 1.22 and
    1.11 at c log n1 = 1, 2 and 4; for a smaller alpha the argument does not cover them. The print also needs n1 >= 4
    for s_2 >= n1/4; s_2 >= (n1 - 1)/2, from the same count, makes it n1 >= 2.

    Examples
    --------
    >>> [round(value, 2) for value in lemma_1(1.8, 2.0)]
    [112.29, 56.14]
    >>> [round(value, 2) for value in lemma_1(1.8, 2.0, printed=True)]
    [233.72, 2.0]
    """
    alpha = _number("lemma_1", "alpha", alpha, 1.0, math.inf, "a number above 1")
    c = _number("lemma_1", "c", c, 0.0, math.inf, "a positive number")
    spread = (2.0 * alpha / (alpha - 1.0)) ** 2
    if check_flag("lemma_1", "printed", printed):
        return 4.0 * c * math.log2(math.e) * spread, 2.0
    log_gamma = _log_gamma((alpha - 1.0) / 2.0) / math.log(2.0)
    factor = max(4.0 * math.log(2.0) * spread, -4.0 / log_gamma)
    return factor * c, factor


def paper_sample_size(
    n: int, alpha: float | None = None, c: float = 1.0, *, p: float | None = None, printed: bool = False
) -> int:
    """Theorem 2: the l for which poll succeeds with probability at least 1 - n**-c on an alpha-separated instance.

    l = c' log n + c'', rounded up, with the constants of `lemma_1` for c + 1; then the n - 1 rivals together fail
    with less than n**-c. Give alpha, or the probability p of a right answer: then alpha = 2p, which is where the
    separation of uniform(n, p) tends to as n grows (an instance with p = 0.9 is nowhere near 1.8-separated before n =
    10,000).

    Errata. As in `lemma_1`; and the union in the print sums P(s^_1 <= s_j) where s^_j is meant.

    Examples
    --------
    >>> paper_sample_size(512, 1.8), paper_sample_size(512, 1.8, printed=True)  # 233.72 log2 n + 2
    (1067, 2106)
    """
    owner = "paper_sample_size"
    n = check_classes(owner, n)
    if (alpha is None) == (p is None):
        raise parameter_error(owner, "alpha", "given, or p in its place", f"alpha={shown(alpha)}, p={shown(p)}")
    if alpha is None:
        alpha = 2.0 * _number(owner, "p", p, 0.5, 1.0, "a number in (1/2, 1]")
    c = _number(owner, "c", c, 0.0, math.inf, "a positive number")
    slope, start = lemma_1(alpha, c + 1.0, printed=printed)
    return math.ceil(slope * math.log2(n) + start)


class ClearCut(NamedTuple):
    """Theorem 3: but for this failure probability the instance is separated by at least this much."""

    failure: float
    separation: float


def theorem_3(n: int, p: float, epsilon: float, *, printed: bool = False) -> ClearCut:
    """Theorem 3: how likely uniform(n, p) is clear-cut, with the constants that the paper leaves to the reader.

    With s_1 >= (1 - epsilon) p n1 and every other s_j <= (1 + epsilon) n1 / 2 the separation is at least
    2p (1 - epsilon) / (1 + epsilon). The two tails of Theorem 1 and a union over the n1 rivals bound the failure; a
    rival's mean is n1/2 + 1/2 - p.

    Errata. The print has the separation as p (1 - epsilon) / (1 + epsilon)**2, which is below 1 for every p and
    contradicts the 1.8 that the paper uses at p = 0.9; the 2 belongs in the numerator. It also gives a rival's mean
    as n1/2, forgetting that the game with class 1 is not a fair coin.

    Examples
    --------
    >>> found = theorem_3(1_000, 0.9, 0.25)
    >>> round(found.separation, 2), found.failure < 0.002
    (1.08, True)
    >>> round(theorem_3(1_000, 0.9, 0.25, printed=True).separation, 3)
    0.432
    """
    n = check_classes("theorem_3", n)
    p = _number("theorem_3", "p", p, 0.5, 1.0, "a number in (1/2, 1]")
    epsilon = _number(
        "theorem_3", "epsilon", epsilon, 0.0, math.nextafter(1.0, 0.0), "a number strictly between 0 and 1"
    )
    games = n - 1
    printed = check_flag("theorem_3", "printed", printed)
    mean = games / 2.0 if printed else games / 2.0 + 0.5 - p
    failure = chernoff_below(p * games, epsilon)
    if mean > 0.0:  # with two classes and p = 1 the rival cannot win
        failure += games * chernoff_above(mean, (1.0 + epsilon) * games / 2.0 / mean - 1.0)
    separation = p * (1.0 - epsilon) / (1.0 + epsilon) ** 2 if printed else 2.0 * p * (1.0 - epsilon) / (1.0 + epsilon)
    return ClearCut(min(1.0, failure), separation)
