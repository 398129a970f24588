"""What a decoder and an oracle are to the compiled code: a NamedTuple and a few functions registered for its type.

The functions here choose by the type of their first argument, in Python (JIT off) and in compiled code alike, so a
loop written once serves every decoder on every oracle, is specialised for each, and is still served from the cache.

A decoder is an ask/tell machine. In each round it has `round_size` queries that do not depend on each other:
query k is `pair(k)`, its answer is told by `record`, and `finish_round` closes the round. A size of 0 ends it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from pairsim.kernels.compiled_form import compiled_form
from pairsim.kernels.jit import BARE_INNER, INNER
from pairsim.kernels.registry import Registry


class DecoderFunctions(NamedTuple):
    """The definition of a decoder. `state` is what `allocate` returned; `key` seeds the decoder's own draws."""

    allocate: Callable[..., Any]  # (decoder, n) -> state
    begin: Callable[..., Any]  # (decoder, state, key): start a new trial
    round_size: Callable[..., Any]  # (decoder, state) -> queries in this round; 0 when done
    pair: Callable[..., Any]  # (decoder, state, k) -> (i, j), query k of this round
    record: Callable[..., Any]  # (decoder, state, k, i, j, i_wins): the answer to it
    finish_round: Callable[..., Any]  # (decoder, state): all answers of the round are in
    winner: Callable[..., Any]  # (decoder, state) -> class, or -1 when none is named
    confidence: Callable[..., Any] | None = None  # (decoder, state) -> its own probability to be right, nan if unknown
    probabilities: Callable[..., Any] | None = None  # (decoder, state, out): those of all classes


class OracleFunctions(NamedTuple):
    """The definition of an oracle: its answers, and the probabilities behind them where it has any."""

    low_wins: Callable[..., Any]  # (oracle, trial, i, j) -> bool, for i < j
    probability: Callable[..., Any] | None  # (oracle, i, j) -> probability that i wins, for i < j
    fill: Callable[..., Any] | None = (
        None  # what `fill_drawn` in tiles.py does, where probabilities differ between trials
    )


DECODERS: Registry[DecoderFunctions] = Registry(
    "DECODERS",
    DecoderFunctions,
    {
        "allocate": "decoder, n",
        "begin": "decoder, state, key",
        "round_size": "decoder, state",
        "pair": "decoder, state, k",
        "record": "decoder, state, k, i, j, i_wins",
        "finish_round": "decoder, state",
        "winner": "decoder, state",
        "confidence": "decoder, state",
        "probabilities": "decoder, state, out",
    },
    optional=("confidence", "probabilities"),
)
ORACLES: Registry[OracleFunctions] = Registry(
    "ORACLES",
    OracleFunctions,
    {
        "low_wins": "oracle, trial, i, j",
        "probability": "oracle, i, j",
        "fill": "oracle, n, low, rows, high, scratch, lanes",
    },
    optional=("probability", "fill"),
)


def define_decoder(
    kernel: type,
    *,
    allocate: Any,
    begin: Any,
    round_size: Any,
    pair: Any,
    record: Any,
    finish_round: Any,
    winner: Any,
    confidence: Any = None,
    probabilities: Any = None,
) -> None:
    """Define the decoder with the compiled form `kernel`, the class of a NamedTuple, by its functions.

    Parameters
    ----------
    kernel : type
        What `Decoder.kernel` returns; the functions get it as `decoder`.
    allocate : function of (decoder, n)
        Returns the state of one trial: an array, or a NamedTuple of arrays.
    begin : function of (decoder, state, key)
        Starts a new trial; `key` seeds the decoder's own draws.
    round_size : function of (decoder, state)
        Returns how many queries the round has, 0 when the decoder is done.
    pair : function of (decoder, state, k)
        Returns the classes (i, j) of query k of the round.
    record : function of (decoder, state, k, i, j, i_wins)
        Takes the answer to it.
    finish_round : function of (decoder, state)
        Closes the round.
    winner : function of (decoder, state)
        Returns the predicted class, -1 for none.
    confidence : function of (decoder, state), optional
        Returns the decoder's own probability that its winner is right, nan where it has none.
    probabilities : function of (decoder, state, out), optional
        Writes the decoder's own probability of each class to `out`, float64[n].
    """
    DECODERS[kernel] = DecoderFunctions(
        allocate, begin, round_size, pair, record, finish_round, winner, confidence, probabilities
    )


def define_oracle(kernel: type, *, low_wins: Any, probability: Any = None, fill: Any = None) -> None:
    """Define the oracle with the compiled form `kernel`, the class of a NamedTuple, by its functions.

    Parameters
    ----------
    kernel : type
        What `Oracle.kernel` returns; the functions get it as `oracle`.
    low_wins : function of (oracle, trial, i, j)
        Returns whether class i wins pair i < j in this trial; the answer must be the same whenever it is asked.
    probability : function of (oracle, i, j), optional
        Returns the probability that i wins pair i < j, where it is the same in every trial and pairs are independent
        (see `define_drawn`); nan where it varies, which then takes a `fill`.
    fill : function of (oracle, n, low, rows, high, scratch, lanes), optional
        Writes the answers of a tile of pairs, 1,024 trials at a time; without it, and without probabilities, every
        query is answered alone.
    """
    ORACLES[kernel] = OracleFunctions(low_wins, probability, fill)


def allocate(decoder, n):
    """Make the state of `decoder` for n classes."""
    return DECODERS[type(decoder)].allocate(decoder, n)


def begin(decoder, state, key):
    """Start a new trial."""
    return DECODERS[type(decoder)].begin(decoder, state, key)


def round_size(decoder, state):
    """Return the number of queries in the current round; 0 means done."""
    return DECODERS[type(decoder)].round_size(decoder, state)


def pair(decoder, state, k):
    """Return the classes (i, j) of query k of the current round."""
    return DECODERS[type(decoder)].pair(decoder, state, k)


def record(decoder, state, k, i, j, i_wins):
    """Tell the answer to query k of the current round."""
    return DECODERS[type(decoder)].record(decoder, state, k, i, j, i_wins)


def finish_round(decoder, state):
    """Close the current round."""
    return DECODERS[type(decoder)].finish_round(decoder, state)


def winner(decoder, state):
    """Return the class that is named, or -1."""
    return DECODERS[type(decoder)].winner(decoder, state)


def confidence(decoder, state):
    """Return the decoder's own probability that its winner is right, nan where it has none."""
    return (DECODERS[type(decoder)].confidence or unknown)(decoder, state)


def probabilities(decoder, state, out):
    """Write the decoder's own probability of each class, nan where it has none."""
    return (DECODERS[type(decoder)].probabilities or unknown_probabilities)(decoder, state, out)


def unknown(decoder, state):
    """Stand in for the confidence of a decoder that has none."""
    return np.nan


def unknown_probabilities(decoder, state, out):
    """Stand in for the probabilities of a decoder that has none."""
    out[:] = np.nan


def low_wins(oracle, trial, i, j):
    """Answer pair i < j in `trial`: does i win?"""
    return ORACLES[type(oracle)].low_wins(oracle, trial, i, j)


def probability(oracle, i, j):
    """Return the probability that i wins pair i < j."""
    return ORACLES[type(oracle)].probability(oracle, i, j)  # type: ignore[misc]


@overload(allocate, jit_options=INNER)
def _allocate(decoder, n):
    return DECODERS[decoder.instance_class].allocate


@overload(begin, jit_options=BARE_INNER)
def _begin(decoder, state, key):
    return compiled_form("begin", decoder.instance_class, DECODERS[decoder.instance_class].begin)


@overload(round_size, inline="always", jit_options=BARE_INNER)
def _round_size(decoder, state):
    return compiled_form("round_size", decoder.instance_class, DECODERS[decoder.instance_class].round_size)


@overload(pair, inline="always", jit_options=BARE_INNER)
def _pair(decoder, state, k):
    return compiled_form("pair", decoder.instance_class, DECODERS[decoder.instance_class].pair)


@overload(record, inline="always", jit_options=BARE_INNER)
def _record(decoder, state, k, i, j, i_wins):
    return compiled_form("record", decoder.instance_class, DECODERS[decoder.instance_class].record)


@overload(finish_round, inline="always", jit_options=BARE_INNER)
def _finish_round(decoder, state):
    return compiled_form("finish_round", decoder.instance_class, DECODERS[decoder.instance_class].finish_round)


@overload(winner, jit_options=BARE_INNER)
def _winner(decoder, state):
    return compiled_form("winner", decoder.instance_class, DECODERS[decoder.instance_class].winner)


@overload(confidence, jit_options=BARE_INNER)
def _confidence(decoder, state):
    return compiled_form("confidence", decoder.instance_class, DECODERS[decoder.instance_class].confidence or unknown)


@overload(probabilities, jit_options=INNER)
def _probabilities(decoder, state, out):
    return DECODERS[decoder.instance_class].probabilities or unknown_probabilities


@overload(low_wins, jit_options=BARE_INNER)
def _low_wins(oracle, trial, i, j):
    return compiled_form("low_wins", oracle.instance_class, ORACLES[oracle.instance_class].low_wins)


@overload(probability, jit_options=INNER)
def _probability(oracle, i, j):
    return ORACLES[oracle.instance_class].probability
