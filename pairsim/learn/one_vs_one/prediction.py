"""Which class each data point is: a decoder on a trained model, by the fastest method for the two."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder
from pairsim.errors import parameter_error
from pairsim.kernels.driver import list_round, name_winner, record_round, start_decoder
from pairsim.kernels.pair_set import new_pair_set
from pairsim.kernels.protocol import allocate
from pairsim.kernels.stream import new_trial, stream_key
from pairsim.learn.compiled.knock_outs import games_by_place, play_challenges, play_knock_outs, write_order
from pairsim.learn.compiled.prediction import KernelRows, LinearRows, decode_rows, first_draws
from pairsim.models import KernelPairs, LinearPairs, PairModel, PipelinePairs, Points
from pairsim.models.base import count_rows, take_rows
from pairsim.models.linear import as_double
from pairsim.oracles import Recorded

CHUNK_BYTES = 32 << 20  # of kernel values or votes held at a time
MOST_OF_THE_PAIRS = 0.3  # a decoder that may ask this share of the pairs gets all of them by matrix products
NO_REPEATS = np.zeros(1, np.uint64)
KNOCK_OUT_ROWS = 512  # data points that play slot by slot: few enough to stay in the cache


class RowCosts(NamedTuple):
    """What the decision about each row cost: queries, different pairs, rounds."""

    queries: NDArray[np.int64]
    distinct: NDArray[np.int64]
    rounds: NDArray[np.int64]


def name_classes(model: PairModel, decoder: Decoder, X: Any, seed: int = 0) -> tuple[NDArray[np.int64], RowCosts]:
    """Return the number of the class that the decoder names for each row of X, and what each decision cost.

    The answer for a row is what the decoder makes of the model's own votes on it, whatever rows are beside it.
    """
    if getattr(decoder, "ties", None) == "lose":
        raise parameter_error(
            "PairwiseClassifier", "decoder", "one that always names a class (ties not 'lose')", decoder.spec
        )
    points = X if model.takes(X) else model._check(X)
    while isinstance(model, PipelinePairs):
        model = model.model
    rows = count_rows(points)
    winners, costs = np.empty(rows, np.int64), np.zeros((rows, 3), np.int64)
    step = _rows_at_a_time(model)
    for first in range(0, rows, step):
        piece = slice(first, min(first + step, rows))
        _decode(model, decoder, take_rows(points, piece), seed, winners[piece], costs[piece])
    return winners, RowCosts(*np.ascontiguousarray(costs.T))


def _rows_at_a_time(model: PairModel) -> int:
    numbers = model.kernel.size if isinstance(model, KernelPairs) else (model.n_features or model.pairs)
    return max(1, CHUNK_BYTES // (8 * max(1, numbers)))


def _decode(
    model: PairModel, decoder: Decoder, points: Any, seed: int, winners: NDArray[np.int64], costs: NDArray[np.int64]
) -> None:
    """Decode some rows, which were checked."""
    asks_most = decoder.cost(model.n).queries >= MOST_OF_THE_PAIRS * model.pairs and not decoder.adaptive
    rows: LinearRows | KernelRows | None = None
    if isinstance(model, KernelPairs):
        rows = _kernel_rows(model, points)
    elif isinstance(model, LinearPairs) and not asks_most and isinstance(points, np.ndarray):
        rows = _linear_rows(model, points)
    if rows is not None:
        _run(rows, decoder, model.n, seed, winners, costs)
        doubtful = np.flatnonzero(rows.doubt)
        if doubtful.size:  # rounding could have changed a vote: ask the model's own arithmetic
            again, cost = np.empty(doubtful.size, np.int64), np.zeros((doubtful.size, 3), np.int64)
            _decode_answers(model, decoder, take_rows(points, doubtful), seed, again, cost)
            winners[doubtful], costs[doubtful] = again, cost
    elif asks_most or isinstance(model, LinearPairs):
        _decode_answers(model, decoder, points, seed, winners, costs)
    else:
        _decode_in_rounds(model._points(points), decoder, model.n, seed, winners, costs)


def _linear_rows(model: LinearPairs, points: Any) -> LinearRows:
    work = as_double(points)
    slack = model._slack(work)
    doubt = np.zeros(len(work), np.uint8)
    return LinearRows(work, model.coef, model.intercept, *slack, doubt, model.n)


def _kernel_rows(model: KernelPairs, points: Any) -> KernelRows:
    rows = model.kernel.rows(points)
    values = model.kernel.block(rows, slice(None), 0, model.kernel.size)
    slack = model._slack(rows.largest, rows.error)
    doubt = np.zeros(len(values), np.uint8)
    return KernelRows(values, model.dual, model.borders, model.intercept, *slack, doubt, model.n)


def _run(
    oracle: Any, decoder: Decoder, n: int, seed: int, winners: NDArray[np.int64], costs: NDArray[np.int64]
) -> None:
    """Let the decoder ask the oracle about every row."""
    rows = np.arange(len(winners))
    if decoder.knock_out and n > 2:
        rows = _knock_out(oracle, decoder, seed, winners, costs)
    if rows.size:
        kernel = decoder.kernel(n)
        pairs = new_pair_set(decoder.cost(n).queries) if decoder.repeats else NO_REPEATS
        key = np.uint64(first_draws(stream_key(seed, n)))
        decode_rows(oracle, kernel, allocate(kernel, n), new_trial(), pairs, key, rows, winners, costs)


class KnockOut(NamedTuple):
    """What the knock-outs of all rows share: the list of the first round, and the games of whoever wins it."""

    order: NDArray[np.int64]
    games: NDArray[np.int64]  # by class


@functools.lru_cache(maxsize=64)
def _plan_knock_out(decoder: Decoder, n: int, seed: int) -> KnockOut:
    order, games = np.empty(n, np.int64), np.empty(n, np.int64)
    write_order(decoder.kernel(n), np.uint64(first_draws(stream_key(seed, n))), order)
    games[order] = games_by_place(n)
    return KnockOut(order, games)


def _knock_out(
    oracle: Any, decoder: Decoder, seed: int, winners: NDArray[np.int64], costs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Decide what a knock-out (and its winner's games with everybody) decides; return the rows that need more."""
    n, rows = oracle.n, len(winners)
    plan, trial = _plan_knock_out(decoder, n, seed), new_trial()
    standing = np.empty(((n + 1) // 2, min(rows, KNOCK_OUT_ROWS)), np.int64)
    for first in range(0, rows, KNOCK_OUT_ROWS):
        play_knock_outs(oracle, trial, plan.order, first, standing[:, : rows - first], winners)
    costs[:] = n - 1, n - 1, (n - 1).bit_length()
    if decoder.knock_out == "decides":
        return np.empty(0, np.int64)
    beaten = np.zeros(rows, np.uint8)
    play_challenges(oracle, trial, winners, np.argsort(winners, kind="stable"), beaten)
    more = n - 1 - plan.games[winners]
    costs[:, 0] += more
    costs[:, 1] += more
    costs[:, 2] += more > 0
    return np.flatnonzero(beaten)


def _decode_answers(
    model: PairModel, decoder: Decoder, points: Any, seed: int, winners: NDArray[np.int64], costs: NDArray[np.int64]
) -> None:
    """Compute all votes, some rows at a time, and let the decoder read them."""
    for piece, margins in model._pieces(points):
        recorded = Recorded(margins > 0.0)
        _run(recorded.kernel(), decoder, model.n, seed, winners[piece], costs[piece])


def _decode_in_rounds(
    points: Points, decoder: Decoder, n: int, seed: int, winners: NDArray[np.int64], costs: NDArray[np.int64]
) -> None:
    """Let all rows ask their round at once, so that an estimator answers all queries about its pair in one call."""
    kernel, stream = decoder.kernel(n), stream_key(seed, n)
    states = [start_decoder(kernel, n, stream) for _ in winners]
    known: list[dict[tuple[int, int], bool]] = [{} for _ in winners]
    open_rows = list(range(len(winners)))
    while open_rows:
        rounds = {row: list_round(kernel, states[row]) for row in open_rows}
        open_rows = [row for row in open_rows if len(rounds[row])]
        asked = [
            (row, *query)
            for row in open_rows
            for query in dict.fromkeys(map(tuple, np.sort(rounds[row], axis=1).tolist()))
            if query not in known[row]
        ]
        if asked:
            which, low, high = np.array(asked, np.int64).T
            for (row, i, j), margin in zip(asked, points.margins(which, low, high).tolist(), strict=True):
                known[row][i, j] = margin > 0.0
        for row in open_rows:
            queries = rounds[row]
            first_wins = [known[row][i, j] if i < j else not known[row][j, i] for i, j in queries.tolist()]
            record_round(kernel, states[row], queries, np.array(first_wins, np.bool_))
            costs[row] += (len(queries), 0, 1)
    for row, state in enumerate(states):
        winners[row] = name_winner(kernel, state)
        costs[row, 1] = len(known[row])
