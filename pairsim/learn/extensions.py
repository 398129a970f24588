"""How replicas of a point are told apart: label kernels of the single-binary reductions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


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
