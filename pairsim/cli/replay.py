"""`pairsim replay`: a full trace of one trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, print_for_programs, say
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    from pairsim.store import Store, TaskRecord

LEAST_LETTERS = 4


def replay_command(
    store: Annotated[Path, typer.Argument(help="A results store (.db).")],
    task: Annotated[str, typer.Option("--task", help="Task id or its first letters; pairsim show --tasks lists them.")],
    trial: Annotated[int, typer.Option("--trial", help="Trial number, from 0.")],
    format_: Annotated[str, typer.Option("--format", help="Output format: text or json.")] = "text",
    load: options.LoadOption = None,
    full: Annotated[bool, typer.Option("--full", help="Print every query of long rounds.")] = False,
) -> None:
    """Trace one trial: queries, answers and outcome.

    Example: pairsim replay results.db --task 3f5a --trial 17
    """
    if format_ not in ("text", "json"):
        raise parameter_error("replay", "format", "one of text, json", repr(format_))

    options.load_modules(load)

    from pairsim.replay import replay_trial
    from pairsim.store import Store
    from pairsim.sweeps.tasks import task_of

    with Store.read(store) as opened:
        found = task_of(_find(opened, task), opened)
    announce_compiling()
    report = replay_trial(found.oracle, found.decoder, found.seed, trial)
    if found.method == "conditional" and format_ == "text":
        note("this task adds up exact probabilities given the tournament; the trace is one draw from them")
    if format_ == "json":
        print_for_programs(json.dumps(report.to_record()) + "\n")
        return
    for line in report.to_text(None if full else 40).splitlines():
        say(line, indent="    ")


def _find(store: Store, start: str) -> TaskRecord:
    """Return the one task whose id begins like that."""
    must_be = f"the first {LEAST_LETTERS} or more letters of exactly one task's id (pairsim show lists them)"
    fitting = [record for record in store.tasks() if record.id.startswith(start.lower())]
    if len(start) < LEAST_LETTERS or len(fitting) != 1:
        raise parameter_error("replay", "task", must_be, f"{start!r}, which fits {len(fitting)}")
    return fitting[0]
