"""The printed tree learner's node: constrained large-margin clustering, checked by generic solvers and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pairsim.errors import ParameterError
from pairsim.learn.trees.cccp import CccpResult, cccp_partition
from pairsim.learn.trees.cutting_planes import Clustering, convex_step, true_objective
from pairsim.learn.trees.plane_programs import solve_planes
from tests.real_data import use_folder


def naive_h(f: list[float], g: list[float], i: int, j: int, matrix: str) -> float:
    """Return the linearised pair loss from the extended kernel's quadratic form, w = 1 in one dimension a row."""
    half_squares = 0.5 * (f[i] ** 2 + f[j] ** 2)
    if matrix == "corrected":  # u' M v = (u_i + u_j)(v_i + v_j)
        at_old, old = (g[i] + g[j]) * (f[i] + f[j]), (g[i] + g[j]) ** 2
    else:  # the symmetric part of the printed block: u' M v = (u_i v_j + u_j v_i) / 2
        at_old, old = 0.5 * (g[i] * f[j] + g[j] * f[i]), g[i] * g[j]
    return half_squares - at_old + 0.5 * old


def naive_convex(problem: Clustering, labels: list[int], g: np.ndarray, point: np.ndarray) -> float:
    f = [float(row @ point[:-1] + point[-1]) for row in problem.rows]
    hinge = sum(max(0.0, 1.0 - (1 if old >= 0 else -1) * new) for old, new in zip(g, f, strict=True))
    pairs = sum(
        max(0.0, naive_h(f, g.tolist(), i, j, problem.matrix))
        for i, j in itertools.combinations(range(len(f)), 2)
        if labels[i] == labels[j]
    )
    return float(0.5 * point[:-1] @ point[:-1] + problem.hinge_cost * hinge + problem.pair_cost * pairs)


def naive_objective(problem: Clustering, labels: list[int], point: np.ndarray) -> float:
    f = [float(row @ point[:-1] + point[-1]) for row in problem.rows]
    pairs = sum(max(0.0, -f[i] * f[j]) for i, j in itertools.combinations(range(len(f)), 2) if labels[i] == labels[j])
    hinge = sum(max(0.0, 1.0 - abs(value)) for value in f)
    return float(0.5 * point[:-1] @ point[:-1] + problem.hinge_cost * hinge + problem.pair_cost * pairs)


def random_problem(seed: int, matrix: str) -> tuple[Clustering, list[int], np.ndarray, float]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=rng.integers(2, 4))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    rows = rng.standard_normal((int(bounds[-1]), int(rng.integers(1, 4))))
    costs = 10.0 ** rng.uniform(-1, 1.5, size=2)
    problem = Clustering(rows, bounds, float(costs[0]), float(costs[1]), matrix)
    labels = np.repeat(np.arange(len(sizes)), sizes).tolist()
    return problem, labels, rng.standard_normal((rows.shape[1],)), float(rng.standard_normal())


def by_quadratic_program(problem: Clustering, labels: list[int], g: np.ndarray, start: np.ndarray) -> float:
    """Minimise the convex problem as printed, a slack for each row and pair, by SciPy's SLSQP."""
    rows, n, d = problem.rows, len(problem.rows), problem.rows.shape[1]
    pairs = [(i, j) for i, j in itertools.combinations(range(n), 2) if labels[i] == labels[j]]

    def cost(x: np.ndarray) -> float:
        slack = x[d + 1 :]
        return float(0.5 * x[:d] @ x[:d] + problem.hinge_cost * slack[:n].sum() + problem.pair_cost * slack[n:].sum())

    def slope(x: np.ndarray) -> np.ndarray:
        pulls = [problem.hinge_cost] * n + [problem.pair_cost] * len(pairs)
        return np.concatenate([x[:d], [0.0], pulls])

    def room(x: np.ndarray) -> np.ndarray:
        f, slack = rows @ x[:d] + x[d], x[d + 1 :]
        hinges = [slack[i] - 1.0 + (1 if g[i] >= 0 else -1) * f[i] for i in range(n)]
        splits = [
            slack[n + k] - naive_h(f.tolist(), g.tolist(), i, j, problem.matrix) for k, (i, j) in enumerate(pairs)
        ]
        return np.array(hinges + splits)

    f = rows @ start[:-1] + start[-1]
    slacks = [max(0.0, 1.0 - (1 if g[i] >= 0 else -1) * f[i]) for i in range(n)]
    slacks += [max(0.0, naive_h(f.tolist(), g.tolist(), i, j, problem.matrix)) for i, j in pairs]
    limits = [(None, None)] * (d + 1) + [(0.0, None)] * len(slacks)
    found = minimize(
        cost,
        np.concatenate([start, slacks]),
        jac=slope,
        method="SLSQP",
        bounds=limits,
        constraints={"type": "ineq", "fun": room},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    # near the end its line search runs out of digits, so its own point is what counts
    return naive_convex(problem, labels, g, found.x[: d + 1])


@pytest.mark.parametrize("matrix", ["corrected", "printed"])
@pytest.mark.parametrize("seed", range(6))
def test_a_convex_step_is_what_a_generic_solver_finds(seed: int, matrix: str) -> None:
    problem, labels, normal, intercept = random_problem(seed, matrix)
    g = problem.outputs(normal, intercept)
    step = convex_step(problem, normal, intercept, tolerance=1e-8)
    expected = by_quadratic_program(problem, labels, g, np.append(normal, intercept))
    assert step.value == pytest.approx(expected, rel=1e-5, abs=1e-7)
    point = np.append(step.normal, step.intercept)
    assert step.value == pytest.approx(naive_convex(problem, labels, g, point), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), matrix=st.sampled_from(["corrected", "printed"]))
def test_lower_bounds_rise_to_the_minimum_and_stay_below_it(seed: int, matrix: str) -> None:
    problem, labels, normal, intercept = random_problem(seed, matrix)
    step = convex_step(problem, normal, intercept, tolerance=1e-6)
    bounds = np.array(step.lower_bounds)
    slack = 1e-7 * (1.0 + abs(step.value))
    assert (np.diff(bounds) >= -slack).all()
    assert (bounds <= step.value + slack).all()
    assert min(step.values) >= step.value - slack
    start = naive_convex(problem, labels, problem.outputs(normal, intercept), np.append(normal, intercept))
    assert step.value - bounds[-1] <= 1e-6 * max(step.value, 1e-5 * start) + slack


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_corrected_split_touches_the_objective_and_is_never_below_it(seed: int) -> None:
    problem, labels, normal, intercept = random_problem(seed, "corrected")
    here = np.append(normal, intercept)
    g = problem.outputs(normal, intercept)
    assert naive_convex(problem, labels, g, here) == pytest.approx(naive_objective(problem, labels, here))
    assert true_objective(problem, normal, intercept) == pytest.approx(naive_objective(problem, labels, here))
    elsewhere = np.random.default_rng(seed).standard_normal(len(here))
    assert naive_convex(problem, labels, g, elsewhere) >= naive_objective(problem, labels, elsewhere) - 1e-9


def test_the_printed_matrix_penalises_a_pair_that_is_placed_perfectly() -> None:
    rows = np.array([[1.0], [1.0]])
    here = np.array([1.0, 0.0])  # f = g = (1, 1)
    for matrix, expected in (("corrected", 0.0), ("printed", 0.5)):
        problem = Clustering(rows, np.array([0, 2]), 1.0, 1.0, matrix)
        pairs = naive_convex(problem, [0, 0], problem.outputs(here[:1], 0.0), here) - 0.5
        assert pairs == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_small_program_meets_its_optimality_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    planes, dimensions = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    slopes = np.vstack([rng.standard_normal((planes, dimensions)), np.zeros((1, dimensions))])
    offsets = np.append(rng.standard_normal(planes), 0.0)
    cost = float(rng.uniform(0.1, 10))
    found = solve_planes(slopes, np.ones((planes + 1, 1)), offsets, np.array([cost]))
    gaps = slopes @ found.shortest + found.free[0] - offsets
    assert found.weights.min() >= 0.0
    assert gaps.min() >= -1e-8
    assert found.weights.sum() == pytest.approx(cost, rel=1e-8)
    assert found.shortest == pytest.approx(slopes.T @ found.weights, abs=1e-7)
    assert float(gaps @ found.weights) == pytest.approx(0.0, abs=1e-7)


def three_clouds(seed: int, far: tuple[float, ...] = (0.0, 2.5, 7.0)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.standard_normal((8, 2)) * 0.3 + [centre, 0.4 * centre] for centre in far])
    return X, np.repeat(np.arange(len(far)), 8)


@pytest.mark.parametrize("seed", range(2))
def test_with_a_large_pair_penalty_the_best_split_is_the_best_svm_of_all_dichotomies(seed: int) -> None:
    from sklearn.svm import SVC

    X, y = three_clouds(seed, (0.0, 2.5, 7.0, 8.5))
    C = 20.0 / len(y)
    expected = {}
    for others in itertools.product([-1, 1], repeat=3):
        sides = np.array([1, *others])
        if (sides == 1).all():
            continue
        model = SVC(kernel="linear", C=C, tol=1e-8).fit(X, sides[y])
        w = model.coef_[0]
        margins = sides[y] * model.decision_function(X)
        expected[tuple(sides)] = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - margins).sum()
    found = cccp_partition(X @ X.T, y, lambda_1=20.0, lambda_2=1e3, starts=8, rng=np.random.default_rng(seed))
    best = min(expected, key=lambda sides: expected[sides])
    assert found.pure
    assert tuple(found.sides * found.sides[0]) == best
    assert found.objective == pytest.approx(expected[best], rel=1e-3)
    # the negative control: no other dichotomy has this objective
    assert sorted(expected.values())[1] > 1.05 * found.objective


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_objective_falls_and_the_result_is_what_its_fields_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((18, 2)), np.sort(rng.permutation(np.arange(18) % 3))
    order = rng.permutation(18)
    X, y = X[order] + 2.0 * y[order, None], y[order]
    found = cccp_partition(X @ X.T, y, lambda_1=50.0, lambda_2=50.0, starts=4, rng=rng)
    objectives = np.array(found.objectives)
    assert (np.diff(objectives) <= 1e-9 * objectives[0]).all()
    assert len(found.steps) == len(objectives) - 1
    assert found.objective == objectives[-1] == found.split_objectives[0]
    assert len(found.split_objectives) == 4 - found.n_trivial
    gram = X @ X.T
    f = gram @ found.alpha + found.intercept
    pairs = sum(max(0.0, -f[i] * f[j]) for i, j in itertools.combinations(range(18), 2) if y[i] == y[j])
    again = 0.5 * found.alpha @ gram @ found.alpha + 50.0 / 18 * (np.maximum(0.0, 1.0 - np.abs(f)).sum() + pairs)
    assert found.objective == pytest.approx(again, rel=1e-6)
    for label in range(3):
        signs = np.where(f[y == label] >= 0.0, 1, -1)
        assert found.sides[label] * signs.sum() >= 0
        assert not found.pure or len(set(signs)) == 1
    assert set(found.sides.tolist()) == {-1, 1}


def iris(monkeypatch: pytest.MonkeyPatch, scaled: bool = True) -> tuple[np.ndarray, np.ndarray]:
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(use_folder(monkeypatch) / "iris.csv.gz")
    X = table.drop(columns="target").to_numpy(float)
    if scaled:
        X = 2.0 * (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)) - 1.0
    return X, pd.factorize(table["target"], sort=True)[0]


def on_iris(X: np.ndarray, y: np.ndarray, matrix: str, starts: int) -> CccpResult:
    return cccp_partition(
        X @ X.T, y, lambda_1=500.0, lambda_2=500.0, starts=starts, rng=np.random.default_rng(0), matrix=matrix
    )


def test_setosa_is_told_from_the_rest_on_iris_scaled_to_minus_one_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = iris(monkeypatch)
    found = on_iris(X, y, "corrected", 40)
    assert round(found.objective, 3) == 2.903
    assert (found.sides * found.sides[0]).tolist() == [1, -1, -1]
    assert found.pure
    objectives = np.array(found.split_objectives)
    assert (objectives < 2.91).sum() >= 25
    rest = objectives[objectives >= 2.91]
    assert (np.abs(rest - 118.0) < 2.0).all()  # the other local minimum: virginica alone, and a few cut
    assert np.all(np.diff(found.objectives) <= 0.0)


def test_the_printed_matrix_never_finds_the_optimum_on_iris(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = iris(monkeypatch)
    found = on_iris(X, y, "printed", 40)
    assert found.objective > 100.0
    assert np.diff(found.objectives).max() > 0.0  # it even rises


def test_raw_features_have_another_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = iris(monkeypatch, scaled=False)
    found = on_iris(X, y, "corrected", 5)
    assert round(found.objective, 3) == 0.748
    assert (found.sides * found.sides[0]).tolist() == [1, -1, -1]


def test_a_gaussian_kernel_works_too() -> None:
    X, y = three_clouds(0)
    gram = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(-1))
    found = cccp_partition(gram, y, lambda_1=20.0, lambda_2=20.0, starts=6, rng=np.random.default_rng(1))
    assert found.pure
    assert found.sides[2] == -found.sides[0]


def test_equal_seeds_give_equal_results() -> None:
    X, y = three_clouds(3)
    first, second = (
        cccp_partition(X @ X.T, y, lambda_1=9.0, lambda_2=9.0, starts=3, rng=np.random.default_rng(5)) for _ in range(2)
    )
    assert first.objectives == second.objectives
    assert (first.alpha == second.alpha).all()


def test_when_every_start_is_trivial_the_error_says_so() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 1)), np.arange(40) % 2  # classes that no hyperplane keeps together
    with pytest.raises(ParameterError, match="put every class on one side"):
        cccp_partition(X @ X.T, y, lambda_1=1.0, lambda_2=1e4, starts=2, rng=rng)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gram": np.ones((3, 2))}, "'gram' parameter of cccp_partition must be a square"),
        ({"gram": np.zeros((2001, 2001))}, "at most 2000 rows"),
        ({"gram": np.array([[1.0, 2.0], [3.0, 4.0]])}, "not symmetric"),
        ({"gram": np.array([[1.0, 2.0], [2.0, 1.0]])}, "positive semi-definite"),
        ({"gram": np.array([[1.0, np.nan], [np.nan, 1.0]])}, "finite"),
        ({"gram": np.zeros((2, 2))}, "other than zeros"),
        ({"classes": np.array([0, 2])}, "every class at least once"),
        ({"classes": np.array([0, 0])}, "k at least 2"),
        ({"classes": np.array([0.0, 1.0])}, "'classes' parameter"),
        ({"lambda_1": 0.0}, "'lambda_1' parameter of cccp_partition must be a positive number"),
        ({"lambda_2": float("nan")}, "'lambda_2'"),
        ({"starts": 0}, "'starts'"),
        ({"matrix": "other"}, "'matrix'"),
        ({"rng": 3}, "numpy.random.Generator"),
    ],
)
def test_what_cannot_be_used_is_refused(change: dict[str, object], words: str) -> None:
    arguments: dict[str, object] = {
        "gram": np.eye(2),
        "classes": np.array([0, 1]),
        "lambda_1": 1.0,
        "lambda_2": 1.0,
        "starts": 1,
        "rng": np.random.default_rng(0),
    }
    with pytest.raises(ParameterError, match=words):
        cccp_partition(**{**arguments, **change})  # type: ignore[arg-type]
