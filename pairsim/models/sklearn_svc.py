"""scikit-learn's SVC and NuSVC as pair models.

The fitted width of the kernel, the training points of a kernel that is a function, and the check that `predict` makes
have no public name; all that is private to scikit-learn and used here is used in this file, and pinned by tests.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pairsim.models.base import Margins, PairModel, Places, take_rows
from pairsim.models.kernel import KernelPairs, pair_sums
from pairsim.models.kernel_functions import CallableKernel, DotKernel, GramColumns, KernelFunction, RbfKernel
from pairsim.models.linear import LinearPairs, norms

MOST_HYPERPLANE_NUMBERS = 1 << 24  # 128 MB; more of them only where they are fewer than the support vectors


@dataclasses.dataclass(frozen=True)
class SvcCheck:
    """The check of X that `SVC.predict` makes, with its messages and warnings."""

    svc: Any

    def __call__(self, X: Any) -> Any:
        """Return X as LIBSVM takes it: an array, a CSR matrix, or what a kernel function takes."""
        return self.svc._validate_for_predict(X)


class SvcSettle:
    """LIBSVM's own decision values, as scikit-learn calls it."""

    def __init__(self, svc: Any) -> None:
        self._svc = without_names(svc)
        self._svc.decision_function_shape = "ovo"

    def __call__(self, points: Any, rows: Places, pairs: Places) -> Margins:
        """Return the margin of pair pairs[k] on points[rows[k]], for each k."""
        different, slots = np.unique(rows, return_inverse=True)
        values = self._svc.decision_function(take_rows(points, different))
        # with two classes scikit-learn returns one dimension and turns the sign
        margins = -values[:, None] if values.ndim == 1 else values
        return np.asarray(margins[slots, pairs], np.float64)


def without_names(model: Any) -> Any:
    """Return a shallow copy that takes arrays without a warning: X is checked against the names before."""
    nameless = copy.copy(model)
    if hasattr(nameless, "feature_names_in_"):
        del nameless.feature_names_in_
    return nameless


def adapt_svc(svc: Any) -> PairModel:
    """Return a fitted SVC or NuSVC as a pair model; linear kernels on dense data as hyperplanes."""
    n = len(svc.classes_)
    sign = -1.0 if n == 2 else 1.0  # the public coefficients of two classes have their sign turned
    dual = sign * (svc.dual_coef_.toarray() if scipy.sparse.issparse(svc.dual_coef_) else svc.dual_coef_)
    borders = np.concatenate([[0], np.cumsum(svc.n_support_)]).astype(np.int64)
    intercept = sign * np.asarray(svc.intercept_, np.float64)
    check, settle, features = SvcCheck(svc), SvcSettle(svc), getattr(svc, "n_features_in_", None)
    vectors = svc.support_vectors_
    most = max(len(dual[0]), MOST_HYPERPLANE_NUMBERS // max(1, vectors.shape[-1]))
    if svc.kernel == "linear" and not scipy.sparse.issparse(vectors) and len(intercept) <= most:
        coef = collapse(dual, borders, vectors)
        weight = pair_sums(np.abs(dual) * norms(vectors), borders)
        return LinearPairs(coef, intercept, svc.classes_, check=check, settle=settle, weight=weight, terms=len(vectors))
    return KernelPairs(kernel_of(svc), dual, borders, intercept, svc.classes_, check, settle, features)


def kernel_of(svc: Any) -> KernelFunction:
    """Return the kernel function of a fitted SVC."""
    if callable(svc.kernel):
        return CallableKernel(svc.kernel, svc._BaseLibSVM__Xfit, svc.support_.astype(np.int64))
    if svc.kernel == "precomputed":
        return GramColumns(svc.support_.astype(np.int64))
    vectors = svc.support_vectors_
    if scipy.sparse.issparse(vectors):
        vectors = scipy.sparse.csr_array(vectors)
        vectors.sum_duplicates()
    if svc.kernel == "rbf":
        return RbfKernel(vectors, svc._gamma)
    return DotKernel(vectors, svc.kernel, svc._gamma, svc.coef0, svc.degree)


def collapse(dual: NDArray[np.float64], borders: Places, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the hyperplane of each pair: its support vectors added up with their coefficients."""
    n = len(borders) - 1
    low, high = np.triu_indices(n, 1)
    coef = np.zeros((len(low), vectors.shape[1]))
    for c in range(n):
        mine = slice(borders[c], borders[c + 1])
        parts = dual[:, mine] @ vectors[mine]
        coef[low == c] += parts[c:]  # against the higher classes, in order
        coef[high == c] += parts[:c]
    return coef
