"""What the tests of trained models share: data, and votes counted in plain Python."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from decisions import decide
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from pairsim import MaxWin, Recorded

DATA = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


@functools.cache
def data(name: str, scaled: bool = False, rows: int = 450) -> tuple[Any, Any]:
    """Return at most so many rows of a data set, in an order that mixes the classes."""
    X, y = DATA[name](return_X_y=True)
    if scaled:
        X = StandardScaler().fit_transform(X)
    mixed = np.random.default_rng(7).permutation(len(y))[:rows]
    return X[mixed], y[mixed]


def named_by_max_win(recorded: Recorded) -> Any:
    """Return the class that MaxWin(ties="first") names on each row."""
    return np.array(decide(recorded, MaxWin(ties="first"), recorded.rows, seed=0)[0])


def votes_of(answers: Any, n: int) -> Any:
    """Return the votes of each class, counted pair by pair."""
    votes = np.zeros((len(answers), n), int)
    for k, (i, j) in enumerate(itertools.combinations(range(n), 2)):
        votes[:, i] += answers[:, k]
        votes[:, j] += ~answers[:, k]
    return votes


def every_question(rows: int, n: int) -> tuple[Any, Any, Any]:
    """Return all queries about so many rows, row by row."""
    low, high = np.triu_indices(n, 1)
    return np.repeat(np.arange(rows), len(low)), np.tile(low, rows), np.tile(high, rows)


def ovo_scores(svc: Any, X: Any) -> Any:
    """Return scikit-learn's own decision values, one column a pair, positive for the lower class."""
    before = svc.decision_function_shape
    svc.decision_function_shape = "ovo"
    values = svc.decision_function(X)
    svc.decision_function_shape = before
    return -values[:, None] if values.ndim == 1 else values
