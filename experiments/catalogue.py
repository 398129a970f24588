"""What can be run: each experiment's name, what it redoes of which paper, the data it needs, how long it takes."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Experiment(NamedTuple):
    """One script: the paper that it is about ("" for none), what it shows, what it needs and how long it takes here."""

    name: str
    paper: str
    shows: str
    data: tuple[str, ...] = ()
    takes: str = "not timed"
    quick: tuple[str, ...] = ("--quick",)  # what makes the script short
    figures: str = "--figures"  # its option for the folder of pictures; "" where it draws nothing
    results: str = "--results"  # its option for the folder of tables; "" where it writes none


SBC_SETS = ("iris", "wine", "new-thyroid", "tae", "lenses", "postoperative", "balance-scale", "vehicle", "car")
TEXT_AND_LETTERS = ("letter", "hwu64", "plants100-texture", "clinc150")

EXPERIMENTS = (
    Experiment("poll_figures", "POLL", "figures 1 and 2, with the curves as a table", takes="10 s"),
    Experiment(
        "poll_claims",
        "POLL",
        "top-k's gain, the size of a sample, how clear-cut instances are, formulas, polls against the best way",
        takes="3 min",
    ),
    Experiment(
        "bounds_figure",
        "POLL",
        "exact values, certified bounds and Theorem 2 in one picture",
        takes="30 s",
    ),
    Experiment(
        "success_by_cost",
        "",
        "success against queries for 512 classes, and the floor that nothing can go below",
        takes="not timed",
        quick=("--trials", "200", "--n", "64"),
        figures="--folder",
    ),
    Experiment(
        "sbc_errors", "SBC", "table 2: errors of the single-binary reductions", (*SBC_SETS, "page-blocks"), "16 min"
    ),
    Experiment("sbc_ranks", "SBC", "table 2: average ranks, printed and ours, with tests", takes="5 s"),
    Experiment("sbc_defaults", "SBC", "what learned label weights bring, against equal ones", SBC_SETS[:4], "15 min"),
    Experiment(
        "vector_errors",
        "voSVM",
        "table 4: errors of the vector machine and the perceptron",
        ("glass", "yeast", "spectrometer", "page-blocks", "optdigits", "satimage", "abalone"),
        "2 min",
    ),
    Experiment(
        "perceptron_updates", "voSVM", "Theorem 1: the bound against the updates that really happened", takes="1 min"
    ),
    Experiment(
        "linear_errors",
        "notes",
        "perceptrons and machines of Crammer and Singer; the SGD that ends at the wrong value",
        ("iris", "wine", "glass", "vehicle", "vowel", "segment"),
        "1 min",
    ),
    Experiment(
        "notes_examples", "notes", "the worked example; the three sectors, with and without a bias", takes="5 s"
    ),
    Experiment(
        "tree_errors",
        "SDT",
        "table II: errors of trees of SVMs and of their rivals",
        ("iris", "glass", "vowel", "vehicle", "segment", "satimage"),
        "25 min",
    ),
    Experiment("text_errors", "SDT", "table IV: six methods on 20 newsgroups", ("20newsgroups2000",), "10 min"),
    Experiment("sdt_convergence", "SDT", "figure 2: how fast the printed method converges on iris", takes="1 min"),
    Experiment("real_decoders", "", "every decoder on models of real data", TEXT_AND_LETTERS, "not timed", figures=""),
    Experiment("noise_models", "", "which random oracle predicts decoders on real data", TEXT_AND_LETTERS, "not timed"),
    Experiment(
        "noisy_judge",
        "",
        "the best of 24 candidates by a biased judge, within a budget",
        takes="1 min",
        quick=("--repeats", "20"),
        figures="",
        results="",
    ),
    Experiment("verdict", "", "the table of all claims and errata: experiments/README.md", takes="5 s", figures=""),
)


def catalogue() -> list[Experiment]:
    """Return all experiments: those above, then scripts that nobody has described yet, by their first line."""
    known = {each.name for each in EXPERIMENTS}
    others = []
    for path in sorted(HERE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        runs = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        if runs and path.stem not in known and not path.stem.startswith("__"):
            line = (ast.get_docstring(tree) or path.stem).partition("\n")[0]
            others.append(Experiment(path.stem, "", line.partition(": python -m")[0].rstrip("."), takes="?"))
    here = {path.stem for path in HERE.glob("*.py")}
    return [each for each in EXPERIMENTS if each.name in here] + others
