"""Gram matrices for estimators: from a kernel's name, a function, a matrix of kernel values, or squared distances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.learn.fit_sharing import current_fits
from pairsim.learn.gaussian_gram import gaussian_gram
from pairsim.learn.row_products import ROWS, by_equal_parts

FROM_FEATURES = ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine")
FROM_MATRIX = ("precomputed", "distances")
CHUNK = 1 << 22  # kernel values at a time when scores are computed: 32 MB
LARGEST = 1e200  # of a kernel value in training: solvers add and multiply them
ROUNDING = 1e-6  # how far below 0 a squared distance may be, as a part of the largest
BEYOND = "The kernel's values are too large or not numbers. Scale the features, or choose other parameters."
FITTED = ("dual_coef_", "coef_", "estimators_", "pairs_")  # what training sets in the end, one or the other


def variance(X: Any) -> Any:
    """Return the variance of all entries, those that a sparse matrix leaves out included."""
    if not issparse(X):
        return X.var()
    mean, size = X.mean(), X.shape[0] * X.shape[1]
    return (((X.data - mean) ** 2).sum() + (size - X.nnz) * mean**2) / size


def tidy(X: Any) -> Any:
    """Return a sparse matrix with every entry once and short indices, where they suffice; other data as they are.

    Some kernels of scikit-learn take lengths of rows entry by entry, and some take no long indices.
    """
    if not issparse(X):
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:
        short = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, *short), shape=X.shape)
    return X


def checked_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return kernel values that solvers can compute with; reject others."""
    if not (float(values.max(initial=0.0)) < LARGEST and float(values.min(initial=0.0)) > -LARGEST):
        raise ValueError(BEYOND)
    return values


class KernelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of classifiers with parameters `kernel`, `gamma`, `degree` and `coef0`: the Gram matrices that they mean.

    `kernel` is a name, a function of two rows, "precomputed" (X holds kernel values of its rows with the training rows)
    or "distances" (X holds squared distances, from which the Gaussian kernel exp(-gamma X) is made: one matrix serves
    every gamma). The last two are pairwise in scikit-learn's sense, so that cross-validation cuts both sides of X.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    classes_: NDArray[Any]
    gamma_: float
    support_: NDArray[np.int64]
    X_fit_: Any

    _kernel_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "kernel": [StrOptions({*FROM_FEATURES, *FROM_MATRIX}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
    }

    @property
    def _pairwise_input(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel in FROM_MATRIX

    def _checked_data(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
        """Return X as checked rows, the labels in order, and the number of each row's label."""
        accept = False if self._pairwise_input else "csr"
        X, y = validate_data(self, X, y, accept_sparse=accept, dtype=np.float64, order="C", ensure_min_samples=2)
        check_classification_targets(y)
        if self._pairwise_input and X.shape[0] != X.shape[1]:
            raise ValueError(f"{self.kernel} matrix should be a square matrix. Got a {X.shape[0]}x{X.shape[1]} matrix.")
        X = self._tidy(X)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        self.gamma_ = self._width(X)
        return X, classes, codes.astype(np.int64)

    def _tidy(self, X: Any) -> Any:
        """Return checked rows as the kernels take them; squared distances below 0 (but for rounding) are rejected."""
        if self.kernel == "distances" and X.min() < -ROUNDING * X.max():
            raise ValueError(f"Negative values in data passed to {type(self).__name__}: X holds squared distances.")
        return tidy(X)

    def _width(self, X: Any) -> float:
        """Return gamma as a number; "scale" divides 1 by the features' number times their variance, as SVC does."""
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "auto" and not self._pairwise_input:
            return 1.0 / float(X.shape[1])
        if self.kernel == "precomputed" or X.max() == X.min():
            return 1.0
        with np.errstate(all="ignore"):  # half the mean squared distance is the sum of the features' variances
            spread = X.mean() / 2.0 if self.kernel == "distances" else X.shape[1] * variance(X)
            width = float(1.0 / np.float64(spread))
        if 0.0 < width < np.inf:
            return width
        if self.kernel in ("rbf", "poly", "sigmoid", "laplacian", "distances"):
            raise ValueError("The features' variance is beyond what numbers can hold. Scale them, or give a gamma.")
        return 1.0

    def _gram(self, X: Any, kept: Any) -> NDArray[Any]:
        """Return kernel values of the rows of X with kept rows; `kept` numbers columns where X is a matrix of pairs."""
        if self.kernel == "precomputed":
            return np.ascontiguousarray(X[:, kept])
        if self.kernel == "distances":
            values = np.multiply(X[:, kept], -self.gamma_)
            return np.asarray(np.exp(values, out=values))
        if callable(self.kernel):
            return np.asarray(pairwise_kernels(X, kept, metric=self.kernel))
        own = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        return np.asarray(pairwise_kernels(X, kept, metric=self.kernel, filter_params=True, **own))

    def _gram_of_rows(self, X: Any, rows: NDArray[np.int64] | None = None, dtype: str = "float64") -> NDArray[Any]:
        """Return kernel values of training rows with each other: of all, or of some. Not to be written to."""
        fits = current_fits()
        if fits is None:
            return self._new_gram(X, rows, dtype)
        options = {name: getattr(self, name) for name in ("kernel", "gamma_", "degree", "coef0")}
        return fits.gram_of(fits.key_of(X, rows, options, dtype), lambda: self._new_gram(X, rows, dtype))

    def _new_gram(self, X: Any, rows: NDArray[np.int64] | None, dtype: str) -> NDArray[Any]:
        some = X if rows is None else X[rows]
        kept = some if not self._pairwise_input else slice(None) if rows is None else rows
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is rejected
            if self.kernel == "rbf" and not issparse(some):
                gram = gaussian_gram(some, self.gamma_, dtype)
            elif dtype == "float64":
                gram = self._gram(some, kept)
            else:  # in doubles, some rows at a time
                gram = np.empty((some.shape[0], some.shape[0]), dtype)
                for part in gen_batches(len(gram), max(1, CHUNK // len(gram))):
                    gram[part] = self._gram(some[part], kept)
        return checked_values(gram)

    def _keep_rows(self, X: Any, used: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Keep the training rows that prediction needs (one at least) and return their numbers."""
        rows = np.flatnonzero(used) if used.any() else np.zeros(1, np.int64)
        self.support_ = rows
        self.X_fit_ = rows if self._pairwise_input else X[rows]
        return rows

    def _weighted_sums(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (kernel values of new rows with the kept ones) @ weights; no row depends on the rows around it."""
        accept = False if self._pairwise_input else "csr"
        X = self._tidy(validate_data(self, X, accept_sparse=accept, dtype=np.float64, order="C", reset=False))
        rows = max(1, min(ROWS, CHUNK // len(weights)))
        with np.errstate(over="ignore", invalid="ignore"):
            sums = by_equal_parts(lambda part: self._gram(part, self.X_fit_) @ weights, X, weights.shape[1], rows)
        if np.isnan(sums).any():
            raise ValueError(BEYOND)
        return sums

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        """Return one score a class and row."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return one score per class and row; with two classes one number per row, positive for `classes_[1]`."""
        check_is_fitted(self)
        scores = self._class_scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row, the first of those with the highest score."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self._class_scores(X).argmax(axis=1)])

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether a training came to its end; one that rejected its data leaves marks, too."""
        return any(hasattr(self, each) for each in FITTED)

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: sparse rows, or a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise_input
        tags.input_tags.sparse = not self._pairwise_input
        return tags
