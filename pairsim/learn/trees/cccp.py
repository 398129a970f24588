"""The printed method of splitting the classes of a node in two: constrained large-margin clustering.

Liu, Yan, Mu, Hua, Chang and Zhang, "Towards optimal discriminating order for multiclass classification", Algorithm 1:
the constrained concave-convex procedure with cutting planes.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import as_array, check_choice, check_number, check_whole
from pairsim.errors import parameter_error, shown
from pairsim.learn.trees.cutting_planes import Clustering, ConvexStep, convex_step, true_objective

MATRICES = ("corrected", "printed")
MOST_ROWS = 2000  # a Gram matrix is split into its eigenvectors, and pairs are looked at in every step
_MOST_STEPS = 100
_SETTLED = 1e-5
_PROGRESS = 0.1  # a convex problem is left when this share of what it has gained is all that is left to gain
_RANK = 1e-10  # eigenvalues below this share of the largest one are rounding
_OWNER = "cccp_partition"


@dataclasses.dataclass(frozen=True, eq=False)
class CccpResult:
    """A split of the classes in two, and the descent that found it.

    Attributes
    ----------
    sides : ndarray of int8, shape (k,)
        +1 or -1: the side of most rows of each class; both are there.
    alpha : ndarray of shape (n,)
        f_i = sum_j alpha_j K_ij + intercept.
    intercept : float
        b.
    objective : float
        The objective (4) of the paper at alpha and b.
    objectives : tuple of float
        It at the start and after each step of the concave-convex method: the last one is `objective`.
    steps : tuple of ConvexStep
        The cutting planes of each step: `lower_bounds` rise towards `value`, and `values` are the convex objective at
        each solution of a reduced problem, which the paper's figure 2 draws.
    pure : bool
        True where no class has rows on both sides.
    n_trivial : int
        Starts that ended with all classes on one side, of `starts`.
    split_objectives : tuple of float
        The objectives of all other starts, sorted.
    """

    sides: NDArray[np.int8]
    alpha: NDArray[np.float64]
    intercept: float
    objective: float
    objectives: tuple[float, ...]
    steps: tuple[ConvexStep, ...]
    pure: bool
    n_trivial: int
    split_objectives: tuple[float, ...]


def cccp_partition(
    gram: NDArray[np.float64],
    classes: NDArray[np.int64],
    *,
    lambda_1: float,
    lambda_2: float,
    starts: int,
    rng: np.random.Generator,
    matrix: str = "corrected",
) -> CccpResult:
    """Split classes in two by constrained large-margin clustering, best of several random starts.

    With f_i = sum_j alpha_j K_ij + b, the objective is

        alpha' K alpha / 2 + lambda_1/n sum_i (1 - |f_i|)_+ + lambda_2/n sum (-f_i f_j)_+ over i < j of one class.

    Each step replaces |f_i| and the concave part of -f_i f_j by their tangents at the last step and solves the convex
    problem that remains by cutting planes, so the objective never rises.

    Errata of the paper. The hinge of its equation (1) has the wrong sign and lacks the 1/n of (3). Its matrix M_ij is
    not the one that its constraint (6) needs: -f_i f_j = (f_i^2 + f_j^2)/2 - (f_i + f_j)^2/2 asks for
    M_ij = (k_i + k_j)(k_i + k_j)' with k_i extended by 1, which is `matrix="corrected"`. With the printed one, pairs
    that are placed perfectly are penalised and the objective may rise. Nothing balances the sides, so w = 0 with
    |b| >= 1 has objective 0 and is the global optimum: starts that end with all classes on one side are counted and
    left out. And a reduced problem's values are lower bounds, which rise; the print has them fall.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Kernel values; at most 2,000 rows. Meant for a low rank, for instance a linear kernel of few features.
    classes : ndarray of int, shape (n,)
        0 .. k-1, each at least once, k at least 2.
    lambda_1, lambda_2 : float
        Penalties for outputs within the margin and for classes that are cut.
    starts : int
        Random hyperplanes to start from.
    rng : numpy.random.Generator
        Where they come from.
    matrix : {"corrected", "printed"}
        M_ij.

    Returns
    -------
    CccpResult
        The start with the lowest objective among those with classes on both sides.

    Raises
    ------
    ParameterError
        Where an argument is unusable, or every start ended with all classes on one side.

    References
    ----------
    D. Liu, S. Yan, Y. Mu, X.-S. Hua, S.-F. Chang and H.-J. Zhang, "Towards optimal discriminating order for multiclass
    classification", 2011 IEEE International Conference on Data Mining.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [3.0], [3.2]])
    >>> found = cccp_partition(X @ X.T, np.array([0, 0, 1, 1, 2, 2]), lambda_1=100.0, lambda_2=100.0, starts=10,
    ...                        rng=np.random.default_rng(0))
    >>> (found.sides * found.sides[0]).tolist(), found.pure, round(found.objective, 3)
    ([1, 1, -1], True, 0.617)
    """
    gram, labels = _checked(gram, classes)
    costs = [
        check_number(_OWNER, name, value, "a positive number")
        for name, value in (("lambda_1", lambda_1), ("lambda_2", lambda_2))
    ]
    for name, cost in zip(("lambda_1", "lambda_2"), costs, strict=True):
        if not 0.0 < cost < np.inf:
            raise parameter_error(_OWNER, name, "a positive number", shown(cost))
    starts = check_whole(_OWNER, "starts", starts, 1)
    check_choice(_OWNER, "matrix", matrix, MATRICES)
    if not isinstance(rng, np.random.Generator):
        raise parameter_error(_OWNER, "rng", "a numpy.random.Generator", shown(rng))
    n = len(labels)
    rows, back = _coordinates(gram)
    order = np.argsort(labels, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    problem = Clustering(rows[order], bounds, costs[0] / n, costs[1] / n, matrix)
    found = [_descend(problem, *_start(problem.rows, rng)) for _ in range(starts)]
    split = [descent for descent in found if len(set(_sides(problem, descent))) == 2]
    if not split:
        must_be = "such that some start ends with classes on both sides, which no term of the objective asks for"
        raise parameter_error(_OWNER, "starts", must_be, f"{starts} starts that all put every class on one side")
    best = min(split, key=lambda descent: descent.objectives[-1])
    f = problem.outputs(best.normal, best.intercept)
    return CccpResult(
        sides=_sides(problem, best),
        alpha=back @ best.normal,
        intercept=best.intercept,
        objective=best.objectives[-1],
        objectives=best.objectives,
        steps=best.steps,
        pure=all(len(np.unique(mine >= 0.0)) == 1 for mine in problem.by_class(f)),
        n_trivial=starts - len(split),
        split_objectives=tuple(sorted(descent.objectives[-1] for descent in split)),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Descent:
    normal: NDArray[np.float64]
    intercept: float
    objectives: tuple[float, ...]
    steps: tuple[ConvexStep, ...]


def _descend(problem: Clustering, normal: NDArray[np.float64], intercept: float) -> _Descent:
    """Take convex steps until the objective does not fall any more."""
    objectives = [true_objective(problem, normal, intercept)]
    steps: list[ConvexStep] = []
    while len(steps) < _MOST_STEPS:
        step = convex_step(problem, normal, intercept, progress=_PROGRESS)
        normal, intercept = step.normal, step.intercept
        objectives.append(true_objective(problem, normal, intercept))
        steps.append(step)
        f = problem.outputs(normal, intercept)
        if objectives[-2] - objectives[-1] <= _SETTLED * objectives[-2] or f.min() > 0.0 or f.max() < 0.0:
            break  # settled, or on the way to the trivial solution
    return _Descent(normal, intercept, tuple(objectives), tuple(steps))


def _start(rows: NDArray[np.float64], rng: np.random.Generator) -> tuple[NDArray[np.float64], float]:
    """Return the hyperplane of random alpha that goes through the mean, with outputs of standard deviation 1."""
    normal = rows.T @ rng.standard_normal(len(rows))
    outputs = rows @ normal
    scale = max(float(outputs.std()), 1e-300)
    return normal / scale, -float(outputs.mean()) / scale


def _sides(problem: Clustering, descent: _Descent) -> NDArray[np.int8]:
    """Return the side of most rows of each class; of equal halves, the one with the larger sum of outputs."""
    f = problem.outputs(descent.normal, descent.intercept)
    votes = [(int(np.where(mine >= 0.0, 1, -1).sum()), float(mine.sum())) for mine in problem.by_class(f)]
    return np.array([1 if vote >= (0, 0.0) else -1 for vote in votes], dtype=np.int8)


def _coordinates(gram: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Z with Z Z' = gram, and the matrix that takes a normal in these coordinates to alpha."""
    values, vectors = np.linalg.eigh(gram)
    if values[0] < -1e-6 * max(values[-1], 1e-300):
        raise parameter_error(_OWNER, "gram", "positive semi-definite", f"a matrix with the eigenvalue {values[0]:.3g}")
    kept = values > _RANK * values[-1]
    roots = np.sqrt(values[kept])
    if not len(roots):
        raise parameter_error(_OWNER, "gram", "a matrix with something other than zeros in it", "zeros")
    return vectors[:, kept] * roots, vectors[:, kept] / roots


def _checked(gram: object, classes: object) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return both as arrays, or reject."""
    must_be = f"a square symmetric array of finite numbers with at most {MOST_ROWS} rows"
    array = as_array(_OWNER, "gram", gram, must_be)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not 2 <= len(array) <= MOST_ROWS:
        hint = ' (use solver="search" for more)' if array.ndim == 2 and len(array) > MOST_ROWS else ""
        raise parameter_error(_OWNER, "gram", must_be + hint, f"an array of shape {array.shape}")
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise parameter_error(_OWNER, "gram", must_be, "an array with something else in it")
    array = array.astype(np.float64)
    if not np.allclose(array, array.T, rtol=1e-6, atol=1e-8 * np.abs(array).max()):
        raise parameter_error(_OWNER, "gram", must_be, "an array that is not symmetric")
    must_be = "an integer in 0 .. k-1 for each row, every class at least once and k at least 2"
    labels = as_array(_OWNER, "classes", classes, must_be)
    if labels.shape != (len(array),) or labels.dtype.kind not in "iu":
        raise parameter_error(_OWNER, "classes", must_be, f"an array of shape {labels.shape} and type {labels.dtype}")
    present = np.unique(labels)
    if len(present) < 2 or present[0] != 0 or present[-1] != len(present) - 1:
        raise parameter_error(_OWNER, "classes", must_be, shown(present.tolist()))
    return 0.5 * (array + array.T), labels.astype(np.int64)
