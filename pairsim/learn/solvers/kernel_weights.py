"""SBC-KERNEL's weights of label kernels: Algorithm 2 as printed, and an update that reaches the minimum."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.errors import parameter_error
from pairsim.learn.solvers.extensions import LabelKernels
from pairsim.learn.solvers.kronecker import DualSolution


@dataclasses.dataclass(frozen=True)
class LearnedWeights:
    """Weights, the SVM that was trained with them, and how far they are from the best.

    `gradient` is -2 times the objective's gradient, <P, K_k> with P = beta Kx beta'. `gap` is the relative duality gap
    of the problem in weights and dual variables together; 0 where all gradients of weights above the floor are equal.
    """

    mu: NDArray[np.float64]
    label_gram: NDArray[np.float64]
    gradient: NDArray[np.float64]
    solution: DualSolution
    gap: float
    rounds: int
    steps: int
    converged: bool


def first_weights(
    init: str | ArrayLike, numbers: NDArray[np.int64], size: int, radius: float, floor: float
) -> NDArray[np.float64]:
    """Return the weights to start from: equal, the classes' parts of the rows, or a user's, scaled to `radius`.

    None is below the part `floor` of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.solvers.kernel_weights import first_weights
    >>> first_weights("frequency", np.array([0, 0, 0, 1]), 2, 8.0, 0.5).tolist()
    [5.0, 3.0]
    """
    if not isinstance(init, str):
        parts = _given_weights(init, size)
    elif init == "uniform":
        parts = np.full(size, 1.0 / size)
    else:
        parts = np.bincount(numbers) / len(numbers)
        if len(parts) != size:
            must_be = f"'uniform' or an array where kernels ({size}) and classes ({len(parts)}) are not as many"
            raise parameter_error("SingleBinaryClassifier", "mu_init", must_be, "'frequency'")
    return np.asarray(radius * (floor / size + (1.0 - floor) * parts))


def _given_weights(init: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return a user's weights, divided by their sum."""
    must_be = f"an array of {size} positive finite numbers, one for each kernel"
    try:
        given = np.asarray(init)
        given = given.astype(np.float64) if given.dtype.kind in "biuf" else np.zeros(0)
    except ValueError:
        given = np.zeros(0)
    if given.shape != (size,) or not ((given > 0.0) & np.isfinite(given)).all():
        raise parameter_error("SingleBinaryClassifier", "mu_init", must_be, init)
    given = given / given.max()
    return np.asarray(given / given.sum())


def next_weights(
    mu: NDArray[np.float64], gradient: NDArray[np.float64], radius: float, update: str
) -> NDArray[np.float64]:
    """Take one step: "paper" adds the gradient and scales back to the radius, "mkl" is the fixed-point step of MKL.

    The printed step stops where mu is proportional to the gradient; the minimum has equal gradients instead. (Where mu
    is proportional to the gradient is the minimum under a limit on the sum of squared weights.)
    """
    if update == "paper":
        moved = mu + gradient
        return np.asarray(moved * min(1.0, radius / moved.sum()))
    moved = mu * np.sqrt(np.maximum(gradient, 0.0))
    return np.asarray(radius * moved / moved.sum()) if moved.sum() > 0.0 else mu


def learn_weights(
    train: Callable[[NDArray[np.float64], NDArray[np.float64] | None, int], DualSolution],
    mu: NDArray[np.float64],
    kernels: LabelKernels,
    *,
    update: str,
    tol: float,
    dual_tol: float,
    most: int,
    floor: float = 0.0,
    start: NDArray[np.float64] | None = None,
) -> LearnedWeights:
    """Train and move the weights in turn until they change by no more than `tol`, relatively.

    `train` takes a label kernel, the dual variables to start from, and the steps that were taken before. An SVM that
    violates optimality by `dual_tol` or more has had all its steps: it is the last. With `most` = 0 the weights stay as
    they are. The sum of `mu` is the radius. No weight falls below the part `floor` of the mean, as none of `mu` may.
    """
    radius, rounds, steps, converged = float(mu.sum()), 0, 0, most == 0
    least = floor * radius / len(mu)
    while True:
        label_gram = kernels.weighted(mu)
        solution = train(label_gram, start, steps)
        steps += solution.steps
        gradient = kernels.products(solution.beta @ solution.projected.T)
        if converged or rounds == most or solution.violation >= dual_tol:
            break
        rounds += 1
        moved = least + next_weights(np.maximum(mu - least, 0.0), gradient, (1.0 - floor) * radius, update)
        converged = bool(np.linalg.norm(moved - mu) <= tol * np.linalg.norm(mu))
        mu, start = moved, solution.beta
    best = least * float(gradient.sum()) + (1.0 - floor) * radius * float(gradient.max())
    above = 0.5 * (best - float(mu @ gradient))
    gap = above / solution.objective if solution.objective > 0.0 else np.inf  # of an SVM that was not solved
    return LearnedWeights(mu, label_gram, gradient, solution, gap, rounds, steps, converged)
