"""Classes in groups of equal evidence, so that a query costs the same however many classes there are.

Under uniform-p the evidence for a class depends on its own record alone, and records repeat: the classes that lost
their only game are a group, those that nobody has asked about are another. The groups are a linked list sorted by
evidence, highest first; each is a linked list of its classes, the one whose record changed first at its head. The
classes that nobody has asked about are in no list: they are the places from `FRESH` on. The leader is in no group
either.

While one class leads, only its own record and those of its challengers change, and it has met those. So the search for
challengers goes down the list once per lead. Whether the leader has met a class is found in the games of the one of
them with fewer games, mostly one or two.

Classes are places in a random list of the class numbers, so that their order says nothing about the true class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.decoders.record_evidence import record_log
from pairsim.kernels.jit import bare_inner, inner

END = 0  # the group before the first and after the last
UNMET = 1  # the group of the classes that nobody has asked about
NONE = -1

WINS, LOSSES, NEXT, PREVIOUS, GROUP, LAST = range(6)  # columns of `classes`; LAST is the class's last entry in `games`
HEAD, TAIL, ABOVE, BELOW, COUNT = range(5)  # columns of `groups`; ABOVE of a free group is the next free one
LOG, WEIGHT = range(2)  # columns of `evidence`: its logarithm, and exp(logarithm - REFERENCE)
LEADER, CHALLENGER, FRESH, FREE, UNUSED, GAMES, SCAN_GROUP, SCAN_CLASS, NEAR = range(9)  # of `numbers`
LEADER_LOG, LEADER_WEIGHT, REST, REFERENCE, TAKEN = range(5)  # of `totals`
# REST is the sum of all weights but the leader's; TAKEN the weight of who was taken out of a group last

HIGHEST = 400.0  # logarithm of the leader's weight: beyond it, REFERENCE is moved
OPPONENT = 0xFFFFFFFF


class Evidence(NamedTuple):
    """The records of all classes, their groups, and who has met whom."""

    classes: np.ndarray  # int64[n, 8], a cache line per class
    groups: np.ndarray  # int64[n + 3, 8]
    evidence: np.ndarray  # float64[n + 3, 2]
    games: np.ndarray  # int64[2 * most queries]: a class, and from bit 32 its entry before; opponents side by side
    numbers: np.ndarray  # int64[16]
    totals: np.ndarray  # float64[5]


@inner
def new_evidence(n, most):
    """Return the arrays for n classes and so many queries; what is never written takes no memory."""
    classes, groups = np.empty((n, 8), np.int64), np.empty((n + 3, 8), np.int64)
    games = np.empty(2 * most, np.int64)
    return Evidence(classes, groups, np.empty((n + 3, 2)), games, np.zeros(16, np.int64), np.zeros(5))


@bare_inner
def open_evidence(classes, groups, evidence, numbers, totals):
    """Start a trial: nobody has been asked about, and place 0 leads."""
    n = classes.shape[0]
    numbers[FRESH] = numbers[GAMES] = 0
    numbers[FREE] = NONE
    numbers[UNUSED] = UNMET + 1  # groups from here on were never used
    groups[END, ABOVE] = groups[END, BELOW] = UNMET
    groups[END, HEAD] = NONE
    groups[UNMET, ABOVE] = groups[UNMET, BELOW] = END
    groups[UNMET, HEAD] = NONE
    groups[UNMET, COUNT] = n
    evidence[END, LOG], evidence[END, WEIGHT] = np.inf, 0.0
    evidence[UNMET, LOG], evidence[UNMET, WEIGHT] = 0.0, 1.0
    totals[REST] = n
    totals[REFERENCE] = 0.0
    _take_lead(classes, groups, evidence, numbers, totals, 0)


@bare_inner
def best_probability(groups, evidence, totals):
    """Return the posterior probability of the best class, the leader or one that has met everybody."""
    top = groups[END, BELOW]
    leads = top == END or not evidence[top, LOG] > totals[LEADER_LOG]
    best = totals[LEADER_WEIGHT] if leads else evidence[top, WEIGHT]
    return best / (totals[REST] + totals[LEADER_WEIGHT])


@bare_inner
def best_class(groups, evidence, numbers, totals):
    """Return the class with the most evidence: the leader, unless one that has met everybody has more."""
    top = groups[END, BELOW]
    if top == END or not evidence[top, LOG] > totals[LEADER_LOG]:
        return numbers[LEADER]
    return groups[top, HEAD]


@bare_inner
def sum_anew(groups, evidence, totals):
    """Sum the weights of all groups, free of what rounding left behind, and small enough to be added."""
    if totals[LEADER_LOG] - totals[REFERENCE] > HIGHEST:
        totals[REFERENCE] = totals[LEADER_LOG]
    totals[LEADER_WEIGHT] = np.exp(totals[LEADER_LOG] - totals[REFERENCE])
    rest = 0.0
    g = groups[END, BELOW]
    while g != END:
        evidence[g, WEIGHT] = np.exp(evidence[g, LOG] - totals[REFERENCE])
        rest += groups[g, COUNT] * evidence[g, WEIGHT]
        g = groups[g, BELOW]
    totals[REST] = rest


@bare_inner
def find_challenger(classes, groups, evidence, games, numbers, totals):
    """Take the best class that the leader has not met out of its group and return it; NONE where there is none.

    A leader that has met everybody goes to the groups, and the best class that has not leads.
    """
    leader = numbers[LEADER]
    if classes[leader, WINS] + classes[leader, LOSSES] == classes.shape[0] - 1:
        best = _best_open(classes, groups, numbers)
        if best == NONE:
            return NONE
        _change_lead(classes, groups, evidence, numbers, totals, best)
        leader = best
    g, c = numbers[SCAN_GROUP], numbers[SCAN_CLASS]
    while g != UNMET and (c == NONE or _have_met(classes, games, leader, c)):
        if c != NONE:
            c = classes[c, NEXT]
        else:
            g = groups[g, BELOW]
            c = groups[g, HEAD]
    if g == UNMET:
        c = numbers[FRESH]
        following = NONE
        if c + 1 == classes.shape[0]:
            g = groups[g, BELOW]
            following = groups[g, HEAD]
    else:
        following = classes[c, NEXT]
        if following == NONE:  # the group may vanish with its last class
            g = groups[g, BELOW]
            following = groups[g, HEAD]
    numbers[SCAN_GROUP], numbers[SCAN_CLASS] = g, following
    _take_class(classes, groups, evidence, numbers, totals, c)
    return c


@bare_inner
def enter_answer(classes, groups, evidence, games, numbers, totals, odds, leader_wins):
    """Enter a game of the leader and its challenger; the best class leads then, the present leader among equals.

    `odds` holds what a win and a loss say, as logarithms and as factors.
    """
    leader, challenger = numbers[LEADER], numbers[CHALLENGER]
    _note_game(classes, games, numbers, leader, challenger)
    classes[leader, WINS] += leader_wins
    classes[challenger, LOSSES] += leader_wins
    classes[leader, LOSSES] += 1 - leader_wins
    classes[challenger, WINS] += 1 - leader_wins
    log = record_log(odds.win, odds.loss, classes[challenger, WINS], classes[challenger, LOSSES])
    totals[LEADER_LOG] = record_log(odds.win, odds.loss, classes[leader, WINS], classes[leader, LOSSES])
    if odds.win > 0.0:  # known p: multiplying is faster than taking exponentials, and `sum_anew` does not rely on it
        weight = totals[TAKEN] * (odds.loss_factor if leader_wins else odds.win_factor)
        totals[LEADER_WEIGHT] *= odds.win_factor if leader_wins else odds.loss_factor
    else:
        weight = np.exp(log - totals[REFERENCE])
        totals[LEADER_WEIGHT] = np.exp(totals[LEADER_LOG] - totals[REFERENCE])
    near = numbers[NEAR] if leader_wins else END
    _put_class(classes, groups, evidence, numbers, totals, challenger, log, weight, near)
    if not leader_wins:
        best = _best_open(classes, groups, numbers)
        if best != NONE and evidence[_group_of(classes, numbers, best), LOG] > totals[LEADER_LOG]:
            _change_lead(classes, groups, evidence, numbers, totals, best)


@bare_inner
def _change_lead(classes, groups, evidence, numbers, totals, best):
    log, weight = totals[LEADER_LOG], totals[LEADER_WEIGHT]
    _put_class(classes, groups, evidence, numbers, totals, numbers[LEADER], log, weight, END)
    _take_lead(classes, groups, evidence, numbers, totals, best)


@bare_inner
def _group_of(classes, numbers, c):
    return UNMET if c >= numbers[FRESH] else classes[c, GROUP]


@bare_inner
def _best_open(classes, groups, numbers):
    """Return the best class in the groups that has not met everybody; NONE where there is none."""
    most = classes.shape[0] - 1
    g = groups[END, BELOW]
    while g != END:
        if g == UNMET:
            return numbers[FRESH]
        c = groups[g, HEAD]
        while c != NONE:
            if classes[c, WINS] + classes[c, LOSSES] < most:
                return c
            c = classes[c, NEXT]
        g = groups[g, BELOW]
    return NONE


@bare_inner
def _take_lead(classes, groups, evidence, numbers, totals, c):
    """Take a class out of its group and let it lead; its challengers are looked for from the top."""
    totals[LEADER_LOG] = evidence[_group_of(classes, numbers, c), LOG]
    _take_class(classes, groups, evidence, numbers, totals, c)
    totals[LEADER_WEIGHT] = totals[TAKEN]
    numbers[LEADER] = c
    top = groups[END, BELOW]
    numbers[SCAN_GROUP], numbers[SCAN_CLASS] = top, groups[top, HEAD]


@bare_inner
def _take_class(classes, groups, evidence, numbers, totals, c):
    """Take a class out of its group, and the group out of the list with its last class."""
    g = _group_of(classes, numbers, c)
    if g == UNMET:
        numbers[FRESH] = c + 1
        classes[c, WINS] = classes[c, LOSSES] = 0
        classes[c, LAST] = NONE
    else:
        following, before = classes[c, NEXT], classes[c, PREVIOUS]
        if before == NONE:
            groups[g, HEAD] = following
        else:
            classes[before, NEXT] = following
        if following == NONE:
            groups[g, TAIL] = before
        else:
            classes[following, PREVIOUS] = before
    totals[TAKEN] = evidence[g, WEIGHT]
    totals[REST] -= totals[TAKEN]
    groups[g, COUNT] -= 1
    numbers[NEAR] = groups[g, ABOVE]
    if groups[g, COUNT] == 0:
        above, below = groups[g, ABOVE], groups[g, BELOW]
        groups[above, BELOW], groups[below, ABOVE] = below, above
        if g != UNMET:
            groups[g, ABOVE] = numbers[FREE]
            numbers[FREE] = g


@bare_inner
def _put_class(classes, groups, evidence, numbers, totals, c, log, weight, near):
    """Put a class at the end of the group of its evidence, which is below the group `near`."""
    above = near
    g = groups[above, BELOW]
    while g != END and evidence[g, LOG] > log:
        above = g
        g = groups[g, BELOW]
    if g in (END, UNMET) or evidence[g, LOG] != log:
        g = _new_group(groups, numbers, above, g)
        evidence[g, LOG], evidence[g, WEIGHT] = log, weight
    last = groups[g, TAIL]
    classes[c, PREVIOUS], classes[c, NEXT], classes[c, GROUP] = last, NONE, g
    if last == NONE:
        groups[g, HEAD] = c
    else:
        classes[last, NEXT] = c
    groups[g, TAIL] = c
    groups[g, COUNT] += 1
    totals[REST] += evidence[g, WEIGHT]


@bare_inner
def _new_group(groups, numbers, above, below):
    g = numbers[FREE]
    if g == NONE:
        g = numbers[UNUSED]
        numbers[UNUSED] = g + 1
    else:
        numbers[FREE] = groups[g, ABOVE]
    groups[g, ABOVE], groups[g, BELOW] = above, below
    groups[above, BELOW] = groups[below, ABOVE] = g
    groups[g, HEAD] = groups[g, TAIL] = NONE
    groups[g, COUNT] = 0
    return g


@bare_inner
def _have_met(classes, games, i, j):
    if classes[i, WINS] + classes[i, LOSSES] > classes[j, WINS] + classes[j, LOSSES]:
        i, j = j, i
    entry = classes[i, LAST]
    while entry != NONE:
        if games[entry ^ 1] & OPPONENT == j:
            return True
        entry = games[entry] >> 32
    return False


@bare_inner
def _note_game(classes, games, numbers, i, j):
    entry = 2 * numbers[GAMES]
    games[entry] = i | (classes[i, LAST] << 32)
    games[entry + 1] = j | (classes[j, LAST] << 32)
    classes[i, LAST], classes[j, LAST] = entry, entry + 1
    numbers[GAMES] += 1
