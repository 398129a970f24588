"""Which method estimates a decoder: exact, conditional or simulated."""

from __future__ import annotations

from pairsim.checks import check_choice
from pairsim.decoders import Decoder
from pairsim.errors import parameter_error
from pairsim.kernels.bits import SLAB_TRIALS
from pairsim.kernels.stream import TRIALS_PER_WORD
from pairsim.oracles import Oracle
from pairsim.oracles.labels import without_labels
from pairsim.simulation.conditional import CONDITIONAL
from pairsim.simulation.conditional.base import MOST_SCORED_CLASSES, QUERIES

__all__ = [
    "METHODS",
    "MOST_SCORED_CLASSES",
    "check_method",
    "choose_method",
    "counts_scores",
    "has_closed_form",
    "has_conditional",
]

METHODS = ("auto", "simulated", "conditional", "exact")


def check_method(owner: str, method: str) -> str:
    """Return `method` when there is one of that name."""
    return check_choice(owner, "method", method, METHODS)


def has_conditional(oracle: Oracle, decoder: Decoder) -> bool:
    """Say whether part of the decoder's probability can be computed exactly in each trial."""
    method = CONDITIONAL.of(decoder)
    return method is not None and method.applies(oracle, decoder)


def counts_scores(decoder: Decoder) -> bool:
    """Say whether scoring whole tournaments is the fastest way to simulate the decoder."""
    method = CONDITIONAL.of(decoder)
    return method is not None and method.counts_scores


def given_slabs(decoder: Decoder) -> bool:
    """Say whether the decoder's conditional method needs whole tournaments, which are played in slabs."""
    method = CONDITIONAL.of(decoder)
    return method is not None and method.given != QUERIES


def has_closed_form(oracle: Oracle, decoder: Decoder) -> bool:
    """Say whether the success probability is a formula that costs nothing."""
    if not (oracle.uniform and decoder.closed_form):
        return False
    from pairsim.exact_values import EXACT  # here: most simulations do without its kernels

    return type(decoder) in EXACT


def choose_method(oracle: Oracle, decoder: Decoder, method: str, trials: int, scored_anyway: bool) -> str:
    """Return the method for one decoder; `auto` is the fastest that is right, exact before conditional."""
    decoder = without_labels(oracle, decoder)
    if method == "conditional" and not has_conditional(oracle, decoder):
        got = f"'conditional' for {decoder.spec} on {oracle.label}"
        raise parameter_error("simulate", "method", "'simulated' or 'auto' where scores do not give the answer", got)
    if method == "exact" and oracle.rows is not None:
        # exact for these rows it would be, but a sweep's interval is about the rows that were not recorded
        raise parameter_error(
            "simulate", "method", "'simulated' or 'auto' for recorded rows", "'exact' (see pairsim exact)"
        )
    if method != "auto":
        return method
    if has_closed_form(oracle, decoder):
        return "exact"
    if not has_conditional(oracle, decoder):
        return "simulated"
    if not given_slabs(decoder):
        return "conditional"  # which asks as simulating does
    run = max(trials, SLAB_TRIALS)  # part of a slab costs a whole one; beyond that the choice is that of any length
    words = run * oracle.n * (oracle.n - 1) / (2 * TRIALS_PER_WORD)
    lazy = trials * decoder.cost(oracle.n).queries * oracle.words_per_question
    worth_it = counts_scores(decoder) or scored_anyway or words <= lazy
    return "conditional" if worth_it else "simulated"
