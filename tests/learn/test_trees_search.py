"""The search for dichotomies of classes: against enumeration, a plain twin, LIBSVM's objectives; its solvers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from experiments.reduction_sets import have_data, read_set
from pairsim.learn import SequentialDiscriminatingTreeClassifier as Tree
from pairsim.learn.solvers.column_dual import ColumnSVM
from pairsim.learn.trees import gram_svm, interior_steps
from pairsim.learn.trees.class_rows import FeatureRows, GramRows
from pairsim.learn.trees.interior_steps import SCRATCH, start_inside, step_inside
from pairsim.learn.trees.linear_svm import LinearSVM
from pairsim.learn.trees.sign_search import DichotomySearch, all_signs, better_sides, canonical, first_signs
from pairsim.learn.trees.two_means import two_means

NEEDS_DATA = pytest.mark.skipif(not have_data(), reason="no folder of data sets")
WHOLE = {"glass": ("glass",), "vehicle": ("vehicle",), "iris": ("iris",), "segment": ("segment-train",)}


def problem(seed, classes, rows=12, features=3, spread=4.0):
    points, numbers = make_blobs(classes * rows, features, centers=classes, cluster_std=spread, random_state=seed)
    order = np.argsort(numbers, kind="stable")
    return scale(points)[order], numbers[order]


def rows_of(points, numbers, kernel):
    return FeatureRows(points, numbers) if kernel == "linear" else GramRows(gram_of(points, kernel), numbers)


def gram_of(points, kernel):
    return points @ points.T if kernel == "linear" else rbf_kernel(points, gamma=0.5)


def objective(gram, own, C):
    """Return LIBSVM's dual objective, decision values, and nothing of ours."""
    svm = SVC(kernel="precomputed", C=C, tol=1e-4).fit(gram, own)
    beta = np.zeros(len(own))
    beta[svm.support_] = svm.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ gram @ beta, svm.decision_function(gram)


def twin(gram, numbers, C, starts):
    """Search as the specification says, with LIBSVM, one dichotomy after the other; return the best objective."""
    classes = np.unique(numbers)
    known = {}

    def solve(signs):
        if signs not in known:
            known[signs] = objective(gram, np.array(signs)[numbers], C)
        return known[signs][0]

    def moved(signs):
        solve(signs)
        scores = known[signs][1]
        sides, regret = [], []
        for c in classes:
            left, right = (np.maximum(0.0, 1.0 - side * scores[numbers == c]).sum() for side in (1, -1))
            sides.append(1 if left <= right else -1)
            regret.append(abs(left - right))
        if len(set(sides)) == 1:
            sides[int(np.argmin(regret))] *= -1
        return tuple(sides) if sides[0] == 1 else tuple(-s for s in sides)

    visited = []
    for signs in starts:
        while signs not in visited:
            visited.append(signs)
            signs = moved(signs)  # noqa: PLW2901
    best = min(visited, key=solve)
    while True:
        flips = []
        for c in range(len(classes)):
            other = list(best)
            other[c] *= -1
            if len(set(other)) == 2:
                flips.append(tuple(other) if other[0] == 1 else tuple(-s for s in other))
        top = min(flips, key=solve)
        if not solve(top) < solve(best) * (1 - 1e-7):
            return solve(best), best
        best = top


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 6), st.sampled_from(["linear", "rbf"]), st.sampled_from([0.05, 0.5]))
def test_the_search_is_that_of_a_plain_twin(seed, count, kernel, C):
    points, numbers = problem(seed, count)
    rows, classes, boxes = rows_of(points, numbers, kernel), tuple(range(count)), np.full(len(numbers), C)
    plain = DichotomySearch(rows, classes, boxes, 1e-7, prune=False)
    plain.run(3, np.random.default_rng(seed))
    starts = first_signs(rows.means, 3, np.random.default_rng(seed))
    least, _ = twin(gram_of(points, kernel), numbers, C, starts)
    assert plain.objective == pytest.approx(least, rel=1e-5)
    pruned = DichotomySearch(rows, classes, boxes, 1e-7)
    pruned.run(3, np.random.default_rng(seed))
    assert pruned.objective <= least * 1.02  # a candidate that left the race moves its classes by rough weights


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from(["linear", "rbf"]))
def test_a_race_finds_the_least_objective_of_its_candidates(seed, count, kernel):
    points, numbers = problem(seed, count, spread=6.0)
    rows, classes = rows_of(points, numbers, kernel), tuple(range(count))
    search = DichotomySearch(rows, classes, np.full(len(numbers), 0.5), 1e-7)
    svms = search.race(all_signs(count))
    gram, signs = gram_of(points, kernel), np.array(all_signs(count))
    truth = [objective(gram, own[numbers], 0.5)[0] for own in signs]
    assert len(svms) == len(truth) == 2 ** (count - 1) - 1
    assert search.objective == pytest.approx(min(truth), rel=1e-5)
    assert all(value <= true * (1 + 1e-6) for value, true in zip(search.tried.values(), truth, strict=True))
    assert search.race(all_signs(count)) == {}  # nothing is tried twice


def test_a_race_leaves_candidates_before_they_end():
    points, numbers = problem(0, 6, rows=40)
    for kernel in ("linear", "rbf"):
        rows, boxes = rows_of(points, numbers, kernel), np.ones(len(numbers))
        counts = []
        for prune in (False, True):
            search = DichotomySearch(rows, range(6), boxes, 1e-6, prune=prune)
            counts.append([svm.steps for svm in search.race(all_signs(6)).values()])
        assert sum(counts[1]) < 0.6 * sum(counts[0])
        assert all(short <= long for short, long in zip(*counts[::-1], strict=True))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", ["iris", "glass", "vehicle", "segment"])
@NEEDS_DATA
def test_the_search_finds_what_enumeration_finds(name, kernel):
    points, numbers = read_set(*WHOLE[name])[0]
    if name in ("vehicle", "segment"):
        points, numbers = points[::2], numbers[::2]
    points = scale(points)[np.argsort(numbers, kind="stable")]
    numbers = np.sort(numbers)
    for C in (1.0, 30.0):
        model = Tree(C=C, kernel=kernel, random_state=0).fit(points, numbers)
        gram = points if kernel == "linear" else rbf_kernel(points, gamma=model.gamma_)
        rows = (FeatureRows if kernel == "linear" else GramRows)(gram, numbers)
        for below, found in zip(model.tree_.classes, model.objectives_, strict=True):
            whole = DichotomySearch(rows, below, np.full(np.isin(numbers, below).sum(), C), 1e-3)
            whole.race(all_signs(len(below)))
            assert found == pytest.approx(whole.objective, rel=1e-4)
    assert model.n_search_fits_ >= model.tree_.n_nodes


@NEEDS_DATA
def test_every_node_sends_the_rows_of_a_class_to_one_side():
    points, numbers = read_set("glass")[0]
    model = Tree(kernel="linear", C=1.0).fit(scale(points), numbers)
    signs = model.tree_.signs()
    assert model.tree_.n_nodes == 5
    for node, below in enumerate(model.tree_.classes):
        left, right = model.tree_.sides(node)
        assert sorted(left + right) == list(below)
        assert (signs[list(left), node] == 1).all()
        assert (signs[list(right), node] == -1).all()
        inside = np.isin(numbers, below)
        own = signs[numbers[inside], node]
        value, scores = objective(scale(points)[inside] @ scale(points)[inside].T, own, 1.0)
        assert model.objectives_[node] == pytest.approx(value, rel=1e-5)
        assert np.abs(model.node_scores(scale(points))[inside, node] - scores).max() < 0.05


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_objectives_are_libsvms(kernel):
    points, numbers = problem(3, 5, spread=3.0)
    model = Tree(C=5.0, kernel=kernel, gamma=0.5, tol=1e-6).fit(points, numbers)
    gram, signs = gram_of(points, kernel), model.tree_.signs()
    for node in range(4):
        own = signs[numbers, node]
        inside = own != 0
        value, scores = objective(gram[np.ix_(inside, inside)], own[inside], 5.0)
        assert model.objectives_[node] == pytest.approx(value, rel=1e-5)
        assert model.node_scores(points)[inside, node] == pytest.approx(scores, abs=2e-3)


# --- the solvers -----------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 12), st.sampled_from([1e-3, 0.3, 10.0]))
def test_interior_points_solve_any_small_problem(seed, rows, features, C):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rows, features))
    signs = rng.choice([-1.0, 1.0], size=rows)
    signs[:2] = 1.0, -1.0
    boxes = C * rng.choice([0.5, 1.0, 3.0], size=rows)
    svm = LinearSVM(np.column_stack([points, np.ones(rows)]).T.copy(), signs, boxes, 1e-7)
    bounds = []
    while not svm.done:
        svm.advance(np.inf)
        bounds.append(svm.value)
    assert svm.converged
    assert bounds == sorted(bounds)
    theirs = SVC(kernel="linear", C=1.0, tol=1e-5).fit(points, signs, sample_weight=boxes)
    least = np.abs(theirs.dual_coef_).sum() - 0.5 * (theirs.coef_**2).sum()
    assert svm.value == pytest.approx(least, rel=1e-5)
    scores = points @ svm.weights[:-1] + svm.weights[-1]
    assert svm.scores() == pytest.approx(scores, abs=1e-9 * max(1.0, np.abs(scores).max()))
    primal = 0.5 * svm.square + (boxes * np.maximum(0.0, 1.0 - signs * scores)).sum()
    assert primal == pytest.approx(svm.value, rel=1e-6)


def test_interior_steps_as_plain_python_are_the_same(monkeypatch):
    points, numbers = problem(1, 2, rows=15)
    signs, boxes = np.where(numbers > 0, 1.0, -1.0), np.full(30, 2.0)
    columns = np.column_stack([points, np.ones(30)]).T.copy()

    def run(start, step):
        variables, scratch = np.empty((3, 30)), np.empty((SCRATCH, 30))
        margins, weights, made, matrix, change = np.zeros(30), np.zeros(4), np.empty(4), np.empty((4, 4)), np.empty(4)
        start(columns, signs, boxes, variables, made, scratch)
        told = [
            step(columns, signs, boxes, variables, margins, weights, made, matrix, change, scratch) for _ in range(8)
        ]
        return np.array(told), weights

    (told, weights), (again, weights_again) = (
        run(start_inside, step_inside),
        run(start_inside.py_func, step_inside.py_func),
    )
    assert told == pytest.approx(again, rel=1e-8)
    assert weights == pytest.approx(weights_again, abs=1e-8)
    assert (told[:, 0] >= told[:, 1]).all()
    matrix = np.zeros((2, 2))
    assert not interior_steps.factorise(matrix)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 0.95))
def test_smo_stops_at_a_dual_objective_that_is_too_high(seed, share):
    points, numbers = problem(seed, 2, rows=25, spread=8.0)
    gram, signs = rbf_kernel(points, gamma=0.5), np.where(numbers > 0, 1.0, -1.0)
    whole = ColumnSVM(gram, signs, 3.0)
    whole.descend(1e-6, 10_000)
    assert whole.value == pytest.approx(np.abs(whole.beta).sum() - 0.5 * whole.beta @ gram @ whole.beta)
    part = ColumnSVM(gram, signs, 3.0)
    part.ceiling = share * whole.value
    steps, _ = part.descend(1e-6, 10_000)
    assert part.value > part.ceiling
    assert part.value == pytest.approx(np.abs(part.beta).sum() - 0.5 * part.beta @ gram @ part.beta)
    before = ColumnSVM(gram, signs, 3.0)
    before.descend(1e-6, steps - 1)
    assert before.value <= part.ceiling


def test_smo_counts_its_objective_where_it_leaves_points_out(monkeypatch):
    monkeypatch.setattr("pairsim.learn.solvers.column_dual.LOOK", 10)
    points, numbers = problem(2, 2, rows=80, spread=3.0)
    gram, signs = points @ points.T, np.where(numbers > 0, 1.0, -1.0)
    svm = ColumnSVM(gram, signs, np.linspace(1.0, 40.0, 160))
    svm.descend(1e-6, 100_000)
    assert svm.value == pytest.approx(np.abs(svm.beta).sum() - 0.5 * svm.beta @ gram @ svm.beta)
    assert (np.abs(svm.beta) <= np.linspace(1.0, 40.0, 160)).all()


def test_smo_goes_on_where_it_stopped(monkeypatch):
    monkeypatch.setattr(gram_svm, "FIRST", 3)
    points, numbers = problem(5, 3)
    rows = GramRows(rbf_kernel(points, gamma=0.5), numbers)
    svm = rows.svm((0, 2), (1, -1), np.full(24, 2.0), 1e-7)
    values = []
    while not svm.done:
        svm.advance(np.inf)
        values.append(svm.value)
    assert len(values) > 2
    assert values == sorted(values)
    inside = numbers != 1
    least, scores = objective(rows.gram((0, 2)), np.where(numbers[inside] == 0, 1, -1), 2.0)
    assert svm.value == pytest.approx(least, rel=1e-6)
    assert svm.scores() == pytest.approx(scores, abs=1e-4)


# --- starts ----------------------------------------------------------------------------------------------------------


def test_starts():
    centres = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [10.0, 0.1]])
    signs = first_signs(centres @ centres.T, 2, np.random.default_rng(0))
    assert signs[:4] == [(1, -1, -1, -1), (1, -1, 1, 1), (1, 1, -1, 1), (1, 1, 1, -1)]
    assert signs[4:] == [(1, 1, -1, -1)] * 3  # the first principal component, and two means twice
    same = first_signs(np.ones((3, 3)), 2, np.random.default_rng(0))
    assert all(min(each) < 0 for each in same)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9))
def test_two_means_are_settled_and_both_there(seed, count):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, size=(count, 2)).astype(float)  # often equal ones
    found = two_means((points @ points.T).dot, count, rng)
    assert {1, -1} == set(found.signs.tolist())
    centres = {side: points[found.signs == side].mean(axis=0) for side in (1, -1)}
    distances = {side: ((points - centre) ** 2).sum(axis=1) for side, centre in centres.items()}
    own = np.where(found.signs > 0, distances[1], distances[-1])
    if len(np.unique(points, axis=0)) > 1 and (own > np.minimum(distances[1], distances[-1]) + 1e-9).any():
        assert len(np.unique(points, axis=0)) < count  # a point was moved so that both clusters are there
    scatter = found.scatter + (points**2).sum()
    assert scatter >= min(
        sum(((points[list(part)] - points[list(part)].mean(axis=0)) ** 2).sum() for part in (left, right))
        for left, right in (
            (np.flatnonzero(mask), np.flatnonzero(~np.array(mask)))
            for mask in itertools.product([True, False], repeat=count)
            if 0 < sum(mask) < count
        )
    ) - 1e-9  # fmt: skip


def test_sides():
    assert better_sides(np.array([[1.0, 2.0], [3.0, 0.0]])) == (1, -1)
    assert better_sides(np.array([[2.0, 1.0], [0.0, 3.0], [5.0, 0.0]])) == (1, -1, 1)
    assert better_sides(np.array([[0.0, 3.0], [0.0, 1.0], [0.0, 2.0]])) == (1, -1, 1)
    assert canonical([-1, 1]) == (1, -1)
    assert len(set(all_signs(5))) == 15
