"""What a vector perceptron has learned so far: the rows that it added, or their sums, and how many it has visited.

Passes over all rows and over parts of them change it in the same way, so that rows learned in parts give the same bits
as the whole. A run is never changed in place: what fails leaves the last one as it was.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pairsim.learn.compiled.vector_dual import add_known, kernel_epoch, label_epoch, linear_epoch, sparse_epoch
from pairsim.learn.feature_rows import feature_rows, weight_table
from pairsim.learn.label_vectors import LabelVectors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Rule:
    """How rows are learned: the label vectors, the step and the margin; `settings` are the kernel's parameters."""

    labels: LabelVectors
    step: float
    margin: float
    settings: tuple[Any, ...]

    def goes_on(self, other: Rule) -> bool:
        """Return whether what was learned by the other rule can be gone on with by this one."""
        return self.settings == other.settings and np.array_equal(self.labels.vectors, other.labels.vectors)


@dataclasses.dataclass
class Counts:
    """Visits to rows, updates, passes, and whether the last pass changed nothing."""

    visits: int = 0
    updates: int = 0
    passes: int = 0
    halted: bool = False

    def add(self, rows: int, updates: int) -> None:
        """Count a pass."""
        self.visits, self.updates, self.passes = self.visits + rows, self.updates + updates, self.passes + 1
        self.halted = updates == 0


@dataclasses.dataclass
class LinearRun:
    """Explicit features: `sums` and, for the mean, `late`.

    With named labels they have a row per class, the sum of its added rows, and one for all classes; with other vectors
    a row per feature and a column per dimension, W transposed.
    """

    rule: Rule
    counts: Counts
    sums: Floats
    late: Floats

    @classmethod
    def start(cls, rule: Rule, features: int) -> LinearRun:
        """Return a run that has learned nothing."""
        count, size = rule.labels.vectors.shape
        shape = weight_table(features, size).shape if np.isnan(rule.labels.other) else (count + 1, features)
        return cls(rule, Counts(), np.zeros(shape), np.zeros(shape))

    def copy(self, rule: Rule) -> LinearRun:
        """Return the same run, to be changed, by another rule."""
        return LinearRun(rule, dataclasses.replace(self.counts), self.sums.copy(), self.late.copy())

    def learn(self, X: Any, numbers: Integers, order: Integers) -> None:
        """Visit rows in order."""
        labels, step, margin = self.rule.labels, self.rule.step, self.rule.margin
        seen = self.counts.visits
        if np.isnan(labels.other):
            buffer = np.empty(self.sums.shape[1])
            given = np.ascontiguousarray(labels.vectors), step, margin, order, seen, self.sums, self.late, buffer
            updates = label_epoch(feature_rows(X), numbers, *given)
        else:
            rest = numbers, labels.other, step, margin, order, seen, self.sums, self.late
            if scipy.sparse.issparse(X):
                updates = sparse_epoch(X.data, X.indices, X.indptr, *rest)
            else:
                updates = linear_epoch(X, *rest)
        self.counts.add(len(order), int(updates))

    def weights(self, average: bool) -> Floats:
        """Return the weights of each class's score, one row per class."""
        sums = self.sums - self.late / self.counts.visits if average else self.sums
        labels = self.rule.labels
        if np.isnan(labels.other):
            return np.asarray(labels.vectors @ sums[:-1, : labels.vectors.shape[1]].T)
        return np.asarray(labels.products @ sums[:-1])


@dataclasses.dataclass
class KernelRun:
    """The rows that were added, in that order: their features, places in the whole, classes, weights, and `late`."""

    rule: Rule
    counts: Counts
    rows: Any
    places: Integers
    numbers: Integers
    coef: Floats
    late: Floats

    @classmethod
    def start(cls, rule: Rule, none: Any) -> KernelRun:
        """Return a run that has learned nothing; `none` is a table without rows."""
        places, coef = np.empty(0, np.int64), np.empty(0)
        return cls(rule, Counts(), none, places, places, coef, coef)

    @classmethod
    def of_epochs(cls, rule: Rule, gram: Floats, numbers: Integers, orders: Any) -> KernelRun:
        """Pass over all rows in each of the orders until a pass changes nothing; `rows` stays None."""
        counts, (coef, late, margins) = Counts(), np.zeros((3, len(numbers)))
        for order in orders:
            given = rule.labels.other, rule.labels.products, rule.step, rule.margin, order, counts.visits
            counts.add(len(order), int(kernel_epoch(gram, numbers, *given, coef, late, margins)))
            if counts.halted:
                break
        kept = np.flatnonzero(coef > 0.0)
        return cls(rule, counts, None, kept, numbers[kept], coef[kept], late[kept])

    def with_part(self, rule: Rule, X: Any, numbers: Integers, across: Floats, within: Floats) -> KernelRun:
        """Return the run after some new rows, given their kernel values with the known ones and with themselves."""
        labels, seen = rule.labels, self.counts.visits
        coef, late, margins = np.zeros((3, len(numbers)))
        add_known(across, self.numbers, self.coef, numbers, labels.other, labels.products, margins)
        given = labels.other, labels.products, rule.step, rule.margin, np.arange(len(numbers)), seen
        counts = dataclasses.replace(self.counts)
        counts.add(len(numbers), int(kernel_epoch(within, numbers, *given, coef, late, margins)))
        kept = np.flatnonzero(coef > 0.0)
        return KernelRun(
            rule,
            counts,
            _joined(self.rows, X[kept]),
            np.concatenate([self.places, seen + kept]),
            np.concatenate([self.numbers, numbers[kept]]),
            np.concatenate([self.coef, coef[kept]]),
            np.concatenate([self.late, late[kept]]),
        )

    def weights(self, average: bool) -> Floats:
        """Return the weight of each row."""
        return self.coef - self.late / self.counts.visits if average else self.coef


def in_form_of(rows: Any, X: Any) -> Any:
    """Return X as a sparse matrix or an array, as `rows` is."""
    if scipy.sparse.issparse(rows) == scipy.sparse.issparse(X):
        return X
    return type(rows)(X) if scipy.sparse.issparse(rows) else X.toarray()


def _joined(rows: Any, new: Any) -> Any:
    if scipy.sparse.issparse(rows):
        return type(rows)(scipy.sparse.vstack([rows, new], format="csr"))
    return np.concatenate([rows, new])
