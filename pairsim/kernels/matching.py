"""The cheapest perfect matching of a graph: who plays whom, so that the games cost least together.

Edmonds' blossom algorithm with dual variables, in O(n**3) for dense graphs. In each phase trees grow from all vertices
that have no mate; a vertex of a tree is outer (at an even distance from the root) or inner. An edge that has become
tight joins a new vertex to a tree, closes an odd cycle (which shrinks to a blossom), or joins two trees: then the
matching grows by one pair. Where no edge is tight, the duals are moved until one is.

Costs are integers, so that "tight" is an exact question: sums of rounded numbers would have to be compared with a
tolerance, and a wrong answer there is a wrong matching or an endless loop.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.blossoms import (
    BEST,
    CHILD,
    DUAL,
    FREE,
    GAP,
    INNER,
    LABEL,
    MARK,
    MATE,
    NEVER,
    NODES,
    OUTER,
    PARENT,
    QUEUE,
    QUEUED,
    TALLY,
    TIME,
    TOP,
    VERTICES,
    augment,
    common_ancestor,
    enqueue,
    expand,
    forget_best,
    new_room,
    shrink,
)
from pairsim.kernels.jit import bare_inner, bare_jit

MOST_COST = 1 << 55  # duals add up a few of them


@bare_inner
def use_edge(room, u, v):
    """Take up a tight edge from outer vertex u; return whether the matching has grown."""
    a, b = room.node[TOP, u], room.node[TOP, v]
    if room.node[LABEL, b] == FREE:
        room.node[PARENT, b] = u
        room.node[LABEL, b] = INNER
        above = room.node[TOP, room.node[MATE, b]]
        forget_best(room, b)
        forget_best(room, above)
        room.node[LABEL, above] = OUTER
        enqueue(room, above)
    elif room.node[LABEL, b] == OUTER:
        base = common_ancestor(room, a, b)
        if base == 0:
            augment(room, a, b)
            augment(room, b, a)
            return True
        shrink(room, a, base, b)
    return False


@bare_inner
def scan_queue(room):
    """Look at the edges of all queued vertices; return whether the matching has grown."""
    count = room.node[TALLY]
    taken = 0
    while taken < count[QUEUED]:
        u = room.node[QUEUE, taken]
        taken += 1
        if room.node[LABEL, room.node[TOP, u]] == INNER:
            continue
        for v in range(1, count[VERTICES] + 1):
            node = room.node[TOP, v]
            if room.node[LABEL, node] == INNER or room.gain[u, v] == 0 or room.node[TOP, u] == node:
                continue
            slack = room.node[DUAL, u] + room.node[DUAL, v] - 2 * room.gain[u, v]
            if slack == 0:
                if use_edge(room, u, v):
                    return True
            elif (
                slack < room.node[GAP, node]
            ):  # within a blossom slacks keep their order: this is the best edge from u to it
                room.node[BEST, node] = u
                room.node[GAP, node] = slack
    count[QUEUED] = 0
    return False


@bare_inner
def largest_step(room):
    """Return how far the duals can be moved until something becomes tight, or a blossom's dual 0."""
    step = NEVER
    for b in range(room.node[TALLY, VERTICES] + 1, room.node[TALLY, NODES] + 1):
        if room.node[TOP, b] == b and room.node[LABEL, b] == INNER:
            step = min(step, room.node[DUAL, b] // 2)
    for x in range(1, room.node[TALLY, NODES] + 1):
        if room.node[TOP, x] == x and room.node[BEST, x] != 0:
            if room.node[LABEL, x] == FREE:
                step = min(step, room.node[GAP, x])
            elif room.node[LABEL, x] == OUTER:
                step = min(
                    step, room.node[GAP, x] // 2
                )  # an even number: the duals of all outer vertices have one parity
    return step


@bare_inner
def move_duals(room, step):
    """Move the duals: outer vertices down, inner ones up, blossoms the other way round and twice as far.

    Roots are never matched, so they have all moved by the same; a tight edge joins duals of one parity.
    """
    for u in range(1, room.node[TALLY, VERTICES] + 1):
        label = room.node[LABEL, room.node[TOP, u]]
        if label == OUTER:
            room.node[DUAL, u] -= step
        elif label == INNER:
            room.node[DUAL, u] += step
    for b in range(room.node[TALLY, VERTICES] + 1, room.node[TALLY, NODES] + 1):
        if room.node[TOP, b] == b:
            if room.node[LABEL, b] == OUTER:
                room.node[DUAL, b] += 2 * step
            elif room.node[LABEL, b] == INNER:
                room.node[DUAL, b] -= 2 * step
    for x in range(1, room.node[TALLY, NODES] + 1):
        if room.node[TOP, x] == x and room.node[BEST, x] != 0:
            if room.node[LABEL, x] == FREE:
                room.node[GAP, x] -= step
            elif room.node[LABEL, x] == OUTER:
                room.node[GAP, x] -= 2 * step


@bare_inner
def add_pair(room):
    """Make the matching larger by one pair; return whether it could be."""
    count = room.node[TALLY]
    count[QUEUED] = 0
    for x in range(1, count[NODES] + 1):
        room.node[LABEL, x] = FREE
        forget_best(room, x)
    for x in range(1, count[NODES] + 1):
        if room.node[TOP, x] == x and room.node[MATE, x] == 0:
            room.node[PARENT, x] = 0
            room.node[LABEL, x] = OUTER
            enqueue(room, x)
    while True:
        if scan_queue(room):
            return True
        step = largest_step(room)
        if step == NEVER:
            return False
        move_duals(room, step)
        for x in range(1, count[NODES] + 1):
            near = room.node[BEST, x]
            tight = room.node[TOP, x] == x and near != 0 and room.node[GAP, x] == 0 and room.node[TOP, near] != x
            if tight and use_edge(room, room.ends[near, x, 0], room.ends[near, x, 1]):
                return True
        for b in range(count[VERTICES] + 1, count[NODES] + 1):
            if room.node[TOP, b] == b and room.node[LABEL, b] == INNER and room.node[DUAL, b] == 0:
                expand(room, b)


@bare_inner
def begin_matching(room, size):
    """Start with duals as low as they may be, and match what is tight already."""
    count, dual, mate = room.node[TALLY], room.node[DUAL], room.node[MATE]
    count[VERTICES] = size
    count[NODES] = size
    count[TIME] = 0
    for x in range(dual.size):
        room.node[TOP, x] = 0
        mate[x] = 0
        room.node[MARK, x] = 0
    for u in range(1, size + 1):
        room.node[TOP, u] = u
        dual[u] = 0
        for v in range(1, size + 1):
            linked = room.gain[u, v] != 0
            room.ends[u, v, 0] = u if linked else 0
            room.ends[u, v, 1] = v if linked else 0
            room.members[CHILD, u, v] = u if u == v else 0
            dual[u] = max(dual[u], room.gain[u, v])
    for u in range(1, size + 1):
        if mate[u] == 0:
            lowest = -NEVER
            for v in range(1, size + 1):
                if room.gain[u, v] != 0:
                    lowest = max(lowest, 2 * room.gain[u, v] - dual[v])
            dual[u] = lowest
            for v in range(1, size + 1):
                if mate[v] == 0 and room.gain[u, v] != 0 and dual[u] + dual[v] == 2 * room.gain[u, v]:
                    mate[u] = v
                    mate[v] = u
                    break


@bare_jit
def pair_up(room, costs, players, size, barred, mates):
    """Write the place of each player's opponent, its own place for one that has a bye: least cost together.

    `players` holds numbers of rows and columns of `costs`, integers from 0 to MOST_COST. When `size` is odd one
    player has a bye, which costs nothing: not the one at place `barred` (-1: anybody), if there is another.
    """
    even = size + size % 2
    for a in range(1, size + 1):
        for b in range(1, size + 1):
            room.gain[a, b] = 2 * (MOST_COST + 1 - costs[players[a - 1], players[b - 1]]) if a != b else 0
    if even > size:
        for a in range(1, size + 1):
            gain = 0 if a - 1 == barred and size > 1 else 2 * (MOST_COST + 1)
            room.gain[a, even] = gain
            room.gain[even, a] = gain
        room.gain[even, even] = 0
    begin_matching(room, even)
    left = 0
    for a in range(1, even + 1):
        left += room.node[MATE, a] == 0
    while left > 0 and add_pair(room):  # a complete graph, or one of 4 or more that lacks one edge: all are matched
        left -= 2
    for a in range(size):
        b = room.node[MATE, a + 1] - 1
        mates[a] = b if b < size else a


def cheapest_pairing(costs):
    """Return the opponent of each of n players, its own number for one that has a bye: `pair_up` of everybody."""
    n = len(costs)
    mates = np.empty(n, np.int64)
    pair_up(new_room(n + n % 2), costs, np.arange(n), n, -1, mates)
    return mates
