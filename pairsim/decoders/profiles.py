"""Profiles of a model's answers: how the pairs are answered on rows of each class, learned from recorded answers."""

from __future__ import annotations

import base64
import functools
import os
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.answer_files import DAMAGED, read_answers
from pairsim.errors import parameter_error, shown
from pairsim.input_files import open_input
from pairsim.kernels.stream import mix, place
from pairsim.memory import check_memory

MUST_BE = "None, a Recorded, or a file of recorded answers that pairsim wrote, of at most 512 classes"
PREFIX = "profiles-"  # of profiles as text
MOST_CLASSES = 512
MOST_PROFILES = 8  # of a class
ROWS = 60  # of a class, for each of its profiles
LEAST = 0.01  # the probability of the rarer answer to a pair without the class: a row may be unlike all that were seen
LEAST_OWN = 1e-4  # the same of a pair with the class
PRIOR, PRIOR_OWN, PRIOR_PROFILE = 2.0, 4.0, 20.0  # rows that what is more general counts for
LONGEST_TEXT = 1 << 26
STEPS = 127.0 / np.log(1.0 / LEAST_OWN - 1.0)  # log odds are kept as whole numbers from -127 to 127
OPENING_WEIGHT = 0.5  # of an answer, because answers repeat each other

Bits = NDArray[np.bool_]


class Tables(NamedTuple):
    """What is known of n classes: profile k of class c is number k of starts[c] .. starts[c + 1] - 1.

    levels[q, k] are the log odds that the lower class wins pair q on a row of profile k, in steps; opening[v] is the
    pair to ask at node v of a binary tree, whose children are 2v + 1 (the lower class lost) and 2v + 2.
    """

    n: int
    starts: NDArray[np.int64]
    prior: NDArray[np.float32]
    opening: NDArray[np.int32]
    levels: NDArray[np.int8]


class Profiles(str):
    """Profiles as one text, which is their identity, and the file that they are from."""

    source: str | None

    def __new__(cls, text: str, source: str | None = None) -> Profiles:
        """Keep a text that was checked."""
        made = super().__new__(cls, text)
        made.source = source
        return made

    @functools.cached_property
    def tables(self) -> Tables:
        """The profiles as arrays."""
        return _unpack(str.__str__(self))

    @property
    def n(self) -> int:
        """The number of classes."""
        return self.tables.n

    def __str__(self) -> str:
        """Return what a spec has: the file, or the profiles themselves."""
        return self.source or str.__str__(self)

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> Any:
        return Profiles, (str.__str__(self), self.source)


def check_profiles(owner: str, answers: Any) -> Profiles | None:
    """Return profiles from recorded answers: a file of them, a `Recorded`, or profiles as text."""
    if answers is None or isinstance(answers, Profiles):
        return answers
    if isinstance(answers, str) and answers.startswith(PREFIX):
        try:
            _unpack(answers)
        except (ValueError, TypeError, OverflowError, MemoryError, struct.error, zlib.error):
            raise parameter_error(owner, "answers", MUST_BE, "profiles that are damaged") from None
        return Profiles(answers)
    if isinstance(answers, str | os.PathLike):
        source = os.fspath(answers)
        with open_input(owner, "answers", Path(str(source)), MUST_BE) as file:
            try:
                n, bits, _ = read_answers(file)
            except DAMAGED:
                raise parameter_error(owner, "answers", MUST_BE, repr(str(source))) from None
        return Profiles(_learn_text(owner, n, bits), str(source))
    packed = getattr(answers, "bits", None)  # of a Recorded, which is in a layer above
    if not isinstance(packed, np.ndarray):
        raise parameter_error(owner, "answers", MUST_BE, shown(answers))
    return Profiles(_learn_text(owner, answers.n, packed))


def _learn_text(owner: str, n: int, bits: NDArray[np.uint8]) -> str:
    if not 2 <= n <= MOST_CLASSES:
        raise parameter_error(owner, "answers", MUST_BE, f"{n} classes")
    return _pack(learn(n, bits))


def learn(n: int, bits: NDArray[np.uint8]) -> Tables:
    """Learn profiles from packed answers, a row a data point: no labels are needed.

    A row belongs to the class that max-win predicts (equals by a fixed hash), so the profiles imitate max-win. The rows
    of a class are divided into profiles by k-modes (Huang 1998): groups of rows that are answered alike. Each profile
    has the frequencies of its answers, drawn towards those of its class, which are drawn towards those of all rows.

    Z. Huang, "Extensions to the k-means algorithm for clustering large data sets with categorical values", Data Mining
    and Knowledge Discovery 2, 1998.
    """
    pairs = n * (n - 1) // 2
    low, high = np.triu_indices(n, 1)
    winners = _winners(n, bits)
    sizes = np.bincount(winners, minlength=n)
    needed = pairs * (14 * int(sizes.max()) + 24 * n)  # rows of a class as numbers of 4 bytes; counts and tables
    check_memory("Learned", "answers", f"{len(bits):,} rows of {n} classes", needed, "what they show")
    counts = np.stack([_unpacked(bits[winners == c], pairs).sum(axis=0, dtype=np.int64) for c in range(n)], axis=1)
    pair = np.arange(pairs)
    won = int(counts[pair, low].sum() + (sizes[high] - counts[pair, high]).sum())
    own = (won + 1.0) / (int(sizes[low].sum() + sizes[high].sum()) + 2.0)  # how often the winner wins a pair of its own
    general = (counts.sum(axis=1) + 1.0) / (len(bits) + 2.0)
    columns, prior, starts = [], [], [0]
    for c in range(n):
        mine = (low == c) | (high == c)
        expected = np.where(mine, np.where(low == c, own, 1.0 - own), general)
        weight = np.where(mine, PRIOR_OWN, PRIOR)
        expected = (counts[:, c] + weight * expected) / (sizes[c] + weight)
        groups = _groups(_unpacked(bits[winners == c], pairs))
        for rows in groups:
            table = expected
            if len(groups) > 1:
                weight = np.where(mine, PRIOR_PROFILE, PRIOR)
                table = (rows.sum(axis=0, dtype=np.int64) + weight * expected) / (len(rows) + weight)
            table = np.where(mine, table.clip(LEAST_OWN, 1.0 - LEAST_OWN), LEAST + (1.0 - 2.0 * LEAST) * table)
            columns.append(np.rint(STEPS * np.log(table / (1.0 - table))).astype(np.int8))
            prior.append(np.log((len(rows) + 1.0) / (len(bits) + len(groups) * n)))
        starts.append(len(columns))
    levels = np.stack(columns, axis=1)
    kept = np.array(prior, np.float32)
    return Tables(n, np.array(starts), kept, _opening(levels, kept, (n - 1).bit_length()), levels)


def probabilities(levels: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the probabilities that the lower classes win."""
    return np.asarray(1.0 / (1.0 + np.exp(-levels / STEPS)))


def _unpacked(bits: NDArray[np.uint8], pairs: int) -> Bits:
    return np.unpackbits(bits, axis=1, count=pairs, bitorder="little").view(np.bool_)


def _winners(n: int, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return max-win's winner of each row; a fixed hash of row and class decides among equals."""
    low, high = np.triu_indices(n, 1)
    lows = np.zeros((len(low), n), np.float32)  # products of such numbers are exact, and fast
    lows[np.arange(len(low)), low] = 1.0
    lows[np.arange(len(low)), high] = -1.0
    winners = np.empty(len(bits), np.int64)
    for first in range(0, len(bits), 1024):
        answers = _unpacked(bits[first : first + 1024], len(low))
        scores = (answers.astype(np.float32) @ lows).astype(np.int64) + np.arange(n)  # c loses to those below it, else
        with np.errstate(over="ignore"):
            rows = np.arange(first, first + len(answers))[:, None]
            hashed = mix(place(rows, np.arange(n)[None, :])) >> np.uint64(32)
        winners[first : first + 1024] = ((scores << 32) + hashed.astype(np.int64)).argmax(axis=1)
    return winners


def _groups(answers: Bits) -> list[Bits]:
    """Return the rows of a class in groups that answer alike, one per `ROWS` of them; a class without rows has one."""
    number = min(MOST_PROFILES, max(1, len(answers) // ROWS))
    if number == 1:
        return [answers]
    rows = answers.astype(np.float32)
    centres = rows[(2 * np.arange(number) + 1) * len(rows) // (2 * number)]
    group = np.full(len(rows), -1)
    for _ in range(20):
        agreed = rows @ centres.T + (1.0 - rows) @ (1.0 - centres).T
        nearest = agreed.argmax(axis=1)
        if (nearest == group).all():
            break
        group = nearest
        for k in range(number):
            inside = rows[group == k]
            if len(inside):
                centres[k] = 2 * inside.sum(axis=0) > len(inside)
    return [answers[group == k] for k in range(number) if (group == k).any()]


def _opening(levels: NDArray[np.int8], prior: NDArray[np.float32], depth: int) -> NDArray[np.int32]:
    """Return the first queries as a tree: at each node the pair with the most information about the profiles."""
    wins = probabilities(levels).astype(np.float32)
    doubts = _entropy(wins)
    logs = OPENING_WEIGHT * np.log(np.stack([1.0 - wins, wins]))
    evidence = prior[None, :].astype(np.float64)
    asked = np.zeros((1, 0), np.int32)
    opening: list[NDArray[np.int32]] = []
    for _ in range(min(depth, len(levels).bit_length() - 1)):
        weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
        told = _entropy(weights @ wins.T) - weights @ doubts.T
        np.put_along_axis(told, asked.astype(np.int64), -1.0, axis=1)
        best = told.argmax(axis=1).astype(np.int32)
        opening.append(best)
        evidence = np.stack([evidence + logs[0][best], evidence + logs[1][best]], axis=1).reshape(-1, levels.shape[1])
        asked = np.repeat(np.concatenate([asked, best[:, None]], axis=1), 2, axis=0)
    return np.concatenate([*opening, np.empty(0, np.int32)])


def _entropy(wins: NDArray[np.float32]) -> NDArray[np.float32]:
    kept = wins.clip(1e-6, 1.0 - 1e-6)
    return np.asarray(-kept * np.log(kept) - (1.0 - kept) * np.log1p(-kept))


def _pack(tables: Tables) -> str:
    """Write profiles as text without any character that a spec reads."""
    sizes = np.diff(tables.starts).astype("<i4")
    head = struct.pack("<III", tables.n, len(tables.prior), len(tables.opening))
    arrays = (sizes, tables.prior.astype("<f4"), tables.opening.astype("<i4"), np.ascontiguousarray(tables.levels))
    packed = zlib.compress(head + b"".join(each.tobytes() for each in arrays))
    return PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _unpack(text: str) -> Tables:
    """Read what `_pack` wrote; ValueError for anything else, before memory is taken for what it claims."""
    if len(text) > LONGEST_TEXT:
        raise ValueError
    body = text.removeprefix(PREFIX)
    inflate = zlib.decompressobj()
    packed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
    start = inflate.decompress(packed, 12)
    n, profiles, nodes = struct.unpack("<III", start)
    if not 2 <= n <= MOST_CLASSES or not n <= profiles <= n * MOST_PROFILES:
        raise ValueError
    pairs = n * (n - 1) // 2
    if nodes != (1 << min((n - 1).bit_length(), pairs.bit_length() - 1)) - 1:
        raise ValueError
    size = 4 * n + 4 * profiles + 4 * nodes + pairs * profiles
    rest = inflate.decompress(inflate.unconsumed_tail, size + 1)
    if len(rest) != size:
        raise ValueError
    sizes = np.frombuffer(rest, "<i4", n).astype(np.int64)
    prior = np.frombuffer(rest, "<f4", profiles, 4 * n).astype(np.float32)
    opening = np.frombuffer(rest, "<i4", nodes, 4 * (n + profiles)).astype(np.int32)
    levels = np.frombuffer(rest, np.int8, pairs * profiles, size - pairs * profiles).reshape(pairs, profiles)
    sound = sizes.min() >= 1 and sizes.sum() == profiles and np.isfinite(prior).all() and levels.min() >= -127
    if not sound or (nodes and (opening.min() < 0 or opening.max() >= pairs)) or not _is_path_free(opening):
        raise ValueError
    return Tables(n, np.concatenate([[0], np.cumsum(sizes)]), prior, opening, levels)


def _is_path_free(opening: NDArray[np.int32]) -> bool:
    """Say whether no path of the tree asks a pair twice."""
    for node in range(len(opening)):
        above = node
        while above:
            above = (above - 1) // 2
            if opening[above] == opening[node]:
                return False
    return True
