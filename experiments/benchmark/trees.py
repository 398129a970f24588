"""Rows of trees: SequentialDiscriminatingTreeClassifier against scikit-learn's SVC, on one thread.

The two take turns, so that both meet the same load of the computer. Both have C = 1, the same kernel and
standardised features. Where the folder of data sets is absent, random data of the same shapes are used, and the rows
say so.
"""

from __future__ import annotations

import functools
import pickle
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from experiments.benchmark.timing import Measured
from experiments.reduction_sets import Numbers, Rows, have_data, read_set, standardised
from pairsim.learn import SequentialDiscriminatingTreeClassifier

SHAPES = {"vowel": (528, 10, 11), "satimage": (4435, 36, 6)}
AT_MOST = {"vowel": 3.0, "satimage": 10.0}  # times SVC's fit
AS_FAST = {"linear": 5.0, "rbf": 2.0}  # as SVC's prediction
PREDICTED = 2000
TURNS = {"vowel": 30, "satimage": 7}


def training_part(name: str) -> tuple[Rows, Numbers, str]:
    """Return scaled rows, class numbers and what to call them."""
    if have_data():
        X, y = read_set(f"{name}-train")[0]
        return standardised(X, X)[0], y, name
    rows, features, classes = SHAPES[name]
    X, y = make_classification(rows, features, n_informative=features // 2, n_classes=classes, random_state=0)
    return standardised(X, X)[0], np.asarray(y, np.int64), f"random data of the shape of {name}"


def in_turns(ours: Callable[[], object], theirs: Callable[[], object], turns: int) -> tuple[float, float]:
    """Return the shortest CPU seconds of each, the two taking turns."""
    ours()
    theirs()
    best = [np.inf, np.inf]
    for _ in range(turns):
        for k, work in enumerate((ours, theirs)):
            start = time.thread_time()
            work()
            best[k] = min(best[k], time.thread_time() - start)
    return best[0], best[1]


def tree_rows() -> list[Measured]:
    """Measure fit, prediction and the size of the fitted model."""
    rows = []
    with threadpool_limits(1):
        for name in SHAPES:
            X, y, told = training_part(name)
            for kernel, faster in AS_FAST.items():
                tree = SequentialDiscriminatingTreeClassifier(kernel=kernel, random_state=0)
                svc = SVC(kernel=kernel)
                turns = TURNS[name]
                mine, other = in_turns(functools.partial(tree.fit, X, y), functools.partial(svc.fit, X, y), turns)
                detail = f"{1e3 * mine:.3g} ms against {1e3 * other:.3g} ms"
                called = f"SDT fit, {told}, {kernel}, of SVC's time"
                rows.append(Measured(called, mine / other, AT_MOST[name], "x", at_most=True, detail=detail))
                if name == "satimage":
                    new = X[:PREDICTED]
                    mine, other = in_turns(
                        functools.partial(tree.predict, new), functools.partial(svc.predict, new), turns
                    )
                    detail = f"{1e3 * mine:.3g} ms against {1e3 * other:.3g} ms"
                    called = f"SDT prediction, {PREDICTED} rows of {told}, {kernel}, against SVC"
                    rows.append(Measured(called, other / mine, faster, "x", detail=detail))
                mine, other = (len(pickle.dumps(model)) for model in (tree, svc))
                detail = f"{mine / 1e3:.3g} kB against {other / 1e3:.3g} kB"
                called = f"SDT fitted model, {told}, {kernel}, of SVC's bytes"
                rows.append(Measured(called, mine / other, 1.0, "x", at_most=True, detail=detail))
    return rows


GROUPS = {"trees": tree_rows}
