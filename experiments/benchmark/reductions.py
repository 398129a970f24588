"""Rows of training: reductions of many classes to one machine against scikit-learn's SVC, on one thread.

Data are car (1,556 rows, 4 classes) and satimage's training part; where the folder of data sets is absent, random data
of the same shape, and the row says so.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from experiments.benchmark.timing import Measured, best_seconds, own_peak_megabytes
from experiments.reduction_sets import Numbers, Rows, have_data, read_set, standardised
from pairsim.learn import OneVsAllClassifier, SingleBinaryClassifier, VectorSVC

LARGE_ROWS = 4000  # of ten classes
CAR_ROWS = 1556  # nine tenths, as in the paper's folds: 6,224 copies
S, C = 4.0, 8.0
GAMMA = 1.0 / (2.0 * S**2)


def _data(name: str, shape: tuple[int, int, int]) -> tuple[Rows, Numbers, str]:
    """Return scaled rows, class numbers and what to call them."""
    rows, features, classes = shape
    if have_data():
        X, y = read_set(name)[0]
        chosen = np.random.RandomState(0).permutation(len(X))[:rows]
        X, y, told = X[chosen], y[chosen], name.removesuffix("-train")
    else:
        X, y = make_classification(rows, features, n_informative=features // 2, n_classes=classes, random_state=0)
        told = f"random data of the shape of {name}"
    return standardised(X, X)[0], np.asarray(y, np.int64), told


def _copies() -> tuple[Rows, Rows, Numbers, str]:
    """Return the points, the marks' kernel, the classes, and what to call them."""
    X, y, told = _data("car", (CAR_ROWS, 21, 4))
    likeness = np.exp(-1.0 / S**2)
    marks = (1.0 - likeness) * np.eye(y.max() + 1) + likeness
    return X, marks, y, told


def _single() -> SingleBinaryClassifier:
    return SingleBinaryClassifier("identity", C=C, gamma=GAMMA)


def _explicit(X: Rows, marks: Rows, y: Numbers) -> tuple[Rows, Numbers]:
    """Return the Kronecker product and the label of every copy."""
    matrix = np.kron(rbf_kernel(X, gamma=GAMMA), marks)
    return matrix, np.asarray(y[:, None] == np.arange(len(marks)), np.int64).ravel()


def memory_growth(explicit: bool) -> float:
    """Return by how much one fit, Gram matrix included, raises the peak memory, in MB."""
    X, marks, y, _ = _copies()
    few = np.r_[[np.flatnonzero(y == label)[:5] for label in np.unique(y)]].ravel()
    _single().fit(X[few], y[few])  # loads everything
    SVC(kernel="precomputed", C=C).fit(*_explicit(X[few], marks, y[few]))
    before = own_peak_megabytes()
    if explicit:
        SVC(kernel="precomputed", C=C).fit(*_explicit(X, marks, y))
    else:
        _single().fit(X, y)
    return own_peak_megabytes() - before


def _memory(explicit: bool) -> float:
    program = f"from experiments.benchmark.reductions import memory_growth; print(memory_growth({explicit}))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(done.stdout)


def large_fit() -> tuple[float, float]:
    """Fit 40,000 copies once the kernels are loaded; return the seconds, and the peak memory of the process in MB."""
    if have_data():
        parts = read_set("optdigits-train", "optdigits-test")
        X, y = (np.concatenate(each)[:LARGE_ROWS] for each in zip(*parts, strict=True))
    else:
        X, y = make_classification(LARGE_ROWS, 64, n_informative=32, n_classes=10, random_state=0)
    X = standardised(X, X)[0]
    _single().fit(X[:100], y[:100])
    start = time.perf_counter()
    SingleBinaryClassifier("identity").fit(X, y)
    return time.perf_counter() - start, own_peak_megabytes()


def large_rows() -> list[Measured]:
    """Measure the largest problem that the reduction is meant for, in a process of its own."""
    program = "from experiments.benchmark.reductions import large_fit; print(*large_fit())"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    seconds, memory = map(float, done.stdout.split())
    name = f"SingleBinaryClassifier fit, {10 * LARGE_ROWS:,} copies of {'optdigits' if have_data() else 'random data'}"
    return [
        Measured(name, seconds, 60.0, "s", at_most=True),
        Measured("the same, peak memory of the process", memory, 1000.0, "MB", at_most=True),
    ]


def reduction_rows() -> list[Measured]:
    """Measure one-problem, vector and one-vs-all classifiers against what scikit-learn has."""
    X, marks, y, told = _copies()
    matrix, labels = _explicit(X, marks, y)
    with threadpool_limits(1):
        ours = best_seconds(functools.partial(_single().fit, X, y), 3)
        theirs = best_seconds(functools.partial(SVC(kernel="precomputed", C=C).fit, matrix, labels), 3)
        rows = [
            Measured(
                f"SingleBinaryClassifier fit, {len(labels):,} copies of {told}, against SVC on the explicit matrix",
                theirs / ours, 1.0, "x", detail=f"{ours:.3g} s against {theirs:.3g} s",
            )
        ]  # fmt: skip
        del matrix
        small, large = _memory(False), _memory(True)
        detail = f"{small:.3g} MB against {large:.3g} MB"
        rows.append(
            Measured("the same, growth of peak memory, SVC's over ours", large / small, 10.0, "x", detail=detail)
        )
        X, y, told = _data("satimage-train", (4435, 36, 6))
        gamma = 1.0 / X.shape[1]
        ours = best_seconds(functools.partial(VectorSVC(C=0.1, gamma=gamma, random_state=0).fit, X, y), 3)
        theirs = best_seconds(functools.partial(SVC(kernel="rbf", gamma=gamma).fit, X, y), 3)
        detail = f"{ours:.3g} s against {theirs:.3g} s"
        rows.append(Measured(f"VectorSVC fit, {told}, against SVC", theirs / ours, 2.0, "x", detail=detail))
        ours = best_seconds(functools.partial(OneVsAllClassifier(gamma=gamma).fit, X, y), 3)
        theirs = best_seconds(functools.partial(OneVsRestClassifier(SVC(kernel="rbf", gamma=gamma)).fit, X, y), 3)
        name = f"OneVsAllClassifier fit, shared Gram, {told}, against OneVsRestClassifier(SVC())"
        detail = f"{ours:.3g} s against {theirs:.3g} s"
        rows.append(Measured(name, theirs / ours, 2.0, "x", detail=detail))
    return [*rows, *large_rows()]


GROUPS = {"reductions": reduction_rows}
