"""How replicas of a point are told apart: label kernels of the single-binary reductions, and small output codes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST_EXHAUSTIVE = 5  # classes for which all 2**(c - 1) - 1 dichotomies are used: 15 columns
DRAWS = 100


def tied_rho(gamma: float) -> float:
    """Return the likeness of two unit vectors under the data's own Gaussian width, exp(-2 gamma) = exp(-1 / s**2)."""
    return math.exp(-2.0 * gamma)


def extension_gram(extension: str, count: int, rho: float) -> NDArray[np.float64]:
    """Return the Gaussian kernel between the extensions of `count` replicas, rho**(squared distance / 2).

    Extensions are the numbers 1, 2, ... ("single", "ecoc") or unit vectors ("identity").

    Examples
    --------
    >>> from pairsim.learn.extensions import extension_gram
    >>> extension_gram("identity", 3, 0.25)[0].tolist()
    [1.0, 0.25, 0.25]
    >>> extension_gram("single", 3, 0.25)[0].tolist()
    [1.0, 0.5, 0.0625]
    """
    place = np.arange(count)
    if extension == "identity":
        distance = 2.0 * (place[:, None] != place)
    else:
        distance = (place[:, None] - place).astype(np.float64) ** 2
    return np.asarray(np.power(rho, distance / 2.0))


def basis_gram(k: int, count: int, rho: float) -> NDArray[np.float64]:
    """Return the k-th kernel of SBC-KERNEL: sqrt(rho) where exactly one of the two replicas is k, else 1."""
    own = np.arange(count) == k
    return np.where(own[:, None] != own, math.sqrt(rho), 1.0)


def weighted_basis(mu: NDArray[np.float64], rho: float) -> NDArray[np.float64]:
    """Return the sum of mu_k times the k-th kernel, in closed form."""
    gram = mu.sum() - (1.0 - math.sqrt(rho)) * (mu[:, None] + mu)
    np.fill_diagonal(gram, mu.sum())
    return np.asarray(gram)


def basis_products(table: NDArray[np.float64], rho: float) -> NDArray[np.float64]:
    """Return the inner product of a symmetric table with each kernel of SBC-KERNEL."""
    beside = table.sum(axis=1) - table.diagonal()
    return np.asarray(table.sum() - 2.0 * (1.0 - math.sqrt(rho)) * beside)


def exhaustive_code(count: int) -> NDArray[np.int64]:
    """Return all dichotomies of `count` classes, one a column, the first class always +1."""
    columns = np.arange(2 ** (count - 1) - 1)
    bits = columns >> np.arange(count - 1)[:, None] & 1
    return np.vstack([np.ones((1, len(columns)), np.int64), 2 * bits - 1])


def dense_code(count: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Return 10 log2(count) random dichotomies, of several draws the one whose closest rows are farthest apart."""
    width = math.ceil(10 * math.log2(count))
    best, best_distance = np.empty((0, 0), np.int64), -1
    for _ in range(DRAWS):
        code = 2 * rng.randint(2, size=(count, width)).astype(np.int64) - 1
        code *= code[0]  # complements are the same dichotomy
        code = np.unique(code[:, (code != 1).any(axis=0)], axis=1)
        distances = (code.shape[1] - code @ code.T) // 2
        np.fill_diagonal(distances, width)
        if distances.min() > best_distance:
            best, best_distance = code, int(distances.min())
    return best


def default_code(count: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Return every dichotomy of a few classes, or random ones of many."""
    return exhaustive_code(count) if count <= MOST_EXHAUSTIVE else dense_code(count, rng)
