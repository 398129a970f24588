"""One-vs-all and all pairs: the solver on a shared Gram matrix, LIBSVM's models and votes, any estimator."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from estimator_checks import every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances, pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pairsim.coupling import vote_scores, weighted_vote
from pairsim.learn import AllPairsClassifier, OneVsAllClassifier, PairwiseClassifier, SingleBinaryClassifier
from pairsim.learn.compiled.column_dual import BIG, minimise_column
from pairsim.learn.gaussian_gram import gaussian_gram
from pairsim.learn.solvers import column_dual
from pairsim.learn.solvers.column_dual import solve_columns

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
BOTH = pytest.mark.parametrize("kind", [OneVsAllClassifier, AllPairsClassifier])

CHECKED = every_check(
    OneVsAllClassifier(),
    OneVsAllClassifier(kernel="precomputed"),
    OneVsAllClassifier(LogisticRegression()),
    AllPairsClassifier(),
    AllPairsClassifier(decision="margin"),
    AllPairsClassifier(kernel="precomputed"),
    AllPairsClassifier(LinearSVC()),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# --- the solver ------------------------------------------------------------------------------------------------------


def violation(gram, signs, box, beta):
    """Return by how much optimality is violated, from the definition."""
    inside = signs != 0.0
    errors, alpha = (signs - gram @ beta)[inside], (beta * signs)[inside]
    positive = signs[inside] > 0.0
    rise, fall = np.where(positive, alpha < box, alpha > 0.0), np.where(positive, alpha > 0.0, alpha < box)
    return errors[rise].max() - errors[fall].min()


@st.composite
def small_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points, machines = draw(st.integers(3, 20)), draw(st.integers(1, 4))
    gram = rng.normal(size=(points, draw(st.integers(1, 22))))
    signs = rng.choice([-1.0, 0.0, 1.0], size=(machines, points))
    signs[:, :2] = -1.0, 1.0
    ridge = draw(st.sampled_from([0.0, 0.5]))  # with and without flat directions
    boxes = rng.choice([0.01, 1.0, 30.0] if ridge else [0.01, 1.0], size=machines)
    return gram @ gram.T + ridge * np.eye(points), signs, boxes


@settings(max_examples=40, deadline=None)
@given(small_problems())
def test_any_small_problem_is_solved(problem):
    gram, signs, boxes = problem
    found = solve_columns(gram, signs, boxes, tol=1e-6)
    assert found.violation < 1e-6
    for beta, bias, own, box in zip(found.beta, found.bias, signs, boxes, strict=True):
        assert violation(gram, own, box, beta) < 1e-5
        assert abs(beta.sum()) < 1e-9 * box * own.size
        assert (own * beta >= 0.0).all()
        assert (np.abs(beta) <= box * np.abs(own)).all()
        inside = own != 0.0
        machine = SVC(kernel="precomputed", C=box, tol=1e-6).fit(gram[np.ix_(inside, inside)], own[inside])
        objective = np.abs(beta).sum() - 0.5 * beta @ gram @ beta
        theirs = np.zeros(len(own))
        theirs[np.flatnonzero(inside)[machine.support_]] = machine.dual_coef_[0]
        assert objective == pytest.approx(np.abs(theirs).sum() - 0.5 * theirs @ gram @ theirs, rel=1e-5, abs=1e-9)
        free = inside & (np.abs(beta) > 0.0) & (np.abs(beta) < box)
        if free.any():
            assert bias == pytest.approx((own - gram @ beta)[free].mean())


def test_leaving_points_out_for_a_while_changes_nothing(monkeypatch):
    gram = rbf_kernel(X, gamma=0.1)
    signs = np.array([np.where(Y == 0, 1.0, -1.0), np.select([Y == 1, Y == 2], [1.0, -1.0], 0.0)])
    boxes = np.array([50.0, 300.0])
    plain = solve_columns(gram, signs, boxes, tol=1e-8)
    taken, part = [], column_dual.ColumnSVM.part
    monkeypatch.setattr(column_dual, "LOOK", 10)
    monkeypatch.setattr(
        column_dual.ColumnSVM, "part", lambda self, points: taken.append(len(points)) or part(self, points)
    )
    found = solve_columns(gram, signs, boxes, tol=1e-8)
    assert taken
    assert max(taken) <= 75
    assert found.beta == pytest.approx(plain.beta, abs=1e-4)
    assert found.bias == pytest.approx(plain.bias, abs=1e-6)
    for beta, own, box in zip(found.beta, signs, boxes, strict=True):
        assert violation(gram, own, box, beta) < 1e-7


def test_the_kernel_as_plain_python_takes_the_same_steps():
    gram = rbf_kernel(X[::9], gamma=0.3)
    signs = np.where(Y[::9] == 1, 1.0, -1.0)

    def run(kernel):
        beta, gains = np.zeros(len(signs)), np.empty(len(signs))
        up, low = np.where(signs > 0, signs, -BIG), np.where(signs < 0, signs, BIG)
        lower, upper = np.minimum(0.0, 5.0 * signs), np.maximum(0.0, 5.0 * signs)
        runs = np.array([0, 7]), np.array([4, len(signs)])  # three points left out
        steps, left, value = kernel(
            gram, np.diag(gram).copy(), *runs, beta, lower, upper, up, low, gains, 1e-6, 10_000, 0.0, BIG
        )
        assert value == pytest.approx(beta @ (signs - 0.5 * gram @ beta))
        return beta, steps, left

    (beta, steps, left), (again, steps_again, left_again) = run(minimise_column), run(minimise_column.py_func)
    assert steps == steps_again > 5
    assert beta == pytest.approx(again, abs=1e-9)
    assert left == pytest.approx(left_again, abs=1e-9)
    assert left < 1e-6
    assert (beta[4:7] == 0.0).all()


def test_a_step_takes_the_pair_with_the_largest_gain(monkeypatch):
    monkeypatch.setattr(column_dual, "MOST", 1)
    gram = rbf_kernel(X, gamma=0.3) * (scaling := 1.0 + np.arange(150) / 50.0)[:, None] * scaling
    for label in range(3):
        signs = np.where(label == Y, 1.0, -1.0)
        i = int(np.argmax(signs))  # all errors are 1 or -1: the first that can rise
        gains = [(1.0 - signs[j]) ** 2 / (gram[i, i] + gram[j, j] - 2.0 * gram[i, j] + 1e-300) for j in range(150)]
        beta = solve_columns(gram, signs[None], np.array([1e6])).beta[0]
        assert np.flatnonzero(beta).tolist() == sorted([i, int(np.argmax(gains))])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.floats(1e-3, 10.0), st.sampled_from([0.0, 1e5]))
def test_the_gaussian_kernel(seed, rows, gamma, far):
    points = np.random.default_rng(seed).normal(size=(rows, 3)) + far
    plain = np.exp(-gamma * ((points[:, None] - points) ** 2).sum(axis=2))
    gram = gaussian_gram(points, gamma)
    assert np.abs(gram - plain).max() < 1e-8
    assert (gram.diagonal() == 1.0).all()
    assert (gram <= 1.0).all()


# --- OneVsAllClassifier ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize(("tol", "close"), [(1e-3, 3e-3), (1e-7, 1e-5)])
def test_one_vs_all_is_a_machine_for_each_class(load, tol, close):
    points, labels = load(return_X_y=True)
    points = scale(points)
    model = OneVsAllClassifier(C=3.0, gamma=0.125, tol=tol).fit(points, labels)
    theirs = OneVsRestClassifier(SVC(C=3.0, gamma=0.125, tol=tol)).fit(points, labels)
    assert np.abs(model.decision_function(points) - theirs.decision_function(points)).max() < close
    assert (model.predict(points) == theirs.predict(points)).all()
    single = SingleBinaryClassifier("identity", C=3.0, rho=0.0, bias="class", gamma=0.125, tol=tol).fit(points, labels)
    assert np.abs(model.decision_function(points) - single.decision_function(points)).max() < close
    shared = SingleBinaryClassifier("identity", C=3.0, rho=0.0, gamma=0.125, tol=tol).fit(points, labels)
    assert np.abs(model.decision_function(points) - shared.decision_function(points)).max() > 0.01  # one bias for all


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(random_state=0), SVC(kernel="poly")])
def test_one_vs_all_of_any_estimator_is_scikit_learns(estimator):
    model, theirs = (kind(estimator).fit(X, NAMES[Y]) for kind in (OneVsAllClassifier, OneVsRestClassifier))
    assert model.decision_function(X) == pytest.approx(theirs.decision_function(X))
    assert (model.predict(X) == theirs.predict(X)).all()
    assert len(model.estimators_) == 3


def test_probabilities_of_estimators_without_margins_are_compared():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = OneVsAllClassifier(tree, n_jobs=2).fit(X, Y)
    probabilities = np.column_stack([clone(tree).fit(X, label == Y).predict_proba(X)[:, 1] for label in range(3)])
    assert model.decision_function(X) == pytest.approx(probabilities - 0.5)
    assert (model.predict(X) == probabilities.argmax(axis=1)).all()


# --- AllPairsClassifier ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_all_pairs_votes_as_libsvm_does_where_there_is_no_tie(load):
    points, labels = load(return_X_y=True)
    points, labels = scale(points)[:600], labels[:600]
    ours = AllPairsClassifier(C=2.0, gamma=0.02, tol=1e-6).fit(points[::2], labels[::2])
    theirs = SVC(C=2.0, gamma=0.02, tol=1e-6, decision_function_shape="ovo").fit(points[::2], labels[::2])
    margins = ours.pairs_.model_.margins(points)
    assert margins == pytest.approx(theirs.decision_function(points), abs=1e-3)
    n = len(theirs.classes_)
    votes, sums = vote_scores(margins, n), weighted_vote(margins, n)
    top = votes == votes.max(axis=1, keepdims=True)
    clear = top.sum(axis=1) == 1
    assert clear.mean() > 0.95
    assert (ours.predict(points)[clear] == theirs.predict(points)[clear]).all()
    assert (ours.predict(points) == np.where(top, sums, -np.inf).argmax(axis=1)).all()
    by_margin = AllPairsClassifier(decision="margin", C=2.0, gamma=0.02, tol=1e-6).fit(points[::2], labels[::2])
    assert by_margin.decision_function(points) == pytest.approx(sums)
    assert (by_margin.predict(points) == sums.argmax(axis=1)).all()


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), LinearSVC(random_state=0), SVC(), DecisionTreeClassifier(random_state=0)]
)
def test_all_pairs_of_any_estimator(estimator):
    points, labels = (part[:600] for part in load_digits(return_X_y=True))
    points, labels = points[labels < 6] / 16.0, labels[labels < 6]
    train, test = slice(0, 100), slice(100, None)
    votes, margin = (
        AllPairsClassifier(estimator, decision).fit(points[train], labels[train]) for decision in ("votes", "margin")
    )
    for model, decoder in ((votes, "max-win:ties=margin"), (margin, "weighted-vote")):
        twin = PairwiseClassifier(estimator, decoder, random_state=0).fit(points[train], labels[train])
        assert (model.predict(points[test]) == twin.predict(points[test])).all()
        assert (model.decision_function(points[test]) == twin.decision_function(points[test])).all()
    theirs = OneVsOneClassifier(estimator).fit(points[train], labels[train])
    counts = vote_scores(votes.pairs_.model_.margins(points[test]), 6)
    clear = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert clear.mean() > 0.7
    assert (votes.predict(points[test])[clear] == theirs.predict(points[test])[clear]).all()
    if isinstance(estimator, LogisticRegression):  # the two decisions are not the same
        assert (votes.predict(points[test]) != margin.predict(points[test])).any()


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid", "laplacian", "cosine"])
def test_all_pairs_with_every_kernel(kernel):
    model = AllPairsClassifier(C=0.5, kernel=kernel, gamma=0.1, degree=2, coef0=0.3, tol=1e-6).fit(X, NAMES[Y])
    own = {"gamma": 0.1, "degree": 2, "coef0": 0.3}
    gram = pairwise_kernels(X, metric=kernel, filter_params=True, **own)
    theirs = SVC(C=0.5, kernel="precomputed", tol=1e-6, decision_function_shape="ovo").fit(gram, Y)
    assert model.pairs_.model_.margins(X) == pytest.approx(theirs.decision_function(gram), abs=1e-4)
    sparse = clone(model).fit(scipy.sparse.csr_matrix(X), NAMES[Y])
    assert sparse.decision_function(scipy.sparse.csr_array(X)) == pytest.approx(model.decision_function(X), abs=1e-4)


def test_other_decoders_work_on_what_was_trained():
    model = AllPairsClassifier(C=2.0, gamma=0.1).fit(X, NAMES[Y])
    labels, cost = PairwiseClassifier.from_fitted(model.pairs_.model_, "adag", random_state=0).predict(
        X, return_cost=True
    )
    assert (labels == model.predict(X)).mean() > 0.98
    assert (cost.queries == 2).all()
    probabilities = model.pairs_.calibrate(X, NAMES[Y]).predict_proba(X)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X)).all()


# --- both ------------------------------------------------------------------------------------------------------------


@BOTH
def test_every_form_of_the_same_kernel_gives_the_same_scores(kind):
    plain = kind(C=2.0, gamma=0.4, tol=1e-6).fit(X, NAMES[Y])
    values = plain.decision_function(X[:20])
    mixed = np.random.RandomState(0).permutation(150)  # rows of a class need not stand side by side
    for form, given_, new in (
        ("precomputed", rbf_kernel(X[mixed], gamma=0.4), rbf_kernel(X[:20], X[mixed], gamma=0.4)),
        ("distances", euclidean_distances(X[mixed], squared=True), euclidean_distances(X[:20], X[mixed], squared=True)),
        ("rbf", scipy.sparse.csr_matrix(X[mixed]), scipy.sparse.coo_array(X[:20])),
        (lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum()), X[mixed], X[:20]),
        ("rbf", pd.DataFrame(X[mixed], columns=list("abcd")), pd.DataFrame(X[:20], columns=list("abcd"))),
    ):
        model = clone(plain).set_params(kernel=form).fit(given_, NAMES[Y][mixed])
        assert model.decision_function(new) == pytest.approx(values, abs=1e-4)
        assert (model.predict(new) == plain.predict(X[:20])).all()
    inside = kind(SVC(kernel="precomputed", C=2.0, tol=1e-6)).fit(rbf_kernel(X[mixed], gamma=0.4), Y[mixed])
    assert inside.decision_function(rbf_kernel(X[:20], X[mixed], gamma=0.4)) == pytest.approx(values, abs=1e-4)


@BOTH
def test_the_mean_scaling_divides_by_the_rows_of_each_problem(kind):
    rows = 150 if kind is OneVsAllClassifier else 100
    mean, plain = (kind(gamma=0.2, tol=1e-6, **how) for how in ({"C": 2.0 * rows, "C_scaling": "mean"}, {"C": 2.0}))
    assert mean.fit(X, Y).decision_function(X) == pytest.approx(plain.fit(X, Y).decision_function(X), abs=1e-9)


@BOTH
@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_two_classes_a_class_of_one_row_and_constant_features(kind, estimator):
    two = kind(estimator).fit(X[:100], NAMES[Y[:100]])
    assert two.decision_function(X[:100]).shape == (100,)
    assert ((two.decision_function(X[:100]) > 0) == (two.predict(X[:100]) == "versicolor")).all()
    assert two.score(X[:100], NAMES[Y[:100]]) == 1.0
    lonely = np.r_[0:100, 149]
    one = kind(estimator).fit(X[lonely], Y[lonely])
    assert one.decision_function(X).shape == (150, 3)
    if estimator is None:
        own = kind(C=100.0, gamma=2.0).fit(X[lonely], Y[lonely])
        assert own.predict(X[[149]]) == [2]
        assert own.set_params(kernel="linear").fit(np.zeros((4, 2)), [1, 1, 2, 3]).predict([[0.0, 0.0]]) in (
            [1],
            [2],
            [3],
        )
    flat = kind(estimator).fit(np.ones((6, 2)), [1, 1, 1, 2, 2, 3])
    assert np.isfinite(flat.decision_function(np.ones((1, 2)))).all()


def test_two_classes_of_one_vs_all_have_libsvms_margin():
    model, theirs = (kind(gamma=0.2, tol=1e-7).fit(X[50:], Y[50:]) for kind in (OneVsAllClassifier, SVC))
    assert model.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-5)


@BOTH
def test_they_live_in_pipelines_and_searches(kind):
    name = kind.__name__.lower()
    grid = {f"{name}__C": [0.1, 10.0], f"{name}__gamma": [0.01, 0.2]}
    assert GridSearchCV(make_pipeline(StandardScaler(), kind()), grid, cv=3).fit(X, NAMES[Y]).best_score_ > 0.93
    on_distances = GridSearchCV(kind(kernel="distances"), {"gamma": [0.01, 0.2]}, cv=3)
    assert on_distances.fit(euclidean_distances(X, squared=True), Y).best_score_ > 0.9  # both sides are cut
    inside = kind(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y)
    assert inside.score(X, Y) > 0.9


@BOTH
def test_models_travel_and_say_what_is_wrong(kind, monkeypatch):
    for model in (kind(), kind(kernel="laplacian"), kind(LinearSVC(random_state=0))):
        model.fit(X, Y)
        assert (pickle.loads(pickle.dumps(model)).decision_function(X) == model.decision_function(X)).all()
        with pytest.raises(ValueError, match="features"):
            model.predict(X[:, :2])
    with pytest.raises(NotFittedError):
        kind().predict(X)
    with pytest.raises(ValueError, match=f"The 'C' parameter of {kind.__name__} must be a float in the range"):
        kind(C=0.0).fit(X, Y)
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        kind().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="The 'decision' parameter of AllPairsClassifier must be a str among"):
        AllPairsClassifier(decision="sums").fit(X, Y)
    monkeypatch.setattr(column_dual, "MOST", 3)
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        kind().fit(X, Y)
