"""Which label weights SBC-KERNEL should have unless told otherwise: python -m experiments.sbc_defaults [SET ...].

The weights of the label kernels can be learned (Algorithm 2, with the printed step, with one that reaches the minimum,
with one that keeps every weight above a floor, or stopped after one step), be the classes' parts of the rows (the
paper's closing idea: one SVM) or be equal. The error is the mean over five half splits, each class cut in half, with
scaled features, gamma="scale" and a plain C. The goal is one percent more than equal weights have. Sets that the choice
was made on come first; the others, also three drawn ones that are hard on it, confirm it. What is in the table already
is not measured again, unless its set is named.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from experiments import frame, results_table
from experiments.reduction_sets import Numbers, Rows, error, read_set, squared_distances, standardised
from experiments.results_table import ErrorRow, record, spread
from pairsim.learn import OneVsAllClassifier, SingleBinaryClassifier

TABLE, SPLITS, PENALTIES, MARGIN = "sbc_defaults", 5, (10.0, 1.0), 1.0
learned = functools.partial(SingleBinaryClassifier, max_rounds=60, mu_tol=1e-2)
CANDIDATES: dict[str, Callable[..., Any]] = {
    "equal weights": functools.partial(SingleBinaryClassifier, learn_mu=False),  # first: the others' goals come from it
    "default": SingleBinaryClassifier,
    "class frequencies": functools.partial(SingleBinaryClassifier, mu_init="frequency"),
    "paper": functools.partial(learned, mu_update="paper"),
    "mkl": functools.partial(learned, mu_update="mkl"),
    "mkl, one step": functools.partial(learned, mu_update="mkl", max_rounds=1),
    "mkl, floor 0.5": functools.partial(learned, mu_update="mkl", mu_floor=0.5),
    "mkl, floor 0.75": functools.partial(learned, mu_update="mkl", mu_floor=0.75),
    "identity": functools.partial(SingleBinaryClassifier, "identity"),
    "one-vs-all": OneVsAllClassifier,
}
CHOSEN_ON = {
    "plants100-texture": "",
    "soybean": "",
    "primary-tumor": "",
    "vowel": "vowel-train",
    "digits": "optdigits-test",
}
REAL = (
    "audiology", "zoo", "ecoli", "glass", "dermatology", "spectrometer", "iris", "wine", "new-thyroid",
    "balance-scale", "tae", "postoperative",
)  # fmt: skip


def draw(name: str) -> tuple[Rows, Numbers]:
    """Return one of the drawn sets: classes of few rows, of very different sizes, or two."""
    sizes = {"drawn: 60 classes of 4 rows": [4] * 60, "drawn: 400 to 4 rows": [400, 120, 40, 12, 4, 4]}
    rows, numbers = make_blobs(sizes.get(name, [100, 20]), 8, cluster_std=5.0, random_state=0)
    return rows, numbers.astype(np.int64)


DRAWN = ("drawn: 60 classes of 4 rows", "drawn: 400 to 4 rows", "drawn: 2 classes")


def halves(numbers: Numbers, seed: int) -> tuple[Numbers, Numbers]:
    """Return training and test rows: each class in half, what is left over in turn."""
    order = np.random.default_rng(seed).permutation(len(numbers))
    order = order[np.argsort(numbers[order], kind="stable")]
    return order[::2], order[1::2]


def split_errors(rows: Rows, numbers: Numbers, penalty: float) -> Iterator[tuple[str, list[float], float]]:
    """Yield each candidate's errors in percent, a split each, and the seconds that its training took."""
    prepared = []
    for seed in range(SPLITS):
        train, test = halves(numbers, seed)
        known, new = standardised(rows[train], rows[test])
        gamma = 1.0 / (known.shape[1] * known.var())
        prepared.append((squared_distances(known, known), squared_distances(new, known), gamma, train, test))
    for name, make in CANDIDATES.items():
        errors, seconds = [], 0.0
        for near, far, gamma, train, test in prepared:
            start = time.perf_counter()
            model = make(C=penalty, kernel="distances", gamma=gamma).fit(near, numbers[train])
            seconds += time.perf_counter() - start
            errors.append(100 * error(model, far, numbers[test]))
        yield name, errors, seconds


def measured(name: str, told: str) -> set[str]:
    """Return the candidates that the table has for a set and protocol."""
    path = results_table.FOLDER / f"{TABLE}.csv"
    if not path.exists():
        return set()
    table = pd.read_csv(path)
    return set(table.loc[(table["set"] == name) & (table["protocol"] == told), "method"])


def measure(name: str, again: bool) -> None:
    """Measure all candidates on one set."""
    rows, numbers = draw(name) if name in DRAWN else read_set(CHOSEN_ON.get(name, "") or name)[0]
    for penalty in PENALTIES:
        told = f"{SPLITS} half splits, C = {penalty:g}, {'chosen on' if name in CHOSEN_ON else 'confirms'}"
        if not again and measured(name, told) == set(CANDIDATES):
            continue
        equal = np.nan
        for candidate, errors, seconds in split_errors(rows, numbers, penalty):
            mean = float(np.mean(errors))
            equal = mean if np.isnan(equal) else equal
            goal = equal + MARGIN if isinstance(CANDIDATES[candidate](), SingleBinaryClassifier) else np.nan
            given = mean, spread(errors), goal, np.nan, told, seconds
            record(TABLE, ErrorRow(name, candidate, *given, len(errors), len(rows) // 2))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the sets that are named, or what the table lacks of all; a quick run is a drawn set."""
    parser = frame.parser(__doc__)
    known = [*CHOSEN_ON, *DRAWN, *REAL]
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(known)}")
    chosen = frame.parse(parser, argv)
    names = frame.some(chosen.sets or list(DRAWN[2:]) * chosen.quick, known, parser)
    frame.need(CHOSEN_ON.get(name, "") or name for name in names if name not in DRAWN)
    results_table.FOLDER = chosen.results
    warnings.simplefilter("ignore", ConvergenceWarning)  # a limit on rounds is part of a candidate
    for name in names:
        measure(name, again=bool(chosen.sets))


if __name__ == "__main__":
    main()
