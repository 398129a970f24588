"""Errors of linear multiclass learners on real sets: python -m experiments.linear_errors [SET ...].

Ten folds, features scaled by the training part, an intercept, 30 passes over the rows. The two machines have the best
of three values of C on the folds themselves (which is optimistic). Vehicle has two more rows: by how many percent the
objective of stochastic subgradients exceeds the least one, as LIBLINEAR finds it, with weights that shrink in all steps
and with those that the notes print. The notes have no figures, so the column `paper` is empty.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from experiments import frame, results_table
from experiments.reduction_sets import Numbers, Rows, error, folds, read_set, standardised
from experiments.results_table import ErrorRow, record, spread
from pairsim.learn import CrammerSingerSVC, MulticlassPerceptronClassifier

PARTS = {"vowel": ("vowel-train",), "segment": ("segment-train", "segment-test")}
SETS = ("iris", "wine", "glass", "vehicle", "vowel", "segment")
EPOCHS, SEEDS = 30, 3
PENALTIES, C_VALUES = (1e-4, 1e-3, 1e-2), (0.1, 1.0, 10.0)
LONG, LONG_SEEDS, PENALTY = 400, 10, 1e-3  # of the comparison of objectives
GOALS = {("vehicle", "perceptron"): 22.0, ("segment", "perceptron"): 7.0}


def perceptron(rows: int, seed: int, **options: Any) -> list[Any]:
    """Return the perceptron alone: it has nothing to choose."""
    return [MulticlassPerceptronClassifier(max_iter=EPOCHS, random_state=seed, **options)]


def gradients(rows: int, seed: int) -> list[Any]:
    """Return stochastic subgradients with three penalties lambda = 1 / (C rows)."""
    return [
        CrammerSingerSVC("sgd", C=1.0 / (penalty * rows), max_iter=EPOCHS, random_state=seed) for penalty in PENALTIES
    ]


def machines(rows: int, seed: int) -> list[Any]:
    """Return the exact machine with three values of C."""
    return [CrammerSingerSVC(C=C, random_state=seed) for C in C_VALUES]


METHODS: dict[str, Callable[[int, int], list[Any]]] = {
    "perceptron": perceptron,
    "perceptron spread": lambda rows, seed: perceptron(rows, seed, rule="spread"),
    "perceptron last": lambda rows, seed: perceptron(rows, seed, average=False),
    "SGD": gradients,
    "Crammer-Singer": machines,
}


def whole_set(name: str) -> tuple[Rows, Numbers]:
    """Return all rows of a set, its parts one after the other."""
    parts = read_set(*PARTS.get(name, (name,)))
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([numbers for _, numbers in parts])


def cross_errors(make: Callable[[int, int], list[Any]], rows: Rows, numbers: Numbers, seed: int) -> Rows:
    """Return the error in percent of each model that `make` gives, over ten folds."""
    wrong: Any = 0.0
    for train, test in folds(len(rows), 10, seed):
        known, new = standardised(rows[train], rows[test])
        models = [model.fit(known, numbers[train]) for model in make(len(train), seed)]
        wrong = wrong + np.array([len(test) * error(model, new, numbers[test]) for model in models])
    return np.asarray(100.0 * wrong / len(rows))


def measure_set(name: str, seeds: int = SEEDS) -> None:
    """Measure all methods on one set."""
    rows, numbers = whole_set(name)
    for method, make in METHODS.items():
        start = time.perf_counter()
        found = np.array([cross_errors(make, rows, numbers, seed) for seed in range(seeds)])
        best = int(found.mean(axis=0).argmin())
        mean, sd = float(found[:, best].mean()), spread(found[:, best])
        told = f"{seeds} seeds, 10 folds, best of {found.shape[1]} settings"
        took, goal = time.perf_counter() - start, GOALS.get((name, method.removesuffix(" spread")), np.nan)
        record("linear_errors", ErrorRow(name, method, mean, sd, goal, np.nan, told, took, seeds, len(rows)))


def least_objective(rows: Rows, numbers: Numbers, C: float) -> float:
    """Return the objective at LIBLINEAR's solution, to all digits that matter."""
    model = LinearSVC(multi_class="crammer_singer", C=C, tol=1e-6, max_iter=1_000_000, random_state=0)
    model.fit(rows, numbers)
    scores = rows @ model.coef_.T + model.intercept_
    own = scores[np.arange(len(numbers)), numbers]
    ahead = 1.0 + scores - own[:, None]
    ahead[np.arange(len(numbers)), numbers] = 0.0
    square = (model.coef_**2).sum() + (model.intercept_**2).sum()
    return float(square / 2.0 + C * ahead.max(axis=1).sum())


def measure_objective(seeds: int = LONG_SEEDS) -> None:
    """Measure how far from the least objective stochastic subgradients stop on vehicle."""
    rows, numbers = whole_set("vehicle")
    rows = standardised(rows, rows)[0]
    C = 1.0 / (PENALTY * len(rows))
    least = least_objective(rows, numbers, C)
    for shrink, goal in (("always", 1.0), ("active", np.nan)):
        start = time.perf_counter()
        found = [
            CrammerSingerSVC("sgd", C=C, shrink=shrink, max_iter=LONG, random_state=seed).fit(rows, numbers).objective_
            for seed in range(seeds)
        ]
        over = 100.0 * (np.array(found) / least - 1.0)
        took = time.perf_counter() - start
        told = f"{seeds} seeds, {LONG} passes, lambda {PENALTY:g}: objective over LIBLINEAR's in percent"
        row = ErrorRow("vehicle", f"SGD excess, {shrink}", over.mean(), spread(over), goal, np.nan, told, took, seeds)
        record("linear_errors", row)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the sets that are named, or all."""
    parser = frame.parser(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}")
    chosen = frame.parse(parser, argv)
    names = frame.some(chosen.sets or ["iris"] * chosen.quick, SETS, parser)
    frame.need(PARTS.get(name, (name,))[0] for name in names)
    results_table.FOLDER = chosen.results
    warnings.simplefilter("ignore", ConvergenceWarning)  # of C at the grid's end, and of LIBLINEAR without cause
    for name in names:
        measure_set(name, 1 if chosen.quick else SEEDS)
        if name == "vehicle":
            measure_objective(1 if chosen.quick else LONG_SEEDS)


if __name__ == "__main__":
    main()
