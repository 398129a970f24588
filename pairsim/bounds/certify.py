"""The front door of the certified bounds: an oracle and a decoder in, a proven interval out."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from pairsim.bounds.general import general_max_win_failure, general_poll_failure
from pairsim.bounds.result import MOST_CLASSES, MOST_SAMPLES, Bound, SampleSize
from pairsim.bounds.tie_rules import check_ties
from pairsim.bounds.uniform_max_win import max_win_failure
from pairsim.bounds.uniform_poll import poll_failure
from pairsim.checks import check_number, check_whole
from pairsim.decoders import Decoder, MaxWin, Poll
from pairsim.decoders.sample_size import sample_size
from pairsim.errors import refusal
from pairsim.oracles import Matrix, Oracle, Recorded, Similarity, Uniform

HOW_UNIFORM = "sum over class 0's scores; inside, moments of the number ahead to order 7, negative association, Jensen"
HOW_GENERAL = "sum over class 0's scores; inside, moments of the number ahead to order 3, negative association, Jensen"
MOST_GENERAL_CLASSES = 2_000
LOOK_BELOW = 4  # sample sizes below the one found that are tried too, as the failure need not fall at every step
SMALL_SAMPLES = 8  # all sizes up to here are tried one by one
_FIND_UNIFORM = 20_000
_FIND_GENERAL = 2_000_000


def _as_uniform(oracle: Oracle) -> tuple[int, float] | None:
    """Return (n, p) when the oracle is uniform(n, p), also where it was written as similarities or as a matrix."""
    if isinstance(oracle, Uniform):
        return oracle.n, oracle.p
    chances = oracle.matrix()
    if (chances[0, 1:] == chances[0, 1]).all() and (chances[1:, 1:] == 0.5).all():
        return oracle.n, float(chances[0, 1])
    return None


def _check_oracle(owner: str, oracle: object) -> Oracle:
    if not isinstance(oracle, Uniform | Similarity | Matrix):
        got = f"{oracle.rows} recorded rows" if isinstance(oracle, Recorded) else repr(oracle)
        raise refusal(owner, "oracle", "a uniform, similarity or matrix oracle (others: simulate)", got)
    most = MOST_CLASSES if isinstance(oracle, Uniform) else MOST_GENERAL_CLASSES
    if oracle.n > most:
        raise refusal(owner, "oracle", f"a {oracle.name} oracle of at most {most} classes", f"{oracle.n} classes")
    return oracle


def bound(oracle: Oracle, decoder: Decoder) -> Bound:
    """Bound a decoder's failure probability from both sides.

    Under uniform(n, p) the two sides were within 0.006 of each other wherever they were looked at, and they agree to
    three digits and more where the failure is small. Under other chances the upper side uses moments to order 3 only,
    and is wider.

    Parameters
    ----------
    oracle : Uniform, Similarity or Matrix
        Up to ten million classes for uniform(n, p), 2,000 for the others.
    decoder : MaxWin or Poll
        With any tie rule. (For ddag and adag exact values exist.)

    Returns
    -------
    Bound

    Examples
    --------
    >>> from pairsim import Poll, Uniform
    >>> found = bound(Uniform(512, 0.9), Poll(52, ties="lose"))
    >>> f"{found.failure_low:.5f} {found.failure_high:.5f}"
    '0.00138 0.00138'
    """
    oracle = _check_oracle("bound", oracle)
    uniform = _as_uniform(oracle)
    if isinstance(decoder, MaxWin):
        low, high = (
            max_win_failure(*uniform, decoder.ties)
            if uniform
            else general_max_win_failure(oracle.matrix(), decoder.ties)
        )
    elif isinstance(decoder, Poll):
        samples = sample_size(decoder.l, oracle.n)
        if samples > MOST_SAMPLES:
            raise refusal("bound", "decoder", f"a poll with l of at most {MOST_SAMPLES}", decoder.spec)
        low, high = _poll_bounds(oracle, decoder.ties)(samples)
    else:
        raise refusal("bound", "decoder", "max-win or poll", getattr(decoder, "spec", repr(decoder)))
    return Bound(decoder.spec, oracle.label, oracle.n, low, high, HOW_UNIFORM if uniform else HOW_GENERAL)


def _poll_bounds(oracle: Oracle, ties: str) -> Callable[[int], tuple[float, float]]:
    """Return the function from l to (failure_low, failure_high)."""
    uniform = _as_uniform(oracle)
    if uniform:
        n, p = uniform
        return functools.cache(lambda l: poll_failure(n, p, l, ties))
    chances = oracle.matrix()
    return functools.cache(lambda l: general_poll_failure(chances, l, ties))


def certified_sample_size(
    n: int | Oracle,
    p: float | None = None,
    failure: float | None = None,
    ties: str = "lose",
    *,
    largest: int | None = None,
) -> SampleSize:
    """Find a small l for which poll provably fails with probability at most `failure`.

    What is certified is the bound at the returned l, and nothing else: whether the failure falls with every step of l
    is not assumed. The search tries l = 1 .. 8, then grows l by half until the bound certifies it, narrows the
    interval below to neighbours, and at last tries the four sizes under the one found.

    Parameters
    ----------
    n : int or Oracle
        The number of classes of uniform(n, p), or an oracle.
    p : float, optional
        The chance of a right answer; to be left out with an oracle.
    failure : float, optional
        The failure probability allowed, strictly between 0 and 1; 1/n when left out.
    ties : {"lose", "random", "first"}
        The default counts every tie as a failure, so the l it gives serves the other two rules as well.
    largest : int, optional
        Where to stop looking: 20,000 when left out, or less for many classes of an oracle that is not uniform.

    Returns
    -------
    SampleSize

    Examples
    --------
    >>> certified_sample_size(512, 0.9).l
    51
    """
    owner = "certified_sample_size"
    if isinstance(n, Oracle) and p is not None:
        raise refusal(owner, "p", "left out where an oracle is given", p)
    oracle = _check_oracle(owner, n if isinstance(n, Oracle) else Uniform(n, math.nan if p is None else p))
    ties = check_ties(owner, ties)
    wanted = _check_failure(owner, 1.0 / oracle.n if failure is None else failure)
    _refuse_hopeless(owner, oracle, wanted, ties)
    uniform = _as_uniform(oracle)
    most = _FIND_UNIFORM if uniform else min(_FIND_UNIFORM, _FIND_GENERAL // oracle.n)
    if largest is not None:
        most = check_whole(owner, "largest", largest, 1, MOST_SAMPLES)
    evaluate = _poll_bounds(oracle, ties)
    found = _smallest(lambda l: evaluate(l)[1], wanted, most)
    if found is None:
        reached = f"one that is certified with l of at most {most}, where the bound is {evaluate(most)[1]:.3g}"
        raise refusal(owner, "failure", reached, wanted)
    return SampleSize(found, wanted, *evaluate(found), ties)


def _check_failure(owner: str, failure: object) -> float:
    must_be = "a number strictly between 0 and 1"
    value = check_number(owner, "failure", failure, must_be)
    if not 0.0 < value < 1.0:
        raise refusal(owner, "failure", must_be, value)
    return value


def _refuse_hopeless(owner: str, oracle: Oracle, wanted: float, ties: str) -> None:
    """Refuse what no sample size can reach.

    Under uniform(n, p) with p >= 1/2 the class with the most wins is the most likely one, whatever the answers; so
    no rule that treats the classes alike, poll among them, succeeds more often than max-win with a fair draw.
    """
    uniform = _as_uniform(oracle)
    if uniform is None or uniform[1] < 0.5 or ties == "first":  # "first" favours class 0: not all classes alike
        return
    least = max_win_failure(*uniform, "random")[0]
    if least > wanted:
        must_be = f"at least {least:.4g}, the failure of max-win, which poll cannot beat here"
        raise refusal(owner, "failure", must_be, wanted)


def _smallest(failure_at: Callable[[int], float], wanted: float, most: int) -> int | None:
    """Return a small l <= most with failure_at(l) <= wanted, or None; `failure_at` is expensive and remembers."""
    for l in range(1, min(SMALL_SAMPLES, most) + 1):
        if failure_at(l) <= wanted:
            return l
    bad = good = min(SMALL_SAMPLES, most)
    while failure_at(good) > wanted:
        if good == most:
            return None
        bad, good = good, min(most, good + good // 2)
    halve = False
    while good - bad > 1:
        # the failure falls about exponentially, so its logarithm is nearly straight; every other step is a halving
        share = 0.5 if halve else math.log(failure_at(bad) / wanted) / math.log(failure_at(bad) / failure_at(good))
        halve = not halve
        middle = min(good - 1, max(bad + 1, bad + round(share * (good - bad))))
        if failure_at(middle) <= wanted:
            good = middle
        else:
            bad = middle
    return min(l for l in range(max(1, good - LOOK_BELOW), good + 1) if failure_at(l) <= wanted)
