"""DAGSVC against a DAG walked in plain Python, max-win where somebody beats everybody; fits shared and not shared."""

from __future__ import annotations

import itertools
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
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC

from pairsim import Ddag, ParameterError, pick
from pairsim.bounds import tree_risk_bound
from pairsim.coupling import vote_scores
from pairsim.learn import (
    DAGSVC,
    AllPairsClassifier,
    CrammerSingerSVC,
    MulticlassPerceptronClassifier,
    OneVsAllClassifier,
    SingleBinaryClassifier,
    VectorPerceptronClassifier,
    VectorSVC,
    binary_reduction,
    gram,
    shared_fits,
)
from pairsim.learn.solvers.column_dual import ball_radius
from pairsim.models import LinearPairs

DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS / 16.0
TRAIN, TEST = slice(0, 300), slice(300, 800)
X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])

CHECKED = every_check(
    DAGSVC(),
    DAGSVC(order="random", kernel="linear", random_state=0),
    DAGSVC(kernel="precomputed"),
    DAGSVC(GaussianNB()),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def walk(votes, n, order=None):
    """Return who is left of the list: `votes[i, j]` says whether i beats j, i < j."""
    left = list(range(n) if order is None else order)
    while len(left) > 1:
        first, last = left[0], left[-1]
        wins = votes[first, last] if first < last else not votes[last, first]
        left.pop(-1 if wins else 0)
    return left[0]


def vote_tables(margins, n):
    return [dict(zip(itertools.combinations(range(n), 2), row > 0, strict=True)) for row in margins]


# --- the DAG ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed", "sparse", "callable"])
def test_it_is_a_dag_on_the_decision_values_of_svc(kernel):
    options = {"C": 2.0, "gamma": 0.05, "tol": 1e-6}
    same = {"sparse": "linear", "callable": "linear", "precomputed": "rbf"}.get(kernel, kernel)
    theirs = SVC(**options, kernel=same, decision_function_shape="ovo").fit(DIGITS[TRAIN], LABELS[TRAIN])
    margins = theirs.decision_function(DIGITS[TEST])
    clear = (np.abs(margins) > 1e-4).all(axis=1)
    assert clear.mean() > 0.95
    expected = np.array([walk(votes, 10) for votes in vote_tables(margins, 10)])
    train, test = DIGITS[TRAIN], DIGITS[TEST]
    if kernel == "precomputed":
        train, test = rbf_kernel(train, gamma=0.05), rbf_kernel(test, DIGITS[TRAIN], gamma=0.05)
    if kernel == "sparse":
        train, test = scipy.sparse.csr_matrix(train), scipy.sparse.coo_array(test)
    own = {"sparse": "linear", "callable": _dot}.get(kernel, kernel)
    model = DAGSVC(**options, kernel=own).fit(train, LABELS[TRAIN])
    found = model.predict(test)
    assert (found[clear] == expected[clear]).all()
    assert (found == LABELS[TEST]).mean() > 0.8
    assert (model.decision_function(test).argmax(axis=1) == found).all()
    wrapped = DAGSVC.from_fitted(theirs) if kernel in ("linear", "rbf", "poly") else model
    assert (wrapped.predict(test)[clear] == expected[clear]).all()


def _dot(one, two):
    return float(one @ two)


def test_it_asks_one_pair_fewer_than_there_are_classes():
    model = DAGSVC(gamma=0.05).fit(DIGITS[TRAIN], LABELS[TRAIN])
    labels, cost = model.pairs_.predict(DIGITS[TEST], return_cost=True)
    assert (labels == model.predict(DIGITS[TEST])).all()
    assert set(cost.queries) == set(cost.distinct) == set(cost.rounds) == {9}


def test_a_class_that_beats_all_others_is_predicted_as_by_max_win():
    rows = DIGITS[TRAIN] + np.random.default_rng(0).normal(size=(300, 64)) * 0.6
    votes = AllPairsClassifier(kernel="linear", C=1e-2).fit(rows[:60], LABELS[:60])
    test = DIGITS[TEST] + np.random.default_rng(1).normal(size=(500, 64)) * 0.9
    counts = vote_scores(votes.pairs_.model_.margins(test), 10)
    condorcet = counts.max(axis=1) == 9
    assert 0.5 < condorcet.mean() < 1.0
    for order, seed in (("given", None), ("random", 3), ("random", 4)):
        dag = DAGSVC.from_fitted(votes, order=order, random_state=seed)
        agree = dag.predict(test) == votes.predict(test)
        assert agree[condorcet].all()
        assert not agree.all()  # without such a class, the list decides


@st.composite
def tournaments(draw):
    n = draw(st.integers(2, 9))
    pairs = list(itertools.combinations(range(n), 2))
    return n, dict(zip(pairs, draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))), strict=True))


@settings(deadline=None, max_examples=150)
@given(tournaments(), st.integers(-1, 8), st.sampled_from(["given", "random"]), st.integers(0, 99))
def test_on_any_tournament(tournament, champion, order, seed):
    n, votes = tournament
    if 0 <= champion < n:
        votes = {(i, j): i == champion if champion in (i, j) else won for (i, j), won in votes.items()}
    signs = np.where(list(votes.values()), 1.0, -1.0)
    model = LinearPairs(np.zeros((len(signs), 1)), signs)
    dag = DAGSVC.from_fitted(model, order=order, random_state=seed)
    (found,) = dag.predict([[0.0]])
    if 0 <= champion < n:
        assert found == champion == AllPairsClassifier.from_fitted(model).predict([[0.0]])[0]
    if order == "given":
        assert found == walk(votes, n)
        assert found == pick(lambda i, j: votes[i, j] if i < j else not votes[j, i], n, Ddag("given")).winner
    elif n <= 6:
        assert found in {walk(votes, n, each) for each in itertools.permutations(range(n))}
    scores = dag.decision_function([[0.0]])
    assert found == (scores.argmax(axis=1)[0] if n > 2 else int(scores[0] > 0))


def test_a_random_list_is_drawn_once():
    rng = np.random.default_rng(0)
    model = LinearPairs(rng.normal(size=(45, 5)), rng.normal(size=45))
    rows = rng.normal(size=(200, 5))
    found = {seed: DAGSVC.from_fitted(model, order="random", random_state=seed).predict(rows) for seed in (0, 0, 1)}
    again = DAGSVC.from_fitted(model, order="random", random_state=0)
    assert (again.predict(rows) == found[0]).all()
    assert [again.predict(row[None])[0] for row in rows] == found[0].tolist()
    assert (found[1] != found[0]).any()


def test_any_estimator_labels_names_and_pickles():
    names = NAMES[Y]
    for estimator in (None, LinearSVC(), GaussianNB()):
        model = DAGSVC(estimator).fit(X, names)
        assert set(model.predict(X)) == set(NAMES)
        assert (model.classes_[model.decision_function(X).argmax(axis=1)] == model.predict(X)).all()
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict(X) == model.predict(X)).all()
        assert (clone(model).fit(X, names).predict(X) == model.predict(X)).all()
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = DAGSVC().fit(frame, names)
    assert named.feature_names_in_.tolist() == list("abcd")
    assert (
        AllPairsClassifier.from_fitted(named).predict(frame) == AllPairsClassifier().fit(frame, names).predict(frame)
    ).all()
    two = DAGSVC().fit(X[50:], names[50:])
    assert two.decision_function(X).shape == (150,)
    assert (two.classes_[(two.decision_function(X) > 0).astype(int)] == two.predict(X)).all()


# --- shared fits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [{}, {"kernel": "linear"}, {"estimator": LinearSVC(random_state=0)}])
def test_other_decoders_without_a_training(base):
    votes = AllPairsClassifier(**base, C=0.5).fit(DIGITS[TRAIN], LABELS[TRAIN])
    others = (
        (AllPairsClassifier, {"decision": "margin"}),
        (AllPairsClassifier, {}),
        (DAGSVC, {}),
        (DAGSVC, {"order": "random", "random_state": 0}),
    )
    for kind, decoding in others:
        shared = kind.from_fitted(votes, **decoding)
        fresh = kind(**base, C=0.5, **decoding).fit(DIGITS[TRAIN], LABELS[TRAIN])
        assert shared.pairs_.model_ is votes.pairs_.model_
        assert shared.get_params() == fresh.get_params() or "estimator" in base
        assert (shared.decision_function(DIGITS[TEST]) == fresh.decision_function(DIGITS[TEST])).all()
        assert (shared.predict(DIGITS[TEST]) == fresh.predict(DIGITS[TEST])).all()
        back = AllPairsClassifier.from_fitted(shared)
        assert (back.predict(DIGITS[TEST]) == votes.predict(DIGITS[TEST])).all()
    assert votes.pairs_.decoder == "max-win:ties=margin"  # as it was


def count_trainings(monkeypatch):
    """Count the calls of the solver of SVMs and the Gram matrices that are computed."""
    solved, grams = [], []
    solve, compute = binary_reduction.solve_columns, gram.KernelClassifier._new_gram
    monkeypatch.setattr(binary_reduction, "solve_columns", lambda *given: solved.append(1) or solve(*given))
    monkeypatch.setattr(
        gram.KernelClassifier, "_new_gram", lambda self, *given: grams.append(1) or compute(self, *given)
    )
    return solved, grams


def test_a_block_trains_the_same_pairs_once(monkeypatch):
    solved, grams = count_trainings(monkeypatch)
    kinds = [
        AllPairsClassifier(),
        AllPairsClassifier(decision="margin"),
        DAGSVC(),
        DAGSVC(order="random", random_state=1),
    ]
    alone = [clone(kind).fit(DIGITS[TRAIN], LABELS[TRAIN]).decision_function(DIGITS[TEST]) for kind in kinds]
    assert (len(solved), len(grams)) == (4, 4)
    with shared_fits():
        for kind, scores in zip(kinds, alone, strict=True):
            kind.fit(DIGITS[TRAIN].copy(), LABELS[TRAIN].copy())
            assert (kind.decision_function(DIGITS[TEST]) == scores).all()
        assert (len(solved), len(grams)) == (5, 5)
        AllPairsClassifier(C=2.0).fit(DIGITS[TRAIN], LABELS[TRAIN])  # other machines on the same Gram matrix
        assert (len(solved), len(grams)) == (6, 5)
        AllPairsClassifier(C=2.0, gamma=0.1).fit(DIGITS[TRAIN], LABELS[TRAIN])
        assert (len(solved), len(grams)) == (7, 6)
        AllPairsClassifier(C=2.0, gamma=0.1).fit(DIGITS[TRAIN], LABELS[TRAIN][::-1].copy())
        AllPairsClassifier(C=2.0, gamma=0.1).fit(DIGITS[1:301], LABELS[TRAIN])
        assert (len(solved), len(grams)) == (9, 8)
        with shared_fits():
            AllPairsClassifier().fit(DIGITS[TRAIN], LABELS[TRAIN])
        assert len(solved) == 10
    DAGSVC().fit(DIGITS[TRAIN], LABELS[TRAIN])
    assert len(solved) == 11


class CountedNB(GaussianNB):
    """Counts all trainings."""

    trainings = 0

    def fit(self, X, y):
        CountedNB.trainings += 1
        return super().fit(X, y)


def test_estimators_and_pipelines_are_trained_once_in_a_block():
    CountedNB.trainings = 0
    with shared_fits():
        for kind in (AllPairsClassifier, DAGSVC):
            model = make_pipeline(StandardScaler(), kind(CountedNB(var_smoothing=1e-3))).fit(X, NAMES[Y])
            assert set(model.predict(X)) == set(NAMES)
            sparse = kind(LinearSVC(random_state=0)).fit(scipy.sparse.csr_matrix(X), NAMES[Y])
            assert sparse.score(scipy.sparse.csr_matrix(X), NAMES[Y]) > 0.9
        assert CountedNB.trainings == 3
        DAGSVC(CountedNB(var_smoothing=1e-2)).fit(X, Y)
        assert CountedNB.trainings == 6
        for _ in range(2):  # what cannot be written out is trained each time
            DAGSVC(CountedNB(priors=lambda: None)).set_params(estimator__priors=_Unpicklable([0.5, 0.5])).fit(X, Y)
        assert CountedNB.trainings == 12


class _Unpicklable(list):
    """Priors that reject to be pickled."""

    def __reduce_ex__(self, protocol):
        raise TypeError("not to be pickled")

    def __deepcopy__(self, memo):
        return self


def test_a_block_changes_no_classifier():
    models = [
        *(
            AllPairsClassifier(),
            OneVsAllClassifier(),
            OneVsAllClassifier(C=3.0),
            SingleBinaryClassifier("identity"),
            SingleBinaryClassifier("kernel"),
            VectorSVC(random_state=0),
        ),
        *(VectorPerceptronClassifier(kernel="rbf", random_state=0), CrammerSingerSVC(kernel="rbf", random_state=0)),
        *(
            MulticlassPerceptronClassifier(random_state=0),
            OneVsAllClassifier(kernel="poly"),
            CrammerSingerSVC(kernel="rbf", random_state=0),
        ),
    ]
    alone = [clone(model).fit(X, Y).decision_function(X) for model in models]
    with shared_fits() as fits:
        for model, scores in zip(models, alone, strict=True):
            assert (model.fit(X, Y).decision_function(X) == scores).all()
        OneVsAllClassifier().fit(X, Y)
        before = fits.gram[1].copy()
        CrammerSingerSVC(kernel="rbf", random_state=0).fit(X, Y)
        VectorPerceptronClassifier(kernel="rbf", random_state=0).fit(X, Y)
        assert (fits.gram[1] == before).all()  # nobody writes to it


def separable(classes=4, rows=90):
    """Return 360 rows, so that the middle of their ball is the mean of some of them."""
    points, labels = make_blobs(classes * rows, 3, centers=classes, cluster_std=0.4, random_state=3)
    return scale(points), labels


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_the_risk_bound_is_that_of_the_margins_of_all_pairs(kernel):
    points, labels = separable()
    values = points @ points.T if kernel == "linear" else rbf_kernel(points, gamma=0.5)
    given = values if kernel == "precomputed" else points
    model = DAGSVC(C=1e4, kernel=kernel, gamma=0.5, tol=1e-6).fit(given, labels)
    for pair, (low, high) in enumerate(itertools.combinations(range(4), 2)):
        inside = np.flatnonzero(np.isin(labels, (low, high)))
        svm = SVC(kernel="precomputed", C=1e4, tol=1e-6).fit(values[np.ix_(inside, inside)], labels[inside])
        used = inside[svm.support_]
        length = np.sqrt(svm.dual_coef_[0] @ values[np.ix_(used, used)] @ svm.dual_coef_[0])
        scores = svm.decision_function(values[np.ix_(inside, inside)]) * np.where(labels[inside] == high, 1, -1)
        assert scores.min() > 0.0
        assert model.margins_[pair] == pytest.approx(scores.min() / length, rel=1e-3)
    smallest = np.sqrt((values.diagonal() - 2 * values.mean(axis=1) + values.mean()).max())
    assert smallest / 2 < model.radius_ < 1.2 * smallest
    for delta, reading in ((0.05, "scale-free"), (0.1, "printed")):
        found = model.risk_bound(delta=delta, reading=reading)
        assert found == tree_risk_bound(360, model.margins_.tolist(), model.radius_, delta=delta, reading=reading)
        assert np.isfinite(found.value)
    assert DAGSVC(kernel="linear").fit(X, Y).margins_.min() < 0.0
    assert DAGSVC(kernel="linear").fit(X, Y).risk_bound().value == np.inf


def test_the_risk_bound_belongs_to_the_training():
    points, labels = separable()
    model = DAGSVC(kernel="linear").fit(points, labels)
    bound = model.risk_bound()
    assert pickle.loads(pickle.dumps(model)).risk_bound() == bound
    assert DAGSVC.from_fitted(AllPairsClassifier(kernel="linear").fit(points, labels)).risk_bound() == bound
    with shared_fits():
        AllPairsClassifier(kernel="linear").fit(points, labels)
        assert DAGSVC(kernel="linear").fit(points, labels).risk_bound() == bound
    without = [
        DAGSVC.from_fitted(SVC().fit(points, labels)),
        model.set_params(estimator=GaussianNB()).fit(points, labels),
    ]
    for each in without:
        with pytest.raises(ParameterError, match=r"The 'risk_bound' parameter of DAGSVC must be called after a fit"):
            each.risk_bound()
    with pytest.raises(NotFittedError):
        DAGSVC().risk_bound()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 600), st.integers(0, 10**6))
def test_a_ball_holds_every_point(count, seed):
    points = np.random.default_rng(seed).standard_normal((count, 2)) + 5.0
    middle = points[np.unique(np.linspace(0, count - 1, min(count, 256)).astype(int))].mean(axis=0)
    radius = ball_radius(points @ points.T)
    assert radius == pytest.approx(np.linalg.norm(points - middle, axis=1).max(), abs=1e-6)


def test_refusals():
    with pytest.raises(NotFittedError):
        DAGSVC().predict(X)
    with pytest.raises(NotFittedError):
        DAGSVC.from_fitted(AllPairsClassifier())
    fitted = AllPairsClassifier().fit(X, Y)
    for wrong in ({"C": 2.0}, {"decision": "votes"}, {"nonsense": 1}):
        with pytest.raises(ParameterError, match=r"DAGSVC\.from_fitted"):
            DAGSVC.from_fitted(fitted, **wrong)
    with pytest.raises(ValueError, match="order"):
        DAGSVC.from_fitted(fitted, order="backwards")
    with pytest.raises(ParameterError, match="model"):
        DAGSVC.from_fitted(GaussianNB().fit(X, Y))
    with pytest.raises(ValueError, match="order"):
        DAGSVC(order=3).fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        DAGSVC.from_fitted(fitted).predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        DAGSVC.from_fitted(fitted).predict(np.full((1, 4), np.nan))
    with pytest.raises(ParameterError, match="predict_proba"):
        DAGSVC(type("Mute", (), {"fit": print})()).fit(X, Y)
    with pytest.raises(ValueError, match="class"):
        DAGSVC().fit(X, np.zeros(150))
