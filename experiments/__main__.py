"""Run experiments by name: python -m experiments list | all | NAME [--quick] [--results DIR] [--figures DIR] [...]."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.catalogue import Experiment, catalogue

USAGE = """usage: python -m experiments list | all | NAME [--quick] [--results DIR] [--figures DIR] [options of NAME]

list      print all experiments: paper, time of a full run on two cores, what each shows, the data it needs
all       run all of them in turn; those without their data say so
NAME      run one; `python -m experiments NAME --help` prints its options
--quick   a reduced run of at most two minutes; writes to experiments/quick unless told otherwise
"""


def table(experiments: Sequence[Experiment]) -> str:
    """Return the list as text."""
    wide = max(len(each.name) for each in experiments)
    lines = []
    for each in experiments:
        needs = f" [data: {', '.join(each.data)}]" if each.data else ""
        lines.append(f"{each.name:<{wide}}  {each.paper or '-':<5}  {each.takes:>9}  {each.shows}{needs}")
    return "\n".join(lines)


def translated(each: Experiment, words: Sequence[str]) -> list[str]:
    """Return the options in the words of the script: what it cannot do is left out.

    A quick run without folders of its own writes to experiments/quick.
    """
    quick = Path(__file__).resolve().parent / "quick"
    rest, options = list(words), list[str]()
    if "--quick" in rest:
        rest.remove("--quick")
        options += each.quick
        if each.quick != ("--quick",):  # a script that does not know the word, so that its folders must be given
            for name in ("--results", "--figures"):
                if name not in rest:
                    rest += [name, str(quick)]
    for name, own in (("--results", each.results), ("--figures", each.figures)):
        if name in rest:
            at = rest.index(name)
            value = rest[at + 1 : at + 2]
            del rest[at : at + 2]
            options += [own, *value] if own else []
    return options + rest


def run(each: Experiment, words: Sequence[str]) -> int:
    """Run one experiment as its own command would; return its exit code."""
    before = sys.argv
    sys.argv = [f"python -m experiments.{each.name}", *translated(each, words)]
    try:
        importlib.import_module(f"experiments.{each.name}").main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 2
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0 if words else 2
    name, rest, experiments = words[0], words[1:], catalogue()
    if name == "list":
        print(table(experiments))
        return 0
    chosen = [each for each in experiments if name in ("all", each.name)]
    if not chosen:
        print(f"There is no experiment {name!r}; `python -m experiments list` has all of them.", file=sys.stderr)
        return 2
    worst = 0
    for each in chosen:
        if len(chosen) > 1:
            print(f"--- {each.name}", flush=True)
        worst = max(worst, run(each, rest))
    return worst


if __name__ == "__main__":
    raise SystemExit(main())
