"""PairwiseClassifier: scikit-learn's own checks, the votes of the wrapped model, rows that do not see each other."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from pairsim import Adag, MaxWin, ParameterError, from_model
from pairsim.decoders import REGISTRY, decoder
from pairsim.learn import DAGSVC, PairwiseClassifier
from pairsim.learn.one_vs_one.prediction import name_classes

DIGITS, LABELS = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 600), slice(600, 900)
SPECS = [*REGISTRY, "max-win:ties=first", "adag:order=given", "poll:l=30,ties=first"]

WRAPPED = {
    "rbf": SVC(),
    "poly": SVC(kernel="poly"),
    "linear svc": OneVsOneClassifier(LinearSVC(dual=False, C=0.01)),
    "trees": OneVsOneClassifier(DecisionTreeClassifier(random_state=0)),
    "pipeline": make_pipeline(StandardScaler(), SVC(kernel="linear")),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(model).fit(DIGITS[TRAIN], LABELS[TRAIN]) for name, model in WRAPPED.items()}


CHECKED = (
    PairwiseClassifier(random_state=0),
    PairwiseClassifier(decoder="max-win", random_state=0),
    PairwiseClassifier(SVC(), random_state=0),
    PairwiseClassifier(Perceptron(), random_state=0),
    PairwiseClassifier(decoder="radag", random_state=0),
    PairwiseClassifier(decoder="wu-lin-weng", random_state=0),
    PairwiseClassifier(Perceptron(), decoder="weighted-vote", calibration=3, random_state=0),
)


def every_check():
    return [
        pytest.param(estimator, check, id=f"{estimator} {getattr(check, 'func', check).__name__}")
        for checked in CHECKED
        for estimator, check in estimator_checks_generator(checked)
    ]


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), every_check())
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", WRAPPED)
def test_every_decoder_decides_as_on_the_recorded_votes(fitted, name):
    """Whatever road the prediction takes, it is the decoder on the model's votes, with the draws of trial 0."""
    model = from_model(fitted[name])
    points = DIGITS[TEST][:60]
    for spec in SPECS:
        each = decoder(spec)
        winners, cost = name_classes(model, each, points, seed=5)
        for row in range(0, 60, 7):
            recorded = model.record(points[row : row + 1])
            from decisions import decide

            named, spent = decide(recorded, each, 1, 5)
            assert winners[row] == named[0], spec
            assert (cost.queries[row], cost.distinct[row], cost.rounds[row]) == tuple(spent)


@pytest.mark.parametrize("name", ["rbf", "poly", "pipeline"])
@pytest.mark.parametrize("spec", ["max-win:ties=first", "champion:ties=first", "quick:ties=first"])
def test_exact_max_win_is_what_svc_predicts(fitted, name, spec):
    wrapped = PairwiseClassifier.from_fitted(fitted[name], decoder=spec, random_state=0)
    assert (wrapped.predict(DIGITS[TEST]) == fitted[name].predict(DIGITS[TEST])).all()


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("spec", ["adag", "ddag", "champion", "max-win"])
def test_a_row_does_not_see_its_batch(fitted, name, spec):
    wrapped = PairwiseClassifier.from_fitted(fitted[name], decoder=spec, random_state=0)
    points = DIGITS[TEST][:40]
    whole = wrapped.predict(points)
    assert (wrapped.predict(points[::-1])[::-1] == whole).all()
    assert [wrapped.predict(points[row : row + 1])[0] for row in range(40)] == whole.tolist()


def test_small_chunks_change_nothing(fitted, monkeypatch):
    wrapped = PairwiseClassifier.from_fitted(fitted["rbf"], decoder="champion", random_state=0)
    whole, cost = wrapped.predict(DIGITS[TEST], return_cost=True)
    monkeypatch.setattr(
        "pairsim.learn.one_vs_one.prediction.CHUNK_BYTES", 8 * 7 * from_model(fitted["rbf"]).kernel.size
    )
    again, cost_again = wrapped.predict(DIGITS[TEST], return_cost=True)
    assert (whole == again).all()
    assert all((one == two).all() for one, two in zip(cost, cost_again, strict=True))


def test_cost_is_the_decoders(fitted):
    _, cost = PairwiseClassifier.from_fitted(fitted["rbf"], decoder=Adag(), random_state=0).predict(
        DIGITS[TEST], return_cost=True
    )
    assert set(cost.queries) == {9}
    assert set(cost.rounds) == {4}
    _, cost = PairwiseClassifier.from_fitted(fitted["rbf"], decoder="champion", random_state=0).predict(
        DIGITS[TEST], return_cost=True
    )
    assert cost.queries.mean() < 20 < MaxWin().cost(10).queries


def test_trains_any_estimator_and_any_labels():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for estimator in (None, SVC(), DecisionTreeClassifier(random_state=0)):
        model = PairwiseClassifier(estimator, decoder="champion", random_state=0).fit(X, names)
        assert set(model.classes_) == set(names)
        assert (model.predict(X) == names).mean() > 0.9
        assert (model.classes_[model.decision_function(X).argmax(axis=1)] == model.predict(X)).all()
    sparse = PairwiseClassifier(decoder="adag:order=given", random_state=0).fit(scipy.sparse.csr_matrix(X), names)
    dense = PairwiseClassifier(decoder="adag:order=given", random_state=0).fit(X, names)
    assert (sparse.predict(scipy.sparse.csr_matrix(X)) == dense.predict(X)).mean() > 0.98


def test_two_classes():
    X, y = make_blobs(80, centers=2, random_state=3)
    model = PairwiseClassifier(random_state=0).fit(X, y)
    assert (model.predict(X) == y).all()
    assert ((model.decision_function(X) > 0) == (y == 1)).all()


def test_grid_search_and_pipelines():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PairwiseClassifier(SVC(), random_state=0)),
        {
            "pairwiseclassifier__decoder": ["adag", "max-win", Adag("given")],
            "pairwiseclassifier__estimator__C": [1, 10],
        },
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9


def test_a_wrapped_estimator_that_holds_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = PairwiseClassifier(random_state=0).fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X.to_numpy(), columns=list("abcd")))


def test_refusals(fitted):
    with pytest.raises(NotFittedError):
        PairwiseClassifier(random_state=0).predict(DIGITS)
    with pytest.raises(ParameterError, match="decoder"):
        PairwiseClassifier(decoder="no-such", random_state=0).fit(DIGITS[TRAIN], LABELS[TRAIN])
    with pytest.raises(ParameterError, match="decoder"):
        PairwiseClassifier(decoder=3, random_state=0).fit(DIGITS[TRAIN], LABELS[TRAIN])
    with pytest.raises(ParameterError, match="names a class"):
        PairwiseClassifier.from_fitted(fitted["rbf"], decoder="max-win:ties=lose", random_state=0).predict(DIGITS[TEST])
    with pytest.raises(NotFittedError):
        PairwiseClassifier.from_fitted(SVC(), random_state=0)
    with pytest.raises(ParameterError, match="model"):
        PairwiseClassifier.from_fitted(DecisionTreeClassifier().fit(DIGITS[TRAIN], LABELS[TRAIN]), random_state=0)
    with pytest.raises(ValueError, match="features"):
        PairwiseClassifier.from_fitted(fitted["rbf"], random_state=0).predict(DIGITS[:, :5])
    holey = DIGITS[TEST].copy()
    holey[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PairwiseClassifier.from_fitted(fitted["rbf"], random_state=0).predict(holey)


@pytest.mark.parametrize("kind", [PairwiseClassifier, DAGSVC])
def test_no_random_state_draws_one(kind):
    def seeds(state):
        fitted = [kind(random_state=state).fit(*load_iris(return_X_y=True)) for _ in range(3)]
        return {getattr(model, "pairs_", model).seed_ for model in fitted}

    assert len(seeds(None)) == 3  # false alarm: 2e-9
    assert len(seeds(5)) == 1
