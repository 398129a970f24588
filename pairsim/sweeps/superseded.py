"""Tasks of a store that were computed by rules which an earlier version of pairsim had: kept, but not reported."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pairsim.decoders import SupersededError
from pairsim.errors import ParameterError
from pairsim.specs import names_user_class
from pairsim.store import Store
from pairsim.sweeps.tasks import task_of

HOW = ("decoder", "method", "digits", "labels", "version")  # what a task's definition says about the way to its result


def superseded_tasks(store: Store) -> tuple[set[str], list[str]]:
    """Return the ids of a store's superseded tasks, and the decoders of those that were not computed again."""
    ids, old, current = set(), [], []
    for record in store.tasks():
        try:
            current.append((record.definition, task_of(record, store).decoder.spec))
        except SupersededError as error:
            ids.add(record.id)
            old.append((record.definition, error.spec))
        except ParameterError:  # damaged or forged: rejected where it is wanted
            continue
    return ids, not_computed_again(old, current)


def not_computed_again(superseded: Iterable[tuple[str, str]], current: Iterable[tuple[str, str]]) -> list[str]:
    """Return the decoders of superseded tasks that no current task replaces; tasks are (definition, decoder).

    Examples
    --------
    >>> old, new = '{"decoder": {"name": "quick"}, "n": 5}', '{"decoder": {"name": "quick", "version": 2}, "n": 5}'
    >>> not_computed_again([(old, "quick")], []), not_computed_again([(old, "quick")], [(new, "quick")])
    (['quick'], [])
    """
    again = {_question(*task) for task in current}
    return [task[1] for task in superseded if _question(*task) not in again]


def users_task(definition: str) -> tuple[str, str] | None:
    """Return what a task of a user's decoder asks, whatever its code; None for tasks of pairsim's own.

    Examples
    --------
    >>> users_task('{"decoder": {"name": "my:Mine", "code": 1, "settings": {}, "spec": "my:Mine"}, "n": 5}')
    ('{"n": 5}', 'my:Mine')
    >>> users_task('{"decoder": {"name": "quick"}, "n": 5}')
    """
    try:
        decoder = json.loads(definition)["decoder"]
        name, spec = decoder["name"], decoder["spec"]
        return _question(definition, str(spec)) if names_user_class(name) else None
    except (LookupError, TypeError, ValueError, RecursionError):
        return None


def _question(definition: str, decoder: str) -> tuple[str, str]:
    parts = json.loads(definition)
    return json.dumps({name: value for name, value in parts.items() if name not in HOW}, sort_keys=True), decoder
