"""Rows of prediction: decoders on trained one-vs-one models against scikit-learn's own predict, on one thread.

Data are Gaussian clusters, one a class: far apart (every class is told from every other) or close (the max-win winner
is often beaten by somebody). Medians of several runs.
"""

from __future__ import annotations

import functools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from experiments.benchmark.timing import Measured, own_peak_megabytes
from pairsim import from_model
from pairsim.learn import PairwiseClassifier, fit_perceptrons

EXACT = "champion:ties=first"
SEPARATED, HARD = 1.0, 6.0  # standard deviation of a cluster; their centres are drawn from a cube of side 20


def _data(n: int, spread: float, rows_a_class: int, features: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    total = n * rows_a_class + 1000
    X, y = make_blobs(total, features, centers=n, cluster_std=spread, random_state=0)
    return X[:-1000], y[:-1000], X[-1000:]


def _median(work: Callable[[], object], runs: int) -> float:
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def linear_rows() -> list[Measured]:
    """Measure 256 classes told apart by hyperplanes: 1,000 rows, then one row, then memory."""
    rows = []
    with threadpool_limits(1):
        for name, spread, against_many, against_svc in (("separated", SEPARATED, 300, 20), ("hard", HARD, 50, 3)):
            train, labels, test = _data(256, spread, 10, 64)
            svc = SVC(kernel="linear").fit(train, labels)
            many = OneVsOneClassifier(Perceptron(max_iter=5, tol=None)).fit(train, labels)
            exact_many = PairwiseClassifier.from_fitted(many, decoder=EXACT)
            exact_svc = PairwiseClassifier.from_fitted(svc, decoder=EXACT)
            svc_seconds = _median(functools.partial(svc.predict, test), 3)
            ours = _median(functools.partial(exact_many.predict, test), 7)
            theirs = _median(functools.partial(many.predict, test), 1)
            detail = f"{ours * 1e3:.3g} ms against {theirs:.3g} s"
            rows.append(Measured(f"exact max-win, linear, n = 256, {name}, against OneVsOneClassifier", theirs / ours,
                                 against_many, "x", detail=detail))  # fmt: skip
            ours = _median(functools.partial(exact_svc.predict, test), 7)
            detail = f"{ours * 1e3:.3g} ms against {svc_seconds:.3g} s"
            rows.append(Measured(f"the same against SVC, {name}", svc_seconds / ours, against_svc, "x", detail=detail))
            if name == "separated":
                adag = PairwiseClassifier.from_fitted(svc, decoder="adag")
                ours = _median(functools.partial(adag.predict, test), 7)
                rows.append(Measured("adag, linear, n = 256, against SVC", svc_seconds / ours, 80, "x",
                                     detail=f"{ours * 1e3:.3g} ms"))  # fmt: skip
                one = _median(functools.partial(adag.predict, test[:1]), 200)
                rows.append(Measured("one row, n = 256, adag", one * 1e6, 100, "us", at_most=True))
    return [*rows, Measured("peak memory growth, n = 256, 1,000 rows", _memory(), 100, "MB", at_most=True)]


def _memory() -> float:
    """Return by how much predicting raises the peak memory of a process that has trained the model."""
    program = "from experiments.benchmark.models import memory_growth; print(memory_growth())"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(done.stdout)


def memory_growth() -> float:
    """Train, predict one row (which loads everything), then predict all and return the growth in MB."""
    train, labels, test = _data(256, HARD, 10, 64)
    model = PairwiseClassifier.from_fitted(SVC(kernel="linear").fit(train, labels), decoder=EXACT)
    model.predict(test[:1])
    before = own_peak_megabytes()
    model.predict(test)
    return own_peak_megabytes() - before


def kernel_rows() -> list[Measured]:
    """Measure RBF models of 26 and 100 classes."""
    rows = []
    with threadpool_limits(1):
        for n, rows_a_class in ((26, 150), (100, 40)):
            train, labels, test = _data(n, HARD, rows_a_class, 16)
            svc = SVC().fit(train, labels)
            theirs = _median(functools.partial(svc.predict, test), 3)
            for spec, name, goal in ((EXACT, "exact max-win", 8), ("adag", "adag", 10)):
                model = PairwiseClassifier.from_fitted(svc, decoder=spec)
                ours = _median(functools.partial(model.predict, test), 5)
                detail = f"{ours * 1e3:.3g} ms against {theirs * 1e3:.4g} ms, {len(svc.support_)} vectors"
                rows.append(Measured(f"{name}, RBF, {n} classes, against SVC", theirs / ours, goal, "x", detail=detail))
    return rows


def fit_rows() -> list[Measured]:
    """Measure the training of 4,950 perceptrons, which must come out equal."""
    rows = []
    with threadpool_limits(1):
        for name, spread in (("separated", SEPARATED), ("hard", HARD)):
            train, labels, _ = _data(100, spread, 40, 64)
            ours = _median(functools.partial(fit_perceptrons, train, labels), 7)
            start = time.perf_counter()
            many = from_model(OneVsOneClassifier(Perceptron()).fit(train, labels))
            theirs = time.perf_counter() - start
            equal = np.array_equal(many.coef, fit_perceptrons(train, labels).coef)  # type: ignore[attr-defined]
            detail = f"{ours * 1e3:.3g} ms against {theirs:.3g} s, {'equal' if equal else 'NOT EQUAL'} coefficients"
            against = f"all-pairs perceptron fit, n = 100, {name}, against OneVsOneClassifier(Perceptron()).fit"
            rows.append(Measured(against, theirs / ours if equal else 0.0, 100, "x", detail=detail))
    return rows


GROUPS = {"linear": linear_rows, "kernel": kernel_rows, "fit": fit_rows}
