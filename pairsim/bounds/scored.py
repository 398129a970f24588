"""max-win and poll: which of the proofs holds, that for uniform-p or that for any probabilities."""

from __future__ import annotations

import functools
from collections.abc import Callable

from pairsim.bounds.general import general_max_win_failure, general_poll_failure
from pairsim.bounds.providers import BOUNDS, Proof
from pairsim.bounds.result import MOST_SAMPLES
from pairsim.bounds.uniform_max_win import max_win_failure
from pairsim.bounds.uniform_poll import poll_failure
from pairsim.decoders import MaxWin, Poll
from pairsim.decoders.sample_size import sample_size
from pairsim.errors import parameter_error
from pairsim.oracles import PairProbabilities

HOW_UNIFORM = "sum over class 0's scores; inside, moments of the number ahead to order 7, negative association, Jensen"
HOW_GENERAL = "sum over class 0's scores; inside, moments of the number ahead to order 3, negative association, Jensen"


def argument(probabilities: PairProbabilities) -> str:
    """Return the argument of the proof that holds here."""
    return HOW_GENERAL if probabilities.uniform is None else HOW_UNIFORM


@BOUNDS.register(MaxWin)
def bound_max_win(probabilities: PairProbabilities, decoder: MaxWin) -> Proof:
    """Bound the failure of max-win."""
    p = probabilities.uniform
    if p is None:
        return Proof(*general_max_win_failure(probabilities.matrix(), decoder.ties), argument(probabilities))
    return Proof(*max_win_failure(probabilities.n, p, decoder.ties), argument(probabilities))


@BOUNDS.register(Poll)
def bound_poll(probabilities: PairProbabilities, decoder: Poll) -> Proof:
    """Bound the failure of poll."""
    samples = sample_size(decoder.l, probabilities.n)
    if samples > MOST_SAMPLES:
        raise parameter_error("bound", "decoder", f"a poll with l of at most {MOST_SAMPLES}", decoder.spec)
    return Proof(*poll_bounds(probabilities, decoder.ties)(samples), argument(probabilities))


def poll_bounds(probabilities: PairProbabilities, ties: str) -> Callable[[int], tuple[float, float]]:
    """Return the function from l to (failure_low, failure_high)."""
    n, p = probabilities.n, probabilities.uniform
    if p is not None:
        return functools.cache(lambda l: poll_failure(n, p, l, ties))
    matrix = probabilities.matrix()
    return functools.cache(lambda l: general_poll_failure(matrix, l, ties))
