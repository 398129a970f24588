"""Vector labels and the perceptron as the paper prints them, and learning with any vectors by general means."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def label_vectors(labels, count):
    """Return the classes' vectors as the paper prints them, (5) and (6)."""
    if labels == "indicator":
        return np.eye(count)
    vectors = np.full((count, count), -1.0 / np.sqrt(count * (count - 1)))
    np.fill_diagonal(vectors, np.sqrt((count - 1) / count))
    return vectors


def naive_perceptron(points, own, vectors, step, margin, epochs):
    """Run Figure 1 of the paper on explicit features; return the last W, the mean W over all visits, and updates."""
    weights, total, updates = np.zeros((vectors.shape[1], points.shape[1])), 0.0, 0
    visits = 0
    for _ in range(epochs):
        before = updates
        for i in range(len(points)):
            if vectors[own[i]] @ weights @ points[i] < margin:
                weights = weights + step * np.outer(vectors[own[i]], points[i])
                updates += 1
            total = total + weights
            visits += 1
        if updates == before:
            break
    return weights, total / visits, updates


def least_value(matrix, wanted, limit, equal=None):
    """Return the minimum of a'Ma / 2 - wanted'a over 0 <= a <= limit, and equal'a = 0 where that is given."""
    start, bounds = np.zeros(len(wanted)), [(0.0, each) for each in limit]

    def value(a):
        return 0.5 * a @ matrix @ a - wanted @ a, matrix @ a - wanted

    if equal is None:
        options = {"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9}
        return minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun
    basis = np.linalg.svd(equal, full_matrices=False)[2][: np.linalg.matrix_rank(equal)]  # SLSQP wants full rank
    constraint = {"type": "eq", "fun": lambda a: basis @ a, "jac": lambda a: basis}
    options = {"maxiter": 2000, "ftol": 1e-13}
    found = minimize(value, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraint, options=options)
    assert np.abs(basis @ found.x).max() < 1e-9
    return found.fun
