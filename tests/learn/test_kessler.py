"""Kessler's construction: the differences spelled out, LIBSVM and LIBLINEAR on them, and the objective's definition."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from estimator_checks import every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC

from pairsim.learn import CrammerSingerSVC, KesslerSVC
from pairsim.learn.solvers.kessler_dual import solve_kessler

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), every_check(KesslerSVC(), KesslerSVC(kernel="precomputed")))
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def differences(rows, labels, count):
    """Return Kessler's examples, one by one: the row in its own class's block, less the row in another's."""
    examples = []
    for row, own in zip(rows, labels, strict=True):
        for other in range(count):
            if other != own:
                blocks = np.zeros((count, rows.shape[1]))
                blocks[own], blocks[other] = row, -row
                examples.append(blocks.ravel())
    return np.array(examples)


def both_signs(examples):
    """Return the examples with their negatives: then the best bias is 0, and every loss counts twice."""
    return np.vstack([examples, -examples]), np.repeat([1, -1], len(examples))


@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_it_is_a_linear_svm_on_the_explicit_differences(load, constant):
    rows, labels = load(return_X_y=True)
    rows = scale(rows)
    augmented = np.hstack([rows, np.full((len(rows), 1), constant)])
    examples, signs = both_signs(differences(augmented, labels, 3))
    explicit = LinearSVC(C=0.15, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0)
    weights = explicit.fit(examples, signs).coef_.reshape(3, -1)
    model = KesslerSVC(0.3, kernel="linear", fit_intercept=constant > 0.0, tol=1e-9, random_state=1).fit(
        rows, NAMES[labels]
    )
    assert model.decision_function(rows) == pytest.approx(augmented @ weights.T, abs=1e-3)
    assert model.intercept_ == pytest.approx(constant * weights[:, -1], abs=1e-3)
    assert (model.predict(rows) == NAMES[(augmented @ weights.T).argmax(axis=1)]).mean() > 0.99
    # the objective, by its definition, on the examples
    losses = np.maximum(0.0, 1.0 - examples[signs > 0] @ weights.ravel()).sum()
    assert model.objective_ == pytest.approx((weights**2).sum() / 2 + 0.3 * losses, rel=1e-5)
    other = KesslerSVC(0.6, kernel="linear", fit_intercept=constant > 0.0, tol=1e-9).fit(rows, labels)
    assert np.abs(other.decision_function(rows) - augmented @ weights.T).max() > 0.01  # the comparison can fail


def explicit_kernel(gram, labels, count):
    """Return the inner products of Kessler's examples in the kernel's space, from the definition."""
    who = [(i, labels[i], r) for i in range(len(labels)) for r in range(count) if r != labels[i]]
    same = np.eye(count)
    return np.array(
        [[gram[i, j] * (same[a] - same[r]) @ (same[b] - same[s]) for j, b, s in who] for i, a, r in who]
    ), who


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from([0.05, 1.0, 20.0]), st.booleans())
def test_it_is_libsvm_on_the_explicit_kernel(seed, count, C, augmented):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(count), rng.integers(0, count, size=10)])
    gram = rbf_kernel(rng.normal(size=(len(labels), 2)), gamma=0.7)
    constant = float(augmented)
    matrix, who = explicit_kernel(gram + constant, labels, count)
    block = np.block([[matrix, -matrix], [-matrix, matrix]])
    signs = np.repeat([1, -1], len(matrix))
    machine = SVC(kernel="precomputed", C=C / 2.0, tol=1e-8).fit(block, signs)
    beta = np.zeros(len(signs))
    beta[machine.support_] = machine.dual_coef_[0]
    value = np.abs(beta).sum() - 0.5 * beta @ block @ beta
    found = solve_kessler(gram, labels, count, C, constant, tol=1e-8, most=10_000, rng=np.random.RandomState(0))
    assert found.gap <= 1e-8 * found.objective
    assert found.objective == pytest.approx(value, rel=1e-5)
    margins = (block @ beta)[: len(matrix)]
    scores = (gram + constant) @ found.beta
    assert [scores[i, a] - scores[i, r] for i, a, r in who] == pytest.approx(margins, abs=2e-3)
    assert (found.alpha >= 0.0).all()
    assert (found.alpha <= C).all()
    assert (found.alpha[np.arange(len(labels)), labels] == 0.0).all()
    assert found.beta.sum(axis=1) == pytest.approx(np.zeros(len(labels)), abs=1e-12 * C * count)


def weston_watkins(scores, square, labels, C):
    """Return the objective of Weston and Watkins as they print it, margin 2, row by row."""
    total = square / 2.0
    for row, own in zip(scores, labels, strict=True):
        for other in range(len(row)):
            if other != own:
                total += C * max(0.0, 2.0 - (row[own] - row[other]))
    return total


def test_it_is_the_svm_of_weston_and_watkins_with_half_their_margin():
    """Weights twice as large and C twice as large have four times the objective; nothing near them has less."""
    gram, C = rbf_kernel(X, gamma=0.3), 3.0
    found = solve_kessler(gram, Y, 3, C, 0.0, tol=1e-10, most=10_000, rng=np.random.RandomState(0))

    def value(beta):
        return weston_watkins(gram @ beta, float((beta * (gram @ beta)).sum()), Y, 2.0 * C)

    least = value(2.0 * found.beta)
    assert least == pytest.approx(4.0 * found.objective, rel=1e-8)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            assert value(2.0 * found.beta + size * rng.normal(size=found.beta.shape)) > least
    for factor in (0.98, 1.02):
        assert value(2.0 * factor * found.beta) > least


def test_two_classes_are_one_ordinary_svm_without_a_bias():
    """w_0 = -w_1, so that |w_1 - w_0|**2 / 4 is minimised: C counts twice."""
    rows, labels = X[50:], Y[50:]
    gram = rbf_kernel(rows, gamma=0.3)
    model = KesslerSVC(2.0, gamma=0.3, fit_intercept=False, tol=1e-9).fit(rows, labels)
    examples, signs = np.block([[gram, -gram], [-gram, gram]]), np.where(labels == 2, 1, -1)
    machine = SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(examples, np.concatenate([signs, -signs]))
    assert model.decision_function(rows) == pytest.approx(machine.decision_function(examples)[:100], abs=1e-3)


def test_what_is_separable_is_separated_and_nothing_else_is():
    """The claim of the construction: weights classify all rows correctly if and only if they separate differences."""
    rows, labels = make_blobs(60, 2, centers=[[0, 9], [9, 0], [-9, -9]], random_state=0)
    model = KesslerSVC(1e6, kernel="linear", tol=1e-6).fit(rows, labels)
    scores = model.decision_function(rows)
    own = scores[np.arange(60), labels]
    scores[np.arange(60), labels] = -np.inf
    assert (own - scores.max(axis=1)).min() == pytest.approx(1.0, abs=1e-3)  # a hard margin
    contradicted = np.vstack([rows, rows[:1]]), np.append(labels, (labels[0] + 1) % 3)
    plain, mixed = (KesslerSVC(kernel="linear").fit(*each) for each in ((rows, labels), contradicted))
    assert plain.objective_ < 2.0 <= mixed.objective_  # one row in two classes costs 2 C at least


def test_every_form_of_the_same_kernel_gives_the_same_scores():
    plain = KesslerSVC(2.0, gamma=0.2, tol=1e-8).fit(X, Y).decision_function(X[:20])
    for form, given_, new in (
        ("precomputed", rbf_kernel(X, gamma=0.2), rbf_kernel(X[:20], X, gamma=0.2)),
        ("distances", euclidean_distances(X, squared=True), euclidean_distances(X[:20], X, squared=True)),
        ("rbf", scipy.sparse.csr_matrix(X), scipy.sparse.csc_array(X[:20])),
        (lambda a, b: np.exp(-0.2 * ((a - b) ** 2).sum()), X, X[:20]),
    ):
        before = given_.copy() if isinstance(given_, np.ndarray) else given_
        model = KesslerSVC(2.0, gamma=0.2, kernel=form, tol=1e-8).fit(given_, Y)
        assert model.decision_function(new) == pytest.approx(plain, abs=1e-3)
        assert not isinstance(given_, np.ndarray) or (given_ == before).all()


def test_rows_as_good_as_none_and_bad_settings():
    flat = KesslerSVC().fit(np.zeros((6, 2)), [1, 1, 1, 2, 2, 3])
    assert flat.predict([[0.0, 0.0]]) == [1]
    linear = KesslerSVC(kernel="linear", fit_intercept=False).fit(np.zeros((6, 2)), [1, 1, 1, 2, 2, 3])
    assert (linear.decision_function(np.zeros((1, 2))) == 0.0).all()  # no kernel value: nothing can be told apart
    for wrong in ({"C": 0.0}, {"tol": -1.0}, {"fit_intercept": 3}, {"max_iter": 0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of KesslerSVC must be"):
            KesslerSVC(**wrong).fit(X, Y)
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        KesslerSVC().fit(X, np.zeros(150))
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        KesslerSVC(1e5, max_iter=1, tol=1e-12).fit(X, Y)


def test_it_keeps_up_with_its_relative():
    wine, labels = load_wine(return_X_y=True)
    wine = scale(wine)
    kessler, relative = (each.fit(wine[::2], labels[::2]) for each in (KesslerSVC(), CrammerSingerSVC(kernel="rbf")))
    assert kessler.score(wine[1::2], labels[1::2]) >= relative.score(wine[1::2], labels[1::2]) - 0.03
    assert kessler.score(wine[1::2], labels[1::2]) > 0.93
