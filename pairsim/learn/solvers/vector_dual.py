"""The dual of the vector-output SVM: one variable per row, whatever the number of classes, with or without a bias."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.compiled.vector_dual import ascend
from pairsim.learn.label_vectors import LabelVectors

PUSH = 0.3  # the penalty on the bias's constraint, as a fraction of the mean of the centred kernel's diagonal
GROWTH = 2.0  # of the penalty, where it is what the sweeps wait for
BALANCE = 0.1  # what may be left of that constraint: this times tol, as a fraction of its terms, and in any margin
UNBOUNDED = 1e100  # a dual variable: with C = inf there is no bound where no W and b give every row its margin
FLAT = 1e-6  # a centred kernel whose diagonal is smaller, as a fraction of the plain one's, is one value and rounding


@dataclasses.dataclass(frozen=True)
class VectorDual:
    """Dual variables, the rows' margins <y_i, W phi_i>, the classes' <y_t, b>, and how the solver ended.

    That is its passes over the rows, the largest violation left, and whether both tolerances are met.
    """

    alpha: NDArray[np.float64]
    margins: NDArray[np.float64]
    intercept: NDArray[np.float64]
    sweeps: int
    violation: float
    settled: bool


def solve_joint(
    gram: NDArray[np.float64],
    classes: NDArray[np.int64],
    labels: LabelVectors,
    targets: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    tol: float,
    most: int,
    rng: np.random.RandomState,
    bias: bool = False,
) -> VectorDual:
    """Maximise q'a - a'Ha / 2 over 0 <= a <= upper, H = gram times the labels' products, in random order.

    With `bias` also sum_i a_i y_i = 0. The multipliers of that constraint are the bias; they are found by the method of
    multipliers (augmented Lagrangian), which adds a constant to the kernel and moves the targets by <y_i, b>. The
    sweeps are those of the problem without a bias; the bias follows whenever they have come as far as the constraint
    has. On the constraint the kernel may be centred, which wide kernels need; a matrix that owns its memory is
    overwritten.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.label_vectors import named_vectors
    >>> from pairsim.learn.solvers.vector_dual import solve_joint
    >>> rng, ones, simplex = np.random.RandomState(0), np.ones(2), named_vectors("simplex", 2)
    >>> solve_joint(np.eye(2), np.array([0, 1]), simplex, ones, 5 * ones, tol=1e-3, most=9, rng=rng).alpha.tolist()
    [1.0, 1.0]
    """
    gram, products = np.ascontiguousarray(gram, np.float64), labels.products
    alpha, margins = np.zeros((2, len(classes)))
    offsets, lengths = np.zeros(len(products)), np.sqrt(products.diagonal())
    push = limit = left = uneven = 0.0
    if bias:
        whole = float(gram.diagonal().mean()) or 1.0
        gram, means = _centre(gram)
        uneven = float(np.ptp(means) * lengths.max())  # what centring adds to margins where the constraint is not met
        push = PUSH * max(float(gram.diagonal().mean()), FLAT * whole)
        limit = max(whole, push)
    sweeps, since, violation, settled, before = 0, 0, np.inf, False, np.inf
    while not settled and sweeps < most:
        order = rng.permutation(len(classes))
        violation = ascend(gram, classes, labels.other, products, push, offsets, targets, upper, alpha, margins, order)
        sweeps, since = sweeps + 1, since + 1
        settled = violation < tol
        if bias:
            if not alpha.max() < UNBOUNDED:
                break
            sums = np.bincount(classes, alpha, len(products))
            left = float(np.linalg.norm(labels.vectors.T @ sums))  # of sum_i a_i y_i
            settled = settled and left <= BALANCE * tol * float(sums @ lengths) and left * uneven <= BALANCE * tol
            if not settled and violation < max(tol, push * left * float(lengths.max())):
                pull = products @ sums
                offsets += push * pull
                if since == 1 and 2.0 * left > before and push < limit:
                    offsets += (GROWTH - 1.0) * push * pull
                    push *= GROWTH
                since, before = 0, left
    intercept = offsets
    if bias:
        intercept = offsets - products @ np.bincount(classes, alpha * means, len(products))
        margins += (offsets - intercept)[classes]
    return VectorDual(alpha, margins, intercept, sweeps, float(violation), bool(settled))


def _centre(gram: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the kernel's values once the mean of all rows is taken from each, and their means before.

    This changes <y_i, W phi_i> by a constant per class, which the bias takes up, where sum_i a_i y_i = 0.
    """
    means = gram.mean(axis=1)
    gram = np.subtract(gram, means, out=gram if gram.flags.owndata else None)
    gram -= (means - means.mean())[:, None]
    return gram, means


def solve_groups(
    gram_of: Callable[[NDArray[np.int64] | None], NDArray[np.float64]],
    classes: NDArray[np.int64],
    labels: LabelVectors,
    limits: Callable[[NDArray[np.float64], NDArray[np.int64]], tuple[NDArray[np.float64], NDArray[np.float64]]],
    **options: Any,
) -> VectorDual:
    """Solve the same group by group of classes: those of orthogonal vectors do not meet in the dual.

    With indicator labels every class is a group of its own, and only kernel values within classes are needed. `gram_of`
    gives those of some rows, or of all; `limits` turns their diagonal and classes into targets and upper bounds.
    """
    alpha, margins = np.zeros((2, len(classes)))
    intercept = np.zeros(len(labels.products))
    parts, groups = [], labels.groups
    for group in groups:
        rows = np.flatnonzero(np.isin(classes, group))
        gram = gram_of(rows if len(groups) > 1 else None)
        own = classes[rows]
        part = solve_joint(
            gram, np.searchsorted(group, own), labels.part(group), *limits(gram.diagonal(), own), **options
        )
        alpha[rows], margins[rows], intercept[group] = part.alpha, part.margins, part.intercept
        parts.append(part)
    sweeps, violation = max(part.sweeps for part in parts), max(part.violation for part in parts)
    return VectorDual(alpha, margins, intercept, sweeps, violation, all(part.settled for part in parts))
