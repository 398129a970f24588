"""`pairsim show`: rows, and where they come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.console import note, noting_left_out, say
from pairsim.cli.records import show_records
from pairsim.cli.results import Results, open_results

if TYPE_CHECKING:
    from pairsim.store import Store


ROWS_ONLY = "a table has rows only; a store has tasks"


def show_command(
    results: Annotated[Path, typer.Argument(help="A results store (.db), or a table.")],
    tasks: Annotated[bool, typer.Option("--tasks", help="Print the tasks with their ids instead of the rows.")] = False,
    format_: options.FormatOption = "table",
    load: options.LoadOption = None,
) -> None:
    """Print the rows of a store or a table.

    For a store, also their provenance: versions, seeds and commands.

    Example: pairsim show results.db
    """
    options.check_format(format_)
    options.load_modules(load)

    with open_results(results) as found:
        if found.evaluates:
            _show_evaluation(found, tasks, format_)
        else:
            _show_sweep(found, tasks, format_)


def _show_sweep(found: Results, tasks: bool, format_: str) -> None:
    from pairsim.cli.sweep import show
    from pairsim.sweeps.requests import stored_rows

    if found.store is None:
        if tasks:
            note(ROWS_ONLY)
        show(found.rows(), format_)
        return
    with noting_left_out() as left_out:
        if tasks and (records := _tasks(found.store, left_out)):
            show_records(records, format_)
        elif (rows := stored_rows(found.store, [] if tasks else left_out)) or format_ != "table":
            show(rows, format_)
        if format_ == "table":
            for line in _provenance(found.store, _seeds(found.store)):
                say(line, indent="    ")


def _show_evaluation(found: Results, tasks: bool, format_: str) -> None:
    from pairsim.cli.evaluation_table import show_evaluation, warn_of_narrow_intervals
    from pairsim.evaluation.results import stored_evaluation, stored_tasks

    if found.store is None:
        if tasks:
            note(ROWS_ONLY)
        rows, comparisons = found.evaluation()
        warn_of_narrow_intervals(rows)
        show_evaluation(rows, comparisons, format_)
        return
    with noting_left_out(made_by="evaluation") as left_out:
        records = stored_tasks(found.store, left_out)
        if tasks and records:
            show_records(records, format_)
        else:
            show_evaluation(*stored_evaluation(found.store, []), format_)
        if format_ == "table":
            for line in _provenance(found.store, sorted({record["seed"] for record in records})):
                say(line, indent="    ")


def _tasks(store: Store, left_out: list[str]) -> list[dict[str, Any]]:
    from pairsim.sweeps.block_results import BlockResults
    from pairsim.sweeps.requests import stored_cells

    results = BlockResults(store)
    records = []
    for cell in stored_cells(store, results, left_out):
        done = sum(1 for _ in cell.tallies(results))
        records.append(
            {
                "task": cell.task.id,
                "oracle": cell.label,
                "n": cell.task.oracle.n,
                "p": cell.task.oracle.p,
                "decoder": cell.task.decoder.spec,
                "method": cell.task.method,
                "seed": cell.task.seed,
                "blocks": done,
                "state": "finished" if cell.ended else "open",
            }
        )
    return records


def _provenance(store: Store, seeds: list[int]) -> list[str]:
    lines = [f"{store.count_blocks():,} blocks; seeds {', '.join(map(str, seeds)) or 'none'}"]
    for run in store.runs():
        try:
            versions = ", ".join(f"{name} {version}" for name, version in json.loads(run.versions).items())
        except (ValueError, AttributeError):
            versions = run.versions
        lines.append(f"{run.started[:19]}  {run.command}  ({versions}; {run.host})")
    return lines


def _seeds(store: Store) -> list[int]:
    from pairsim.sweeps.superseded import superseded_tasks
    from pairsim.sweeps.tasks import task_of

    superseded, _ = superseded_tasks(store)
    return sorted({task_of(record, store).seed for record in store.tasks() if record.id not in superseded})
