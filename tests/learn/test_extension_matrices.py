"""SingleBinaryClassifier with the user's extension matrices: Algorithms 1 and 2 spelled out, and what is rejected."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from pairsim import ParameterError
from pairsim.learn import SingleBinaryClassifier
from pairsim.learn.extension_matrices import read_matrices
from pairsim.learn.solvers.extensions import ClassKernels, MatrixKernels
from pairsim.learn.solvers.kernel_weights import first_weights, learn_weights, next_weights

X, Y = load_iris(return_X_y=True)
X = scale(X)
GAMMA = 0.125
EXACT = {"gamma": GAMMA, "tol": 1e-7}
M = np.array([[0.5, -1.0], [2.0, 0.25], [0.0, 1.5]])


def extended(points, marks):
    """Return every point with every mark behind it, the marks of one point side by side."""
    return np.hstack([np.repeat(points, len(marks), axis=0), np.tile(marks, (len(points), 1))])


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_algorithm_1_is_an_ordinary_svm_on_extended_points(load, columns):
    rows, labels = load(return_X_y=True)
    rows = scale(rows)
    matrix = np.random.default_rng(columns).normal(size=(3, columns))
    copies = (labels[:, None] == np.arange(3)).ravel()
    machine = SVC(gamma=GAMMA, C=4.0, tol=1e-7).fit(extended(rows, matrix), copies)
    model = SingleBinaryClassifier(matrix, C=4.0, **EXACT).fit(rows, labels)
    new = rows[::7] + 0.1
    values = machine.decision_function(extended(new, matrix)).reshape(-1, 3)
    assert np.abs(model.decision_function(new) - values).max() < 1e-4
    assert model.label_gram_ == pytest.approx(rbf_kernel(matrix, gamma=GAMMA))
    turned = SingleBinaryClassifier(matrix[[1, 2, 0]], C=4.0, **EXACT).fit(rows, labels)  # rows belong to classes
    assert np.abs(turned.decision_function(new) - values).max() > 1e-2


@pytest.mark.parametrize("form", [np.array, np.ndarray.tolist, pd.DataFrame])
def test_known_matrices_are_the_named_ones_to_the_last_digit(form):
    for name, matrix in (("identity", np.eye(3)), ("single", np.array([[1.0], [2.0], [3.0]]))):
        named, given_ = (SingleBinaryClassifier(each, C=3.0, gamma=0.2).fit(X, Y) for each in (name, form(matrix)))
        assert (named.label_gram_ == given_.label_gram_).all()
        assert (named.decision_function(X) == given_.decision_function(X)).all()
        assert named.objective_ == given_.objective_
        assert given_.problem_rows_.tolist() == [450]
    assert (
        given_.decision_function(X) != SingleBinaryClassifier(np.eye(3), gamma=0.2).fit(X, Y).decision_function(X)
    ).any()


def class_matrices(count):
    """Return the matrices of SBC-KERNEL, all zeros but for one 1."""
    return [np.diag(np.arange(count) == k).astype(float) for k in range(count)]


@pytest.mark.parametrize("update", ["paper", "mkl"])
@pytest.mark.parametrize("form", ["columns of the unit matrix", "list", "array"])
def test_algorithm_2_on_the_papers_matrices_is_sbc_kernel(update, form):
    matrices = {
        "columns of the unit matrix": np.eye(3),
        "list": class_matrices(3),
        "array": np.array(class_matrices(3)),
    }
    options = {"C": 2.0, "mu_update": update, **EXACT}
    named, given_ = (SingleBinaryClassifier(each, **options).fit(X, Y) for each in ("kernel", matrices[form]))
    assert given_.mu_ == pytest.approx(named.mu_, rel=1e-6)
    assert given_.n_rounds_ == named.n_rounds_ > 1
    assert given_.label_gram_ == pytest.approx(named.label_gram_, rel=1e-6)
    assert np.abs(given_.decision_function(X) - named.decision_function(X)).max() < 1e-5


def naive_algorithm_2(rows, labels, matrices, box, radius, rounds):
    """Algorithm 2 step by step as printed, on the explicit matrix of all copies; return the weights of each round."""
    count = labels.max() + 1
    signs = np.where(labels[:, None] == np.arange(count), 1.0, -1.0).ravel()
    kernels = [np.kron(rbf_kernel(rows, gamma=GAMMA), rbf_kernel(each, gamma=GAMMA)) for each in matrices]
    mu, path = np.full(len(matrices), radius / len(matrices)), []
    for _ in range(rounds):
        whole = sum(weight * kernel for weight, kernel in zip(mu, kernels, strict=True))
        machine = SVC(kernel="precomputed", C=box, tol=1e-8).fit(whole, signs)
        beta = np.zeros(len(signs))
        beta[machine.support_] = machine.dual_coef_[0]
        mu = mu + np.array([beta @ kernel @ beta for kernel in kernels])
        mu = mu * radius / mu.sum() if mu.sum() > radius else mu
        path.append(mu)
    return path


def test_algorithm_2_is_the_printed_one_for_matrices_of_any_width():
    some = slice(None, None, 3)
    matrices = [M, np.array([[1.0], [0.0], [-2.0]]), np.eye(3) * 0.5, M[:, [0]]]
    path = naive_algorithm_2(X[some], Y[some], matrices, 2.0, 5.0, 3)
    for rounds, mu in enumerate(path, start=1):
        model = SingleBinaryClassifier(
            matrices, C=2.0, radius=5.0, mu_update="paper", mu_tol=0.0, max_rounds=rounds, **EXACT
        )
        with pytest.warns(ConvergenceWarning, match="still change"):
            model.fit(X[some], Y[some])
        assert model.mu_ == pytest.approx(mu, rel=1e-4)


def test_a_label_kernel_can_be_given_itself():
    kernel = rbf_kernel(M, gamma=GAMMA)
    by_matrix = SingleBinaryClassifier(M, C=2.0, **EXACT).fit(X, Y)
    by_kernel = SingleBinaryClassifier(kernel, ext_kernel="precomputed", C=2.0, **EXACT).fit(X, Y)
    assert np.abs(by_matrix.decision_function(X) - by_kernel.decision_function(X)).max() < 1e-5
    several = [kernel, np.diag([1.0, 2.0, 3.0])]
    options = {"ext_kernel": "precomputed", "C": 2.0, "radius": 3.0, **EXACT}
    model = SingleBinaryClassifier(several, mu_init=[2, 1], **options).fit(X, Y)
    assert model.label_gram_ == pytest.approx(2.0 * several[0] + several[1])
    copies = (Y[:, None] == np.arange(3)).ravel()
    product = np.kron(rbf_kernel(X, gamma=GAMMA), model.label_gram_)
    values = SVC(kernel="precomputed", C=2.0, tol=1e-7).fit(product, copies).decision_function(product)
    assert np.abs(model.decision_function(X).ravel() - values).max() < 1e-4
    learned = SingleBinaryClassifier(several, mu_update="mkl", **options).fit(X, Y)
    assert learned.objective_ < model.objective_
    assert learned.mu_.sum() == pytest.approx(3.0)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 6), st.integers(1, 4), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_sums_and_products_of_given_kernels(count, size, rho, seed):
    rng = np.random.default_rng(seed)
    matrices = tuple(rng.normal(size=(count, rng.integers(1, 4))) for _ in range(size))
    mu, table = rng.random(size), rng.normal(size=(count, count))
    kernels = MatrixKernels(matrices, rho)
    each = [np.array([[rho ** (np.sum((a - b) ** 2) / 2) for b in matrix] for a in matrix]) for matrix in matrices]
    assert kernels.weighted(mu) == pytest.approx(sum(m * one for m, one in zip(mu, each, strict=True)))
    assert kernels.products(table) == pytest.approx([(table * one).sum() for one in each])
    own, spelled = ClassKernels(count, rho), MatrixKernels(tuple(class_matrices(count)), rho)
    assert own.weighted(mu[:1].repeat(count)) == pytest.approx(spelled.weighted(mu[:1].repeat(count)))
    assert own.products(table + table.T) == pytest.approx(spelled.products(table + table.T))


def test_equal_weights_are_the_unit_matrix_with_other_settings():
    """All kernels count R / c: 1 - 2 (1 - sqrt(rho)) / c between two classes, times R, which C takes over."""
    rows, labels = make_blobs(120, 4, centers=7, cluster_std=3.0, random_state=0)
    radius, rho = np.sqrt(120), np.exp(-2 * GAMMA)
    equal = SingleBinaryClassifier(C=0.5, **EXACT).fit(rows, labels)
    same = SingleBinaryClassifier("identity", C=0.5 * radius, rho=1 - 2 * (1 - np.sqrt(rho)) / 7, **EXACT).fit(
        rows, labels
    )
    assert np.abs(equal.decision_function(rows) - same.decision_function(rows)).max() < 1e-4
    assert equal.mu_ == pytest.approx(np.full(7, radius / 7))


def test_weights_are_learned_where_an_update_is_named_and_not_otherwise():
    uneven = np.r_[0:50, 50:70, 100:130]
    equal = np.full(3, 10 / 3)
    for options, learned, like in (
        ({}, False, {"learn_mu": False}),
        ({"mu_update": "paper"}, True, {"learn_mu": True, "mu_update": "paper"}),
        ({"mu_update": "mkl"}, True, {"learn_mu": True}),
        ({"mu_update": "mkl", "learn_mu": False}, False, {}),
    ):
        one, other = (SingleBinaryClassifier(gamma=GAMMA, **each).fit(X[uneven], Y[uneven]) for each in (options, like))
        assert (one.n_rounds_ > 0) is learned
        assert bool(np.abs(one.mu_ - equal).max() > 0.1) is learned
        assert (one.decision_function(X) == other.decision_function(X)).all()


def test_a_floor_holds_and_what_is_learned_is_the_best_above_it():
    rows, labels = make_blobs(40, 3, centers=8, cluster_std=2.0, random_state=0)
    options = {"C": 0.3, "gamma": 0.2, "mu_tol": 1e-5, "max_rounds": 2000, "tol": 1e-5}
    mean = np.sqrt(40) / 8
    objectives = []
    for floor in (0.0, 0.3, 0.8, 1.0):
        model = SingleBinaryClassifier(mu_update="mkl", mu_floor=floor, **options).fit(rows, labels)
        assert model.mu_.sum() == pytest.approx(np.sqrt(40))
        assert model.mu_.min() >= floor * mean * (1 - 1e-12)
        assert -1e-9 < model.mu_gap_ < 1e-5  # of the problem with the floor
        objectives.append(model.objective_)
    assert (np.diff(objectives) > 0.0).all()  # a higher floor leaves less to choose
    assert model.mu_ == pytest.approx(np.full(8, mean))
    free = SingleBinaryClassifier(mu_update="mkl", **options).fit(rows, labels)
    assert free.mu_.min() < 0.3 * mean  # so that the floors above did something
    printed = SingleBinaryClassifier(mu_update="paper", mu_floor=0.7, mu_init="frequency", gamma=0.1).fit(rows, labels)
    assert printed.mu_.min() >= 0.7 * mean * (1 - 1e-12)


def test_first_weights():
    numbers = np.array([0, 0, 0, 1])
    assert first_weights("uniform", numbers, 4, 2.0, 0.0).tolist() == [0.5] * 4
    assert first_weights([1, 3, 4], numbers, 3, 16.0, 0.0).tolist() == [2.0, 6.0, 8.0]
    assert first_weights([1e308, 1e308], numbers, 2, 2.0, 0.0).tolist() == [1.0, 1.0]
    assert first_weights("frequency", numbers, 2, 4.0, 0.0).tolist() == [3.0, 1.0]
    for wrong in ([1, 2], [1, 2, 0], [1, 2, np.nan], [1, 2, np.inf], ["a", "b", "c"], [[1, 2, 3]], [1, 2, 3j]):
        with pytest.raises(
            ParameterError, match="'mu_init' parameter of SingleBinaryClassifier must be an array of 3 pos"
        ):
            first_weights(wrong, numbers, 3, 1.0, 0.0)
    with pytest.raises(ParameterError, match=r"kernels \(3\) and classes \(2\) are not as many. Got 'frequency'"):
        first_weights("frequency", numbers, 3, 1.0, 0.0)
    with pytest.raises(ParameterError, match="mu_init"):
        SingleBinaryClassifier(np.eye(3)[:, :2], mu_update="mkl", mu_init="frequency").fit(X, Y)


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        (np.eye(4), r"must be a matrix of 3 rows, one for each class, or a sequence .* Got a matrix of shape \(4, 4\)"),
        ([1.0, 2.0, 3.0], r"Got an array of shape \(3,\)"),
        (np.zeros((2, 3, 4, 5)), r"Got an array of shape \(2, 3, 4, 5\)"),
        (np.zeros((3, 0)), r"Got a matrix of shape \(3, 0\)"),
        ([[1.0, 2.0], [3.0], [4.0]], "Got rows of different lengths"),
        ([np.eye(3), np.eye(4)], r"Got a matrix of shape \(4, 4\)"),
        ([np.eye(3), "x"], "entries that are not real numbers"),
        (np.eye(3).astype(str), "entries that are not real numbers"),
        (np.eye(3) * 1j, "entries that are not real numbers"),
        ([], r"Got an array of shape \(0,\)"),
        (np.zeros((0, 3, 3)), "Got no matrix at all"),
        (np.array([[1.0], [np.nan], [2.0]]), "must be made of finite numbers"),
        (np.array([[1.0], [np.inf], [2.0]]), "must be made of finite numbers"),
        (np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]), "must be different for any two classes. Got equal rows"),
        (np.zeros((4, 3, 2)), "must be different for any two classes. Got equal rows"),
        ("pairs", "must be a str among"),
        (3, "must be a str among"),
    ],
)
def test_refusals(extension, message):
    with pytest.raises(ValueError, match="The 'extension' parameter of SingleBinaryClassifier .*" + message):
        SingleBinaryClassifier(extension).fit(X, Y)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("kernel", "must be an array where ext_kernel='precomputed'"),
        (M, r"must be a square matrix, or several.* Got a matrix of shape \(3, 2\)"),
        ([[1, 0, 1], [0, 1, 0], [0, 0, 1]], "must be symmetric"),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], "must be positive semidefinite .* eigenvalue -1"),
        (np.ones((3, 3)), "must be different for any two classes"),
        (np.zeros((3, 3)), "must be different for any two classes"),
        (np.eye(3) * 1e200, "must be made of numbers of at most 1e"),
    ],
)
def test_label_kernels_that_are_none(kernel, message):
    with pytest.raises(ValueError, match="The 'extension' parameter of SingleBinaryClassifier " + message):
        SingleBinaryClassifier(kernel, ext_kernel="precomputed").fit(X, Y)


def test_a_single_label_kernel_has_no_weights_to_learn():
    with pytest.raises(ParameterError, match="sequence of label kernels where weights are learned"):
        SingleBinaryClassifier(np.eye(3), ext_kernel="precomputed", mu_update="mkl").fit(X, Y)
    scaled = SingleBinaryClassifier(1e3 * np.eye(3), ext_kernel="precomputed", C=0.01, **EXACT).fit(X, Y)
    plain = SingleBinaryClassifier(np.eye(3), ext_kernel="precomputed", C=10.0, **EXACT).fit(X, Y)
    assert np.abs(scaled.decision_function(X) - plain.decision_function(X)).max() < 1e-4


def test_a_singular_label_kernel_and_marks_far_apart_will_do():
    rank_one = np.outer([1.0, 2.0, -3.0], [1.0, 2.0, -3.0])
    assert SingleBinaryClassifier(rank_one, ext_kernel="precomputed", gamma=0.2).fit(X, Y).score(X, Y) > 0.5
    far = SingleBinaryClassifier(np.array([[1e300], [-1e300], [0.0]]), gamma=0.2).fit(X, Y)
    apart = SingleBinaryClassifier("identity", rho=0.0, gamma=0.2).fit(X, Y)
    assert (far.decision_function(X) == apart.decision_function(X)).all()


def test_what_is_given_is_not_changed_and_models_can_be_cloned():
    matrices = [M.copy(), np.eye(3)]
    model = SingleBinaryClassifier(matrices, mu_update="mkl", gamma=0.2).fit(X, Y)
    assert (matrices[0] == M).all()
    again = clone(model).fit(X, Y)
    assert (again.decision_function(X) == model.decision_function(X)).all()
    kernel = np.eye(3)
    model = SingleBinaryClassifier(kernel, ext_kernel="precomputed", gamma=0.2).fit(X, Y)
    kernel[0, 1] = 9.0
    assert model.label_gram_[0, 1] == 0.0


def test_ragged_object_arrays_are_sequences():
    ragged = np.empty(2, object)
    ragged[:] = [M, np.eye(3)]
    matrices, single = read_matrices(ragged, 3)
    assert [each.shape for each in matrices] == [(3, 2), (3, 3)]
    assert not single


def test_a_floor_keeps_the_printed_step_within_the_radius():
    class Fixed:
        size = 3

        def weighted(self, mu):
            return np.diag(mu)

        def products(self, table):
            return np.array([4.0, 0.0, 1.0])

    solution = type("Solved", (), {"beta": np.eye(3), "projected": np.eye(3), "steps": 1, "violation": 0.0})
    solution.objective = 1.0
    start = first_weights("uniform", np.arange(3), 3, 6.0, 0.25)
    found = learn_weights(
        lambda *given: solution, start, Fixed(), update="paper", tol=0.0, dual_tol=1.0, most=1, floor=0.25
    )
    assert found.mu == pytest.approx(0.5 + next_weights(np.full(3, 1.5), np.array([4.0, 0.0, 1.0]), 4.5, "paper"))
