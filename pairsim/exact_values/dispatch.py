"""exact(oracle, decoder): which way there is to an exact value, if there is one."""

from __future__ import annotations

from typing import cast

from pairsim.decoders import Adag, Ddag, Decoder, MaxWin, Poll, TopK, as_max_win
from pairsim.errors import refusal
from pairsim.exact_values import brackets, closed_forms, random_orders, scores, top_k
from pairsim.exact_values.chances import INDEPENDENT, constant_chance
from pairsim.exact_values.recorded_rows import interval_of, on_rows
from pairsim.exact_values.result import Exact, too_large, unavailable
from pairsim.oracles import Oracle, Recorded
from pairsim.stats import check_confidence

KNOWN = (MaxWin, Poll, TopK, Adag, Ddag)
OVER_SCORES = "dynamic programming over scores"
OVER_SETS = "dynamic programming over sets of classes"


def exact(oracle: Oracle, decoder: Decoder, confidence: float = 0.95) -> Exact:
    """Return the exact chance that a decoder names the true class, and what it costs.

    Closed forms for adag and ddag where all pairs with the true class are alike (any n) and for ddag in the given
    order; dynamic programming for adag in the given order (n up to 60,000), for adag and ddag in random order (n up to
    21 and 23) and for max-win, poll and top-k. How far the last three go depends on the decoder: under uniform-p about
    n = 21 for max-win, 19 for poll and 9 for top-k; under other chances about 12, 11 and 7.

    Parameters
    ----------
    oracle : Uniform, Similarity, Matrix or Recorded
        An oracle whose pairs are answered independently of each other, with known chances; or recorded answers, for
        which it is the mean over the rows, exact for these rows, with an interval for others of the kind: max-win,
        poll, adag and ddag in the given order at any size, in random order where rows and classes are few.
    decoder : Decoder
        MaxWin, Poll, TopK, Adag or Ddag.
    confidence : float
        Of the interval on recorded rows.

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
    confidence = check_confidence("exact", confidence)
    low = high = None
    if isinstance(oracle, Recorded):
        chances, how = on_rows(oracle, decoder)
        success, failure = float(chances.mean()), float((1.0 - chances).mean())
        low, high = interval_of(chances, confidence)
    else:
        success, failure, how = _solve(oracle, decoder)
    cost = decoder.cost(oracle.n)
    price = top_k.expect_price(oracle, decoder) if isinstance(decoder, TopK) else (cost.queries, cost.rounds)
    return Exact(
        decoder=decoder.spec,
        success=min(1.0, success),
        failure=min(1.0, failure),
        queries=float(price[0]),
        rounds=float(price[1]),
        distinct=expect_distinct(decoder, oracle.n),
        how=how,
        low=low,
        high=high,
    )


def _check_question(oracle: object, decoder: object) -> None:
    """Refuse what no exact value is known for, whatever its size."""
    if not isinstance(oracle, Oracle):
        raise refusal("exact", "oracle", "an oracle such as Uniform(16, 0.9)", repr(oracle))
    if not isinstance(decoder, Decoder):
        raise refusal("exact", "decoder", "a decoder such as MaxWin()", repr(decoder))
    decoder.kernel(oracle.n)  # checks what depends on n, such as k
    # by exact type: a subclass may have other answers or other rules, and a wrong value must not pass for an exact one
    if type(oracle) not in INDEPENDENT and type(oracle) is not Recorded:
        must_be = "Uniform, Similarity, Matrix or Recorded: others have no exact value (use simulate)"
        raise unavailable("oracle", must_be, type(oracle).__name__)
    if type(decoder) not in KNOWN:
        must_be = "MaxWin, Poll, TopK, Adag or Ddag: others have no exact value (use simulate)"
        twin = as_max_win(decoder)
        hint = f" ({twin!r}, which names the same classes, succeeds as often)" if twin else ""
        raise unavailable("decoder", must_be, type(decoder).__name__ + hint)


def expect_distinct(decoder: Decoder, n: int) -> float | None:
    """Return the expected number of different pairs asked, or None where there is no closed form.

    Examples
    --------
    >>> expect_distinct(Poll(2), 3)  # each of 3 pairs is missed by 4 fair coins
    2.8125
    """
    pairs = n * (n - 1) / 2
    if isinstance(decoder, MaxWin) or n == 2 or (isinstance(decoder, TopK) and decoder.k == n):
        return pairs
    if isinstance(decoder, Poll):
        return decoder.expected_distinct(n)
    return None if isinstance(decoder, TopK) else float(n - 1)


def _solve(oracle: Oracle, decoder: Decoder) -> tuple[float, float, str]:
    """Return success, failure and how they were found."""
    if isinstance(decoder, MaxWin):
        return *scores.max_win(oracle, decoder), OVER_SCORES
    if isinstance(decoder, Poll):
        return *scores.poll(oracle, decoder), OVER_SCORES
    if isinstance(decoder, TopK):
        return *top_k.top_k(oracle, decoder), OVER_SCORES
    if isinstance(decoder, Ddag):
        return _solve_ddag(oracle, decoder)
    return _solve_adag(oracle, cast("Adag", decoder))


def _solve_ddag(oracle: Oracle, decoder: Ddag) -> tuple[float, float, str]:
    n = oracle.n
    p = constant_chance(oracle)
    if decoder.order == "given":
        pair = brackets.ddag_given_order(oracle) if p is None else closed_forms.win_all(p, n - 1)
        return *pair, "closed form"
    if p is not None:
        return *closed_forms.ddag_random_order(n, p), "closed form"
    if n > random_orders.DDAG_CLASSES:
        raise too_large(decoder.spec, oracle.label, n, random_orders.DDAG_CLASSES)
    return *random_orders.ddag_random_order(oracle.matrix()), OVER_SETS


def _solve_adag(oracle: Oracle, decoder: Adag) -> tuple[float, float, str]:
    n = oracle.n
    p = constant_chance(oracle)
    if p is not None:
        given = decoder.order == "given"
        pair = closed_forms.win_all(p, (n - 1).bit_length()) if given else closed_forms.adag_random_order(n, p)
        return *pair, "closed form"
    limit = brackets.MOST_CLASSES if decoder.order == "given" else random_orders.ADAG_CLASSES
    if n > limit:
        raise too_large(decoder.spec, oracle.label, n, limit)
    if decoder.order == "given":
        return *brackets.adag_given_order(oracle), "bracket dynamic programming"
    return *random_orders.adag_random_order(oracle.matrix()), OVER_SETS
