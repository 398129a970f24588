"""OneVsOneClassifier, pipelines and searches: the votes of their estimators, and their own errors."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier
from trained import data, every_question, named_by_max_win, votes_of

from pairsim import MaxWin, from_model, simulate
from pairsim.models import EstimatorPairs, LinearPairs, PipelinePairs

LINEAR = [
    LinearSVC(),
    Perceptron(),
    SGDClassifier(random_state=0),
    LogisticRegression(),
    RidgeClassifier(),
]
OTHERS = [
    SVC(),
    NuSVC(nu=0.1, kernel="poly"),
    DecisionTreeClassifier(max_depth=2, random_state=0),
    KNeighborsClassifier(4),
    GaussianNB(),
    RandomForestClassifier(4, random_state=0),
    FixedThresholdClassifier(LogisticRegression(), threshold=0.9),
    CalibratedClassifierCV(LinearSVC(), ensemble=False),
    make_pipeline(StandardScaler(), SVC(kernel="sigmoid")),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(), GaussianNB()),
]


def own_votes(model, X):
    """Return True where a pair's own estimator predicts its lower class."""
    X = X.toarray() if scipy.sparse.issparse(X) else X
    return np.column_stack([estimator.predict(X) == 0 for estimator in model.estimators_])


def check_votes(model, X):
    ours = from_model(model)
    wanted = own_votes(model, X)
    np.testing.assert_array_equal(ours.answers(X), wanted)
    np.testing.assert_array_equal(ours.margins(X) > 0, wanted)
    asked = ours.some_margins(X, *every_question(len(wanted), ours.n)).reshape(wanted.shape)
    np.testing.assert_array_equal(asked > 0, wanted)
    np.testing.assert_allclose(asked, ours.margins(X), rtol=1e-9, atol=1e-9)
    votes = np.sort(votes_of(wanted, ours.n), axis=1)
    unique = votes[:, -1] > votes[:, -2]
    assert unique.mean() > 0.3
    named = ours.classes_[named_by_max_win(ours.record(X))]
    np.testing.assert_array_equal(named[unique], model.predict(X)[unique])
    return ours


@pytest.mark.parametrize("estimator", LINEAR, ids=lambda e: type(e).__name__)
def test_linear_classifiers_become_one_matrix(estimator):
    X, y = data("wine", True)
    model = OneVsOneClassifier(estimator).fit(X[::2], y[::2])
    ours = check_votes(model, X)
    assert isinstance(ours, LinearPairs)
    scores = np.column_stack([pair.decision_function(X) for pair in model.estimators_])
    np.testing.assert_allclose(ours.margins(X), -scores, rtol=1e-9, atol=1e-9)
    sparse = scipy.sparse.csr_matrix(X)
    np.testing.assert_allclose(ours.margins(sparse), -scores, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.some_margins(sparse, *every_question(len(X), 3)), -scores.ravel(), atol=1e-9)


def test_ten_classes_with_names():
    X, y = data("digits")
    names = np.array([f"digit {k}" for k in range(10)])
    ours = check_votes(OneVsOneClassifier(LinearSVC(dual=False)).fit(X[::2], names[y[::2]]), X)
    recorded = ours.record(X, names[y])
    assert simulate(recorded, MaxWin(ties="first")).success > 0.9
    assert recorded.truth(0, len(y)).tolist() == y.tolist()


@pytest.mark.parametrize("estimator", OTHERS, ids=lambda e: str(e).split("(")[0] + str(len(str(e))))
def test_any_other_classifier_is_asked_pair_by_pair(estimator):
    X, y = data("wine", True)
    ours = check_votes(OneVsOneClassifier(estimator).fit(X[::3], y[::3]), X)
    assert isinstance(ours, EstimatorPairs)
    assert np.isfinite(ours.margins(X)).all()


def test_a_threshold_of_its_own_is_kept():
    """Negative control of the above: the score alone would vote otherwise."""
    X, y = data("wine", True)
    strict = FixedThresholdClassifier(LogisticRegression(C=0.01), threshold=0.9, response_method="predict_proba")
    model = OneVsOneClassifier(strict).fit(X, y)
    assert (
        from_model(model).answers(X) != own_votes(OneVsOneClassifier(LogisticRegression(C=0.01)).fit(X, y), X)
    ).any()


def test_gamma_is_that_of_each_pair():
    X, y = data("wine")
    ours = check_votes(OneVsOneClassifier(SVC(gamma="scale")).fit(X, y), X)
    assert len({pair.kernel.gamma for pair in ours.estimators}) == 3


def test_precomputed_kernels_see_their_own_columns():
    X, y = data("iris")
    gram = X @ X[::2].T
    model = OneVsOneClassifier(SVC(kernel="precomputed")).fit(gram[::2], y[::2])
    ours = from_model(model)
    wanted = [
        pair.predict(gram[:, columns]) == 0
        for pair, columns in zip(model.estimators_, model.pairwise_indices_, strict=True)
    ]
    np.testing.assert_array_equal(ours.answers(gram), np.column_stack(wanted))


def test_two_classes():
    X, y = data("wine", True)
    X, y = X[y < 2], np.array(["b", "a"])[y[y < 2]]
    for estimator in (LinearSVC(), SVC(), GaussianNB()):
        model = OneVsOneClassifier(estimator).fit(X, y)
        ours = check_votes(model, X)
        np.testing.assert_array_equal(ours.classes_[named_by_max_win(ours.record(X))], model.predict(X))
    alone = LinearSVC().fit(X, y)
    ours = from_model(alone)
    np.testing.assert_allclose(ours.margins(X)[:, 0], -alone.decision_function(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.classes_[1 - ours.answers(X)[:, 0]], alone.predict(X))


def test_a_score_of_zero_is_a_vote_for_the_lower_class():
    X, y = data("iris")
    model = OneVsOneClassifier(LinearSVC()).fit(X, y)
    for pair in model.estimators_:
        pair.coef_, pair.intercept_ = np.zeros_like(pair.coef_), np.zeros_like(pair.intercept_)
    assert from_model(model).answers(X).all()
    assert (from_model(model).margins(X) < 1e-300).all()
    assert own_votes(model, X).all()
    two = SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1])
    assert not from_model(two).answers([[0.0]]).any()  # where SVC votes for the higher


def test_whole_numbers_and_scores_of_exactly_zero():
    rng = np.random.default_rng(5)
    X = rng.integers(-2, 3, (300, 4)).astype(float)
    y = np.argmax(X[:, :3] + 0.1 * np.arange(3), axis=1)
    model = OneVsOneClassifier(Perceptron(random_state=0)).fit(X, y)
    grid = np.stack(np.meshgrid(*[np.arange(-4.0, 5.0)] * 4), axis=-1).reshape(-1, 4)
    scores = np.column_stack([pair.decision_function(grid) for pair in model.estimators_])
    assert (scores == 0).sum() > 50
    check_votes(model, grid)


def test_single_precision():
    X, y = data("wine", True)
    X = X.astype(np.float32)
    model = OneVsOneClassifier(LogisticRegression()).fit(X[::2], y[::2])
    assert model.estimators_[0].coef_.dtype == np.float32
    ours = from_model(model)
    spread = np.random.default_rng(2).normal(size=(5_000, 13))
    beside = (spread @ ours.coef[0] + ours.intercept[0]) / (ours.coef[0] @ ours.coef[0])
    spread = (spread - beside[:, None] * ours.coef[0]).astype(np.float32)  # on the plane of the first pair, nearly
    exact = spread.astype(np.float64) @ ours.coef.T + ours.intercept > 0
    assert (exact != own_votes(model, spread)).any()  # negative control: double precision votes otherwise somewhere
    np.testing.assert_array_equal(ours.answers(spread), own_votes(model, spread))


def test_partial_fit_with_absent_classes():
    X, y = data("iris")
    X = np.abs(X)
    some = y < 2
    for estimator in (SGDClassifier(random_state=0), MultinomialNB()):
        model = OneVsOneClassifier(estimator).partial_fit(X[some], y[some], classes=[0, 1, 2])
        np.testing.assert_array_equal(from_model(model).answers(X), own_votes(model, X))
    model = OneVsOneClassifier(SGDClassifier()).partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    with pytest.raises(NotFittedError) as theirs:
        model.predict(X)
    with pytest.raises(NotFittedError) as ours:
        from_model(model)
    assert str(ours.value) == str(theirs.value)


def test_constant_estimators():
    """What scikit-learn puts in for a pair whose training points have one class."""
    X, y = data("iris")
    model = OneVsOneClassifier(LinearSVC()).fit(X, y)
    from sklearn.multiclass import _ConstantPredictor

    constants = [_ConstantPredictor().fit(X, np.array([label])) for label in (0, 1)]
    model.estimators_ = [constants[0], constants[1], model.estimators_[2]]
    answers = check_votes(model, X).answers(X)
    assert answers[:, 0].all()
    assert not answers[:, 1].any()


def test_pipelines_and_searches():
    X, y = data("wine")
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X[::2], y[::2])
    ours = from_model(pipeline)
    assert isinstance(ours, PipelinePairs)
    assert ours.n_features == 13
    np.testing.assert_array_equal(ours.classes_[named_by_max_win(ours.record(X))], pipeline.predict(X))
    asked = ours.some_margins(X, *every_question(len(X), 3)).reshape(-1, 3)
    np.testing.assert_allclose(asked, ours.margins(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.points(X).margins([3], [1], [2]), ours.margins(X)[3, 2:])
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 5.0]}, cv=2).fit(X, y)
    np.testing.assert_array_equal(from_model(search).margins(X), from_model(search.best_estimator_).margins(X))
    assert isinstance(from_model(make_pipeline(SVC()).fit(X, y)), type(from_model(SVC().fit(X, y))))
    assert from_model(ours) is ours


def test_tables_with_column_names():
    X, y = data("iris")
    table = pd.DataFrame(X, columns=list("abcd"))
    plain = np.zeros((1, 4))
    for model in (SVC(kernel="linear"), SVC(), OneVsOneClassifier(LinearSVC()), OneVsOneClassifier(GaussianNB())):
        ours = from_model(model.fit(table, y))
        assert ours.margins(table).shape == (len(X), 3)
        with pytest.warns(UserWarning, match="feature names") as warned:
            ours.margins(plain)
        assert len(warned) == 1
    two = SVC(kernel="linear").fit(pd.DataFrame({"a": [-1.0, 1.0]}), [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not from_model(two).answers(pd.DataFrame({"a": [0.0]})).any()  # in doubt, so put to the model


def test_models_can_be_sent_to_other_processes():
    X, y = data("iris")
    for model in (SVC(), SVC(kernel="linear"), OneVsOneClassifier(LinearSVC()), OneVsOneClassifier(GaussianNB())):
        ours = from_model(model.fit(X, y))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).margins(X), ours.margins(X))
