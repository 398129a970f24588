"""The bias of the vector-output SVM: the optimum by a general solver, the duality gap, SVC, and where there is none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from vector_twins import label_vectors, least_value

from pairsim import ParameterError
from pairsim.learn import VectorSVC
from pairsim.learn.label_vectors import check_bias

X, Y = load_iris(return_X_y=True)
X = scale(X)
SIMPLEX = label_vectors("simplex", 3)
OWN = np.array([[2.0, 0.3], [-1.0, 1.5], [-0.5, -1.0]])
TIGHT = {"tol": 1e-8, "max_iter": 200_000, "random_state": 0, "fit_intercept": True}


def duality_gap(model, gram, own, vectors, C):
    """Return by how much the primal objective of (1) at W and b exceeds the dual one, from the definitions."""
    label = (vectors @ vectors.T)[np.ix_(own, own)]
    margins = (gram * label) @ model.alpha_
    square = model.alpha_ @ margins
    loss = np.maximum(0.0, 1.0 - margins - model.intercept_[own]).sum()
    return 0.5 * square + C * loss - (model.alpha_.sum() - 0.5 * square)


@pytest.mark.parametrize("vectors", [SIMPLEX, OWN], ids=["simplex", "own"])
@pytest.mark.parametrize(("kernel", "C"), [("rbf", 0.3), ("rbf", 5.0), ("linear", 0.2)])
@pytest.mark.parametrize(("q", "p"), [("one", "one"), ("both", "norm")])
def test_it_is_the_optimum_that_a_general_solver_finds(vectors, kernel, C, q, p):
    points, own = X[::4] + 0.5, Y[::4]
    gram = rbf_kernel(points, gamma=0.5) if kernel == "rbf" else linear_kernel(points)
    label = vectors[own]
    matrix, row = gram * (label @ label.T), np.sqrt(np.diag(gram))
    wanted = row * np.linalg.norm(label, axis=1) if q == "both" else np.ones(len(own))
    limit = C / row if p == "norm" else np.full(len(own), C)
    model = VectorSVC(vectors, C=C, kernel=kernel, gamma=0.5, q=q, p=p, **TIGHT).fit(points, own)
    alpha = model.alpha_
    assert np.linalg.norm(label.T @ alpha) <= 1.001e-9 * alpha @ np.linalg.norm(label, axis=1)
    assert 0.5 * alpha @ matrix @ alpha - wanted @ alpha == pytest.approx(
        least_value(matrix, wanted, limit, label.T), rel=1e-6
    )
    # scores are <y_t, W phi(x) + b> with one b for all classes
    assert model.decision_function(points) == pytest.approx(
        gram @ (alpha[:, None] * label) @ vectors.T + model.intercept_
    )
    b = np.linalg.lstsq(vectors, model.intercept_)[0]
    assert vectors @ b == pytest.approx(model.intercept_, abs=1e-9)
    without = VectorSVC(vectors, C=C, kernel=kernel, gamma=0.5, q=q, p=p, random_state=0).fit(points, own)
    assert np.linalg.norm(label.T @ without.alpha_) > 0.01  # the constraint is one


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_two_classes_are_svc(kernel, C):
    """A simplex of two corners is the labels -1 and 1; the score of one class is minus that of the other."""
    two = np.r_[50:100, 105:150]
    theirs = SVC(C=C, kernel=kernel, gamma=0.3, tol=1e-8).fit(X[two], Y[two])
    for labels in ("simplex", [[-1.0], [1.0]], {1: [-1.0], 2: [1.0], 0: [7.0]}):
        ours = VectorSVC(labels, C=C, kernel=kernel, gamma=0.3, **TIGHT).fit(X[two], Y[two])
        assert ours.decision_function(X) == pytest.approx(2.0 * theirs.decision_function(X), abs=1e-5)
        assert ours.intercept_ == pytest.approx([-theirs.intercept_[0], theirs.intercept_[0]], abs=1e-5)
        assert np.flatnonzero(ours.alpha_ > 1e-6).tolist() == sorted(theirs.support_.tolist())


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("gamma", [0.002, 0.02])
def test_the_gap_is_small_on_many_rows(C, gamma):
    rows, own = load_digits(return_X_y=True)
    rows = scale(rows)
    model = VectorSVC("simplex", fit_intercept=True, C=C, gamma=gamma, random_state=0).fit(rows, own)
    gram, vectors = rbf_kernel(rows, gamma=gamma), label_vectors("simplex", 10)
    gradient = 1.0 - (gram * (vectors @ vectors.T)[np.ix_(own, own)]) @ model.alpha_ - model.intercept_[own]
    assert gradient[model.alpha_ < C].max(initial=-1.0) < 1.1e-3
    assert gradient[model.alpha_ > 0.0].min() > -1.1e-3
    sums = np.bincount(own, model.alpha_)
    assert np.ptp(sums) <= 1e-3 * sums.sum()  # one sum for all classes
    assert abs(model.intercept_.sum()) < 1e-9
    gap = duality_gap(model, gram, own, vectors, C)
    assert abs(gap) <= 2e-2 * model.alpha_.sum()
    finer = VectorSVC("simplex", fit_intercept=True, C=C, gamma=gamma, tol=1e-6, max_iter=20_000).fit(rows, own)
    assert abs(duality_gap(finer, gram, own, vectors, C)) <= 2e-5 * model.alpha_.sum()
    bare = VectorSVC("simplex", C=C, gamma=gamma, random_state=0).fit(rows, own)
    assert np.ptp(np.bincount(own, bare.alpha_)) > 0.004 * bare.alpha_.sum()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0), st.floats(0.1, 100.0))
def test_a_bias_makes_constants_in_the_kernel_harmless(seed, C, constant):
    """With sum_i a_i y_i = 0 a constant adds nothing to the objective or to the scores' differences."""
    rng = np.random.default_rng(seed)
    points, own = rng.normal(size=(24, 3)), np.r_[0:3, rng.integers(3, size=21)]
    gram = rbf_kernel(points, gamma=0.4)
    plain = VectorSVC("simplex", C=C, kernel="precomputed", **TIGHT).fit(gram, own)
    moved = VectorSVC("simplex", C=C, kernel="precomputed", **TIGHT).fit(gram + constant, own)
    assert moved.alpha_ == pytest.approx(plain.alpha_, abs=1e-4)
    assert abs(duality_gap(plain, gram, own, SIMPLEX, C)) <= 1e-6 * max(1.0, C) * 24
    assert np.array_equal(gram, rbf_kernel(points, gamma=0.4))  # what is given is not changed
    bare = VectorSVC("simplex", C=100.0, kernel="precomputed", random_state=0).fit(gram, own)
    other = VectorSVC("simplex", C=100.0, kernel="precomputed", random_state=0).fit(gram + 1.0, own)
    assert bare.alpha_ != pytest.approx(other.alpha_, abs=1e-4)


def is_one_sided(vectors):
    """Say exactly, for whole numbers in the plane, whether some b has <v, b> >= 0 for all vectors, not all 0.

    If any b has, one at right angles to a vector does, or, with all vectors on a line, one along it.
    """
    tries = [c for x, y in vectors for c in ((-y, x), (y, -x), (x, y), (-x, -y))]
    sides = [[a * x + b * y for x, y in vectors] for a, b in tries]
    return any(min(each) >= 0 and max(each) > 0 for each in sides)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=6, unique=True), st.booleans())
def test_a_bias_is_refused_exactly_where_vectors_are_one_sided(vectors, uneven):
    vectors = [v for v in vectors if any(v)]
    if len(vectors) < 2:
        return
    table = np.array(vectors, float) * (np.logspace(-6, 6, len(vectors))[:, None] if uneven else 1.0)
    if is_one_sided(vectors):
        with pytest.raises(ParameterError, match="no positive weights of theirs add up to 0"):
            check_bias("VectorSVC", table)
    else:
        check_bias("VectorSVC", table)


@pytest.mark.parametrize(
    "labels",
    [
        "indicator",
        np.eye(3),
        2.0 * np.eye(3),
        [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.1], [0.0, 1.0], [-1.0, 0.1]],
    ],
    ids=str,
)
def test_no_bias_where_a_class_would_be_left_without_weight(labels):
    with pytest.raises(
        ParameterError, match="The 'fit_intercept' parameter of VectorSVC must be False with these label"
    ):
        VectorSVC(labels, fit_intercept=True).fit(X, Y)
    assert VectorSVC(labels, C=0.3).fit(X, Y).score(X, Y) > 0.6


def test_only_the_classes_that_are_there_count():
    three = dict(enumerate(SIMPLEX))
    assert VectorSVC(three, fit_intercept=True).fit(X, Y).score(X, Y) > 0.9
    with pytest.raises(ParameterError, match="'fit_intercept'"):  # two of three corners are on one side
        VectorSVC(three, fit_intercept=True).fit(X[:100], Y[:100])
    assert VectorSVC("simplex", fit_intercept=True).fit(X[:100], Y[:100]).score(X[:100], Y[:100]) == 1.0


def test_orthogonal_groups_have_biases_of_their_own():
    points, own = np.vstack([X, X[:50] - 5.0]), np.r_[Y, np.full(50, 3)]
    pairs = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    model = VectorSVC(pairs, gamma=0.3, **TIGHT).fit(points, own)
    sums = np.bincount(own, model.alpha_)
    assert sums[0] == pytest.approx(sums[1], rel=1e-6)
    assert sums[2] == pytest.approx(sums[3], rel=1e-6)
    first = own < 2
    alone = VectorSVC("simplex", gamma=0.3, **TIGHT).fit(points[first], own[first])
    assert model.alpha_[first] == pytest.approx(alone.alpha_, abs=1e-6)
    assert model.intercept_[:2] == pytest.approx(alone.intercept_, abs=1e-6)


def test_few_passes_are_reported_and_flat_data_are_learned():
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        VectorSVC("simplex", fit_intercept=True, max_iter=1).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (np.zeros((6, 2)), np.ones((6, 2))):
            for kernel in ("linear", "rbf"):
                flat = VectorSVC("simplex", fit_intercept=True, kernel=kernel, C=2.0).fit(rows, [0, 0, 0, 1, 1, 2])
                assert np.isfinite(flat.decision_function(rows)).all()
                sums = np.bincount([0, 0, 0, 1, 1, 2], flat.alpha_)
                assert sums == pytest.approx([2.0, 2.0, 2.0], rel=1e-2)  # what the smallest class can reach


def test_without_errors_where_they_cannot_be_avoided():
    """The dual has no bound; the solver stops, says so, and what it leaves are numbers."""
    rows = np.array([[0.0], [1.0], [0.2], [0.8], [0.5], [0.4]])
    model = VectorSVC("simplex", fit_intercept=True, C=np.inf, kernel="linear", max_iter=5000, random_state=0)
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        model.fit(rows, [0, 0, 1, 1, 2, 2])
    assert np.isfinite(model.decision_function(rows)).all()
    apart = VectorSVC("simplex", fit_intercept=True, C=np.inf, kernel="linear", random_state=0)
    assert apart.fit([[0.0], [0.1], [3.0], [3.1]], [0, 0, 1, 1]).decision_function([[1.55]]) == pytest.approx(
        [0.0], abs=0.01
    )
