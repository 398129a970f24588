"""Damaged and hostile files: rejected in one line and left alone, or read exactly as they were. Nothing in between."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_content import IDS, REFUSED, content, make_store, outcome, quick_folder

from pairsim.store import Store, checksums
from pairsim.store.arrays import packed
from pairsim.store.schema import ARRAYS, BLOCKS, ORACLES, PAIRS, REQUESTS, RUNS, TALLY, TASKS


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Thousands of small files: in memory."""
    with quick_folder() as folder:
        yield folder


class Mutant:
    """A good store in a folder of its own, and what becomes of it when its bytes change."""

    def __init__(self, folder: Path) -> None:
        self.path = make_store(folder / "a.store")
        self.good = self.path.read_bytes()
        self.expected = content(self.path)

    def verdict(self, data: bytes, *, write: bool = False) -> str:
        self.path.write_bytes(data)
        found = outcome(self.path, write=write)
        return found if isinstance(found, str) else "same" if found == self.expected else "different"

    def flipped(self, position: int, bits: int) -> bytes:
        changed = bytearray(self.good)
        changed[position] ^= bits
        return bytes(changed)


@pytest.fixture
def mutant(tmp_path: Path) -> Mutant:
    return Mutant(tmp_path)


def test_no_flipped_bit_gives_another_value(mutant: Mutant) -> None:
    moments = random.Random(1)
    used = [position for position, byte in enumerate(mutant.good) if byte]
    positions = [*range(100), *range(100, len(mutant.good), 173), *moments.sample(used, 500)]
    seen = Counter(
        mutant.verdict(
            mutant.flipped(position, moments.choice((1, 2, 4, 8, 16, 32, 64, 128, 255))), write=number % 4 == 0
        )
        for number, position in enumerate(positions)
    )
    assert len(positions) > 800
    assert set(seen) == {REFUSED, "same"}  # a bit in unused space does no harm
    assert seen[REFUSED] > 400
    assert mutant.verdict(mutant.good) == "same"


def test_no_truncated_extended_or_scrambled_file_gives_another_value(mutant: Mutant) -> None:
    moments = random.Random(2)
    good = mutant.good
    lengths = [0, 1, 15, 16, 99, 100, 512, *range(4096, len(good), 4096), *moments.sample(range(len(good)), 100)]
    assert {mutant.verdict(good[:length]) for length in lengths} == {REFUSED}
    for extra in (b"\0", bytes(4096), moments.randbytes(4096), good, b"x" * 5000):
        assert mutant.verdict(good + extra) == REFUSED
    pages = [good[start : start + 4096] for start in range(0, len(good), 4096)]
    seen: Counter[str] = Counter()
    for _ in range(100):
        swapped = list(pages)
        one, other = moments.sample(range(len(pages)), 2)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        seen[mutant.verdict(b"".join(swapped))] += 1
        swapped = list(pages)
        swapped[one] = moments.choice((bytes(4096), moments.randbytes(4096), pages[other]))
        seen[mutant.verdict(b"".join(swapped))] += 1
    assert set(seen) == {REFUSED}


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8), st.integers(0, 2)),
        min_size=1,
        max_size=4,
    )
)
def test_no_mutation_gives_another_value(edits: list[tuple[float, bytes, int]]) -> None:
    with quick_folder() as folder:
        mutant = Mutant(folder)
        data = mutant.good
        for where, new, kind in edits:  # overwrite, insert, cut out
            start = int(where * len(data))
            data = data[:start] + (new if kind < 2 else b"") + data[start + (len(new) if kind != 1 else 0) :]
        assert mutant.verdict(data) in {REFUSED, "same"}


def test_without_checksums_some_flips_would_give_another_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the tests above can fail, and it is the checksums that make them pass."""
    monkeypatch.setattr(checksums, "row_checksum", lambda table, columns: bytes(8))
    mutant = Mutant(tmp_path)
    start = mutant.good.index(IDS[0].encode())
    used = [position for position in range(start, len(mutant.good)) if mutant.good[position]]
    seen = Counter(mutant.verdict(mutant.flipped(position, 4)) for position in used[:: len(used) // 100])
    assert seen["different"] > 20


def test_every_table_takes_part_in_these_tests(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    with Store.read(path) as opened:
        for table in (ORACLES, ARRAYS, TASKS, BLOCKS, PAIRS, REQUESTS, RUNS, TALLY):
            assert opened.rows(table)
        assert opened.rows(ARRAYS)[0][2] == packed(opened.oracle("c0de").arrays["P"])
