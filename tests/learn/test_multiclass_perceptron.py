"""MulticlassPerceptronClassifier: both rules against plain Python, the bound on mistakes, sparse rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from estimator_checks import every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from pairsim.learn import MulticlassPerceptronClassifier

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
RULES = ("best", "spread")

CHECKED = every_check(
    MulticlassPerceptronClassifier(),
    MulticlassPerceptronClassifier("spread", average=False),
    MulticlassPerceptronClassifier(fit_intercept=False, shuffle=False),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def learn_naively(rows, numbers, count, rule, epochs, bias):
    """Return the last weights, the mean over all visits, and the mistakes; each class has its intercept last."""
    size = len(rows[0])
    weights = [[0.0] * (size + 1) for _ in range(count)]
    total = [[0.0] * (size + 1) for _ in range(count)]
    visits = mistakes = 0
    for _ in range(epochs):
        before = mistakes
        for row, own in zip(rows, numbers, strict=True):
            scores = []
            for w in weights:
                score = 0.0
                for value, weight in zip(row, w[:-1], strict=True):
                    score += value * weight
                scores.append(score + bias * w[-1])
            rivals = [r for r in range(count) if r != own and scores[r] >= scores[own]]
            if rivals:
                mistakes += 1
                if rule == "best":
                    rivals = [max(rivals, key=lambda r: (scores[r], -r))]
                for r, step in [(own, 1.0)] + [(r, -1.0 / len(rivals)) for r in rivals]:
                    weights[r] = [w + step * value for w, value in zip(weights[r], [*row, bias], strict=True)]
            total = [[t + w for t, w in zip(*both, strict=True)] for both in zip(total, weights, strict=True)]
            visits += 1
        if mistakes == before:
            break
    return np.array(weights), np.array(total) / visits, mistakes


@st.composite
def problems(draw):
    """Draw data with ties, rows without length and classes of one row, and settings."""
    count, size = draw(st.integers(2, 9)), draw(st.integers(1, 5))
    numbers = [*range(count), *draw(st.lists(st.integers(0, count - 1), max_size=15))]
    numbers = draw(st.permutations(numbers))
    unit = draw(st.sampled_from([1.0, 0.1]))  # tenths are no machine numbers: the order of adding matters
    value = st.integers(-3, 3).map(lambda whole: whole * unit)
    rows = draw(st.lists(st.lists(value, min_size=size, max_size=size), min_size=len(numbers), max_size=len(numbers)))
    return rows, numbers, count, draw(st.sampled_from(RULES)), draw(st.integers(1, 6)), draw(st.booleans())


@settings(deadline=None, max_examples=150)
@given(problems())
def test_it_is_the_plain_one_on_dense_and_sparse_rows(problem):
    rows, numbers, count, rule, epochs, bias = problem
    last, mean, mistakes = learn_naively(rows, numbers, count, rule, epochs, float(bias))
    options = {"rule": rule, "max_iter": epochs, "fit_intercept": bias, "shuffle": False}
    plain = MulticlassPerceptronClassifier(average=False, **options).fit(rows, numbers)
    assert plain.n_updates_ == mistakes
    assert np.array_equal(np.column_stack([plain.coef_, plain.intercept_]), last)  # to the last bit
    averaged = MulticlassPerceptronClassifier(**options).fit(rows, numbers)
    assert np.column_stack([averaged.coef_, averaged.intercept_]) == pytest.approx(mean, rel=1e-12, abs=1e-12)
    for model in (plain, averaged):
        sparse = clone(model).fit(scipy.sparse.csr_array(np.array(rows)), numbers)
        assert np.array_equal(sparse.coef_, model.coef_)
        assert np.array_equal(sparse.intercept_, model.intercept_)


def test_the_twin_can_tell_rules_and_averages_apart():
    """Negative control."""
    outcomes = [learn_naively(X.tolist(), Y.tolist(), 3, rule, 3, 1.0) for rule in RULES]
    assert np.abs(outcomes[0][0] - outcomes[1][0]).max() > 0.1
    assert np.abs(outcomes[0][0] - outcomes[0][1]).max() > 0.1


@pytest.mark.parametrize("count", [2, 3, 7])
def test_the_first_row_is_taken_from_all_classes_or_from_the_first(count):
    """All scores are 0 then: with a strict inequality nobody would be above the right class, and 1 / 0 be taken."""
    own = count - 1
    options = {"average": False, "fit_intercept": False}
    spread = MulticlassPerceptronClassifier("spread", **options).partial_fit([[2.0, -1.0]], [own], classes=range(count))
    wanted = np.full(count, -1.0 / (count - 1))
    wanted[own] = 1.0
    assert np.array_equal(spread.coef_, np.outer(wanted, [2.0, -1.0]))
    best = MulticlassPerceptronClassifier("best", **options).partial_fit([[2.0, -1.0]], [own], classes=range(count))
    wanted = np.eye(count)[own] - np.eye(count)[0]
    assert np.array_equal(best.coef_, np.outer(wanted, [2.0, -1.0]))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bias", [False, True])
def test_with_two_classes_it_is_the_ordinary_perceptron(rule, bias):
    rows, labels = X[50:], NAMES[Y[50:]]
    theirs = Perceptron(max_iter=7, tol=None, shuffle=False, fit_intercept=bias).fit(rows, labels)
    ours = MulticlassPerceptronClassifier(rule, average=False, max_iter=7, shuffle=False, fit_intercept=bias).fit(
        rows, labels
    )
    # up to the factor 2 between the two weight vectors and the one
    assert ours.coef_[1] - ours.coef_[0] == pytest.approx(2.0 * theirs.coef_[0], abs=1e-12)
    assert ours.decision_function(rows) == pytest.approx(2.0 * theirs.decision_function(rows), abs=1e-12)
    assert ours.decision_function(rows).shape == (100,)
    assert (ours.predict(rows) == theirs.predict(rows)).all()


def test_spreading_does_not_know_the_order_of_classes():
    digits, numbers = (part[:300] for part in load_digits(return_X_y=True))
    other = np.random.RandomState(0).permutation(10)
    options = {"max_iter": 4, "random_state": 0}
    plain, relabelled = (
        MulticlassPerceptronClassifier("spread", **options).fit(digits, y) for y in (numbers, other[numbers])
    )
    assert relabelled.n_updates_ == plain.n_updates_
    assert np.array_equal(relabelled.coef_[other], plain.coef_)
    plain, relabelled = (
        MulticlassPerceptronClassifier("best", **options).fit(digits, y) for y in (numbers, other[numbers])
    )
    assert not np.array_equal(relabelled.coef_[other], plain.coef_)  # the first of the tied is


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(RULES), st.integers(2, 5), st.booleans())
def test_no_order_makes_more_mistakes_than_the_bound(seed, rule, count, bias):
    rng = np.random.default_rng(seed)
    teacher = rng.normal(size=(count, 4 + bias))
    teacher /= np.linalg.norm(teacher)
    rows = rng.normal(size=(60, 4))
    whole = np.column_stack([rows, np.ones(60)]) if bias else rows
    scores = np.sort(whole @ teacher.T, axis=1)
    clear = scores[:, -1] - scores[:, -2] > 0.05
    numbers = (whole @ teacher.T).argmax(axis=1)[clear]
    if len(np.unique(numbers)) < 2:
        return
    margin = (scores[:, -1] - scores[:, -2])[clear].min()
    bound = 2.0 * (np.linalg.norm(whole[clear], axis=1).max() / margin) ** 2
    model = MulticlassPerceptronClassifier(rule, fit_intercept=bias, max_iter=int(bound) + 2, random_state=seed % 2**31)
    model.fit(rows[clear], numbers)
    assert model.halted_  # a pass that does not halt makes a mistake
    assert model.n_updates_ <= bound
    last = clone(model).set_params(average=False).fit(rows[clear], numbers)
    assert last.score(rows[clear], numbers) == 1.0


@pytest.mark.parametrize("rule", RULES)
def test_the_bound_is_reached(rule):
    """Rows that have nothing in common: each is a mistake once; the best margin of 12 such rows is sqrt(2 / 12)."""
    model = MulticlassPerceptronClassifier(rule, fit_intercept=False).fit(np.eye(12), np.arange(12) % 2)
    assert model.n_updates_ == pytest.approx(2.0 * 1.0 / (2.0 / 12.0))
    assert (model.n_iter_, model.halted_) == (2, True)


def test_the_mean_is_better_where_classes_overlap():
    points, numbers = make_classification(
        600, 12, n_informative=6, n_classes=4, class_sep=0.8, flip_y=0.1, random_state=0
    )
    scores = {}
    for average in (False, True):
        models = [MulticlassPerceptronClassifier(average=average, random_state=seed).fit(points[:400], numbers[:400])
                  for seed in range(5)]  # fmt: skip
        scores[average] = np.mean([model.score(points[400:], numbers[400:]) for model in models])
        assert not any(model.halted_ for model in models)
        assert {model.n_iter_ for model in models} == {30}
    assert scores[True] > scores[False] + 0.05


@pytest.mark.parametrize("rule", RULES)
def test_parts_are_learned_as_the_whole(rule):
    whole = MulticlassPerceptronClassifier(rule, max_iter=1, shuffle=False).fit(X, NAMES[Y])
    parts = MulticlassPerceptronClassifier(rule)
    for part in (slice(0, 1), slice(1, 90), slice(90, 150)):
        parts.partial_fit(X[part], NAMES[Y[part]], classes=NAMES[::-1])
    assert np.array_equal(parts.coef_, whole.coef_)
    assert parts.n_updates_ == whole.n_updates_
    assert parts.partial_fit(scipy.sparse.csr_array(X), NAMES[Y]).n_iter_ == 4


def test_the_form_of_sparse_rows_does_not_matter():
    plain = MulticlassPerceptronClassifier(random_state=0).fit(X, Y)
    values, columns = np.repeat(X, 2, axis=1) / 2.0, np.tile(np.repeat([3, 2, 1, 0], 2), 150)
    values = values.reshape(150, 4, 2)[:, ::-1].ravel()  # backwards, and every feature in two halves
    doubled = scipy.sparse.csr_array((values, columns, np.arange(0, 1201, 8)), shape=(150, 4))
    before = doubled.data.copy()
    for form in (doubled, scipy.sparse.coo_array(X), scipy.sparse.csc_matrix(X), X.astype(np.float32) * 0.0 + X):
        model = clone(plain).fit(form, Y)
        assert np.array_equal(model.coef_, plain.coef_)
        assert model.decision_function(form) == pytest.approx(plain.decision_function(X))
    assert np.array_equal(doubled.data, before)  # what is given is not changed


@pytest.mark.parametrize("rule", RULES)
def test_small_and_flat_data(rule):
    model = MulticlassPerceptronClassifier(rule, random_state=0, max_iter=200)
    lonely = np.r_[0:100, 131]
    assert model.fit(X[lonely], NAMES[Y[lonely]]).predict(X[[131]]) == ["virginica"]
    steady = np.column_stack([X, np.ones(150)])
    assert model.fit(steady[:100], Y[:100]).score(steady[:100], Y[:100]) == 1.0
    flat = clone(model).fit(np.ones((6, 2)), [1, 1, 1, 2, 2, 3])
    assert np.isfinite(flat.decision_function(np.ones((1, 2)))).all()
    empty = MulticlassPerceptronClassifier(rule, fit_intercept=False).fit(np.zeros((4, 2)), [1, 1, 2, 2])
    assert not empty.coef_.any()
    assert empty.predict([[0.0, 0.0]]) == [1]  # the first of the highest
    assert model.fit([[0.0], [1.0]], ["a", "b"]).predict([[0.0], [1.0]]).tolist() == ["a", "b"]


def test_it_lives_in_pipelines_and_searches():
    grid = {"multiclassperceptronclassifier__rule": RULES, "multiclassperceptronclassifier__average": [True, False]}
    search = GridSearchCV(make_pipeline(StandardScaler(), MulticlassPerceptronClassifier(random_state=0)), grid, cv=3)
    assert search.fit(X, NAMES[Y]).best_score_ > 0.93


def test_seeds_decide_and_models_travel():
    first, again, other = (MulticlassPerceptronClassifier(random_state=seed).fit(X, Y) for seed in (3, 3, 4))
    assert np.array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)
    assert np.array_equal(pickle.loads(pickle.dumps(first)).decision_function(X), first.decision_function(X))
    assert "average=False" in repr(MulticlassPerceptronClassifier(average=False))


def test_refusals():
    with pytest.raises(ValueError, match="The 'rule' parameter of MulticlassPerceptronClassifier must be a str among"):
        MulticlassPerceptronClassifier("worst").fit(X, Y)
    with pytest.raises(
        ValueError, match="The 'average' parameter of MulticlassPerceptronClassifier must be an instance of"
    ):
        MulticlassPerceptronClassifier(average="half").fit(X, Y)
    with pytest.raises(ValueError, match="The number of classes has to be greater than one; got 1 class"):
        MulticlassPerceptronClassifier().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="The weights became infinite: the features are too large"):
        MulticlassPerceptronClassifier(shuffle=False).fit([[1.7e308]] * 4, [0, 1, 0, 1])
