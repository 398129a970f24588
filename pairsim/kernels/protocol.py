"""What a decoder and an oracle are to the compiled code: a NamedTuple and a few functions registered for its type.

The functions here choose by the type of their first argument, in Python (JIT off) and in compiled code alike, so a
loop written once serves every decoder on every oracle, is specialised for each, and is still served from the cache.

A decoder is an ask/tell machine. In each round it has `round_size` questions that do not depend on each other:
question k is `pair(k)`, its answer is told by `record`, and `finish_round` closes the round. A size of 0 ends it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba.extending import overload

from pairsim.kernels.jit import INNER


class DecoderFunctions(NamedTuple):
    """The definition of a decoder. `state` is what `allocate` returned; `key` seeds the decoder's own draws."""

    allocate: Callable[..., Any]  # (decoder, n) -> state
    begin: Callable[..., Any]  # (decoder, state, key): start a new trial
    round_size: Callable[..., Any]  # (decoder, state) -> questions in this round; 0 when done
    pair: Callable[..., Any]  # (decoder, state, k) -> (i, j), question k of this round
    record: Callable[..., Any]  # (decoder, state, k, i, j, i_wins): the answer to it
    finish_round: Callable[..., Any]  # (decoder, state): all answers of the round are in
    winner: Callable[..., Any]  # (decoder, state) -> class, or -1 when none is named


class OracleFunctions(NamedTuple):
    """The definition of an oracle: its answers, and the chances behind them where it has any."""

    low_wins: Callable[..., Any]  # (oracle, trial, i, j) -> bool, for i < j
    probability: Callable[..., Any] | None  # (oracle, i, j) -> chance that i wins, for i < j
    fill: Callable[..., Any] | None = None  # what `fill_drawn` in tiles.py does, where chances differ between trials


DECODERS: dict[type, DecoderFunctions] = {}
ORACLES: dict[type, OracleFunctions] = {}


def allocate(decoder, n):
    """Make the state of `decoder` for n classes."""
    return DECODERS[type(decoder)].allocate(decoder, n)


def begin(decoder, state, key):
    """Start a new trial."""
    return DECODERS[type(decoder)].begin(decoder, state, key)


def round_size(decoder, state):
    """Return the number of questions in the current round; 0 means done."""
    return DECODERS[type(decoder)].round_size(decoder, state)


def pair(decoder, state, k):
    """Return the classes (i, j) of question k of the current round."""
    return DECODERS[type(decoder)].pair(decoder, state, k)


def record(decoder, state, k, i, j, i_wins):
    """Tell the answer to question k of the current round."""
    return DECODERS[type(decoder)].record(decoder, state, k, i, j, i_wins)


def finish_round(decoder, state):
    """Close the current round."""
    return DECODERS[type(decoder)].finish_round(decoder, state)


def winner(decoder, state):
    """Return the class that is named, or -1."""
    return DECODERS[type(decoder)].winner(decoder, state)


def low_wins(oracle, trial, i, j):
    """Answer pair i < j in `trial`: does i win?"""
    return ORACLES[type(oracle)].low_wins(oracle, trial, i, j)


def probability(oracle, i, j):
    """Return the chance that i wins pair i < j."""
    return ORACLES[type(oracle)].probability(oracle, i, j)  # type: ignore[misc]


@overload(allocate, jit_options=INNER)
def _allocate(decoder, n):
    return DECODERS[decoder.instance_class].allocate


@overload(begin, jit_options=INNER)
def _begin(decoder, state, key):
    return DECODERS[decoder.instance_class].begin


@overload(round_size, jit_options=INNER)
def _round_size(decoder, state):
    return DECODERS[decoder.instance_class].round_size


@overload(pair, jit_options=INNER)
def _pair(decoder, state, k):
    return DECODERS[decoder.instance_class].pair


@overload(record, jit_options=INNER)
def _record(decoder, state, k, i, j, i_wins):
    return DECODERS[decoder.instance_class].record


@overload(finish_round, jit_options=INNER)
def _finish_round(decoder, state):
    return DECODERS[decoder.instance_class].finish_round


@overload(winner, jit_options=INNER)
def _winner(decoder, state):
    return DECODERS[decoder.instance_class].winner


@overload(low_wins, jit_options=INNER)
def _low_wins(oracle, trial, i, j):
    return ORACLES[oracle.instance_class].low_wins


@overload(probability, jit_options=INNER)
def _probability(oracle, i, j):
    return ORACLES[oracle.instance_class].probability
