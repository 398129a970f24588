"""The SVM of Crammer and Singer by stochastic subgradients, as Keshet's notes print it, with the step corrected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.compiled.class_updates import gradient_epoch
from pairsim.learn.feature_rows import feature_rows, weight_table


def follow_gradient(
    X: Any,
    numbers: NDArray[np.int64],
    count: int,
    C: float,
    constant: float,
    *,
    always: bool,
    epochs: int,
    rng: np.random.RandomState,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights and intercepts, the mean over the last half of all steps; each epoch has an order of its own.

    Step t is 1 / (lambda t) with lambda = 1 / (C rows). The subgradient of the objective shrinks the weights in every
    step (`always`); the printed algorithm does so only where the loss is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.solvers.crammer_singer_gradient import follow_gradient
    >>> X, numbers, rng = np.array([[1.0], [-1.0]]), np.array([0, 1]), np.random.RandomState(0)
    >>> follow_gradient(X, numbers, 2, 0.05, 0.0, always=True, epochs=3, rng=rng)[0].round(3).tolist()
    [[0.1], [-0.1]]
    """
    rows, size = feature_rows(X), len(numbers)
    weights, late = weight_table(X.shape[1], count), weight_table(X.shape[1], count)
    half, scale, buffers = epochs * size // 2, np.array([1.0, 0.0]), np.empty(weights.shape[1])
    for epoch in range(epochs):
        gradient_epoch(
            rows, numbers, count, constant, 1.0 / (C * size), always, rng.permutation(size), epoch * size, half,
            scale, weights, late, buffers,
        )  # fmt: skip
    mean = ((weights * scale[1] - late) / (epochs * size - half)).T[:count]
    return mean[:, :-1].copy(), constant * mean[:, -1]
