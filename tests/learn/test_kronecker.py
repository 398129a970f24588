"""The solver on a Kronecker product: equal to LIBSVM on the explicit matrix, whatever road it takes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from pairsim.learn.solvers import kronecker
from pairsim.learn.solvers.kronecker import solve_dual


def problem(load, s=2.0, rho=None):
    X, y = load(return_X_y=True)
    count = y.max() + 1
    rho = np.exp(-1.0 / s**2) if rho is None else rho
    labels_gram = np.full((count, count), rho)
    np.fill_diagonal(labels_gram, 1.0)
    signs = np.where(np.arange(count)[:, None] == y, 1.0, -1.0)
    return rbf_kernel(scale(X), gamma=1.0 / (2 * s**2)), labels_gram, signs


def on_explicit_matrix(gram, labels_gram, signs, box, tol):
    """Solve with LIBSVM; return the objective and the decision value of every replicated point, points outermost."""
    matrix, labels = np.kron(gram, labels_gram), signs.T.ravel()
    machine = SVC(kernel="precomputed", C=box, tol=tol).fit(matrix, labels)
    beta = np.zeros(len(labels))
    beta[machine.support_] = machine.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ matrix @ beta, machine.decision_function(matrix)


def decisions(found, signs):
    return (signs - found.errors + found.bias[:, None]).T.ravel()


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("box", [0.05, 1.0, 64.0])
@pytest.mark.parametrize(("tol", "close"), [(1e-3, 3e-3), (1e-6, 1e-4)])  # LIBSVM keeps single precision
def test_it_is_libsvm_on_the_explicit_matrix(load, box, tol, close):
    gram, labels_gram, signs = problem(load)
    objective, values = on_explicit_matrix(gram, labels_gram, signs, box, tol)
    found = solve_dual(gram, labels_gram, signs, box, tol=tol)
    assert found.objective == pytest.approx(objective, rel=1e-6)
    assert np.abs(decisions(found, signs) - values).max() < close
    # a matrix in the other order of the product is another problem: the test can fail
    if box == 1.0:
        other, _ = on_explicit_matrix(gram, np.eye(len(signs)), signs, box, tol)
        assert found.objective != pytest.approx(other, rel=1e-3)


def violation(gram, labels_gram, signs, box, beta):
    """Return by how much optimality is violated, from the definition, on the explicit matrix."""
    beta, labels = beta.T.ravel(), signs.T.ravel()
    errors = labels - np.kron(gram, labels_gram) @ beta
    alpha = beta * labels
    rise = ((labels > 0) & (alpha < box)) | ((labels < 0) & (alpha > 0))
    fall = ((labels > 0) & (alpha > 0)) | ((labels < 0) & (alpha < box))
    return errors[rise].max() - errors[fall].min()


@st.composite
def small_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points, rows = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    gram = rng.normal(size=(points, draw(st.integers(1, 14))))
    labels_gram = rng.normal(size=(rows, draw(st.integers(1, 5))))
    signs = rng.choice([-1.0, 1.0], size=(rows, points))
    signs[0, :2] = -1.0, 1.0
    ridge = draw(st.sampled_from([0.0, 0.5]))  # with and without flat directions
    box = draw(st.sampled_from([0.01, 1.0, 30.0] if ridge else [0.01, 1.0]))
    return gram @ gram.T + ridge * np.eye(points), labels_gram @ labels_gram.T, signs, box


@settings(max_examples=40, deadline=None)
@given(small_problems())
def test_any_small_problem_is_solved(given_problem):
    gram, labels_gram, signs, box = given_problem
    found = solve_dual(gram, labels_gram, signs, box, tol=1e-6)
    assert found.violation < 1e-6
    assert violation(gram, labels_gram, signs, box, found.beta) < 1e-5
    assert abs(found.beta.sum()) < 1e-9 * box * signs.size
    assert (signs * found.beta >= 0.0).all()
    assert (signs * found.beta <= box).all()
    objective, _ = on_explicit_matrix(gram, labels_gram, signs, box, 1e-6)
    assert found.objective == pytest.approx(objective, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("seed", [5517, 11498])
def test_a_step_that_only_settles_who_is_on_a_bound_is_followed_up(seed):
    """Rounding leaves a variable one ulp from its bound; the step of length 0 that puts it there must be noticed."""
    rng = np.random.default_rng(seed)
    points = rng.integers(2, 12)
    gram = rng.normal(size=(points, rng.integers(1, 14)))
    gram = gram @ gram.T
    signs = rng.choice([-1.0, 1.0], size=(1, points))
    signs[0, :2] = -1.0, 1.0
    labels_gram = np.array([[rng.normal() ** 2 * 5]])
    found = solve_dual(gram, labels_gram, signs, 0.01, tol=1e-6)
    assert violation(gram, labels_gram, signs, 0.01, found.beta) < 1e-5


@pytest.mark.parametrize("own_bias", [False, True])
def test_leaving_points_out_for_a_while_changes_nothing(monkeypatch, own_bias):
    gram, labels_gram, signs = problem(load_iris)
    plain = solve_dual(gram, labels_gram, signs, 50.0, tol=1e-8, own_bias=own_bias, shrinking=False)
    taken = []
    take = kronecker._Problem.take
    monkeypatch.setattr(kronecker, "LOOK", 25)
    monkeypatch.setattr(
        kronecker._Problem, "take", lambda self, points: taken.append(len(points)) or take(self, points)
    )
    found = solve_dual(gram, labels_gram, signs, 50.0, tol=1e-8, own_bias=own_bias)
    assert taken
    assert min(taken) < 0.6 * len(gram)
    assert found.violation < 1e-8
    assert found.objective == pytest.approx(plain.objective, rel=1e-9)
    assert np.abs(found.errors - plain.errors).max() < 1e-6


def test_a_solution_is_a_fine_start_and_is_not_written_to():
    gram, labels_gram, signs = problem(load_iris)
    found = solve_dual(gram, labels_gram, signs, 4.0)
    start = found.beta.copy()
    again = solve_dual(gram, labels_gram, signs, 4.0, start=start)
    assert again.steps == 0
    assert (start == found.beta).all()
    far = solve_dual(gram, labels_gram * 1.05, signs, 4.0, start=start)
    cold = solve_dual(gram, labels_gram * 1.05, signs, 4.0)
    assert 0 < far.steps < cold.steps
    assert far.objective == pytest.approx(cold.objective, rel=1e-6)


def test_single_precision_is_enough_for_the_gram_matrix():
    gram, labels_gram, signs = problem(load_wine)
    wide = solve_dual(gram, labels_gram, signs, 8.0)
    narrow = solve_dual(gram.astype(np.float32), labels_gram, signs, 8.0)
    assert narrow.objective == pytest.approx(wide.objective, rel=1e-5)
    assert narrow.beta.dtype == np.float64


def test_a_bias_for_each_row_and_unlike_marks_are_separate_machines():
    gram, _, signs = problem(load_wine)
    found = solve_dual(gram, np.eye(3), signs, 2.0, own_bias=True, tol=1e-6)
    assert np.abs(found.beta.sum(axis=1)).max() < 1e-9
    for row in range(3):
        machine = SVC(kernel="precomputed", C=2.0, tol=1e-6).fit(gram, signs[row])
        own = signs[row] - found.errors[row] + found.bias[row]
        assert np.abs(own - machine.decision_function(gram)).max() < 1e-5
    shared = solve_dual(gram, np.eye(3), signs, 2.0, tol=1e-6)
    assert np.abs(shared.beta.sum(axis=1)).max() > 1e-3  # with one bias the rows do not balance


def test_a_zero_leaves_a_replica_out():
    gram, labels_gram, signs = problem(load_iris)
    signs[1, ::3] = 0.0
    found = solve_dual(gram, labels_gram, signs, 3.0, tol=1e-6)
    assert (found.beta[signs == 0.0] == 0.0).all()
    inside = signs.T.ravel() != 0.0
    matrix = np.kron(gram, labels_gram)[np.ix_(inside, inside)]
    machine = SVC(kernel="precomputed", C=3.0, tol=1e-6).fit(matrix, signs.T.ravel()[inside])
    assert np.abs(decisions(found, signs)[inside] - machine.decision_function(matrix)).max() < 1e-5


def test_the_bias_is_the_middle_of_what_is_allowed_where_no_vector_is_free():
    gram, signs = np.eye(4), np.array([[1.0, -1.0, 1.0, -1.0]])
    found = solve_dual(gram, np.eye(1), signs, 0.5)
    assert (found.beta == 0.5 * signs).all()
    assert found.bias.tolist() == [0.0]


def test_steps_are_counted_and_limited():
    gram, labels_gram, signs = problem(load_iris)
    for shrinking in (False, True):
        found = solve_dual(gram, labels_gram, signs, 4.0, most=7, shrinking=shrinking)
        assert found.steps == 7
        assert found.violation > 1e-3
