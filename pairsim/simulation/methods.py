"""Which road to a number a decoder takes: exact, conditional or simulated."""

from __future__ import annotations

from pairsim.decoders import Adag, Ddag, Decoder, MaxWin, Poll, TopK
from pairsim.errors import refusal
from pairsim.kernels.bits import SLAB_TRIALS
from pairsim.kernels.stream import TRIALS_PER_WORD
from pairsim.oracles import Oracle, Recorded, Uniform

METHODS = ("auto", "simulated", "conditional", "exact")
MOST_SCORED_CLASSES = 65_535  # scores are kept as 16-bit numbers


def check_method(owner: str, method: str) -> str:
    """Return `method` when there is one of that name."""
    if method not in METHODS:
        raise refusal(owner, "method", "one of " + ", ".join(METHODS), repr(method))
    return method


def plays_in_slabs(oracle: Oracle) -> bool:
    """Say whether the oracle's tournaments can be scored 64 trials at a time."""
    return not isinstance(oracle, Recorded)


def has_conditional(oracle: Oracle, decoder: Decoder) -> bool:
    """Say whether part of the decoder's chance can be computed exactly, given the scores of a tournament."""
    if not plays_in_slabs(oracle) or oracle.n > MOST_SCORED_CLASSES:
        return False
    return isinstance(decoder, Poll | TopK) or (isinstance(decoder, MaxWin) and isinstance(oracle, Uniform))


def has_closed_form(oracle: Oracle, decoder: Decoder) -> bool:
    """Say whether the success probability is a formula that costs nothing."""
    return isinstance(oracle, Uniform) and isinstance(decoder, Adag | Ddag) and decoder.order == "random"


def choose_method(oracle: Oracle, decoder: Decoder, method: str, trials: int, scored_anyway: bool) -> str:
    """Return the method for one decoder; `auto` is the fastest that is right, exact before conditional."""
    if method == "conditional" and not has_conditional(oracle, decoder):
        got = f"'conditional' for {decoder.spec} on {oracle.label}"
        raise refusal("simulate", "method", "'simulated' or 'auto' where scores do not give the answer", got)
    if method == "exact" and isinstance(oracle, Recorded):
        # exact for these rows it would be, but a sweep's interval is about the rows that were not recorded
        raise refusal("simulate", "method", "'simulated' or 'auto' for recorded rows", "'exact' (see pairsim exact)")
    if method != "auto":
        return method
    if has_closed_form(oracle, decoder):
        return "exact"
    if not has_conditional(oracle, decoder):
        return "simulated"
    played = max(trials, SLAB_TRIALS)  # part of a slab costs a whole one; beyond that the choice is that of any length
    words = played * oracle.n * (oracle.n - 1) / (2 * TRIALS_PER_WORD)
    lazy = trials * decoder.cost(oracle.n).queries * oracle.words_per_question
    worth_it = isinstance(decoder, MaxWin) or scored_anyway or words <= lazy
    return "conditional" if worth_it else "simulated"
