"""SVC and NuSVC: the same votes on every row, and the same margins, whatever the kernel and the form of the data."""

from __future__ import annotations

import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.svm import SVC, NuSVC
from trained import data, every_question, named_by_max_win, ovo_scores

from pairsim import Recorded, from_model, oracles
from pairsim.models import KernelPairs, LinearPairs, PairModel

KERNELS = ("linear", "rbf", "poly", "sigmoid")
CASES = list(itertools.product(("iris", "wine", "digits"), (False, True), (0.1, 10.0), KERNELS, (0, 1)))


def check_parity(svc, X):
    """Compare votes exactly, and margins to 1e-9, by all roads; return the model."""
    model = from_model(svc)
    wanted = ovo_scores(svc, X)
    margins = model.margins(X)
    np.testing.assert_allclose(margins, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(margins > 0, wanted > 0)
    np.testing.assert_array_equal(model.answers(X), wanted > 0)
    asked = model.some_margins(X, *every_question(len(wanted), model.n)).reshape(wanted.shape)
    np.testing.assert_allclose(asked, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(asked > 0, wanted > 0)
    named = named_by_max_win(model.record(X))
    np.testing.assert_array_equal(model.classes_[named], svc.predict(X))
    return model


@pytest.mark.parametrize(("name", "scaled", "C", "kernel", "half"), CASES)
def test_max_win_names_what_svc_predicts(name, scaled, C, kernel, half):
    X, y = data(name, scaled)
    svc = SVC(kernel=kernel, C=C, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a solver that is stopped early: its model is a model all the same
        svc.fit(X[half::2], y[half::2])
    model = check_parity(svc, X)
    assert isinstance(model, LinearPairs if kernel == "linear" else KernelPairs)
    assert (model.n, model.n_features) == (len(np.unique(y)), X.shape[1])


def test_there_are_enough_cases():
    assert len(CASES) == 96


def test_a_difference_would_show():
    """Negative control: margins of a model with another C are no match, nor are votes with the sign turned."""
    X, y = data("wine", True)
    ours, theirs = SVC(C=1.0).fit(X[::2], y[::2]), SVC(C=1.01).fit(X[::2], y[::2])
    margins = from_model(ours).margins(X)
    assert np.abs(margins - ovo_scores(theirs, X)).max() > 1e-6
    turned = Recorded(margins <= 0)
    assert (named_by_max_win(turned) != ours.predict(X)).mean() > 0.5


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["wine", "digits"])
def test_nu_svc(kernel, name):
    X, y = data(name, True)
    check_parity(NuSVC(nu=0.2, kernel=kernel).fit(X[::2], y[::2]), X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_sparse_fits(kernel, kind):
    X, y = data("digits")
    svc = SVC(kernel=kernel, C=0.5).fit(kind(X[::2]), y[::2])
    assert scipy.sparse.issparse(svc.dual_coef_)
    model = check_parity(svc, kind(X))
    np.testing.assert_allclose(model.margins(X), model.margins(kind(X)), rtol=1e-12, atol=1e-12)


def test_sparse_vectors_that_are_too_wide_for_an_array(monkeypatch):
    monkeypatch.setattr("pairsim.models.kernel_functions.DENSE_NUMBERS", 10)
    X, y = data("digits")
    for kernel in KERNELS:
        check_parity(SVC(kernel=kernel).fit(scipy.sparse.csr_matrix(X[::3]), y[::3]), scipy.sparse.csr_matrix(X[:90]))


@pytest.mark.parametrize("name", ["iris", "digits"])
def test_precomputed_kernels(name):
    X, y = data(name)
    gram = (X @ X[::2].T + 1.0) ** 2 / 1000
    svc = SVC(kernel="precomputed").fit(gram[::2], y[::2])
    assert svc.support_vectors_.size == 0
    assert check_parity(svc, gram).n_features == len(X[::2])


def laplacian(a, b):
    return np.exp(-0.05 * np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2))


def by_length(left, right):
    return np.array([[min(len(a), len(b)) for b in right] for a in left], float)


def test_kernels_that_are_functions():
    X, y = data("wine", True)
    check_parity(SVC(kernel=laplacian).fit(X[::2], y[::2]), X)
    words = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"] * 2
    svc = SVC(kernel=by_length).fit(words, [0, 0, 1, 1, 2, 2] * 2)
    assert from_model(svc).answers(words).shape == (12, 3)
    np.testing.assert_array_equal(named_by_max_win(from_model(svc).record(words)), svc.predict(words))


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_classes(kernel):
    X, y = data("wine", True)
    X, y = X[y < 2], np.array(["no", "yes"])[y[y < 2]]
    for form in (np.asarray, scipy.sparse.csr_matrix):
        model = check_parity(SVC(kernel=kernel).fit(form(X[::2]), y[::2]), form(X))
        assert model.margins(form(X)).shape == (len(X), 1)
        assert model.classes_.tolist() == ["no", "yes"]


def test_what_changes_nothing():
    """The shape of decision_function (three classes: ovo and ovr look alike), tie breaking, probabilities."""
    X, y = data("iris")
    wanted = from_model(SVC(decision_function_shape="ovo").fit(X, y)).margins(X)
    for parameters in ({"decision_function_shape": "ovr"}, {"break_ties": True}, {"random_state": 3}):
        svc = SVC(**parameters).fit(X, y)
        np.testing.assert_array_equal(from_model(svc).margins(X), wanted)
        assert svc.decision_function_shape == parameters.get("decision_function_shape", "ovr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        with_probabilities = SVC(probability=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(from_model(with_probabilities).margins(X), wanted)
    assert np.abs(SVC().fit(X, y).decision_function(X) - wanted).max() > 0.1  # ovr has the same shape, not the values
    check_parity(SVC(class_weight="balanced").fit(X[20:], y[20:]), X)
    check_parity(SVC(class_weight={0: 3.0, 2: 0.2}).fit(X, y), X)


def test_a_margin_of_zero_is_a_vote_for_the_higher_class():
    two = SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1])
    assert two.decision_function([[0.0]]) == 0
    assert (two.predict([[0.0]]), from_model(two).answers([[0.0]]).item()) == (1, False)
    three = SVC(kernel="linear").fit(np.eye(3), [0, 1, 2])
    assert ovo_scores(three, np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]
    assert from_model(three).answers(np.zeros((1, 3))).tolist() == [[False, False, False]]
    check_parity(three, np.zeros((1, 3)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_votes_that_only_rounding_decides(kernel):
    """Mirror images on both sides of a plane: on it, the margin is what the order of additions leaves."""
    rng = np.random.default_rng(3)
    side = rng.normal(size=(60, 5)) + [1.5, 0, 0, 0, 0]
    mirror = side * [-1, 1, 1, 1, 1]
    third = rng.normal(size=(40, 5)) + [0, 4, 0, 0, 0]
    X = np.vstack([side, mirror, third])
    svc = SVC(kernel=kernel, C=3.0).fit(X, np.repeat([0, 1, 2], [60, 60, 40]))
    on_plane = rng.normal(size=(500, 5)) * [0, 1, 1, 1, 1]
    wanted = ovo_scores(svc, on_plane)
    assert np.abs(wanted[:, 0]).max() < 1e-13
    model = check_parity(svc, on_plane)
    model._settle = None  # negative control: by matrix products alone, many votes are others
    assert (model.answers(on_plane) != (wanted > 0)).sum() > 20


def test_only_votes_in_doubt_are_put_to_the_model():
    X, y = data("digits")
    model = from_model(SVC().fit(X[::2], y[::2]))
    asked = []
    model._settle = lambda points, rows, pairs: asked.append(len(rows))
    model.margins(X)
    model.some_margins(X, *every_question(len(X), model.n))
    assert asked == []


@pytest.mark.parametrize(("offset", "gamma"), [(1e7, 1.0), (1e4, 50.0), (0.0, 1e5)])
def test_features_far_from_zero(offset, gamma):
    """|x|^2 + |s|^2 - 2 x.s would lose every digit here."""
    X, y = data("iris")
    svc = SVC(gamma=gamma).fit(X + offset, y)
    check_parity(svc, X + offset + 0.001)
    sparse = scipy.sparse.csr_matrix(X + offset)
    check_parity(SVC(gamma=gamma).fit(sparse, y), sparse)


def test_points_keep_what_was_computed():
    X, y = data("digits")
    model = from_model(SVC().fit(X[::2], y[::2]))
    wanted, points = model.margins(X), model.points(X)
    blocks = []
    compute = model.kernel.block
    model.kernel.block = lambda *question: blocks.append(question) or compute(*question)
    for _ in range(2):
        np.testing.assert_allclose(points.margins([5, 5, 9], [0, 0, 3], [1, 2, 9]), wanted[[5, 5, 9], [0, 1, 29]])
    assert len(blocks) == 5  # classes 0, 1, 2, 3 and 9, once each
    assert isinstance(model, PairModel)
    assert oracles.from_model is from_model


def test_memory_follows_neither_rows_nor_questions():
    X, y = data("digits")
    model = from_model(SVC().fit(X[::2], y[::2]))
    many = np.tile(X, (150, 1))
    rows = np.arange(len(many))
    kernel_values = len(many) * model.kernel.size * 8
    assert kernel_values > 100_000_000
    tracemalloc.start()
    try:
        answers = model.answers(many)
        asked = model.some_margins(many, rows, [3] * len(rows), [5] * len(rows))
        assert tracemalloc.get_traced_memory()[1] < 64_000_000
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(answers[-len(X) :], model.answers(X))
    np.testing.assert_array_equal(asked > 0, answers[:, 25])


def test_questions_in_pieces(monkeypatch):
    monkeypatch.setattr("pairsim.models.kernel.KEPT", 1000)
    X, y = data("digits")
    model = from_model(SVC().fit(X[::2], y[::2]))
    rng = np.random.default_rng(4)
    low = rng.integers(0, 9, 3000)
    high, rows = rng.integers(low + 1, 10), rng.integers(0, len(X), 3000)
    wanted = model.margins(X)[rows, low * (19 - low) // 2 + high - low - 1]
    np.testing.assert_allclose(model.some_margins(X, rows, low, high), wanted, rtol=1e-9, atol=1e-12)
