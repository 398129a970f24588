"""Blossoms: odd cycles of a matching's search trees, shrunk to one node; the inner works of `kernels/matching.py`.

Vertices are 1 .. size, blossoms size + 1 and up; 0 stands for nothing. A blossom keeps the best edge to every other
node, so that a step of the search looks at each vertex once (Gabow's bookkeeping): that makes O(n**3) of O(n**4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import bare_inner, inner

OUTER, INNER, FREE = 0, 1, -1
NEVER = np.iinfo(np.int64).max


# rows of `MatchingState.node`
DUAL = 0
MATE = 1  # the vertex at the other end of the node's matched edge
BEST = 2  # the outer vertex nearest to being joined with the node
GAP = 3  # the slack between the two; NEVER when there is none
TOP = 4  # the outermost blossom that the node is in; 0 for a blossom that is not in use
PARENT = 5  # the vertex that the node's tree edge comes from
LABEL = 6
MARK = 7  # when the search for a common root last came by
LENGTH = 8  # of the cycle
QUEUE = 9  # outer vertices whose edges are to be looked at
STACK, STACKED = 10, 11  # nodes to match, and what with
TALLY = 12  # not by node: the numbers below
VERTICES, NODES, QUEUED, TIME = 0, 1, 2, 3  # vertices, nodes in use, length of the queue, time of MARK

# planes of `MatchingState.members`
CHILD = 0  # by node and vertex: the child of the node that holds the vertex; 0 where none does
CYCLE = 1  # by blossom: its children in their cycle, the base first


class MatchingState(NamedTuple):
    """What a matching needs; a "node" is a vertex or a blossom. Few arrays: each takes time to compile in each call."""

    gain: np.ndarray  # int64[vertices, vertices]: a constant less the cost, twice; 0 where there is no edge
    node: np.ndarray  # int64[13, nodes]
    ends: np.ndarray  # int64[nodes, nodes, 2]: the vertices of the best edge between two nodes, own end first
    members: np.ndarray  # int64[2, nodes, vertices]


@inner
def new_state(most):
    """Return room for the matching of up to `most` vertices."""
    nodes = max(most + most // 2 + 1, 4)
    return MatchingState(
        np.empty((most + 1, most + 1), np.int64),
        np.empty((13, nodes), np.int64),
        np.empty((nodes, nodes, 2), np.int64),
        np.empty((2, nodes, most + 1), np.int64),
    )


@bare_inner
def slack_of(state, a, b):
    """Return the slack of the best edge between two nodes: 0 when it is tight."""
    u, v = state.ends[a, b, 0], state.ends[a, b, 1]
    return state.node[DUAL, u] + state.node[DUAL, v] - 2 * state.gain[u, v]


@bare_inner
def forget_best(state, node):
    """Note that no outer vertex is known to be near to the node."""
    state.node[BEST, node] = 0
    state.node[GAP, node] = NEVER


@bare_inner
def find_best(state, node):
    """Find the outer vertex nearest to the node."""
    forget_best(state, node)
    for u in range(1, state.node[TALLY, VERTICES] + 1):
        if (
            state.ends[u, node, 0] != 0
            and state.node[TOP, u] != node
            and state.node[LABEL, state.node[TOP, u]] == OUTER
        ):
            slack = slack_of(state, u, node)
            if slack < state.node[GAP, node]:
                state.node[BEST, node] = u
                state.node[GAP, node] = slack


@bare_inner
def enqueue(state, node):
    """Have the edges of all vertices of the node looked at."""
    for u in range(1, state.node[TALLY, VERTICES] + 1):
        if state.members[CHILD, node, u] != 0:
            state.node[QUEUE, state.node[TALLY, QUEUED]] = u
            state.node[TALLY, QUEUED] += 1


@bare_inner
def reverse(state, blossom, low, high):
    """Turn round the part low .. high - 1 of the cycle."""
    high -= 1
    while low < high:
        kept = state.members[CYCLE, blossom, low]
        state.members[CYCLE, blossom, low] = state.members[CYCLE, blossom, high]
        state.members[CYCLE, blossom, high] = kept
        low += 1
        high -= 1


@bare_inner
def place_of_child(state, blossom, child):
    """Return the child's place in the cycle, an even number; the cycle is turned round where that takes it."""
    length = state.node[LENGTH, blossom]
    place = 0
    while state.members[CYCLE, blossom, place] != child:
        place += 1
    if place % 2 == 0:
        return place
    reverse(state, blossom, 1, length)
    return length - place


@bare_inner
def match_node(state, node, other):
    """Match the node along its best edge to `other`, and within its blossoms whatever follows from that."""
    state.node[STACK, 0] = node
    state.node[STACKED, 0] = other
    size = 1
    while size > 0:
        size -= 1
        a, b = state.node[STACK, size], state.node[STACKED, size]
        state.node[MATE, a] = state.ends[a, b, 1]
        if a > state.node[TALLY, VERTICES]:
            child = state.members[CHILD, a, state.ends[a, b, 0]]
            place = place_of_child(state, a, child)
            for k in range(place):
                state.node[STACK, size] = state.members[CYCLE, a, k]
                state.node[STACKED, size] = state.members[CYCLE, a, k ^ 1]
                size += 1
            state.node[STACK, size] = child
            state.node[STACKED, size] = b
            size += 1
            # the child becomes the base: it is turned to the front by three reversals
            reverse(state, a, 0, place)
            reverse(state, a, place, state.node[LENGTH, a])
            reverse(state, a, 0, state.node[LENGTH, a])


@bare_inner
def augment(state, a, b):
    """Match outer node a with b, and turn over the matching along the path from a to its root."""
    while True:
        released = state.node[TOP, state.node[MATE, a]]
        match_node(state, a, b)
        if released == 0:
            return
        above = state.node[TOP, state.node[PARENT, released]]
        match_node(state, released, above)
        a, b = above, released


@bare_inner
def common_ancestor(state, a, b):
    """Return the outer node where the paths from a and b to their roots meet, 0 when the roots are different."""
    state.node[TALLY, TIME] += 1
    time = state.node[TALLY, TIME]
    while a != 0 or b != 0:
        if a != 0:
            if state.node[MARK, a] == time:
                return a
            state.node[MARK, a] = time
            a = state.node[TOP, state.node[MATE, a]]
            if a != 0:
                a = state.node[TOP, state.node[PARENT, a]]
        a, b = b, a
    return 0


@bare_inner
def append_path(state, blossom, node, base):
    """Append the nodes from `node` up to below `base` to the cycle; inner ones become outer."""
    while node != base:
        inner_node = state.node[TOP, state.node[MATE, node]]
        state.members[CYCLE, blossom, state.node[LENGTH, blossom]] = node
        state.members[CYCLE, blossom, state.node[LENGTH, blossom] + 1] = inner_node
        state.node[LENGTH, blossom] += 2
        enqueue(state, inner_node)
        node = state.node[TOP, state.node[PARENT, inner_node]]


@bare_inner
def shrink(state, a, base, b):
    """Make a blossom of the odd cycle from `base` down to a, over the edge (a, b), and up again."""
    count = state.node[TALLY]
    vertices = count[VERTICES]
    blossom = vertices + 1
    while blossom <= count[NODES] and state.node[TOP, blossom] != 0:
        blossom += 1
    count[NODES] = max(count[NODES], blossom)
    state.node[DUAL, blossom] = 0
    state.node[LABEL, blossom] = OUTER
    state.node[MATE, blossom] = state.node[MATE, base]
    state.node[PARENT, blossom] = state.node[PARENT, base]
    state.members[CYCLE, blossom, 0] = base
    state.node[LENGTH, blossom] = 1
    append_path(state, blossom, a, base)
    reverse(state, blossom, 1, state.node[LENGTH, blossom])
    append_path(state, blossom, b, base)
    for x in range(1, count[NODES] + 1):
        state.ends[blossom, x, 0] = 0
        state.ends[x, blossom, 0] = 0
    for u in range(1, vertices + 1):
        state.members[CHILD, blossom, u] = 0
    for k in range(state.node[LENGTH, blossom]):
        child = state.members[CYCLE, blossom, k]
        for x in range(1, count[NODES] + 1):
            if x == blossom or state.ends[child, x, 0] == 0:
                continue
            if state.ends[blossom, x, 0] == 0 or slack_of(state, child, x) < slack_of(state, blossom, x):
                state.ends[blossom, x, 0], state.ends[blossom, x, 1] = state.ends[child, x, 0], state.ends[child, x, 1]
                state.ends[x, blossom, 0], state.ends[x, blossom, 1] = state.ends[x, child, 0], state.ends[x, child, 1]
        for u in range(1, vertices + 1):
            if state.members[CHILD, child, u] != 0:
                state.members[CHILD, blossom, u] = child
        for x in range(1, count[NODES] + 1):
            if state.node[TOP, x] == child:
                state.node[TOP, x] = blossom
    state.node[TOP, blossom] = blossom
    find_best(state, blossom)


@bare_inner
def any_vertex(state, node):
    """Return a vertex of the node."""
    while node > state.node[TALLY, VERTICES]:
        node = state.members[CYCLE, node, 0]
    return node


@bare_inner
def expand(state, blossom):
    """Undo an inner blossom whose dual is 0: its children on the tree's path stay in the tree, the others leave it."""
    for x in range(1, state.node[TALLY, NODES] + 1):
        if state.node[TOP, x] == blossom and x != blossom:
            state.node[TOP, x] = state.members[CHILD, blossom, any_vertex(state, x)]
    entry = state.members[CHILD, blossom, state.ends[blossom, state.node[PARENT, blossom], 0]]
    place = place_of_child(state, blossom, entry)
    for k in range(0, place, 2):
        child, following = state.members[CYCLE, blossom, k], state.members[CYCLE, blossom, k + 1]
        state.node[PARENT, child] = state.ends[following, child, 0]
        state.node[LABEL, child] = INNER
        state.node[LABEL, following] = OUTER
        forget_best(state, child)
        find_best(state, following)
        enqueue(state, following)
    state.node[LABEL, entry] = INNER
    state.node[PARENT, entry] = state.node[PARENT, blossom]
    for k in range(place + 1, state.node[LENGTH, blossom]):
        child = state.members[CYCLE, blossom, k]
        state.node[LABEL, child] = FREE
        find_best(state, child)
    state.node[TOP, blossom] = 0
