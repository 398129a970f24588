"""What a trial may take: rejected before the memory is taken, or before hours begin that nothing can interrupt."""

from __future__ import annotations

from collections.abc import Sequence

from pairsim.decoders import Decoder
from pairsim.errors import ParameterError, parameter_error
from pairsim.memory import check_memory
from pairsim.simulation.conditional import CONDITIONAL

MOST_QUERIES = 10**10  # of one trial: minutes on one thread, in which neither Ctrl-C nor a stopping rule is heard
_SLAB_BYTES_PER_SLICE = 512  # of a class: two slabs of counters and of what waits for them
_SLAB_BYTES = 7000  # of a class: orders, plain scores, answers, tops


def check_trial(n: int, decoders: Sequence[Decoder], methods: Sequence[str], scored: bool) -> None:
    """Reject decoders of which one trial asks too much or takes more memory than there is."""
    for decoder, method in zip(decoders, methods, strict=True):
        queries = decoder.cost(n).queries
        if queries > MOST_QUERIES:
            must_be = f"such that a trial takes at most {MOST_QUERIES:,} queries"
            raise parameter_error("simulate", "n", must_be, f"{n} ({decoder.spec}: {queries:,} queries)")
        given_scores = CONDITIONAL.of(decoder)
        if given_scores is not None and method == "conditional":
            given_scores.check_memory(decoder, n)
        elif given_scores is None or not (given_scores.counts_scores and scored):
            check_memory("simulate", "n", n, decoder.memory(n), f"a trial of {decoder.spec}")
        try:
            decoder.kernel(n)  # rejects settings that do not fit n
        except ParameterError:
            raise
        except Exception:  # any other failure is a lost block: the sweep reports it and continues
            pass
    if scored:
        needed = n * (_SLAB_BYTES_PER_SLICE * (n.bit_length() + 1) + _SLAB_BYTES)
        check_memory("simulate", "n", n, needed, "a slab of tournaments")
