"""Writing one trial down: a decoder at work on an oracle, with every query and answer kept."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder
from pairsim.kernels.jit import bare_inner, jit
from pairsim.kernels.pair_set import add_pair, new_pair_set
from pairsim.kernels.protocol import allocate, begin, finish_round, low_wins, pair, record, round_size, winner
from pairsim.kernels.stream import draw_key, move_trial, new_trial, stream_key
from pairsim.oracles import Oracle


class Transcript(NamedTuple):
    """All queries of a trial, in the order in which they were asked."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    first_wins: NDArray[np.bool_]
    repeated: NDArray[np.bool_]


@jit
def write_down(oracle, decoder, n, stream, number, max_repeats, book, ends):
    """Decode trial `number` step by step as `decode_trials` does, filling `book`; return the winner and the rounds.

    `ends[r]` becomes the number of queries asked up to the end of round r. A loop of its own, since a decoder may
    wait for a hundred thousand rounds and each call from Python costs more than a round.
    """
    state = allocate(decoder, n)
    trial = new_trial()
    known = new_pair_set(max_repeats)
    return _write_rounds(oracle, decoder, stream, number, max_repeats, book, ends, state, trial, known)


@bare_inner
def _write_rounds(oracle, decoder, stream, number, max_repeats, book, ends, state, trial, known):
    """Write the rounds down without counting references: the caller holds all arrays."""
    move_trial(trial, stream, number)
    begin(decoder, state, draw_key(stream, number))
    asked = 0
    rounds = 0
    size = round_size(decoder, state)
    while size > 0:
        for k in range(size):
            i, j = pair(decoder, state, k)
            i_wins = low_wins(oracle, trial, i, j) if i < j else not low_wins(oracle, trial, j, i)
            record(decoder, state, k, i, j, i_wins)
            book.first[asked] = i
            book.second[asked] = j
            book.first_wins[asked] = i_wins
            book.repeated[asked] = max_repeats > 0 and add_pair(known, i, j) == 0
            asked += 1
        ends[rounds] = asked
        rounds += 1
        finish_round(decoder, state)
        size = round_size(decoder, state)
    return winner(decoder, state), rounds


def transcribe(oracle: Oracle, decoder: Decoder, seed: int, trial: int) -> tuple[int | None, Transcript, list[int]]:
    """Return the winner of a trial (None for nobody), its queries, and where its rounds begin and end.

    The book may be longer than the last round's end: a cost is the most that can be asked.

    Examples
    --------
    >>> from pairsim import Ddag, Uniform
    >>> winner, book, edges = transcribe(Uniform(4, 1.0), Ddag(order="given"), seed=0, trial=0)
    >>> winner, book.second.tolist(), edges
    (0, [3, 2, 1], [0, 1, 2, 3])
    """
    n, cost = oracle.n, decoder.cost(oracle.n)
    first, second = np.empty((2, cost.queries), np.int32)
    first_wins, repeated = np.empty((2, cost.queries), np.bool_)
    book = Transcript(first, second, first_wins, repeated)
    ends = np.zeros(cost.rounds, np.int64)
    room = cost.queries if decoder.repeats else 0
    stream = stream_key(seed, n)
    named, rounds = write_down(oracle.kernel(), decoder.kernel(n), n, stream, trial, room, book, ends)
    edges = [0, *ends[:rounds].tolist()]
    return (int(named) if named >= 0 else None), book, edges
