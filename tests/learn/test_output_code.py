"""OutputCodeClassifier: estimators column by column, probabilities of classes, scikit-learn's own checks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from estimator_checks import every_check
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pairsim import ParameterError
from pairsim.learn import OneVsAllClassifier, OutputCodeClassifier, SingleBinaryClassifier
from pairsim.learn.codes.code_tables import make_code
from pairsim.learn.codes.decoding import code_probabilities, decode_scores

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
DIGITS, LABELS = (part[:400] for part in load_digits(return_X_y=True))
DIGITS = DIGITS / 16.0
TERNARY = np.array([[1, 0, -1, 1], [-1, 1, 0, 1], [0, -1, 1, -1]])

CHECKED = every_check(
    OutputCodeClassifier(),
    OutputCodeClassifier("dense", "probability"),
    OutputCodeClassifier("sparse", "exponential", random_state=0),
    OutputCodeClassifier(kernel="precomputed"),
    OutputCodeClassifier(estimator=LogisticRegression()),
    OutputCodeClassifier("all-pairs", "hamming", LinearSVC()),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("code", [TERNARY, "exhaustive", "sparse"], ids=str)
@pytest.mark.parametrize(("tol", "close"), [(1e-3, 3e-3), (1e-7, 1e-5)])
def test_machines_are_those_of_libsvm(code, tol, close):
    mixed = np.random.RandomState(0).permutation(150)  # rows of a class need not stand side by side
    model = OutputCodeClassifier(code, C=4.0, gamma=0.3, tol=tol, random_state=0).fit(X[mixed], NAMES[Y[mixed]])
    new = X[::7] + 0.1
    said = model.column_scores(new)
    for column, values in zip(model.code_.T, said.T, strict=True):
        labels = column[Y]
        machine = SVC(C=4.0, gamma=0.3, tol=tol).fit(X[labels != 0], labels[labels != 0])
        assert np.abs(machine.decision_function(new) - values).max() < close
    assert (model.predict(new) == NAMES[decode_scores(said, model.code_, "hinge").argmax(axis=1)]).all()
    if code is TERNARY:  # leaving a class out is not the same as taking it for one of the two: the test can fail
        labels = np.where(TERNARY[Y, 0] == 0, -1, TERNARY[Y, 0])
        other = SVC(C=4.0, gamma=0.3, tol=tol).fit(X, labels).decision_function(new)
        assert np.abs(other - said[:, 0]).max() > 0.1


@pytest.mark.parametrize("decoding", ["euclid", "hinge", "exponential", "logistic", "probability"])
@pytest.mark.parametrize("code", ["exhaustive", "bch", "dense", "one-vs-all"])
def test_codes_of_three_classes_are_one_vs_all(code, decoding):
    """There are but three dichotomies, and a loss-based decoding names the highest margin of the three."""
    settings_ = {"C": 2.0, "gamma": 0.2, "tol": 1e-6}
    model = OutputCodeClassifier(code, decoding, **settings_).fit(X, Y)
    assert model.code_.shape == (3, 3)
    margins = OneVsAllClassifier(**settings_).fit(X, Y).decision_function(X)
    assert (model.predict(X) == margins.argmax(axis=1)).all()
    assert np.sort(np.abs(model.column_scores(X))) == pytest.approx(np.sort(np.abs(margins)), abs=1e-5)


def test_the_mean_scaling_divides_by_the_rows_of_each_problem():
    mean = OutputCodeClassifier(TERNARY, C=200.0, C_scaling="mean", gamma=0.3, tol=1e-7).fit(X, Y)
    for column, values in zip(TERNARY.T, mean.column_scores(X).T, strict=True):
        labels = column[Y]
        inside = labels != 0
        machine = SVC(C=200.0 / inside.sum(), gamma=0.3, tol=1e-7).fit(X[inside], labels[inside])
        assert values == pytest.approx(machine.decision_function(X), abs=1e-4)
    assert len({int((column[Y] != 0).sum()) for column in TERNARY.T}) == 2  # not all problems are of one size


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LinearSVC(random_state=0),
        DecisionTreeClassifier(max_depth=2, random_state=0),
        GaussianNB(),
    ],
)
def test_estimators_are_trained_column_by_column(estimator):
    model = OutputCodeClassifier(TERNARY, "euclid", estimator).fit(X, NAMES[Y])
    said = model.column_scores(X)
    for column, values in zip(TERNARY.T, said.T, strict=True):
        labels = column[Y]
        own = clone(estimator).fit(X[labels != 0], labels[labels != 0])
        margins = own.decision_function(X) if hasattr(own, "decision_function") else own.predict_proba(X)[:, 1] - 0.5
        assert values == pytest.approx(margins)
    assert (model.predict(X) == NAMES[decode_scores(said, TERNARY, "euclid").argmax(axis=1)]).all()


class Boaster(LogisticRegression):
    """Has margins ten times as large as what its probabilities say."""

    def decision_function(self, X):
        return 10.0 * super().decision_function(X)

    def predict_proba(self, X):
        probability = 1.0 / (1.0 + np.exp(-0.1 * self.decision_function(X)))
        return np.column_stack([1.0 - probability, probability])


def test_probabilities_are_those_that_estimators_state():
    boasting, plain = (
        OutputCodeClassifier(TERNARY, "probability", kind()).fit(X, Y) for kind in (Boaster, LogisticRegression)
    )
    assert boasting.column_scores(X) == pytest.approx(10.0 * plain.column_scores(X))
    assert boasting.predict_proba(X) == pytest.approx(plain.predict_proba(X))
    assert plain.predict_proba(X) == pytest.approx(code_probabilities(plain.column_scores(X), TERNARY))


def test_the_named_class_has_the_highest_probability_where_rounding_says_otherwise(monkeypatch):
    said = np.array([[0.3, -0.3 - 1e-13, 0.3], [0.3, -0.3, 0.3], [2.0, -1.0, -3.0]])
    model = OutputCodeClassifier("all-pairs", "probability").fit(X, Y)
    monkeypatch.setattr(model, "_columns_say", lambda X, probabilities: said)
    assert code_probabilities(said, model.code_)[0].argmax() != 0
    assert model.predict_proba(X[:3]).argmax(axis=1).tolist() == model.predict(X[:3]).tolist() == [0, 0, 2]


def test_probabilities_of_classes():
    points, labels = DIGITS[LABELS < 6], LABELS[LABELS < 6]
    train, test = slice(0, 150), slice(150, None)
    for estimator in (LogisticRegression(), GaussianNB(var_smoothing=0.05), LinearSVC(random_state=0), None):
        model = OutputCodeClassifier("dense", "probability", estimator, gamma=0.05, random_state=0)
        probabilities = model.fit(points[train], labels[train]).predict_proba(points[test])
        assert probabilities.sum(axis=1) == pytest.approx(1.0)
        assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(points[test])).all()
        assert (model.predict(points[test]) == labels[test]).mean() > 0.75
        assert not hasattr(model.set_params(decoding="hinge"), "predict_proba")
    two = OutputCodeClassifier("bch", "probability", GaussianNB()).fit(X[:100], Y[:100])
    own = GaussianNB().fit(X[:100], Y[:100]).predict_proba(X[:100])
    assert two.predict_proba(X[:100]) == pytest.approx(own, abs=1e-12)  # what the estimator believes, as it is
    assert log_loss(Y[:100], own) < 0.1


def test_every_form_of_the_same_kernel_gives_the_same_scores():
    plain = OutputCodeClassifier(TERNARY, C=2.0, gamma=0.4, tol=1e-6).fit(X, NAMES[Y])
    values = plain.decision_function(X[:20])
    for form, given_, new in (
        ("precomputed", rbf_kernel(X, gamma=0.4), rbf_kernel(X[:20], X, gamma=0.4)),
        ("distances", euclidean_distances(X, squared=True), euclidean_distances(X[:20], X, squared=True)),
        ("rbf", scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X[:20])),
        (lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum()), X, X[:20]),
    ):
        model = clone(plain).set_params(kernel=form).fit(given_, NAMES[Y])
        assert model.decision_function(new) == pytest.approx(values, abs=1e-4)
    inside = OutputCodeClassifier(TERNARY, estimator=SVC(C=2.0, kernel="precomputed", tol=1e-6)).fit(
        rbf_kernel(X, gamma=0.4), NAMES[Y]
    )
    assert inside.decision_function(rbf_kernel(X[:20], X, gamma=0.4)) == pytest.approx(values, abs=1e-4)


def test_single_binary_takes_the_same_codes():
    named = SingleBinaryClassifier("ecoc", code="sparse", random_state=3, gamma=0.2).fit(X, Y)
    assert (named.code_ == make_code("sparse", 3, 3)).all()
    given_ = SingleBinaryClassifier("ecoc", code=named.code_, gamma=0.2).fit(X, Y)
    assert (given_.decision_function(X) == named.decision_function(X)).all()
    assert SingleBinaryClassifier("ecoc", code="bch").fit(DIGITS, LABELS).code_.shape == (10, 31)
    # unlike copies with a bias each are as many machines: what OutputCodeClassifier trains
    apart = SingleBinaryClassifier("ecoc", code=TERNARY, rho=0.0, bias="class", C=2.0, gamma=0.3, tol=1e-6).fit(X, Y)
    columns = OutputCodeClassifier(TERNARY, "euclid", C=2.0, gamma=0.3, tol=1e-6).fit(X, Y)
    assert apart.copy_scores(X) == pytest.approx(columns.column_scores(X), abs=1e-4)
    assert apart.decision_function(X) == pytest.approx(columns.decision_function(X), abs=1e-3)


def test_it_lives_in_pipelines_and_searches():
    grid = {
        "outputcodeclassifier__code": ["bch", "all-pairs"],
        "outputcodeclassifier__decoding": ["hamming", "logistic"],
    }
    search = GridSearchCV(make_pipeline(StandardScaler(), OutputCodeClassifier(C=8.0)), grid, cv=3).fit(X, NAMES[Y])
    assert search.best_score_ > 0.93
    over = GridSearchCV(OutputCodeClassifier(estimator=LogisticRegression()), {"estimator__C": [1e-4, 10.0]}, cv=3).fit(
        X, Y
    )
    assert over.best_params_ == {"estimator__C": 10.0}
    distances = euclidean_distances(X, squared=True)
    widths = GridSearchCV(
        OutputCodeClassifier("sparse", kernel="distances", random_state=0), {"gamma": [0.01, 0.2]}, cv=3
    )
    assert widths.fit(distances, Y).best_score_ > 0.9  # both sides of the matrix are cut


def test_seeds_decide_and_models_travel():
    first, again, other = (OutputCodeClassifier("sparse", random_state=seed).fit(DIGITS, LABELS) for seed in (1, 1, 2))
    assert (first.decision_function(DIGITS) == again.decision_function(DIGITS)).all()
    assert (first.code_ != other.code_).any()
    assert (pickle.loads(pickle.dumps(first)).predict(DIGITS) == first.predict(DIGITS)).all()
    with pytest.raises(NotFittedError):
        OutputCodeClassifier().column_scores(X)


def test_decodings_and_estimators_that_cannot_be():
    with pytest.raises(ValueError, match="The 'decoding' parameter of OutputCodeClassifier must be a str among"):
        OutputCodeClassifier(decoding="manhattan").fit(X, Y)
    with pytest.raises(
        ParameterError, match="The 'estimator' parameter of OutputCodeClassifier must be one with decision_function"
    ):
        OutputCodeClassifier(estimator=KMeans(2)).fit(X, Y)
    with pytest.raises(
        ValueError, match="The 'estimator' parameter of OutputCodeClassifier must be an object implementing 'fit'"
    ):
        OutputCodeClassifier(estimator=3).fit(X, Y)
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        OutputCodeClassifier(estimator=LinearSVC()).fit(X, np.zeros(150))
