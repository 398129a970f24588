"""Real data sets for experiments on reductions: whole sets, nominal features spelled out, scaled and cut into folds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from experiments.real_data import data_folder

Rows = NDArray[np.float64]
Numbers = NDArray[np.int64]


def have_data() -> bool:
    """Return whether there is a folder of data sets."""
    return data_folder().is_dir()


def read_set(name: str, *others: str) -> list[tuple[Rows, Numbers]]:
    """Return rows and class numbers of each part of a set; nominal features become one column a value.

    Parts are read together, so that columns and class numbers agree. A number that is missing becomes the median.
    """
    if not have_data():
        raise SystemExit("No folder of data sets: set PAIRSIM_DATA.")
    parts = [pd.read_csv(data_folder() / f"{each}.csv.gz") for each in (name, *others)]
    table = pd.concat(parts, ignore_index=True)
    numbers = np.unique(table.pop("target"), return_inverse=True)[1].astype(np.int64)
    rows = pd.get_dummies(
        table.fillna(table.median(numeric_only=True)), dummy_na=bool(table.isna().any(axis=None))
    ).to_numpy(np.float64)
    ends = np.cumsum([0, *map(len, parts)])
    return [(rows[low:high], numbers[low:high]) for low, high in itertools.pairwise(ends)]


def standardised(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Return both parts with the training part's means taken away and divided by its standard deviations."""
    spread = train.std(axis=0)
    spread[spread == 0.0] = 1.0
    return (train - train.mean(axis=0)) / spread, (test - train.mean(axis=0)) / spread


def folds(count: int, parts: int, seed: int, *, discard: bool = False) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield training and test rows of each fold; with `discard` all folds have floor(count / parts) rows."""
    order = np.random.default_rng(seed).permutation(count)
    kept = order[: count // parts * parts] if discard else order
    for test in np.array_split(kept, parts):
        yield np.setdiff1d(kept, test), test


def squared_distances(rows: Rows, against: Rows) -> Rows:
    """Return squared Euclidean distances, from which every Gaussian width has its kernel."""
    return np.asarray(euclidean_distances(rows, against, squared=True))


def typical_distance(distances: Rows) -> float:
    """Return the median of the squared distances between different points."""
    return float(np.median(distances[distances > 0.0]))


def error(model: Any, distances: Rows, numbers: Numbers) -> float:
    """Return the share of rows that a fitted model names wrongly."""
    return float((model.predict(distances) != numbers).mean())
