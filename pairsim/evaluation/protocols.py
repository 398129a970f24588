"""How reductions are tested: on the folds of a cross-validation, or on the test part that a data set came with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_choice, check_whole
from pairsim.datasets import Dataset
from pairsim.errors import parameter_error, shown
from pairsim.evaluation.fold_records import fold_numbers
from pairsim.evaluation.folds import FOLD_SIZES, OFFICIAL, deal_equal_folds, name_split
from pairsim.evaluation.tasks import TestSet

if TYPE_CHECKING:
    import pandas as pd


class Protocol(NamedTuple):
    """The folds of data sets: how many, dealt by which seed, of equal size or not; or the official split.

    Examples
    --------
    >>> from pairsim.datasets import load
    >>> Protocol(10, 0, "floor").prepare(load("wine")).split
    '10 folds of 17 from 178 rows, seed 0'
    """

    folds: int = 10
    seed: int = 0
    fold_size: str = FOLD_SIZES[0]
    official: bool = False

    @property
    def by_class(self) -> bool:
        """Whether every fold has its share of each class."""
        return self.official or self.fold_size == FOLD_SIZES[0]

    @property
    def parts(self) -> int:
        """How many times each reduction is trained on a data set."""
        return 1 if self.official else self.folds

    def prepare(self, dataset: Dataset) -> Dataset:
        """Return the data set that is tested on, its rows in one part unless its own split is kept."""
        if self.official:
            check_official(dataset)
            return dataset
        X, y = dataset.whole()
        if len(y) < self.folds:
            raise parameter_error("evaluate", "folds", f"at most the rows of {dataset.name}, {len(y)}", self.folds)
        rows = None
        if self.fold_size != FOLD_SIZES[0]:
            rows = len(y)
            kept = deal_equal_folds(rows, self.folds, self.seed) >= 0
            X, y = X[kept].reset_index(drop=True), y[kept]
        return Dataset(dataset.name, X, y, X.iloc[:0], y[:0], split=name_split(self.folds, self.seed, rows))

    def test_set(self, dataset: Dataset) -> TestSet:
        """Return what predictions of a prepared data set are compared with."""
        y = dataset.y_test if self.official else dataset.y
        truth = np.searchsorted(dataset.classes, y).astype(np.int64)
        return TestSet(dataset.digest, dataset.split, len(np.unique(dataset.y)), truth)

    def rows(self, dataset: Dataset, number: int) -> tuple[pd.DataFrame, NDArray[Any], NDArray[np.bool_]]:
        """Return the rows of a prepared data set that a fold needs, their labels, and which of them are tested on."""
        if not self.official:
            return dataset.X, dataset.y, fold_numbers(dataset.split, self.test_set(dataset).truth) == number
        import pandas as pd

        X = pd.concat([dataset.X, dataset.X_test], ignore_index=True)
        y = np.concatenate([dataset.y, dataset.y_test])
        return X, y, np.arange(len(y)) >= len(dataset.y)


def check_official(dataset: Dataset) -> None:
    """Reject a data set whose authors made no test part."""
    if dataset.split != OFFICIAL or not len(dataset.y_test):
        must_be = "omitted for data sets without a test part of their own"
        raise parameter_error("evaluate", "split", must_be, f"{OFFICIAL!r} for {dataset.name}")


def check_split(split: str | None) -> bool:
    """Return whether the official split is asked for; None leaves it to the command."""
    if split is not None and not (isinstance(split, str) and split == OFFICIAL):
        raise parameter_error("evaluate", "split", f"{OFFICIAL!r} or omitted", shown(split))
    return split is not None


def make_protocol(folds: int | None, seed: int, split: str | None, fold_size: str) -> Protocol:
    """Check how reductions are to be tested; 10 folds where nothing else is asked for."""
    official = check_split(split)
    fold_size = check_choice("evaluate", "fold_size", fold_size, FOLD_SIZES)
    if official:
        for name, value, usual in (("folds", folds, None), ("fold_size", fold_size, FOLD_SIZES[0])):
            if value != usual:
                raise parameter_error("evaluate", name, "omitted with the official split", shown(value))
    number = 10 if folds is None else check_whole("evaluate", "folds", folds, 2, (1 << 31) - 1)
    return Protocol(number, seed, fold_size, official)
