"""What a store holds: plain records, in the words of the rest of the package."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pairsim.checks import check_text


def task_id(definition: str) -> str:
    """Return the id of a task: a 16-byte BLAKE2b digest of its definition, in hexadecimal.

    Examples
    --------
    >>> task_id('{"decoder":"max-win"}')
    '289d678fffde154bc3f480bee73971d4'
    """
    check_text("task_id", "definition", definition, "text")
    return hashlib.blake2b(definition.encode(), digest_size=16).hexdigest()


def task_kind(definition: str) -> str:
    """Return what kind of work a task's definition says it is; those of sweeps, which came first, do not say.

    Nor does text that is no definition at all: whoever wants to compute it will reject it.

    Examples
    --------
    >>> task_kind('{"kind":"evaluation"}'), task_kind('{"decoder":"max-win"}'), task_kind("no json")
    ('evaluation', 'sweep', 'sweep')
    """
    check_text("task_kind", "definition", definition, "text")
    try:
        content = json.loads(definition)
    except (ValueError, RecursionError):
        return "sweep"
    return str(content.get("kind", "sweep")) if isinstance(content, dict) else "sweep"


class TaskRecord(NamedTuple):
    """A task: `definition` is canonical JSON text, `id` is `task_id(definition)`.

    Examples
    --------
    >>> TaskRecord(task_id("{}"), "{}").definition
    '{}'
    """

    id: str
    definition: str


class BlockRecord(NamedTuple):
    """The result of the first `trials` trials of one block of a task.

    Examples
    --------
    >>> BlockRecord("5f0e", block=0, trials=1000, values=(871.0, 4.5e6)).trials
    1000
    """

    task: str
    block: int
    trials: int
    values: tuple[float, ...]


class PairRecord(NamedTuple):
    """The joint result of two tasks over the first `trials` trials of the same block.

    Examples
    --------
    >>> PairRecord("5f0e", "77aa", block=0, trials=1000, values=(850.0,)).second
    '77aa'
    """

    first: str
    second: str
    block: int
    trials: int
    values: tuple[float, ...]


class Request(NamedTuple):
    """A row that somebody asked for: its place in the table, its task, the task it is compared with, JSON settings.

    Examples
    --------
    >>> Request(0, "5f0e", None, '{"trials":1000}').place
    0
    """

    place: int
    task: str
    reference: str | None
    settings: str


class Run(NamedTuple):
    """Where results came from: when a run started, its command, its versions, its machine.

    Examples
    --------
    >>> Run("2030-01-01T00:00:00Z", "pairsim sweep", "pairsim 1.0", "a-machine").command
    'pairsim sweep'
    """

    started: str
    command: str
    versions: str
    host: str


class OracleRecord(NamedTuple):
    """An oracle by its digest: a name, JSON parameters, and the arrays that do not fit into text.

    Examples
    --------
    >>> OracleRecord("c0de", "uniform", '{"n":16,"p":0.9}', {}).name
    'uniform'
    """

    digest: str
    name: str
    params: str
    arrays: dict[str, NDArray[Any]]
