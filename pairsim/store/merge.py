"""Several stores into one: every block is counted once, whichever files it is in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from pairsim.checks import check_list
from pairsim.drafts import end_draft, note_written
from pairsim.errors import parameter_error
from pairsim.store import opening
from pairsim.store.checksums import Row, sealed
from pairsim.store.errors import failed, translated
from pairsim.store.integrity import to_request, to_run, to_task
from pairsim.store.records import Request
from pairsim.store.schema import ARRAYS, BLOCKS, ORACLES, PAIRS, REQUESTS, TASKS, Table
from pairsim.store.store import Store
from pairsim.store.transaction import ConflictError, Meeting, Transaction

Key = tuple[Any, ...]


class MergeReport(NamedTuple):
    """What a merge did: files merged (each once), blocks and tasks in the result, blocks that several files held.

    Examples
    --------
    >>> MergeReport(files=2, blocks=150, repeated=50, tasks=3).repeated
    50
    """

    files: int
    blocks: int
    repeated: int
    tasks: int


def merge_stores(paths: Sequence[Path], out: Path) -> MergeReport:
    """Merge stores into `out`, which is new, or a store that takes part in the merge itself, as the first.

    Everything is first merged into a file of its own; `out` is touched when that has succeeded, in one step.
    Of two results of the same block the longer is kept; equally long ones must be equal. Of two requests of the same
    task the smaller place counts, and the settings of the first file, or those with the larger "trials".

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> first, second, both = (Path(folder.name, name) for name in ("a.store", "b.store", "both.store"))
    >>> Store.create_or_open(first).close()
    >>> Store.create_or_open(second).close()
    >>> merge_stores([first, second], both)
    MergeReport(files=2, blocks=0, repeated=0, tasks=0)
    >>> folder.cleanup()
    """
    paths = check_list("merge_stores", "paths", paths, "at least one store")
    if not paths:
        raise parameter_error("merge_stores", "paths", "at least one store", "none")
    target = opening.real_path(out)
    first = [target] if opening.is_there(target) else []
    inputs = list(dict.fromkeys([*first, *map(opening.real_path, paths)]))
    with translated(target, "merge into"), _draft(target.parent) as (draft, built):
        repeated = _collect(inputs, draft)
        report = MergeReport(len(inputs), draft.count_blocks(), repeated, len(draft.tasks()))
        if first:
            with closing(opening.connect_private(built)) as source:
                _add_to(target, source)
            note_written(target)
            return report
        draft.close()
        if not opening.put_in_place(built, target):
            raise failed(target, "merge into", "another process made this file meanwhile; merge again to add to it")
        note_written(target)
    return report


@contextmanager
def _draft(directory: Path) -> Iterator[tuple[Store, Path]]:
    """Give an empty store that nobody else knows, and remove it (if it is still there) at the end."""
    built = opening.build(directory)
    try:
        with Store(opening.connect_private(built), private=True) as draft:
            yield draft, built
    finally:
        end_draft(built)


def _collect(inputs: list[Path], draft: Store) -> int:
    """Merge all inputs into the draft; return how many blocks were in more than one of them."""
    repeated: set[Key] = set()
    with draft.writing("merge into") as transaction:
        for place, path in enumerate(inputs):
            with closing(opening.open_unchecked(path, "ro")) as source:
                try:
                    repeated |= _absorb(transaction, source)
                except ConflictError as conflict:
                    holder = _holder(inputs[:place], conflict)
                    raise conflict.explained("merge_stores", "paths", holder, path) from None
    return len(repeated)


def _holder(inputs: list[Path], conflict: ConflictError) -> Path:
    """Return the earlier input that holds the other result of a block."""
    table, row = conflict.table, conflict.row
    clause = f"WHERE {' AND '.join(f'{name} = ?' for name in table.names[: table.keys + 1])}"
    for path in inputs:
        with Store.read(path) as source:
            if source.rows(table, clause, *row[: table.keys + 1]):
                return path
    return inputs[-1]


def _add_to(target: Path, draft: opening.Connection) -> None:
    """Add the merged content to a store that is there, in one transaction.

    Others may have written to it since it was read, and may be waiting to: the rule for blocks holds against them too,
    whereas a file put in its place would lose what they store.
    """
    with Store.create_or_open(target) as store, store.writing("merge into") as transaction:
        try:
            _absorb(transaction, draft)
        except ConflictError as conflict:
            raise conflict.explained("merge_stores", "out", target) from None


def _absorb(transaction: Transaction, source: opening.Connection) -> set[Key]:
    """Add all that `source` holds, checking it on the way; return the keys of the blocks that were there already."""
    met: set[Key] = set()
    oracles: dict[str, Row] = {}
    # closed by name: a walk left open would keep the source locked
    with closing(opening.checked_rows(source)) as stream:
        for table, found in groupby(stream, key=itemgetter(0)):
            rows = map(itemgetter(1), found)
            if table is ORACLES:
                oracles = {row[0]: row for row in rows}
            elif table is ARRAYS:
                for digest, arrays in groupby(rows, key=itemgetter(0)):
                    transaction.put_oracle(oracles.pop(digest), list(arrays))
            elif table is BLOCKS:
                new = Meeting.NEW
                met = {row[: table.keys] for row in rows if transaction.put_measured(table, row) is not new}
            else:
                _absorb_rows(transaction, table, rows)
    for row in oracles.values():
        transaction.put_oracle(row, [])
    return met


def _absorb_rows(transaction: Transaction, table: Table, rows: Iterator[Row]) -> None:
    """Add the rows of one of the plainer tables."""
    if table is TASKS:
        for row in sorted(rows, key=itemgetter(1)):
            transaction.put_task(*to_task(row))
    elif table is PAIRS:
        for row in rows:
            transaction.put_measured(table, row)
    elif table is REQUESTS:
        for row in rows:
            transaction.put_request(_united(transaction.request(row[0]), to_request(row)))
    else:
        transaction.put_runs(map(to_run, rows))


def _united(stored: Request | None, other: Request) -> Row:
    """Return the row of the request that two requests of the same task come to."""
    place, task, reference, settings = other
    if stored is not None:
        trials, stored_trials = _trials(settings), _trials(stored.settings)
        longer = trials is not None and stored_trials is not None and trials > stored_trials
        if not longer:
            reference, settings = stored.reference, stored.settings
        place = min(stored.place, place)
    return sealed(REQUESTS, (task, place, reference, settings))


def _trials(settings: str) -> int | None:
    """Return the integer called "trials" of a JSON object, if it is one and has one."""
    content = json.loads(settings)
    trials = content.get("trials") if isinstance(content, dict) else None
    return trials if isinstance(trials, int) and not isinstance(trials, bool) else None
