"""`pairsim replay`: the whole story of one trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli.console import announce_compiling, note
from pairsim.errors import refusal

if TYPE_CHECKING:
    from pairsim.store import Store, TaskRecord

LEAST_LETTERS = 4


def replay_command(
    store: Annotated[Path, typer.Argument(help="A results store (.db).")],
    task: Annotated[str, typer.Option("--task", help="The task's id, or how it begins; pairsim show lists them.")],
    trial: Annotated[int, typer.Option("--trial", help="Which trial, from 0.")],
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    full: Annotated[bool, typer.Option("--full", help="Print every question of long rounds.")] = False,
) -> None:
    """Print who was asked about whom in one trial, what was answered, and why the decision is right or wrong.

    Example: pairsim replay results.db --task 3f5a --trial 17
    """
    if format_ not in ("text", "json"):
        raise refusal("replay", "format", "one of text, json", repr(format_))

    from pairsim.store import Store
    from pairsim.story import story_of
    from pairsim.sweeps.tasks import task_of

    with Store.read(store) as opened:
        found = task_of(_find(opened, task), opened)
    announce_compiling()
    story = story_of(found.oracle, found.decoder, found.seed, trial)
    if found.method == "conditional" and format_ == "text":
        note("this task adds up exact chances given the tournament; what follows is one draw from them")
    typer.echo(json.dumps(story.to_record()) if format_ == "json" else story.to_text(None if full else 40))


def _find(store: Store, start: str) -> TaskRecord:
    """Return the one task whose id begins like that."""
    must_be = f"the first {LEAST_LETTERS} or more letters of exactly one task's id (pairsim show lists them)"
    fitting = [record for record in store.tasks() if record.id.startswith(start.lower())]
    if len(start) < LEAST_LETTERS or len(fitting) != 1:
        raise refusal("replay", "task", must_be, f"{start!r}, which fits {len(fitting)}")
    return fitting[0]
