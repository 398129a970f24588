"""Label vectors of one's own: what they must be, that named ones by hand are the named ones, and what is learned."""

from __future__ import annotations

import itertools
import pickle
import re

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import scale
from vector_twins import label_vectors as printed_vectors
from vector_twins import least_value, naive_perceptron

from pairsim import ParameterError
from pairsim.learn import VectorPerceptronClassifier, VectorSVC
from pairsim.learn.label_vectors import label_vectors

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
LABELS = ("indicator", "simplex")
OWN = np.array([[2.0, 0.0], [-1.0, 1.5], [-0.5, -1.0]])
TIGHT = {"tol": 1e-9, "max_iter": 100_000, "random_state": 0}


def rotated(vectors, seed=0):
    """Return the same vectors in more dimensions, turned."""
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(7, 7)))[0]
    return vectors @ turn[: vectors.shape[1]]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "model",
    [
        VectorSVC(C=0.3, gamma=0.5, random_state=0),
        VectorSVC(C=0.3, kernel="linear", random_state=0),
        VectorPerceptronClassifier(gamma=0.5, random_state=0),
        VectorPerceptronClassifier(kernel="linear", random_state=0, average=True, max_iter=5),
    ],
    ids=str,
)
def test_named_vectors_by_hand_are_the_named_ones(labels, model):
    """To the last bit, in any rotation, as an array, nested lists or a dict."""
    vectors = printed_vectors(labels, 3)
    named = clone(model).set_params(labels=labels).fit(X, NAMES[Y])
    for form in (vectors, rotated(vectors), vectors.tolist(), dict(zip(NAMES, vectors, strict=True))):
        own = clone(model).set_params(labels=form).fit(X, NAMES[Y])
        assert (own.decision_function(X) == named.decision_function(X)).all()
        assert own.n_iter_ == named.n_iter_
    other = clone(model).set_params(labels=vectors * np.array([[1.0], [1.5], [1.0]])).fit(X, NAMES[Y])
    assert (other.decision_function(X) != named.decision_function(X)).any()


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(("q", "p"), [("one", "one"), ("label", "one"), ("both", "label"), ("norm", "both")])
def test_own_vectors_give_the_minimum_that_a_general_solver_finds(kernel, q, p):
    points, own, C = X[::3] + 0.5, Y[::3], 0.3
    gram = rbf_kernel(points, gamma=0.5) if kernel == "rbf" else linear_kernel(points)
    vectors = OWN[own]
    matrix, row, label = gram * (vectors @ vectors.T), np.sqrt(np.diag(gram)), np.linalg.norm(vectors, axis=1)
    length = {"one": np.ones(len(own)), "norm": row, "label": label, "both": row * label}
    model = VectorSVC(OWN, C=C, kernel=kernel, gamma=0.5, q=q, p=p, **TIGHT).fit(points, own)
    value = 0.5 * model.alpha_ @ matrix @ model.alpha_ - length[q] @ model.alpha_
    assert value == pytest.approx(least_value(matrix, length[q], C / length[p]), rel=1e-7)
    scores = OWN @ (model.alpha_[:, None] * vectors).T @ gram
    assert model.decision_function(points) == pytest.approx(scores.T)
    assert not model.intercept_.any()


def test_only_products_matter_and_the_unit_of_length_moves_to_the_penalty():
    plain = VectorSVC(OWN, C=0.5, gamma=0.5, **TIGHT).fit(X, Y)
    turned = VectorSVC(rotated(OWN), C=0.5, gamma=0.5, **TIGHT).fit(X, Y)
    long = VectorSVC(8.0 * OWN, C=0.5 / 64.0, gamma=0.5, **TIGHT).fit(X, Y)
    for other in (turned, long):
        assert other.decision_function(X) == pytest.approx(plain.decision_function(X), abs=1e-6)
    assert plain.score(X, Y) > 0.95


def test_orthogonal_groups_of_classes_do_not_meet():
    """Two groups of two classes: kernel values within groups suffice, and the solution is the joint one."""
    rng = np.random.default_rng(0)
    points, own = rng.normal(size=(40, 2)), np.arange(40) % 4
    vectors = np.array([[1.0, 0.0], [-0.5, 0.0], [0.0, 1.0], [0.0, -2.0]])
    asked = set()

    def kernel(a, b):
        asked.add((a[0], b[0]))
        return float(np.exp(-((a - b) ** 2).sum()))

    model = VectorSVC(vectors, C=0.7, kernel=kernel, **TIGHT).fit(points, own)
    group = dict(zip(points[:, 0], own // 2, strict=True))
    assert asked
    assert all(group[a] == group[b] for a, b in asked)
    matrix = rbf_kernel(points, gamma=1.0) * (vectors @ vectors.T)[np.ix_(own, own)]
    value = 0.5 * model.alpha_ @ matrix @ model.alpha_ - model.alpha_.sum()
    assert value == pytest.approx(least_value(matrix, np.ones(40), np.full(40, 0.7)), rel=1e-7)
    assert model.problem_rows_.tolist() == [40]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("step", "margin", "epochs"), [(1.0, 1.0, 4), (0.3, 2.0, 50)])
def test_the_perceptron_with_own_vectors_is_the_printed_one(average, step, margin, epochs):
    last, mean, updates = naive_perceptron(X, Y, OWN, step, margin, epochs)
    scores = X @ (mean if average else last).T @ OWN.T
    options = {"step": step, "margin": margin, "max_iter": epochs, "shuffle": False, "average": average}
    forms = ("linear", X), ("linear", scipy.sparse.csr_matrix(X)), ("precomputed", X @ X.T), ("poly", X)
    for kernel, rows in forms:
        model = VectorPerceptronClassifier(OWN, kernel=kernel, degree=1, gamma=1.0, **options).fit(rows, Y)
        assert model.n_updates_ == updates
        assert model.decision_function(rows) == pytest.approx(scores)
        assert model.problem_rows_.tolist() == [150]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["rbf", "linear"]))
def test_no_order_causes_more_updates_than_the_bound(seed, kernel):
    rng = np.random.default_rng(seed)
    points, own = np.abs(rng.normal(size=(24, 4))), np.r_[0:3, rng.integers(3, size=21)]
    model = VectorPerceptronClassifier(rng.uniform(0.5, 2.0) * OWN, kernel=kernel, gamma=1.0, random_state=seed)
    bound = model.set_params(max_iter=1).fit(points, own).update_bound()
    if np.isfinite(bound):
        model.set_params(max_iter=min(int(bound) + 2, 20_000)).fit(points, own)
        assert model.halted_
        assert model.n_updates_ <= bound


def in_a_triangle(point, corners):
    """Say exactly, for whole numbers, whether a point of the plane lies in the hull of three points."""

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    a, b, c = corners
    turns = [side(a, b, point), side(b, c, point), side(c, a, point)]
    if side(a, b, c) == 0:  # a segment: the point is on the line and between its ends
        inside = all(min(v[d] for v in corners) <= point[d] <= max(v[d] for v in corners) for d in (0, 1))
        return not any(turns) and inside
    return all(turn >= 0 for turn in turns) or all(turn <= 0 for turn in turns)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=6, unique=True))
def test_a_vector_among_the_others_is_refused(vectors):
    """A point is in the hull of others when it is in that of some three of them (Caratheodory)."""
    vectors = [v for v in vectors if any(v)]
    if len(vectors) < 2:
        return
    among = any(
        in_a_triangle(v, three)
        for k, v in enumerate(vectors)
        for three in itertools.combinations_with_replacement(vectors[:k] + vectors[k + 1 :], 3)
    )
    if among:
        with pytest.raises(ParameterError, match="lies among the others"):
            label_vectors("VectorSVC", vectors, np.arange(len(vectors)))
    else:
        assert label_vectors("VectorSVC", vectors, np.arange(len(vectors))).vectors.tolist() == [
            list(v) for v in vectors
        ]


def test_a_class_among_the_others_would_indeed_never_be_predicted():
    corners, middle = OWN, OWN.mean(axis=0) + 0.1
    wanted = np.random.default_rng(0).normal(size=(1000, 2))
    best = (wanted @ np.vstack([corners, middle]).T).argmax(axis=1)
    assert set(best.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("kind", [VectorSVC, VectorPerceptronClassifier])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("hexagon", "must be a str among"),
        (5, "must be a str among"),
        ([1.0, 2.0, 3.0], "must be 'indicator', 'simplex', or a table of numbers with one row per class"),
        ([[1.0], [2.0, 1.0], [0.0]], "must be 'indicator', 'simplex', or a table"),
        ([["a"], ["b"], ["c"]], "must be 'indicator', 'simplex', or a table"),
        (np.empty((3, 0)), "must be 'indicator', 'simplex', or a table"),
        (np.eye(4), "must be a table with one row per class, 3 here. Got 4 rows"),
        ([[1.0, 0.0], [np.nan, 1.0], [0.0, -1.0]], "must be finite numbers"),
        ([[1.0, 0.0], [0.0, np.inf], [0.0, -1.0]], "must be finite numbers"),
        ([[1.0, 0.0], [0.0, 0.0], [0.0, -1.0]], "must be vectors other than 0"),
        ([[1e200, 0.0], [0.0, 1.0], [0.0, -1.0]], "must be vectors other than 0, with numbers that are at most"),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], "must be vectors that differ from class to class"),
        ([[1.0], [2.0], [3.0]], r"lies among the others.* Got \[2.0\] for class versicolor"),
        ({"setosa": [1.0], "virginica": [-1.0]}, r"a dict with a vector for each class. Got none for \['versicolor'\]"),
    ],
)
def test_what_is_refused(kind, labels, message):
    with pytest.raises(ValueError, match=f"The 'labels' parameter of {kind.__name__} must be ") as caught:
        kind(labels).fit(X, NAMES[Y])
    assert re.search(message, str(caught.value))


def test_models_travel_and_are_searched():
    for model in (VectorSVC(OWN, C=0.3, random_state=0), VectorPerceptronClassifier(OWN, random_state=0)):
        again = pickle.loads(pickle.dumps(clone(model).fit(X, Y)))
        assert (again.decision_function(X) == model.fit(X, Y).decision_function(X)).all()
        assert "labels=array" in repr(model)
        search = GridSearchCV(model, {"labels": [OWN, "simplex", OWN.tolist()], "gamma": [0.1, 1.0]}, cv=3).fit(X, Y)
        assert search.best_score_ > 0.9
    before = OWN.copy()
    VectorSVC(OWN).fit(X, Y)
    assert (before == OWN).all()


def test_a_dict_serves_folds_that_lack_a_class():
    rare = np.r_[0:100, 149]
    table = dict(enumerate(OWN))
    scores = cross_val_score(VectorSVC(table, C=0.3), X[rare], Y[rare], cv=[(np.arange(100), [100]), (rare[:-1], [0])])
    assert scores.tolist() == [0.0, 1.0]
    with pytest.raises(ParameterError, match=r"one row per class, 2 here\. Got 3 rows"):
        VectorSVC(OWN).fit(X[:100], Y[:100])
