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
    new_state,
    shrink,
)
from pairsim.kernels.jit import bare_inner, bare_jit

MOST_COST = 1 << 55  # duals add up a few of them


@bare_inner
def use_edge(state, u, v):
    """Take up a tight edge from outer vertex u; return whether the matching has grown."""
    a, b = state.node[TOP, u], state.node[TOP, v]
    if state.node[LABEL, b] == FREE:
        state.node[PARENT, b] = u
        state.node[LABEL, b] = INNER
        above = state.node[TOP, state.node[MATE, b]]
        forget_best(state, b)
        forget_best(state, above)
        state.node[LABEL, above] = OUTER
        enqueue(state, above)
    elif state.node[LABEL, b] == OUTER:
        base = common_ancestor(state, a, b)
        if base == 0:
            augment(state, a, b)
            augment(state, b, a)
            return True
        shrink(state, a, base, b)
    return False


@bare_inner
def scan_queue(state):
    """Look at the edges of all queued vertices; return whether the matching has grown."""
    count = state.node[TALLY]
    taken = 0
    while taken < count[QUEUED]:
        u = state.node[QUEUE, taken]
        taken += 1
        if state.node[LABEL, state.node[TOP, u]] == INNER:
            continue
        for v in range(1, count[VERTICES] + 1):
            node = state.node[TOP, v]
            if state.node[LABEL, node] == INNER or state.gain[u, v] == 0 or state.node[TOP, u] == node:
                continue
            slack = state.node[DUAL, u] + state.node[DUAL, v] - 2 * state.gain[u, v]
            if slack == 0:
                if use_edge(state, u, v):
                    return True
            elif (
                slack < state.node[GAP, node]
            ):  # within a blossom slacks keep their order: this is the best edge from u to it
                state.node[BEST, node] = u
                state.node[GAP, node] = slack
    count[QUEUED] = 0
    return False


@bare_inner
def largest_step(state):
    """Return how far the duals can be moved until something becomes tight, or a blossom's dual 0."""
    step = NEVER
    for b in range(state.node[TALLY, VERTICES] + 1, state.node[TALLY, NODES] + 1):
        if state.node[TOP, b] == b and state.node[LABEL, b] == INNER:
            step = min(step, state.node[DUAL, b] // 2)
    for x in range(1, state.node[TALLY, NODES] + 1):
        if state.node[TOP, x] == x and state.node[BEST, x] != 0:
            if state.node[LABEL, x] == FREE:
                step = min(step, state.node[GAP, x])
            elif state.node[LABEL, x] == OUTER:
                step = min(
                    step, state.node[GAP, x] // 2
                )  # an even number: the duals of all outer vertices have one parity
    return step


@bare_inner
def move_duals(state, step):
    """Move the duals: outer vertices down, inner ones up, blossoms the other way round and twice as far.

    Roots are never matched, so they have all moved by the same; a tight edge joins duals of one parity.
    """
    for u in range(1, state.node[TALLY, VERTICES] + 1):
        label = state.node[LABEL, state.node[TOP, u]]
        if label == OUTER:
            state.node[DUAL, u] -= step
        elif label == INNER:
            state.node[DUAL, u] += step
    for b in range(state.node[TALLY, VERTICES] + 1, state.node[TALLY, NODES] + 1):
        if state.node[TOP, b] == b:
            if state.node[LABEL, b] == OUTER:
                state.node[DUAL, b] += 2 * step
            elif state.node[LABEL, b] == INNER:
                state.node[DUAL, b] -= 2 * step
    for x in range(1, state.node[TALLY, NODES] + 1):
        if state.node[TOP, x] == x and state.node[BEST, x] != 0:
            if state.node[LABEL, x] == FREE:
                state.node[GAP, x] -= step
            elif state.node[LABEL, x] == OUTER:
                state.node[GAP, x] -= 2 * step


@bare_inner
def add_pair(state):
    """Make the matching larger by one pair; return whether it could be."""
    count = state.node[TALLY]
    count[QUEUED] = 0
    for x in range(1, count[NODES] + 1):
        state.node[LABEL, x] = FREE
        forget_best(state, x)
    for x in range(1, count[NODES] + 1):
        if state.node[TOP, x] == x and state.node[MATE, x] == 0:
            state.node[PARENT, x] = 0
            state.node[LABEL, x] = OUTER
            enqueue(state, x)
    while True:
        if scan_queue(state):
            return True
        step = largest_step(state)
        if step == NEVER:
            return False
        move_duals(state, step)
        for x in range(1, count[NODES] + 1):
            near = state.node[BEST, x]
            tight = state.node[TOP, x] == x and near != 0 and state.node[GAP, x] == 0 and state.node[TOP, near] != x
            if tight and use_edge(state, state.ends[near, x, 0], state.ends[near, x, 1]):
                return True
        for b in range(count[VERTICES] + 1, count[NODES] + 1):
            if state.node[TOP, b] == b and state.node[LABEL, b] == INNER and state.node[DUAL, b] == 0:
                expand(state, b)


@bare_inner
def begin_matching(state, size):
    """Start with duals as low as they may be, and match what is tight already."""
    count, dual, mate = state.node[TALLY], state.node[DUAL], state.node[MATE]
    count[VERTICES] = size
    count[NODES] = size
    count[TIME] = 0
    for x in range(dual.size):
        state.node[TOP, x] = 0
        mate[x] = 0
        state.node[MARK, x] = 0
    for u in range(1, size + 1):
        state.node[TOP, u] = u
        dual[u] = 0
        for v in range(1, size + 1):
            linked = state.gain[u, v] != 0
            state.ends[u, v, 0] = u if linked else 0
            state.ends[u, v, 1] = v if linked else 0
            state.members[CHILD, u, v] = u if u == v else 0
            dual[u] = max(dual[u], state.gain[u, v])
    for u in range(1, size + 1):
        if mate[u] == 0:
            lowest = -NEVER
            for v in range(1, size + 1):
                if state.gain[u, v] != 0:
                    lowest = max(lowest, 2 * state.gain[u, v] - dual[v])
            dual[u] = lowest
            for v in range(1, size + 1):
                if mate[v] == 0 and state.gain[u, v] != 0 and dual[u] + dual[v] == 2 * state.gain[u, v]:
                    mate[u] = v
                    mate[v] = u
                    break


@bare_jit
def pair_up(state, costs, players, size, barred, mates):
    """Write the place of each player's opponent, its own place for one that has a bye: least cost together.

    `players` holds numbers of rows and columns of `costs`, integers from 0 to MOST_COST. When `size` is odd one
    player has a bye, which costs nothing: not the one at place `barred` (-1: anybody), if there is another.
    """
    even = size + size % 2
    for a in range(1, size + 1):
        for b in range(1, size + 1):
            state.gain[a, b] = 2 * (MOST_COST + 1 - costs[players[a - 1], players[b - 1]]) if a != b else 0
    if even > size:
        for a in range(1, size + 1):
            gain = 0 if a - 1 == barred and size > 1 else 2 * (MOST_COST + 1)
            state.gain[a, even] = gain
            state.gain[even, a] = gain
        state.gain[even, even] = 0
    begin_matching(state, even)
    left = 0
    for a in range(1, even + 1):
        left += state.node[MATE, a] == 0
    while left > 0 and add_pair(state):  # a complete graph, or one of 4 or more that lacks one edge: all are matched
        left -= 2
    for a in range(size):
        b = state.node[MATE, a + 1] - 1
        mates[a] = b if b < size else a


def cheapest_pairing(costs):
    """Return the opponent of each of n players, its own number for one that has a bye: `pair_up` of everybody."""
    n = len(costs)
    mates = np.empty(n, np.int64)
    pair_up(new_state(n + n % 2), costs, np.arange(n), n, -1, mates)
    return mates
