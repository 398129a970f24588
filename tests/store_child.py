"""Processes that use a store, to be started by tests: `python store_child.py <what> <arguments>`.

Each stops by itself. What is printed is flushed, so that a test may believe a line the moment it reads it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

from store_content import IDS, TASKS, block_of, make_store

from pairsim.errors import ParameterError
from pairsim.store import Store, StoreError, merge_stores, store

NOBODY = 65534


def say(*words: object) -> None:
    print(*words, flush=True)


def write_forever(path: Path) -> None:
    """Write blocks one after the other, and say so after each."""
    with Store.create_or_open(path) as opened:
        opened.add_tasks(TASKS)
        first = 1 + max((block.block for block in opened.all_blocks()), default=-1)
        for block in range(first, first + 5000):
            opened.record([block_of(IDS[block % 4], block, 10)])
            say(block)


def write_range(path: Path, first: str, last: str, trials: str) -> None:
    """Write some blocks; others write overlapping ones."""
    say("ready")
    sys.stdin.readline()
    with Store.create_or_open(path) as opened:
        opened.add_tasks(TASKS)
        for block in range(int(first), int(last)):
            opened.record([block_of(IDS[0], block, int(trials))])
    say("done")


def give_birth_forever(folder: Path) -> None:
    """Make one new store after the other."""
    for number in range(5000):
        make_store(folder / f"{number}.store", blocks=1)
        say(number)


def stop_halfway(path: Path) -> None:
    """Die in the middle of a transaction whose pages have begun to reach the file."""
    with Store.create_or_open(path) as opened, opened.writing("test") as transaction:
        opened._open().sqlite.execute("PRAGMA cache_size = 2")
        for block in range(1000, 2000):
            transaction.put_measured(store.BLOCKS, store.validation.block_row(block_of(IDS[0], block, 10)))
        say("halfway")
        os.kill(os.getpid(), signal.SIGKILL)


def fill_up(path: Path, limit: str) -> None:
    """Write until the file may not grow any more, then with room again, all with the same store."""
    with Store.create_or_open(path) as opened:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), hard))
        written = 0
        try:
            for block in range(100_000):
                opened.record([block_of(IDS[0], 1000 + 20 * block + part, 10) for part in range(20)])
                written += 20
        except StoreError as error:
            say(error)
        say(written, opened.count_blocks())
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit) // 2, hard))
        try:
            merge_stores([path], path.with_name("merged"))
        except StoreError as error:
            say(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        say(opened.record([block_of(IDS[1], 10**6 + part, 10) for part in range(500)]))


def try_all(path: Path, new: Path) -> None:
    """Use a store without the rights to write, and say what happens."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    for doing in (
        lambda: Store.read(path).count_blocks(),
        lambda: Store.create_or_open(path).record([block_of(IDS[0], 10**6, 10)]),
        lambda: Store.create_or_open(new),
        lambda: merge_stores([path], new),
        lambda: merge_stores([path], path),
    ):
        try:
            say(doing())
        except (StoreError, ParameterError) as error:
            say(type(error).__name__, error)


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    path, *others = arguments
    globals()[name](Path(path), *(Path(other) if os.sep in other else other for other in others))
