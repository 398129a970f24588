"""SBC-KERNEL's weights of the classes' kernels: Algorithm 2 as printed, and an update that reaches the minimum."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.extensions import basis_products, weighted_basis
from pairsim.learn.kronecker import DualSolution


@dataclasses.dataclass(frozen=True)
class LearnedWeights:
    """Weights, the machine that was trained with them, and how far they are from the best.

    `gradient` is -2 times the objective's gradient, <P, K_k> with P = beta Kx beta'. `gap` is the relative duality gap
    of the problem in weights and dual variables together; 0 where all gradients of positive weights are equal.
    """

    mu: NDArray[np.float64]
    label_gram: NDArray[np.float64]
    gradient: NDArray[np.float64]
    solution: DualSolution
    gap: float
    rounds: int
    steps: int
    converged: bool


def next_weights(
    mu: NDArray[np.float64], gradient: NDArray[np.float64], radius: float, update: str
) -> NDArray[np.float64]:
    """Take one step: "paper" adds the gradient and scales back to the radius, "mkl" is the fixed-point step of MKL.

    The printed step stops where mu is proportional to the gradient; the minimum has equal gradients instead.
    """
    if update == "paper":
        moved = mu + gradient
        return np.asarray(moved * min(1.0, radius / moved.sum()))
    moved = mu * np.sqrt(np.maximum(gradient, 0.0))
    return np.asarray(radius * moved / moved.sum()) if moved.sum() > 0.0 else mu


def learn_weights(
    train: Callable[[NDArray[np.float64], NDArray[np.float64] | None, int], DualSolution],
    mu: NDArray[np.float64],
    rho: float,
    *,
    update: str,
    tol: float,
    dual_tol: float,
    most: int,
    start: NDArray[np.float64] | None = None,
) -> LearnedWeights:
    """Train and move the weights in turn until they change by no more than `tol`, relatively.

    `train` takes a label kernel, the dual variables to start from, and the steps that were taken before. A machine that
    violates optimality by `dual_tol` or more has had all its steps: it is the last. With `most` = 0 the weights stay as
    they are. The sum of `mu` is the radius.
    """
    radius, rounds, steps, converged = float(mu.sum()), 0, 0, most == 0
    while True:
        label_gram = weighted_basis(mu, rho)
        solution = train(label_gram, start, steps)
        steps += solution.steps
        gradient = basis_products(solution.beta @ solution.projected.T, rho)
        if converged or rounds == most or solution.violation >= dual_tol:
            break
        rounds += 1
        moved = next_weights(mu, gradient, radius, update)
        converged = bool(np.linalg.norm(moved - mu) <= tol * np.linalg.norm(mu))
        mu, start = moved, solution.beta
    above = 0.5 * (radius * float(gradient.max()) - float(mu @ gradient))
    gap = above / solution.objective if solution.objective > 0.0 else np.inf  # of a machine that was not solved
    return LearnedWeights(mu, label_gram, gradient, solution, gap, rounds, steps, converged)
