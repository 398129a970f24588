"""Run the benchmark: python -m experiments.benchmark [GROUP ...] [--json FILE]."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from experiments.benchmark import asking, engine, linear_reductions, models, plans, reductions, sweeps, trees
from experiments.benchmark.timing import Measured, print_rows, write_rows

GROUPS = (
    engine.GROUPS | sweeps.GROUPS | models.GROUPS | reductions.GROUPS | linear_reductions.GROUPS | trees.GROUPS
    | asking.GROUPS | plans.GROUPS
)  # fmt: skip


def measure(groups: list[str]) -> list[Measured]:
    """Measure the groups in order, telling on stderr how it goes."""
    rows = []
    for name in groups:
        start = time.perf_counter()
        rows += GROUPS[name]()
        print(f"{name}: measured in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return rows


def main() -> None:
    """Read the command line, measure, and show the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmark", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="what to measure: " + ", ".join(GROUPS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to FILE")
    chosen = parser.parse_args()
    for group in chosen.groups:
        if group not in GROUPS:
            parser.error(f"GROUP must be one of {', '.join(GROUPS)}. Got {group!r} instead.")
    rows = measure(chosen.groups or list(GROUPS))
    print_rows(rows)
    if chosen.json:
        write_rows(rows, chosen.json)


if __name__ == "__main__":
    main()
