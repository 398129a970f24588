"""exact(oracle, decoder): which way there is to an exact value, if there is one."""

from __future__ import annotations

from pairsim.decoders import Decoder
from pairsim.errors import parameter_error, shown
from pairsim.exact_values.providers import EXACT, EXACT_ROWS, Solution, listed
from pairsim.exact_values.recorded_rows import interval_of, on_rows
from pairsim.exact_values.result import Exact, unavailable
from pairsim.oracles import Oracle
from pairsim.oracles.labels import without_labels
from pairsim.stats import check_confidence


def exact(oracle: Oracle, decoder: Decoder, confidence: float = 0.95) -> Exact:
    """Return the exact probability that a decoder predicts the true class, with its cost.

    Closed forms for adag and ddag where all pairs with the true class are alike (any n) and for ddag in the given
    order; dynamic programming for adag in the given order (n up to 60,000), for adag and ddag in random order (n up to
    21 and 23) and for max-win, poll and top-k. How far the last three go depends on the decoder: under uniform-p about
    n = 21 for max-win, 19 for poll and 9 for top-k; under other probabilities about 12, 11 and 7.

    Parameters
    ----------
    oracle : Uniform, Similarity, Matrix or Recorded
        An oracle whose pairs are answered independently of each other, with known probabilities; or recorded answers,
        for which it is the mean over the rows, exact for these rows, with a confidence interval for new rows: max-win,
        poll, adag and ddag in the given order at any size, in random order where rows and classes are few.
    decoder : Decoder
        MaxWin, Poll, TopK, Adag or Ddag.
    confidence : float
        Confidence level of the interval on recorded rows.

    Returns
    -------
    Exact

    Raises
    ------
    ExactUnavailable
        When there is no exact value; the message says up to which n there is, and what to use instead.

    Examples
    --------
    >>> from pairsim.decoders import Adag, MaxWin
    >>> from pairsim.exact_values import exact
    >>> from pairsim.oracles import Similarity, Uniform
    >>> exact(Uniform(2**20, 0.9), Adag()).success  # 0.9**20
    0.12157665459056935
    >>> print(f"{exact(Uniform(10**9, 1 - 1e-15), Adag()).failure:.3e}")  # about 30 games
    2.990e-14
    >>> answer = exact(Similarity.profile("zipf:1.0", 10), MaxWin())
    >>> f"{answer.success:.6f} by {answer.how}"
    '0.617787 by dynamic programming over scores'
    """
    _check_question(oracle, decoder)
    spec, decoder = decoder.spec, _without_labels(oracle, decoder)
    confidence = check_confidence("exact", confidence)
    low = high = None
    rows, probabilities = oracle.recording, oracle.probabilities()
    if rows is not None:
        each, how = on_rows(rows, decoder)
        solution = Solution(float(each.mean()), float((1.0 - each).mean()), how)
        low, high = interval_of(each, confidence)
    else:
        solve = EXACT.of(decoder)
        assert solve is not None  # both were checked above
        assert probabilities is not None
        solution = solve(probabilities, decoder)
    cost = solution.cost or decoder.cost(oracle.n)
    return Exact(
        decoder=spec,
        success=min(1.0, solution.success),
        failure=min(1.0, solution.failure),
        queries=float(cost[0]),
        rounds=float(cost[1]),
        distinct=decoder.expected_distinct(oracle.n),
        how=solution.how,
        low=low,
        high=high,
    )


def _check_question(oracle: object, decoder: object) -> None:
    """Reject what no exact value is known for, whatever its size."""
    if not isinstance(oracle, Oracle):
        raise parameter_error("exact", "oracle", "an oracle such as Uniform(16, 0.9)", shown(oracle))
    if not isinstance(decoder, Decoder):
        raise parameter_error("exact", "decoder", "a decoder such as MaxWin()", shown(decoder))
    decoder.kernel(oracle.n)  # checks what depends on n, such as k
    if oracle.recording is None and oracle.probabilities() is None:
        must_be = "one with independent pairs, such as Uniform, or Recorded: others have no exact value (use simulate)"
        raise unavailable("oracle", must_be, type(oracle).__name__)
    if EXACT.of(decoder) is None and (oracle.recording is None or EXACT_ROWS.of(decoder) is None):
        must_be = f"{listed(EXACT)}: others have no exact value (use simulate)"
        twin = decoder.equivalent
        hint = f" ({twin!r}, which names the same classes, succeeds as often)" if twin else ""
        raise unavailable("decoder", must_be, type(decoder).__name__ + hint)


def _without_labels(oracle: Oracle, decoder: Decoder) -> Decoder:
    """Return the decoder as it acts where class numbers mean nothing; reject it where that has no exact value."""
    rules = without_labels(oracle, decoder)
    if type(rules) is not type(decoder):  # the same rules under drawn numbers
        must_be = f"one that does not read class numbers, which are drawn at random for {oracle.label} (use simulate)"
        raise unavailable("decoder", must_be, decoder.spec)
    return rules
