"""Classes in groups of equal records, so that a query costs the same however many classes there are.

Under uniform-p the evidence for a class depends on its own record of wins and losses alone. A table that is made once
(`pairsim.decoders.record_evidence`) ranks all records of up to `LONGEST` games; the classes with one record are a
linked list, the one whose record changed last first, and bits in three levels say which ranks have classes. So
a class is moved, and the best rank found, in a few steps. Longer records are listed at the rank next to theirs.

In no list are: the classes that nobody has asked about (the places from `FRESH` on), the leader, the challenger while
its query is open, and the classes that have met all others.

While one class leads, only its own record and those of its challengers change, and it has met those. So the search for
challengers goes down the ranks once per lead. Whom a new leader has met is marked when it takes the lead.

The sum of all weights has two parts (Dekker 1971), because the weight of one class may exceed those of all others by a
factor of 10**16 and leave again.

Classes are places in a random list of the class numbers, so that their order says nothing about the true class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.decoders.record_evidence import LONGEST, WIDTH, record_log
from pairsim.kernels.jit import bare_inner, inner
from pairsim.kernels.rank_set import clear_ranks, drop_rank, enter_rank, has_rank, next_rank, rank_words

NONE = -1
NOBODY_ASKED = -2  # a place in the search: the next of the classes that nobody has asked about

WINS, LOSSES, NEXT, PREVIOUS, RANK, LAST, MET = range(7)  # columns of `classes`
# LAST is the class's last entry in `games`; MET the number of the last lead whose leader has met it
LEADER, CHALLENGER, FRESH, GAMES, LEAD, SCAN_RANK, SCAN_CLASS, BEST_DONE = range(8)  # places in `numbers`
LEADER_LOG, LEADER_WEIGHT, REST, REST_LOW, OPEN_WEIGHT, DONE_LOG, DONE_WEIGHT = range(7)  # places in `totals`
# REST is the sum of all weights but the leader's and OPEN_WEIGHT, that of a challenger whose query is open

HIGHEST = 690.0  # logarithm of a weight: more would overflow, and is as good as certain
ROUNDING = 1e-12  # where a probability is so close to `stop`, it has reached it


class Evidence(NamedTuple):
    """The records of all classes, their ranks, and who has met whom."""

    classes: np.ndarray  # int32[n, 8]
    heads: np.ndarray  # int32[ranks]: the first class of a rank, where the rank has one
    ranks: np.ndarray  # uint64: the set of the ranks that have classes
    games: np.ndarray  # int32[2 * most queries, 2]: opponent, and the class's entry before; two entries per game
    numbers: np.ndarray  # int64[16]
    totals: np.ndarray  # float64[8]


@inner
def new_evidence(n, most, table):
    """Return the arrays for n classes and so many queries; what is never written takes no memory."""
    ranks = table.logs.size
    return Evidence(
        np.empty((n, 8), np.int32),
        np.empty(ranks, np.int32),
        np.empty(rank_words(ranks), np.uint64),
        np.empty((2 * most, 2), np.int32),
        np.zeros(16, np.int64),
        np.zeros(8),
    )


@bare_inner
def open_evidence(known, fresh):
    """Start a trial: nobody has been asked about, and nobody leads; `advance` goes on from here."""
    numbers, totals = known.numbers, known.totals
    clear_ranks(known.ranks)
    enter_rank(known.ranks, fresh)
    numbers[FRESH] = numbers[GAMES] = numbers[LEAD] = 0
    numbers[LEADER] = numbers[CHALLENGER] = numbers[BEST_DONE] = NONE
    totals[REST], totals[REST_LOW], totals[OPEN_WEIGHT] = known.classes.shape[0], 0.0, 0.0
    totals[LEADER_LOG], totals[LEADER_WEIGHT] = -np.inf, 0.0
    totals[DONE_LOG], totals[DONE_WEIGHT] = -np.inf, 0.0


@bare_inner
def advance(known, table, stop, most, leader_wins):  # noqa: PLR0912, PLR0915 - see the docstring
    """Enter the answer to the open query, let the best class lead (the present one among equals), open the next query.

    None is opened where the best class is as likely as `stop`, `most` queries are spent, or all pairs are. All is one
    function, and each step stands in it once, because a call with so many arrays takes as long as a step.
    """
    classes, heads, games, numbers, totals = known.classes, known.heads, known.games, known.numbers, known.totals
    n = classes.shape[0]
    leader, moving = numbers[LEADER], numbers[CHALLENGER]
    if moving != NONE:
        _enter_game(classes, games, numbers, leader, moving, leader_wins)
        wins, losses = classes[leader, WINS], classes[leader, LOSSES]
        if wins + losses <= LONGEST:
            rank = table.ranks[wins * WIDTH + losses]
            totals[LEADER_LOG], totals[LEADER_WEIGHT] = table.logs[rank], table.weights[rank]
        else:
            totals[LEADER_LOG] = record_log(table.win, table.loss, wins, losses)
            totals[LEADER_WEIGHT] = np.exp(min(totals[LEADER_LOG], HIGHEST))
    best = leader
    changes = False
    while moving != NONE or leader == NONE:
        if moving != NONE:  # the challenger first, then a leader that leads no longer
            wins, losses = classes[moving, WINS], classes[moving, LOSSES]
            if wins + losses <= LONGEST:
                rank = table.ranks[wins * WIDTH + losses]
                log, weight = table.logs[rank], table.weights[rank]
            else:
                log = record_log(table.win, table.loss, wins, losses)
                weight = np.exp(min(log, HIGHEST))
                rank = rank_of_long_record(table, log)
            _add_weight(totals, weight)
            if wins + losses < n - 1:
                _list_class(classes, heads, known.ranks, moving, rank)
            elif log >= totals[DONE_LOG]:
                totals[DONE_LOG], totals[DONE_WEIGHT] = log, weight
                numbers[BEST_DONE] = moving
        if changes:
            break
        rank = next_rank(known.ranks, -1)
        if rank < 0:
            break
        best = numbers[FRESH] if rank == table.fresh else np.int64(heads[rank])
        full = leader != NONE and classes[leader, WINS] + classes[leader, LOSSES] == n - 1
        if leader != NONE and not full and (leader_wins or not table.logs[rank] > totals[LEADER_LOG]):
            break
        changes = True
        moving, leader = leader, best
    numbers[CHALLENGER] = NONE
    totals[OPEN_WEIGHT] = 0.0
    for step in range(2):
        if step == 0:
            c = leader if changes else np.int64(NONE)
            rank = np.int64(0)
        elif numbers[GAMES] >= most or is_sure(totals, stop) or _is_full(classes, leader):
            c = np.int64(NONE)
        else:
            rank, c = _search(classes, heads, known.ranks, numbers, table.fresh)
            numbers[CHALLENGER] = c
        if c == NONE:
            continue
        weight, log = 1.0, 0.0
        if c >= numbers[FRESH]:
            _open_class(classes, known.ranks, numbers, table.fresh, c)
        else:
            wins, losses = classes[c, WINS], classes[c, LOSSES]
            _unlist_class(classes, heads, known.ranks, c)
            if wins + losses <= LONGEST:
                rank = table.ranks[wins * WIDTH + losses]
                log, weight = table.logs[rank], table.weights[rank]
            else:
                log = record_log(table.win, table.loss, wins, losses)
                weight = np.exp(min(log, HIGHEST))
        _add_weight(totals, -weight)
        if step == 0:
            totals[LEADER_LOG], totals[LEADER_WEIGHT] = log, weight
            _mark_lead(classes, games, numbers, c)
        else:
            totals[OPEN_WEIGHT] = weight


@bare_inner
def _others(totals):
    """Return the sum of all weights but the best one's and the open one's."""
    rest = totals[REST] + totals[REST_LOW]
    if totals[DONE_WEIGHT] > totals[LEADER_WEIGHT]:  # in two steps: the first difference is of near equals
        rest = (totals[REST] - totals[DONE_WEIGHT]) + totals[REST_LOW] + totals[LEADER_WEIGHT]
    return max(rest, 0.0)


@bare_inner
def is_sure(totals, stop):
    """Say whether the best class is as likely as `stop`; never where `stop` is 1. No query is open."""
    best = max(totals[LEADER_WEIGHT], totals[DONE_WEIGHT])
    return (1.0 - stop) * best * (1.0 + ROUNDING) >= stop * _others(totals)


@bare_inner
def best_probability(totals):
    """Return the posterior probability of the best class."""
    best = max(totals[LEADER_WEIGHT], totals[DONE_WEIGHT])
    return best / (best + _others(totals) + totals[OPEN_WEIGHT])


@bare_inner
def best_class(numbers, totals):
    """Return the class with the most evidence: the leader, unless one that has met all others has more."""
    return numbers[BEST_DONE] if totals[DONE_LOG] > totals[LEADER_LOG] else numbers[LEADER]


@bare_inner
def rank_of_long_record(table, log):
    """Return the first rank with no more evidence than `log`, the last one where all have more.

    It is never the rank of the record without a game, which has no list: its classes are the places from `FRESH` on.
    """
    low, high = 0, table.logs.size - 1
    while low < high:
        middle = (low + high) // 2
        if table.logs[middle] > log:
            low = middle + 1
        else:
            high = middle
    return np.int32(low + 1 if low == table.fresh else low)


@bare_inner
def _enter_game(classes, games, numbers, i, j, i_wins):
    entry = 2 * numbers[GAMES]
    games[entry, 0], games[entry, 1] = j, classes[i, LAST]
    games[entry + 1, 0], games[entry + 1, 1] = i, classes[j, LAST]
    classes[i, LAST], classes[j, LAST] = entry, entry + 1
    numbers[GAMES] += 1
    classes[i, WINS] += i_wins
    classes[j, LOSSES] += i_wins
    classes[i, LOSSES] += 1 - i_wins
    classes[j, WINS] += 1 - i_wins
    classes[j, MET] = numbers[LEAD]


@bare_inner
def _is_full(classes, c):
    return classes[c, WINS] + classes[c, LOSSES] == classes.shape[0] - 1


@bare_inner
def _search(classes, heads, ranks, numbers, fresh):
    """Return the rank and the number of the best class that the leader has not met; there is one."""
    rank, c, lead = numbers[SCAN_RANK], numbers[SCAN_CLASS], numbers[LEAD]
    while c == NONE or (c >= 0 and classes[c, MET] == lead):
        if c >= 0:
            c = np.int64(classes[c, NEXT])
        else:
            rank = next_rank(ranks, rank)
            c = np.int64(NOBODY_ASKED) if rank == fresh else np.int64(heads[rank])
    if c == NOBODY_ASKED:
        c = numbers[FRESH]
        following = NOBODY_ASKED if c + 1 < classes.shape[0] else NONE
    else:
        following = classes[c, NEXT]
    numbers[SCAN_RANK], numbers[SCAN_CLASS] = rank, following
    return rank, c


@bare_inner
def _mark_lead(classes, games, numbers, c):
    """Let a class lead: mark whom it has met; the search for challengers starts at the top."""
    numbers[LEADER] = c
    numbers[LEAD] += 1
    entry = classes[c, LAST]
    while entry != NONE:
        classes[games[entry, 0], MET] = numbers[LEAD]
        entry = games[entry, 1]
    numbers[SCAN_RANK], numbers[SCAN_CLASS] = -1, NONE


@bare_inner
def _open_class(classes, ranks, numbers, fresh, c):
    """Take the next of the classes that nobody has asked about."""
    numbers[FRESH] = c + 1
    classes[c, WINS] = classes[c, LOSSES] = classes[c, MET] = 0
    classes[c, LAST] = NONE
    if c + 1 == classes.shape[0]:
        drop_rank(ranks, fresh)


@bare_inner
def _list_class(classes, heads, ranks, c, rank):
    """Put a class at the head of the list of a rank."""
    following = NONE
    if has_rank(ranks, rank):
        following = heads[rank]
        classes[following, PREVIOUS] = c
    else:
        enter_rank(ranks, rank)
    classes[c, PREVIOUS], classes[c, NEXT], classes[c, RANK] = NONE, following, rank
    heads[rank] = c


@bare_inner
def _unlist_class(classes, heads, ranks, c):
    """Take a class out of its list, and the rank out of the set with its last class."""
    following, before, rank = classes[c, NEXT], classes[c, PREVIOUS], classes[c, RANK]
    if before != NONE:
        classes[before, NEXT] = following
    elif following != NONE:
        heads[rank] = following
    else:
        drop_rank(ranks, rank)
    if following != NONE:
        classes[following, PREVIOUS] = before


@bare_inner
def _add_weight(totals, weight):
    """Add to the sum of weights, with the rounding error in a part of its own."""
    before = totals[REST]
    after = before + weight
    added = after - before
    totals[REST] = after
    totals[REST_LOW] += (before - (after - added)) + (weight - added)
