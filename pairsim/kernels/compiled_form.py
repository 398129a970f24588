"""How the protocol's functions are compiled into the driver's loops.

They are inlined, because a call that passes a decoder and its state takes as long as a query. And they do not
count references to arrays: a trial's arrays belong to the driver, and atomic additions took most of the time of
decoders that ask one query per round. pairsim's own functions neither make nor keep arrays; one from elsewhere may do
either, so it is called, and compiled with the counting. One that branches is called, too, because numba's inliner
leaves it with several definitions of a variable.

Whoever pastes them (`round_size`, `pair`, `record`, `finish_round`) must not allocate the state in the same function:
numba then gives the state's memory back before its last use (`tests/kernels/test_reference_counts.py`).
"""

from __future__ import annotations

import dis
import functools
from typing import Any

from pairsim.kernels.jit import bare_inner, inner
from pairsim.kernels.signatures import is_ours


def compiled_form(name: str, kernel: type, function: Any) -> Any:
    """Return what stands for the protocol function `name` of the type `kernel` in the driver's loops."""
    ours = is_ours(kernel)
    if ours and _is_straight(function):
        return function
    return _calling(name, function, ours)


def _is_straight(function: Any) -> bool:
    """Say whether a function has no branch: one return, and no jump."""
    steps = [step.opname for step in dis.get_instructions(function)]
    return sum(step.startswith("RETURN") for step in steps) == 1 and not any("JUMP" in step for step in steps)


@functools.cache
def _calling(name: str, function: Any, bare: bool) -> Any:
    return _CALLERS[name]((bare_inner if bare else inner)(function))


# numba compares parameters by name, so there is a caller for each list of them
def _call_begin(called: Any) -> Any:
    def begin(decoder, state, key):
        return called(decoder, state, key)

    return begin


def _call_with_state(called: Any) -> Any:
    def with_state(decoder, state):
        return called(decoder, state)

    return with_state


def _call_pair(called: Any) -> Any:
    def pair(decoder, state, k):
        return called(decoder, state, k)

    return pair


def _call_record(called: Any) -> Any:
    def record(decoder, state, k, i, j, i_wins):
        return called(decoder, state, k, i, j, i_wins)

    return record


def _call_low_wins(called: Any) -> Any:
    def low_wins(oracle, trial, i, j):
        return called(oracle, trial, i, j)

    return low_wins


_CALLERS = {
    "begin": _call_begin,
    "round_size": _call_with_state,
    "pair": _call_pair,
    "record": _call_record,
    "finish_round": _call_with_state,
    "winner": _call_with_state,
    "confidence": _call_with_state,
    "low_wins": _call_low_wins,
}
