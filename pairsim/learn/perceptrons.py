"""All perceptrons of a one-vs-one model in one go, equal to scikit-learn's to the last bit."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsOneClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_random_state, validate_data

from pairsim.checks import check_whole
from pairsim.errors import parameter_error, shown
from pairsim.learn.compiled.perceptrons import Course, Rows, fit_pairs
from pairsim.models import LinearPairs, PairModel, from_model
from pairsim.models.rounding import EPSILON
from pairsim.models.sklearn_models import LinearSettle, OneVsOneCheck

MOST_SEED = 2**31 - 1  # what scikit-learn draws its seeds below
PIECES_A_THREAD = 4  # pairs take different times


def fit_perceptrons(X: Any, y: ArrayLike, perceptron: Any = None, n_jobs: int | None = None) -> PairModel:
    """Train a perceptron for each pair of classes, hundreds of times as fast as `OneVsOneClassifier`.

    The result is that of `OneVsOneClassifier(perceptron).fit(X, y)`: coefficient for coefficient, shuffled in the same
    order and stopped in the same epoch. (Where scikit-learn is built with fused multiply-add, as on ARM, a score that
    is 0 but for rounding may fall on the other side.) Dense data of any type but float32 take the fast method, with a
    `Perceptron` that has no penalty, no class weights, no early stopping on held-out rows and no verbose output; all
    else is trained by scikit-learn.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (rows, features)
    y : array_like, shape (rows,)
        Labels.
    perceptron : sklearn.linear_model.Perceptron, optional
        Holds the parameters and is not changed. Default: `Perceptron()`.
    n_jobs : int, optional
        Number of threads, as in scikit-learn; results do not depend on it.

    Returns
    -------
    PairModel

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pairsim.learn import PairwiseClassifier, fit_perceptrons
    >>> X, y = load_digits(return_X_y=True)
    >>> model = fit_perceptrons(X[:1000], y[:1000])
    >>> model.coef.shape
    (45, 64)
    >>> fast = PairwiseClassifier.from_fitted(model, decoder="champion:ties=first")
    >>> bool((fast.predict(X[1000:]) == y[1000:]).mean() > 0.9)
    True
    """
    base = Perceptron() if perceptron is None else perceptron
    if not isinstance(base, Perceptron):
        raise parameter_error("fit_perceptrons", "perceptron", "a Perceptron of scikit-learn", shown(perceptron))
    if n_jobs is not None and check_whole("fit_perceptrons", "n_jobs", n_jobs, -(1 << 31), 1 << 31) == 0:
        raise parameter_error("fit_perceptrons", "n_jobs", "None or a nonzero integer", n_jobs)
    many = OneVsOneClassifier(base, n_jobs=n_jobs)
    points, labels = validate_data(many, X, y, accept_sparse=["csr", "csc"], ensure_all_finite=False)
    check_classification_targets(labels)
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2 or not (is_known(base) and is_plain(points)):
        return from_model(many.fit(X, y))  # or scikit-learn says what is wrong
    fitted = _fit(base, np.ascontiguousarray(points, np.float64), numbers, len(classes), n_jobs)
    many.classes_ = classes
    return LinearPairs(
        -fitted.coef, -fitted.intercept, classes, check=OneVsOneCheck(many, fitted[0]), settle=LinearSettle(fitted)
    )


class FittedPerceptrons(Sequence[Any]):
    """The perceptrons one by one, made when they are asked for: objects for all pairs would cost more than training."""

    def __init__(self, base: Any, coef: NDArray[np.float64], intercept: NDArray[np.float64]) -> None:
        self.coef, self.intercept = coef, intercept
        self._base = clone(base)
        self._base.classes_ = np.array([0, 1])
        self._base.n_features_in_ = coef.shape[1]

    def __len__(self) -> int:
        return len(self.coef)

    def __getitem__(self, k: Any) -> Any:
        one = copy.copy(self._base)
        one.coef_, one.intercept_ = self.coef[k, None], self.intercept[k, None]
        return one


def is_known(base: Any) -> bool:
    """Tell whether the kernel trains with these parameters; not so where one is out of scikit-learn's bounds."""
    return (
        type(base) is Perceptron
        and base.penalty is None
        and base.class_weight is None
        and base.early_stopping is False
        and base.verbose == 0
        and isinstance(base.fit_intercept, bool | np.bool_)
        and isinstance(base.shuffle, bool | np.bool_)
        and _is_whole(base.max_iter, 1, 2**31)
        and _is_whole(base.n_iter_no_change, 1, 2**31)
        and (base.tol is None or _is_number(base.tol, 0.0))
        and _is_number(base.eta0, np.finfo(np.float64).tiny)
        and (
            base.random_state is None
            or isinstance(base.random_state, np.random.RandomState)
            or _is_whole(base.random_state, 0, 2**32)
        )
    )


def _is_whole(value: Any, low: int, end: int) -> bool:
    return isinstance(value, int | np.integer) and bool(low <= value < end)


def _is_number(value: Any, low: float) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and low <= float(value)


def is_plain(points: Any) -> bool:
    """Tell whether the data are a dense array of finite numbers that scikit-learn would train on as doubles."""
    if scipy.sparse.issparse(points) or points.dtype == np.float32 or points.dtype.kind not in "biuf":
        return False
    return bool(np.isfinite(points).all())


def draw_seeds(random_state: Any, pairs: int) -> NDArray[np.uint32]:
    """Return the seeds that scikit-learn would shuffle with, pair by pair.

    Every pair has a copy of the perceptron. A number or a generator is copied with it, so all pairs shuffle alike;
    None is numpy's one global generator, from which they draw in turn.
    """
    shared = random_state is None
    generator = check_random_state(random_state if shared else copy.deepcopy(random_state))
    seeds = []
    for _ in range(pairs if shared else 1):
        generator.randint(1, MOST_SEED)  # of random picks, which no perceptron makes
        seeds.append(generator.randint(MOST_SEED))
    return np.resize(np.array(seeds, np.uint32), pairs)


def _fit(base: Any, points: NDArray[np.float64], numbers: NDArray[Any], n: int, n_jobs: int | None) -> Any:
    """Train on data points whose classes are numbered, in threads."""
    order = np.argsort(numbers, kind="stable")
    sizes = np.abs(points[order])
    features = points.shape[1]
    with np.errstate(over="ignore"):  # an infinite slack means: always add up in order
        sums = 4.0 * EPSILON * (features + 8) * sizes.sum(axis=1)
    borders = np.searchsorted(numbers[order], np.arange(n + 1)).astype(np.int64)
    rows = Rows(points[order], order.astype(np.int64), borders, sums, sizes.max(axis=1))
    course = Course(
        float(base.eta0),
        bool(base.fit_intercept),
        int(base.max_iter),
        -np.inf if base.tol is None else float(base.tol),
        int(base.n_iter_no_change),
        bool(base.shuffle),
    )
    low, high = np.triu_indices(n, 1)
    pairs = len(low)
    seeds = draw_seeds(base.random_state, pairs)
    coef, intercept, epochs = np.zeros((pairs, features)), np.zeros(pairs), np.zeros(pairs, np.int64)

    def train(piece: slice) -> None:
        places = low[piece], high[piece], seeds[piece]
        fit_pairs(rows, course, *places, coef[piece], intercept[piece], epochs[piece])

    threads = min(effective_n_jobs(n_jobs), pairs)
    edges = np.linspace(0, pairs, (threads * PIECES_A_THREAD if threads > 1 else 1) + 1).astype(int)
    pieces = [slice(*edge) for edge in itertools.pairwise(edges)]
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(train, pieces))
    else:
        train(pieces[0])
    _speak(epochs, base)
    return FittedPerceptrons(base, coef, intercept)


def _speak(epochs: NDArray[np.int64], base: Any) -> None:
    """Raise and warn as scikit-learn does."""
    if (epochs < 0).any():
        raise ValueError(
            f"Floating-point under-/overflow occurred at epoch #{-epochs[epochs < 0][0]}. Scaling input data with "
            "StandardScaler or MinMaxScaler might help."
        )
    if base.tol is not None and (epochs == base.max_iter).any():
        warnings.warn(
            "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit.",
            ConvergenceWarning,
            stacklevel=4,
        )
