"""The binary model of a node, and the probability with which it sends a row to the left."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.base import clone

from pairsim.learn.one_vs_one.calibration import deal_folds
from pairsim.learn.one_vs_one.margin_decoders import Link
from pairsim.learn.trees.class_tree import Classes

Numbers = NDArray[np.float64]
LEAST_SLOPE = 1e-3  # per mean absolute margin: a higher margin is never less probable


@dataclasses.dataclass(frozen=True)
class BranchModel:
    """A trained binary estimator whose label 1 stands for the left side.

    `link` makes probabilities of its decision function; None where it has probabilities of its own. `columns` are those
    of a matrix of pairs that belong to the rows which it was trained with; None for rows of features.
    """

    estimator: Any
    rows: int
    link: Link | None
    columns: NDArray[np.int64] | None

    def probability(self, X: Any) -> Numbers:
        """Return the probability that each row belongs to the left."""
        if self.columns is not None:
            X = X[:, self.columns]
        if self.link is None:
            return np.asarray(self.estimator.predict_proba(X), np.float64)[:, 1]
        return sigmoid(self.link, margins_of(self.estimator, X))


def margins_of(estimator: Any, X: Any) -> Numbers:
    """Return a binary estimator's decision function as one finite number per row."""
    return np.asarray(estimator.decision_function(X), np.float64).ravel()


def sigmoid(link: Link, margins: Numbers) -> Numbers:
    """Return the probability of the label 1."""
    return np.asarray(expit(-(link.A * margins + link.B)))


def train_branch(
    base: Any,
    X: Any,
    numbers: NDArray[np.int64],
    sides: tuple[Classes, Classes],
    *,
    folds: int | None,
    seed: int,
    pairwise: bool,
) -> BranchModel:
    """Train a clone of `base` to tell the rows of the left classes from those of the right ones.

    Where it has no `predict_proba`, Platt's sigmoid is fitted to decision values of rows that were left out, one of
    `folds` parts at a time; without folds a margin m is a probability of 1 / (1 + exp(-m)).
    """
    rows = np.flatnonzero(np.isin(numbers, sides[0] + sides[1]))
    labels = np.isin(numbers[rows], sides[0]).astype(np.int64)

    def train(places: NDArray[np.int64]) -> Any:
        """Train on some of the node's rows."""
        return clone(base).fit(_cut(X, rows[places], rows[places] if pairwise else None), labels[places])

    estimator = train(np.arange(len(rows)))
    columns = rows if pairwise else None
    if hasattr(estimator, "predict_proba"):
        return BranchModel(estimator, len(rows), None, columns)
    link = Link()
    if folds is not None:
        own = np.unique(numbers[rows], return_inverse=True)[1].astype(np.int64)
        fold = deal_folds(own, folds, seed)
        margins = np.empty(len(rows))
        for number in range(int(fold.max()) + 1):
            kept, asked = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            margins[asked] = margins_of(train(kept), _cut(X, rows[asked], rows[kept] if pairwise else None))
        link = platt_link(margins[fold >= 0], labels[fold >= 0])
    return BranchModel(estimator, len(rows), link, columns)


def platt_link(margins: Numbers, labels: NDArray[np.int64]) -> Link:
    """Return the sigmoid that makes the labels most likely, given margins of rows that were left out of training.

    The targets are Platt's, (N + 1) / (N + 2) and 1 / (N + 2), so that separated data give no infinite slope. Where a
    label is missing, or no margin differs from 0, the result is the plain logistic function.

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines", 1999.

    Examples
    --------
    >>> import numpy as np
    >>> link = platt_link(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]))
    >>> sigmoid(link, np.array([-2.0, 0.0, 2.0])).round(2).tolist()
    [0.21, 0.5, 0.79]
    """
    counts = np.bincount(labels, minlength=2)
    scale = float(np.abs(margins).mean()) if len(margins) else 0.0
    if not counts.all() or scale == 0.0 or not np.isfinite(scale):
        return Link()
    targets = np.where(labels == 1, (counts[1] + 1.0) / (counts[1] + 2.0), 1.0 / (counts[0] + 2.0))
    scaled = margins / scale

    def loss(parameters: Numbers) -> tuple[float, Numbers]:
        z = parameters[0] * scaled + parameters[1]
        excess = expit(z) - targets
        value = -(targets * log_expit(z) + (1.0 - targets) * log_expit(-z)).mean()
        return float(value), np.array([(excess * scaled).mean(), excess.mean()])

    start = np.array([1.0, float(np.log((counts[1] + 1.0) / (counts[0] + 1.0)))])
    bounds = [(LEAST_SLOPE, None), (None, None)]
    found = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-10)
    return Link(-float(found.x[0]) / scale, -float(found.x[1]))


def _cut(X: Any, rows: NDArray[np.int64], columns: NDArray[np.int64] | None) -> Any:
    """Return some rows, and of a matrix of pairs those columns only."""
    return X[rows] if columns is None else X[rows][:, columns]
