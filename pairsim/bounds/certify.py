"""The entry point of the certified bounds: an oracle and a decoder in, a proven interval out."""

from __future__ import annotations

import math
from collections.abc import Callable

from pairsim.bounds.providers import BOUNDS
from pairsim.bounds.result import MOST_CLASSES, MOST_SAMPLES, Bound, SampleSize
from pairsim.bounds.scored import poll_bounds
from pairsim.bounds.tie_rules import check_ties
from pairsim.bounds.uniform_max_win import max_win_failure
from pairsim.checks import check_number, check_whole
from pairsim.decoders import Decoder, Poll
from pairsim.errors import parameter_error, shown
from pairsim.oracles import Oracle, PairProbabilities, Uniform
from pairsim.oracles.labels import without_labels

MOST_GENERAL_CLASSES = 2_000
LOOK_BELOW = 4  # sample sizes below the one found that are tried too, as the failure need not fall at every step
SMALL_SAMPLES = 8  # all sizes up to here are tried one by one
_FIND_UNIFORM = 20_000
_FIND_GENERAL = 2_000_000


def _check_oracle(owner: str, oracle: object) -> PairProbabilities:
    """Return the probabilities of an oracle for which there are bounds."""
    probabilities = oracle.probabilities() if isinstance(oracle, Oracle) else None
    if probabilities is None or not isinstance(oracle, Oracle):
        recorded = oracle.recording if isinstance(oracle, Oracle) else None
        got = shown(oracle) if recorded is None else f"{recorded.rows} recorded rows"
        must_be = "one with independent pairs, such as a uniform, similarity or matrix oracle (others: simulate)"
        raise parameter_error(owner, "oracle", must_be, got)
    most = MOST_CLASSES if oracle.uniform else MOST_GENERAL_CLASSES
    if oracle.n > most:
        raise parameter_error(
            owner, "oracle", f"a {oracle.name} oracle of at most {most} classes", f"{oracle.n} classes"
        )
    return probabilities


def bound(oracle: Oracle, decoder: Decoder) -> Bound:
    """Bound a decoder's failure probability from both sides.

    Under uniform(n, p) the two sides were within 0.006 of each other in all cases tried, and agree to three digits or
    more where the failure is small. Under other probabilities the upper side uses moments to order 3 only,
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
    probabilities = _check_oracle("bound", oracle)
    if not isinstance(decoder, Decoder) or BOUNDS.of(decoder) is None:
        got = decoder.spec if isinstance(decoder, Decoder) else shown(decoder)
        raise parameter_error(
            "bound", "decoder", " or ".join(str(getattr(kind, "name", kind.__name__)) for kind in BOUNDS), got
        )
    rules = without_labels(oracle, decoder)
    prove = BOUNDS.of(rules)
    if prove is None:  # the same rules under drawn numbers
        raise parameter_error("bound", "decoder", "one that does not read class numbers", decoder.spec)
    low, high, how = prove(probabilities, rules)
    return Bound(decoder.spec, oracle.label, oracle.n, low, high, how)


def certified_sample_size(
    n: int | Oracle,
    p: float | None = None,
    failure: float | None = None,
    ties: str = "random",
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
        The probability of a right answer; to be left out with an oracle.
    failure : float, optional
        The failure probability allowed, strictly between 0 and 1. Default: 1/n.
    ties : {"random", "lose", "first"}
        The poll's tie rule. "lose" counts every tie as a failure, so the l it gives serves the other two as well.
    largest : int, optional
        Largest sample size to try. Default: 20,000, or less for many classes of an oracle that is not uniform.

    Returns
    -------
    SampleSize

    Examples
    --------
    >>> certified_sample_size(512, 0.9).l
    49
    """
    owner = "certified_sample_size"
    if isinstance(n, Oracle) and p is not None:
        raise parameter_error(owner, "p", "omitted where an oracle is given", p)
    oracle = n if isinstance(n, Oracle) else Uniform(n, math.nan if p is None else p)
    probabilities = _check_oracle(owner, oracle)
    asked, ties = ties, _ties_without_labels(oracle, check_ties(owner, ties))
    wanted = _check_failure(owner, 1.0 / oracle.n if failure is None else failure)
    _refuse_hopeless(owner, probabilities, wanted, ties)
    most = _FIND_UNIFORM if probabilities.uniform is not None else min(_FIND_UNIFORM, _FIND_GENERAL // oracle.n)
    if largest is not None:
        most = check_whole(owner, "largest", largest, 1, MOST_SAMPLES)
    evaluate = poll_bounds(probabilities, ties)
    found = _smallest(lambda l: evaluate(l)[1], wanted, most)
    if found is None:
        reached = f"one that is certified with l of at most {most}, where the bound is {evaluate(most)[1]:.3g}"
        raise parameter_error(owner, "failure", reached, wanted)
    return SampleSize(found, wanted, *evaluate(found), asked)


def _ties_without_labels(oracle: Oracle, ties: str) -> str:
    """Return the tie rule of a poll as it acts on this oracle."""
    return str(getattr(without_labels(oracle, Poll(1, ties)), "ties"))  # noqa: B009 - a poll's, on any oracle


def _check_failure(owner: str, failure: object) -> float:
    must_be = "a number strictly between 0 and 1"
    value = check_number(owner, "failure", failure, must_be)
    if not 0.0 < value < 1.0:
        raise parameter_error(owner, "failure", must_be, value)
    return value


def _refuse_hopeless(owner: str, probabilities: PairProbabilities, wanted: float, ties: str) -> None:
    """Reject what no sample size can reach.

    Under uniform(n, p) with p >= 1/2 the class with the most wins is the most likely one, whatever the answers; so
    no rule that treats the classes alike, poll among them, succeeds more often than max-win with a fair draw.
    """
    p = probabilities.uniform
    if p is None or p < 0.5 or ties == "first":  # "first" favours class 0: not all classes alike
        return
    least = max_win_failure(probabilities.n, p, "random")[0]
    if least > wanted:
        must_be = f"at least {least:.4g}, the failure of max-win, which poll cannot beat here"
        raise parameter_error(owner, "failure", must_be, wanted)


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
