"""Decoders that look at margins, probabilities of classes, and what data say about trained pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pairsim import Adag, ParameterError, Radag, coupling, from_model
from pairsim.learn import PairwiseClassifier
from pairsim.learn.one_vs_one.calibration import Evidence, deal_folds, gather
from pairsim.learn.one_vs_one.margin_decoders import COUPLINGS, MARGIN_DECODERS, put_on_top
from pairsim.learn.one_vs_one.prediction import name_classes
from pairsim.models import LinearPairs

DIGITS, LABELS = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 500), slice(500, 800)
PAIRS = list(itertools.combinations(range(10), 2))
FUNCTIONS = {
    "wu-lin-weng": coupling.wu_lin_weng,
    "hastie-tibshirani": coupling.hastie_tibshirani,
    "pkpd": coupling.pkpd,
    "non-dominance": coupling.non_dominance,
}


@pytest.fixture(scope="module")
def svc():
    return SVC().fit(DIGITS[TRAIN], LABELS[TRAIN])


# --- decoders that look at margins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", FUNCTIONS)
def test_those_that_take_probabilities(svc, spec):
    wrapped = PairwiseClassifier.from_fitted(svc, decoder=spec, random_state=0)
    wrapped.calibrate(DIGITS[TRAIN], LABELS[TRAIN])
    margins = wrapped.model_.margins(DIGITS[TEST])
    scores = FUNCTIONS[spec](1 / (1 + np.exp(wrapped.link_.A * margins)), 10)
    assert wrapped.decision_function(DIGITS[TEST]) == pytest.approx(scores, abs=1e-12)
    labels, cost = wrapped.predict(DIGITS[TEST], return_cost=True)
    assert (labels == scores.argmax(axis=1)).mean() > 0.99  # rounding may settle what is nearly equal
    assert (labels == wrapped.decision_function(DIGITS[TEST]).argmax(axis=1)).all()
    assert {tuple(map(int, spent)) for spent in zip(*cost, strict=True)} == {(45, 45, 1)}
    assert (labels == LABELS[TEST]).mean() > 0.9


def test_weighted_vote_is_the_sum_of_margins(svc):
    wrapped = PairwiseClassifier.from_fitted(svc, decoder="weighted-vote", random_state=0)
    margins = wrapped.model_.margins(DIGITS[TEST])
    sums = np.zeros((len(margins), 10))
    for k, (i, j) in enumerate(PAIRS):
        sums[:, i] += margins[:, k]
        sums[:, j] -= margins[:, k]
    assert wrapped.decision_function(DIGITS[TEST]) == pytest.approx(sums)
    assert (wrapped.predict(DIGITS[TEST]) == sums.argmax(axis=1)).all()


def settle_naively(margins, n, rule):
    """Name the class with the most votes; of equals the one with the largest sum of margins, or most of their duels."""
    pairs = list(itertools.combinations(range(n), 2))
    winners = []
    for row in margins.tolist():
        beaten = [(i, j) if margin > 0 else (j, i) for (i, j), margin in zip(pairs, row, strict=True)]
        votes = [sum(winner == c for winner, _ in beaten) for c in range(n)]
        tied = [c for c in range(n) if votes[c] == max(votes)]
        if rule == "margin":
            second = [sum(m * ((c == i) - (c == j)) for (i, j), m in zip(pairs, row, strict=True)) for c in range(n)]
        else:
            second = [sum(a == c and b in tied for a, b in beaten) for c in range(n)]
        winners.append(max(tied, key=lambda c: (second[c], -c)))
    return winners


@pytest.mark.parametrize("rule", ["margin", "head-to-head"])
def test_ties_of_max_win_by_margins(rule):
    dice = np.random.default_rng(3)
    model = LinearPairs(dice.normal(size=(10, 4)), dice.normal(size=10))
    X = dice.normal(size=(400, 4))
    margins = model.margins(X)
    wrapped = PairwiseClassifier.from_fitted(model, decoder=f"max-win:ties={rule}", random_state=0)
    named = wrapped.predict(X)
    assert named.tolist() == settle_naively(margins, 5, rule)
    assert (wrapped.decision_function(X).argmax(axis=1) == named).all()
    first = PairwiseClassifier.from_fitted(model, decoder="max-win:ties=first", random_state=0).predict(X)
    assert (named != first).any(), "there must be ties for it to settle"
    votes = coupling.vote_scores(margins, 5)
    rows = np.arange(len(X))
    assert (votes[rows, named] == votes.max(axis=1)).all()


def test_two_classes_and_sparse_data():
    X, y = make_blobs(90, centers=2, random_state=3, cluster_std=2.0)
    for spec in MARGIN_DECODERS:
        model = PairwiseClassifier(decoder=spec, random_state=0).fit(X, y)
        assert ((model.decision_function(X) > 0) == (model.predict(X) == 1)).all()
        assert (model.predict(X) == y).mean() > 0.8
        assert model.predict_proba(X).shape == (90, 2)
    X, y = load_iris(return_X_y=True)
    dense = PairwiseClassifier(SVC(), decoder="wu-lin-weng", random_state=0).fit(X, y)
    sparse = PairwiseClassifier(SVC(), decoder="wu-lin-weng", random_state=0).fit(scipy.sparse.csr_matrix(X), y)
    assert sparse.predict_proba(scipy.sparse.csr_matrix(X)) == pytest.approx(dense.predict_proba(X), abs=1e-3)


# --- probabilities of classes
# ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["adag", "ddag", "radag", "max-win:ties=first", "weighted-vote", *COUPLINGS])
def test_probabilities_sum_to_one_and_the_named_class_has_the_highest(svc, spec):
    wrapped = PairwiseClassifier.from_fitted(svc, decoder=spec, random_state=0).calibrate(DIGITS[TEST], LABELS[TEST])
    probabilities = wrapped.predict_proba(DIGITS[TEST])
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (probabilities >= 0).all()
    assert (probabilities.argmax(axis=1) == wrapped.predict(DIGITS[TEST])).all()


def test_decoders_with_other_opinions_exchange_two_probabilities():
    X, y = make_blobs(400, 2, centers=8, cluster_std=4.0, random_state=1)
    many = OneVsOneClassifier(LogisticRegression()).fit(X, y)
    coupled = PairwiseClassifier.from_fitted(many, decoder="pkpd", random_state=0)
    other = PairwiseClassifier.from_fitted(many, decoder="ddag:order=given", coupling="pkpd", random_state=0)
    one, two = coupled.predict_proba(X), other.predict_proba(X)
    differ = coupled.predict(X) != other.predict(X)
    assert 0 < differ.sum() < len(X)
    assert np.array_equal(one[~differ], two[~differ])
    assert np.sort(one, axis=1) == pytest.approx(np.sort(two, axis=1), abs=1e-15)
    assert ((one != two).sum(axis=1) == 2 * differ).all()


def test_equal_probabilities_leave_the_named_class_on_top():
    probabilities = np.full((3, 3), 1 / 3)
    put_on_top(probabilities, np.array([0, 1, 2]))
    assert probabilities.argmax(axis=1).tolist() == [0, 1, 2]
    assert probabilities.sum(axis=1) == pytest.approx(1.0)


def test_two_classes_of_a_logistic_regression_keep_their_probabilities():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    logistic = LogisticRegression().fit(X, y)
    assert PairwiseClassifier.from_fitted(logistic, random_state=0).predict_proba(X) == pytest.approx(
        logistic.predict_proba(X)
    )


def test_calibration_improves_probabilities_of_new_rows():
    """What it is for, and a negative control: margins as they come, and margins of rows that were trained on."""
    train, test = slice(0, 700), slice(700, 1700)
    y = LABELS[test]
    fitted = PairwiseClassifier(SVC(C=10), "wu-lin-weng", random_state=0).fit(DIGITS[train], LABELS[train])
    raw = PairwiseClassifier(SVC(C=10), "wu-lin-weng", calibration=None, random_state=0).fit(
        DIGITS[train], LABELS[train]
    )
    assert raw.link_.A == -1.0
    losses = [log_loss(y, each.predict_proba(DIGITS[test])) for each in (fitted, raw)]
    assert losses[0] < 0.6 * losses[1]
    assert (fitted.predict_proba(DIGITS[test]).max(axis=1)).mean() == pytest.approx(
        (fitted.predict(DIGITS[test]) == y).mean(), abs=0.06
    )


# --- what data say ---------------------------------------------------------------------------------------------------


def test_the_slope_is_found():
    dice = np.random.default_rng(0)
    margins = dice.normal(scale=3.0, size=200_000)
    right = dice.random(len(margins)) < 1 / (1 + np.exp(-0.7 * np.abs(margins)))
    own = np.where(right, np.abs(margins), -np.abs(margins))
    nothing = np.zeros(1, np.int64)
    link = Evidence(own, nothing, nothing).link()
    assert pytest.approx(-0.7, rel=0.02) == link.A
    assert link.B == 0.0
    assert pytest.approx(-0.7e-9, rel=0.02) == Evidence(own * 1e9, nothing, nothing).link().A


@pytest.mark.parametrize("own", [[], [0.0, 0.0], [1.0, 2.0, 3.0], [-1.0, -2.0]], ids=str)
def test_the_slope_is_a_positive_number_whatever_the_margins(own):
    link = Evidence(np.array(own), np.zeros(1, np.int64), np.zeros(1, np.int64)).link()
    assert -np.inf < link.A < 0.0


def test_errors_are_counted_pair_by_pair(svc):
    wrapped = PairwiseClassifier.from_fitted(svc, decoder="radag", random_state=0).calibrate(DIGITS[TEST], LABELS[TEST])
    answers = from_model(svc).answers(DIGITS[TEST])
    for k, (i, j) in enumerate(PAIRS):
        mine = (LABELS[TEST] == i) | (LABELS[TEST] == j)
        wrong = (answers[mine, k] != (LABELS[TEST][mine] == i)).sum()
        assert wrapped.pair_errors_[k] == pytest.approx((wrong + 1) / (mine.sum() + 2))


def test_few_queries_at_a_time_change_nothing(svc, monkeypatch):
    model = from_model(svc)
    whole = gather(model, DIGITS[TEST], LABELS[TEST])
    monkeypatch.setattr("pairsim.learn.one_vs_one.calibration.QUERIES", 100)
    parts = gather(model, DIGITS[TEST], LABELS[TEST])
    assert all(np.allclose(one, two) for one, two in zip(whole, parts, strict=True))
    assert whole.asked.sum() == 9 * 300


def test_folds_deal_out_every_class():
    numbers = np.repeat([0, 1, 2, 3], [1, 2, 7, 30])[np.random.default_rng(1).permutation(40)]
    fold = deal_folds(numbers, 5, seed=3)
    assert (fold == deal_folds(numbers, 5, seed=3)).all()
    assert (fold != deal_folds(numbers, 5, seed=4)).any()
    for c, size in enumerate([1, 2, 7, 30]):
        sizes = [int(((numbers == c) & (fold == k)).sum()) for k in range(5)]
        assert fold[numbers == c].tolist() == [-1] if size == 1 else sum(sizes) == size
        assert max(sizes) - min(sizes) <= 1


class Remembers(ClassifierMixin, BaseEstimator):
    """Knows what it was trained on by heart, and says so: certain there, and wrong everywhere else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = {tuple(row): label for row, label in zip(X.tolist(), y.tolist(), strict=True)}
        return self

    def decision_function(self, X):
        return np.array([2.0 * self.seen_[tuple(row)] - 1 if tuple(row) in self.seen_ else 0.0 for row in X.tolist()])

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_rows_are_asked_about_by_models_that_have_not_seen_them():
    X, y = make_blobs(60, 3, centers=4, random_state=0)
    blind = PairwiseClassifier(Remembers(), calibration=3, random_state=0).fit(X, y)
    # a margin of 0 is a vote for the lower class: right for the half of each pair that is in it
    assert blind.pair_errors_ == pytest.approx(0.5, abs=0.05)
    seeing = PairwiseClassifier(Remembers(), decoder="radag", random_state=0).fit(X, y)
    assert seeing.pair_errors_ == pytest.approx(1 / 32), "in training it is never wrong: Laplace's rule"


# --- radag on trained pairs ------------------------------------------------------------------------------------------


def test_radag_uses_what_is_known_of_the_pairs(svc):
    wrapped = PairwiseClassifier.from_fitted(svc, decoder="radag", random_state=0)
    model, points = from_model(svc), DIGITS[TEST]
    vectors = svc.support_
    for k, (i, j) in enumerate(PAIRS):
        both = svc.dual_coef_[j - 1, svc.n_support_[:i].sum() : svc.n_support_[: i + 1].sum()]
        also = svc.dual_coef_[i, svc.n_support_[:j].sum() : svc.n_support_[: j + 1].sum()]
        count = np.count_nonzero(both) + np.count_nonzero(also)
        assert wrapped.pair_errors_[k] == pytest.approx(count / (500 * 2 / 10))
    assert len(vectors) < sum(wrapped.pair_errors_) * 100 <= 9 * len(vectors)
    expected, _ = name_classes(model, Radag(wrapped.pair_errors_), points, 0)
    assert (wrapped.predict(points) == expected).all()
    given = PairwiseClassifier.from_fitted(svc, decoder=Radag([0.1] * 45), random_state=0).predict(points)
    assert (given == PairwiseClassifier.from_fitted(svc, decoder=Adag(), random_state=0).predict(points)).all()
    labels, cost = wrapped.predict(points, return_cost=True)
    assert set(cost.queries) == {9}
    assert set(cost.rounds) == {4}
    assert (labels == LABELS[TEST]).mean() > 0.9


def test_where_the_errors_of_the_pairs_come_from():
    X, y = load_iris(return_X_y=True)
    machines = PairwiseClassifier(SVC(), decoder="radag", random_state=0).fit(X, y)
    shares = [SVC().fit(X[mine], y[mine]).n_support_.sum() / 100 for mine in (y != 2, y != 1, y != 0)]
    assert machines.pair_errors_ == pytest.approx(shares)
    scaled = make_pipeline(StandardScaler(), SVC())
    for wrapped in (scaled, GridSearchCV(SVC(), {"C": [1, 10]}, cv=2), OneVsOneClassifier(scaled)):
        assert PairwiseClassifier.from_fitted(clone(wrapped).fit(X, y), random_state=0).pair_errors_.shape == (3,)
    trees = PairwiseClassifier(DecisionTreeClassifier(random_state=0), decoder="radag", random_state=0).fit(X, y)
    assert trees.pair_errors_ == pytest.approx(1 / 102)
    assert PairwiseClassifier(random_state=0).fit(X, y).pair_errors_ is None
    assert PairwiseClassifier(decoder=Radag([0.1, 0.2, 0.3]), random_state=0).fit(X, y).pair_errors_ is None
    many = OneVsOneClassifier(LinearSVC()).fit(X, y)
    equal = PairwiseClassifier.from_fitted(many, decoder="radag", random_state=0)
    assert equal.pair_errors_ is None
    assert (
        equal.predict(X) == PairwiseClassifier.from_fitted(many, decoder="adag:order=given", random_state=0).predict(X)
    ).all()


def test_radag_in_rounds_and_lazily_are_one(svc):
    """Trees are asked round by round, support vectors row by row; both are the decoder on the recorded votes."""
    from decisions import decide

    trees = OneVsOneClassifier(DecisionTreeClassifier(random_state=0)).fit(DIGITS[TRAIN], LABELS[TRAIN])
    errors = np.random.default_rng(2).random(45)
    for fitted in (svc, trees):
        model, points = from_model(fitted), DIGITS[TEST][:50]
        winners, _ = name_classes(model, Radag(errors), points)
        assert winners.tolist() == decide(model.record(points), Radag(errors), 50, 0)[0]


# --- what may go wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"coupling": "x"}, "coupling"),
        ({"calibration": 1}, "calibration"),
        ({"calibration": "x"}, "calibration"),
        ({"calibration": 2.5}, "calibration"),
        ({"decoder": "max-win:ties=x"}, "ties"),
        ({"decoder": "weighted"}, "name"),
        ({"decoder": Radag([0.1])}, "errors"),
    ],
    ids=str,
)
def test_refuses(parameters, name):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match=f"The '{name}' parameter"):
        PairwiseClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "calibrate"])
@pytest.mark.parametrize("spec", ["adag", "wu-lin-weng"])
def test_every_method_checks_its_data_in_scikit_learns_words(method, spec):
    X, y = load_iris(return_X_y=True)
    more = (y,) if method == "calibrate" else ()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(PairwiseClassifier(decoder=spec, random_state=0), method)(X, *more)
    for estimator in (LinearSVC(), SVC(), Perceptron(), DecisionTreeClassifier()):
        call = getattr(PairwiseClassifier(estimator, decoder=spec, calibration=None, random_state=0).fit(X, y), method)
        with pytest.raises(ValueError, match="X has 2 features, but PairwiseClassifier is expecting 4 features"):
            call(X[:, :2], *more)
        if not more:
            with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
                call(X[0])
        holey = X.copy()
        holey[0, 0] = np.nan
        if isinstance(estimator, DecisionTreeClassifier):
            call(holey, *more)  # trees take it
        else:
            with pytest.raises(ValueError, match="Input X contains NaN"):
                call(holey, *more)


@pytest.mark.parametrize("estimator", [None, SVC(), Perceptron()], ids=repr)
def test_training_checks_its_data_in_scikit_learns_words(estimator):
    X, y = load_iris(return_X_y=True)
    holey = X.copy()
    holey[0, 0] = np.nan
    for bad, labels, words in (
        (holey, y, "Input X contains NaN"),
        (X[0], y, "Expected 2D array, got 1D array instead"),
        (X, np.zeros(150), "can not be fit when only one class is present"),
        (X, y[:-1], "inconsistent numbers of samples"),
        (X, X[:, 0], "Unknown label type"),
    ):
        with pytest.raises(ValueError, match=words):
            PairwiseClassifier(estimator, random_state=0).fit(bad, labels)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [None, SVC(), Perceptron(), LogisticRegression()], ids=repr)
def test_classes_of_one_row(estimator):
    X = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    y = np.array(["a", "b", "c"])
    for spec in ("adag", "radag", "wu-lin-weng", "max-win:ties=margin"):
        model = PairwiseClassifier(estimator, decoder=spec, random_state=0).fit(X, y)
        assert model.predict(X).tolist() == y.tolist()
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    more = PairwiseClassifier(estimator, decoder="wu-lin-weng", calibration=3, random_state=0)
    more.fit(np.vstack([X, X[:1] + 0.1, X[:1] - 0.1]), [*y, "a", "a"])
    assert more.predict(X).tolist() == y.tolist()


def test_pairs_that_were_never_trained():
    X, y = load_iris(return_X_y=True)
    partial = OneVsOneClassifier(Perceptron())
    partial.partial_fit(X[y < 1], y[y < 1], classes=[0, 1, 2])
    with pytest.raises(NotFittedError, match="Perceptron instance is not fitted yet"):
        PairwiseClassifier.from_fitted(partial, random_state=0)


def test_labels_to_calibrate_with(svc):
    wrapped = PairwiseClassifier.from_fitted(svc, random_state=0)
    with pytest.raises(ParameterError, match="'y' parameter of calibrate"):
        wrapped.calibrate(DIGITS[TEST], LABELS[TEST] + 5)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        wrapped.calibrate(DIGITS[TEST], LABELS[TEST][:-1])


def test_kernel_matrices_are_cut_both_ways():
    X, y = load_iris(return_X_y=True)
    square = X @ X.T
    plain = PairwiseClassifier(SVC(kernel="linear"), decoder="wu-lin-weng", random_state=0).fit(X, y)
    given = PairwiseClassifier(SVC(kernel="precomputed"), decoder="wu-lin-weng", random_state=0).fit(square, y)
    assert given.predict_proba(square) == pytest.approx(plain.predict_proba(X), abs=1e-2)
