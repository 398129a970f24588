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


# rows of `Room.node`
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

# planes of `Room.members`
CHILD = 0  # by node and vertex: the child of the node that holds the vertex; 0 where none does
CYCLE = 1  # by blossom: its children in their cycle, the base first


class Room(NamedTuple):
    """What a matching needs; a "node" is a vertex or a blossom. Few arrays: each takes time to compile in each call."""

    gain: np.ndarray  # int64[vertices, vertices]: a constant less the cost, twice; 0 where there is no edge
    node: np.ndarray  # int64[13, nodes]
    ends: np.ndarray  # int64[nodes, nodes, 2]: the vertices of the best edge between two nodes, own end first
    members: np.ndarray  # int64[2, nodes, vertices]


@inner
def new_room(most):
    """Return room for the matching of up to `most` vertices."""
    nodes = max(most + most // 2 + 1, 4)
    return Room(
        np.empty((most + 1, most + 1), np.int64),
        np.empty((13, nodes), np.int64),
        np.empty((nodes, nodes, 2), np.int64),
        np.empty((2, nodes, most + 1), np.int64),
    )


@bare_inner
def slack_of(room, a, b):
    """Return the slack of the best edge between two nodes: 0 when it is tight."""
    u, v = room.ends[a, b, 0], room.ends[a, b, 1]
    return room.node[DUAL, u] + room.node[DUAL, v] - 2 * room.gain[u, v]


@bare_inner
def forget_best(room, node):
    """Note that no outer vertex is known to be near to the node."""
    room.node[BEST, node] = 0
    room.node[GAP, node] = NEVER


@bare_inner
def find_best(room, node):
    """Find the outer vertex nearest to the node."""
    forget_best(room, node)
    for u in range(1, room.node[TALLY, VERTICES] + 1):
        if room.ends[u, node, 0] != 0 and room.node[TOP, u] != node and room.node[LABEL, room.node[TOP, u]] == OUTER:
            slack = slack_of(room, u, node)
            if slack < room.node[GAP, node]:
                room.node[BEST, node] = u
                room.node[GAP, node] = slack


@bare_inner
def enqueue(room, node):
    """Have the edges of all vertices of the node looked at."""
    for u in range(1, room.node[TALLY, VERTICES] + 1):
        if room.members[CHILD, node, u] != 0:
            room.node[QUEUE, room.node[TALLY, QUEUED]] = u
            room.node[TALLY, QUEUED] += 1


@bare_inner
def reverse(room, blossom, low, high):
    """Turn round the part low .. high - 1 of the cycle."""
    high -= 1
    while low < high:
        kept = room.members[CYCLE, blossom, low]
        room.members[CYCLE, blossom, low] = room.members[CYCLE, blossom, high]
        room.members[CYCLE, blossom, high] = kept
        low += 1
        high -= 1


@bare_inner
def place_of_child(room, blossom, child):
    """Return the child's place in the cycle, an even number; the cycle is turned round where that takes it."""
    length = room.node[LENGTH, blossom]
    place = 0
    while room.members[CYCLE, blossom, place] != child:
        place += 1
    if place % 2 == 0:
        return place
    reverse(room, blossom, 1, length)
    return length - place


@bare_inner
def match_node(room, node, other):
    """Match the node along its best edge to `other`, and within its blossoms whatever follows from that."""
    room.node[STACK, 0] = node
    room.node[STACKED, 0] = other
    size = 1
    while size > 0:
        size -= 1
        a, b = room.node[STACK, size], room.node[STACKED, size]
        room.node[MATE, a] = room.ends[a, b, 1]
        if a > room.node[TALLY, VERTICES]:
            child = room.members[CHILD, a, room.ends[a, b, 0]]
            place = place_of_child(room, a, child)
            for k in range(place):
                room.node[STACK, size] = room.members[CYCLE, a, k]
                room.node[STACKED, size] = room.members[CYCLE, a, k ^ 1]
                size += 1
            room.node[STACK, size] = child
            room.node[STACKED, size] = b
            size += 1
            # the child becomes the base: it is turned to the front by three reversals
            reverse(room, a, 0, place)
            reverse(room, a, place, room.node[LENGTH, a])
            reverse(room, a, 0, room.node[LENGTH, a])


@bare_inner
def augment(room, a, b):
    """Match outer node a with b, and turn over the matching along the path from a to its root."""
    while True:
        released = room.node[TOP, room.node[MATE, a]]
        match_node(room, a, b)
        if released == 0:
            return
        above = room.node[TOP, room.node[PARENT, released]]
        match_node(room, released, above)
        a, b = above, released


@bare_inner
def common_ancestor(room, a, b):
    """Return the outer node where the paths from a and b to their roots meet, 0 when the roots are different."""
    room.node[TALLY, TIME] += 1
    time = room.node[TALLY, TIME]
    while a != 0 or b != 0:
        if a != 0:
            if room.node[MARK, a] == time:
                return a
            room.node[MARK, a] = time
            a = room.node[TOP, room.node[MATE, a]]
            if a != 0:
                a = room.node[TOP, room.node[PARENT, a]]
        a, b = b, a
    return 0


@bare_inner
def append_path(room, blossom, node, base):
    """Append the nodes from `node` up to below `base` to the cycle; inner ones become outer."""
    while node != base:
        inner_node = room.node[TOP, room.node[MATE, node]]
        room.members[CYCLE, blossom, room.node[LENGTH, blossom]] = node
        room.members[CYCLE, blossom, room.node[LENGTH, blossom] + 1] = inner_node
        room.node[LENGTH, blossom] += 2
        enqueue(room, inner_node)
        node = room.node[TOP, room.node[PARENT, inner_node]]


@bare_inner
def shrink(room, a, base, b):
    """Make a blossom of the odd cycle from `base` down to a, over the edge (a, b), and up again."""
    count = room.node[TALLY]
    vertices = count[VERTICES]
    blossom = vertices + 1
    while blossom <= count[NODES] and room.node[TOP, blossom] != 0:
        blossom += 1
    count[NODES] = max(count[NODES], blossom)
    room.node[DUAL, blossom] = 0
    room.node[LABEL, blossom] = OUTER
    room.node[MATE, blossom] = room.node[MATE, base]
    room.node[PARENT, blossom] = room.node[PARENT, base]
    room.members[CYCLE, blossom, 0] = base
    room.node[LENGTH, blossom] = 1
    append_path(room, blossom, a, base)
    reverse(room, blossom, 1, room.node[LENGTH, blossom])
    append_path(room, blossom, b, base)
    for x in range(1, count[NODES] + 1):
        room.ends[blossom, x, 0] = 0
        room.ends[x, blossom, 0] = 0
    for u in range(1, vertices + 1):
        room.members[CHILD, blossom, u] = 0
    for k in range(room.node[LENGTH, blossom]):
        child = room.members[CYCLE, blossom, k]
        for x in range(1, count[NODES] + 1):
            if x == blossom or room.ends[child, x, 0] == 0:
                continue
            if room.ends[blossom, x, 0] == 0 or slack_of(room, child, x) < slack_of(room, blossom, x):
                room.ends[blossom, x, 0], room.ends[blossom, x, 1] = room.ends[child, x, 0], room.ends[child, x, 1]
                room.ends[x, blossom, 0], room.ends[x, blossom, 1] = room.ends[x, child, 0], room.ends[x, child, 1]
        for u in range(1, vertices + 1):
            if room.members[CHILD, child, u] != 0:
                room.members[CHILD, blossom, u] = child
        for x in range(1, count[NODES] + 1):
            if room.node[TOP, x] == child:
                room.node[TOP, x] = blossom
    room.node[TOP, blossom] = blossom
    find_best(room, blossom)


@bare_inner
def any_vertex(room, node):
    """Return a vertex of the node."""
    while node > room.node[TALLY, VERTICES]:
        node = room.members[CYCLE, node, 0]
    return node


@bare_inner
def expand(room, blossom):
    """Undo an inner blossom whose dual is 0: its children on the tree's path stay in the tree, the others leave it."""
    for x in range(1, room.node[TALLY, NODES] + 1):
        if room.node[TOP, x] == blossom and x != blossom:
            room.node[TOP, x] = room.members[CHILD, blossom, any_vertex(room, x)]
    entry = room.members[CHILD, blossom, room.ends[blossom, room.node[PARENT, blossom], 0]]
    place = place_of_child(room, blossom, entry)
    for k in range(0, place, 2):
        child, following = room.members[CYCLE, blossom, k], room.members[CYCLE, blossom, k + 1]
        room.node[PARENT, child] = room.ends[following, child, 0]
        room.node[LABEL, child] = INNER
        room.node[LABEL, following] = OUTER
        forget_best(room, child)
        find_best(room, following)
        enqueue(room, following)
    room.node[LABEL, entry] = INNER
    room.node[PARENT, entry] = room.node[PARENT, blossom]
    for k in range(place + 1, room.node[LENGTH, blossom]):
        child = room.members[CYCLE, blossom, k]
        room.node[LABEL, child] = FREE
        find_best(room, child)
    room.node[TOP, blossom] = 0
