"""What all experiments have in common: options, folders, versions, and data that must be there."""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.real_data import data_folder
from pairsim.plots import save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
RESULTS, FIGURES = HERE / "results", HERE.parent / "figures"
QUICK = HERE / "quick"  # where quick runs write, so that they never replace what full runs have measured


def parser(doc: str | None, **options: Any) -> argparse.ArgumentParser:
    """Return a parser with the options of all experiments."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, **options)
    made.add_argument("--quick", action="store_true", help="a reduced run, at most two minutes, into experiments/quick")
    made.add_argument("--results", type=Path, default=None, help="folder for tables (default: experiments/results)")
    made.add_argument("--figures", type=Path, default=None, help="folder for pictures (default: figures)")
    made.add_argument("--format", choices=("png", "svg", "pdf"), default="png", help="of pictures (default: png)")
    return made


def parse(made: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; folders that are not given are those of the project, or of quick runs."""
    chosen = made.parse_args(argv)
    chosen.results = chosen.results or (QUICK if chosen.quick else RESULTS)
    chosen.figures = chosen.figures or (QUICK if chosen.quick else FIGURES)
    return chosen


@functools.cache
def versions() -> str:
    """Return the versions that decide which numbers come out.

    Examples
    --------
    >>> versions().split()[0]
    'pairsim'
    """
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("pairsim", "numpy", "scikit-learn"))


def write_table(rows: Iterable[dict[str, Any]] | pd.DataFrame, path: Path) -> None:
    """Write rows as csv, with the versions in the last column and six digits of what is not an integer."""
    frame = (rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))).assign(versions=versions())
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    print(f"wrote {path}", flush=True)


def draw(figure: Figure, folder: Path, name: str, kind: str = "png") -> Path:
    """Save a picture under this name and say so."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.{kind}"
    save_picture(figure, path)
    print(f"drew {path}", flush=True)
    return path


def need(sets: Iterable[str]) -> None:
    """End the program with one line where a data set is not there."""
    folder = data_folder()
    lacking = [name for name in sets if not any((folder / f"{name}{part}.csv.gz").is_file() for part in ("", "-train"))]
    if lacking:
        where = "PAIRSIM_DATA" if folder.is_dir() else f"PAIRSIM_DATA (there is no folder {folder})"
        print(f"This needs the data sets {', '.join(lacking)} as csv.gz files in {where}.", file=sys.stderr)
        raise SystemExit(2)


def some(chosen: Sequence[str], known: Sequence[str], made: argparse.ArgumentParser) -> list[str]:
    """Return the sets to measure: those that were named, or all; an unknown name is an error."""
    unknown = [name for name in chosen if name not in known and name.partition(":")[0] not in known]
    if unknown:
        made.error(f"unknown set {unknown[0]!r}: choose from {', '.join(known)}")
    return list(chosen) or list(known)
