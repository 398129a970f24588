"""CrammerSingerSVC: the definition, LIBLINEAR, optimality by duality, stochastic steps in plain Python."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from estimator_checks import every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import LinearSVC

from pairsim.learn import CrammerSingerSVC
from pairsim.learn.solvers.crammer_singer_dual import solve_gram

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
TIGHT = {"tol": 1e-9, "max_iter": 100_000, "random_state": 0}

CHECKED = every_check(
    CrammerSingerSVC(),
    CrammerSingerSVC(fit_intercept=False),
    CrammerSingerSVC("sgd"),
    CrammerSingerSVC("sgd", shrink="active"),
    CrammerSingerSVC(kernel="rbf"),
    CrammerSingerSVC(kernel="precomputed"),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def naive_objective(square, scores, numbers, C):
    """Return the objective as it is defined, a row at a time."""
    total = square / 2.0
    for row, own in zip(scores, numbers, strict=True):
        total += C * max(0.0, *(1.0 + row[r] - row[own] for r in range(len(row)) if r != own))
    return total


def dual_objective(square, weights, numbers, C):
    """Return the dual's value: C a row less what is still on its own class, less half the weights' square."""
    return sum(weights[i, own] for i, own in enumerate(numbers)) - square / 2.0


def by_liblinear(rows, numbers, C, bias):
    """Return weights and intercepts; it warns without cause, because it reads the number of its passes wrongly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(
            multi_class="crammer_singer", C=C, tol=1e-8, max_iter=1_000_000, fit_intercept=bias, random_state=0
        ).fit(rows, numbers)
    return model.coef_, model.intercept_ if bias else np.zeros(len(model.coef_))


DIGITS = tuple(part[:400] for part in load_digits(return_X_y=True))
SETS = {"iris": (X, Y), "wine": (scale(load_wine().data), load_wine().target), "digits": (DIGITS[0] / 16, DIGITS[1])}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("bias", [False, True])
def test_it_is_what_liblinear_finds(name, C, bias):
    rows, numbers = SETS[name]
    coef, intercept = by_liblinear(rows, numbers, C, bias)
    least = naive_objective((coef**2).sum() + (intercept**2).sum(), rows @ coef.T + intercept, numbers, C)
    for form in (rows, scipy.sparse.csr_matrix(rows)):
        model = CrammerSingerSVC(C=C, fit_intercept=bias, tol=1e-8, max_iter=100_000, random_state=0).fit(form, numbers)
        assert model.objective_ == pytest.approx(least, rel=1e-6)
        assert model.coef_.sum(axis=0) == pytest.approx(0.0, abs=1e-9)
        assert model.coef_ == pytest.approx(coef - coef.mean(axis=0), abs=2e-3 * np.abs(coef).max())
        assert model.intercept_ == pytest.approx(intercept - intercept.mean(), abs=2e-3 * np.abs(coef).max())
    other = CrammerSingerSVC(C=0.1 * C, fit_intercept=bias, tol=1e-8, max_iter=100_000, random_state=0)
    assert other.fit(rows, numbers).objective_ < 0.99 * least  # another problem is told apart


def test_with_two_classes_it_is_liblinears_too():
    rows, numbers = X[50:], Y[50:] - 1
    coef, intercept = by_liblinear(rows, numbers, 1.0, True)
    model = CrammerSingerSVC(**TIGHT).fit(rows, numbers)
    assert model.coef_[1] - model.coef_[0] == pytest.approx(coef[0], abs=1e-3)
    assert model.decision_function(rows) == pytest.approx(rows @ coef[0] + intercept[0], abs=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_three_rows_that_have_nothing_in_common(kernel):
    """A high penalty asks for margins of 1, at least length: 2/3 and -1/3. A low one divides C equally."""
    options = {"kernel": kernel, "fit_intercept": False, **TIGHT}
    high = CrammerSingerSVC(C=10.0, **options).fit(np.eye(3), [0, 1, 2])
    assert high.decision_function(np.eye(3)) == pytest.approx(np.eye(3) - 1.0 / 3.0, abs=1e-6)
    assert high.objective_ == pytest.approx(1.0)
    low = CrammerSingerSVC(C=0.1, **options).fit(np.eye(3), [0, 1, 2])
    assert low.decision_function(np.eye(3)) == pytest.approx(0.15 * np.eye(3) - 0.05, abs=1e-12)
    assert low.objective_ == pytest.approx(0.5 * 3 * 0.015 + 0.1 * 3 * 0.85)


def test_the_gap_holds_the_least_objective():
    numbers, gram = SETS["digits"][1], rbf_kernel(SETS["digits"][0], gamma=0.05)
    for kernel, rows in (("linear", SETS["digits"][0]), ("precomputed", gram)):
        least = CrammerSingerSVC(kernel=kernel, **TIGHT).fit(rows, numbers)
        assert 0.0 <= least.gap_ <= 1e-9 * least.objective_
        gaps = []
        for tol in (0.3, 1e-2, 1e-4):
            model = CrammerSingerSVC(kernel=kernel, tol=tol, random_state=0).fit(rows, numbers)
            assert model.gap_ <= tol * model.objective_
            assert model.objective_ - model.gap_ <= least.objective_ <= model.objective_
            gaps.append(model.gap_)
        assert gaps == sorted(gaps, reverse=True)
        assert gaps[0] > 1e-9


@st.composite
def problems(draw):
    """Draw rows with repetitions, rows without length, rows of two classes in one place, and lonely classes."""
    count, size = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    numbers = np.array([*range(count), *draw(st.lists(st.integers(0, count - 1), max_size=14))])
    value = st.integers(-4, 4).map(lambda whole: whole / 4)
    rows = draw(st.lists(st.lists(value, min_size=size, max_size=size), min_size=len(numbers), max_size=len(numbers)))
    return np.array(rows), numbers, count, draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0])), draw(st.integers(0, 2**31))


@settings(deadline=None, max_examples=120)
@given(problems(), st.sampled_from(["rbf", "linear"]))
def test_the_weights_of_rows_are_optimal(problem, kernel):
    rows, numbers, count, C, seed = problem
    gram = rbf_kernel(rows, gamma=0.7) if kernel == "rbf" else rows @ rows.T
    found = solve_gram(gram, numbers, count, C, tol=1e-7, most=100_000, seed=seed)
    own = np.arange(count) == numbers[:, None]
    # what the dual allows: no row adds weight in sum, to its own class at most C, to others nothing
    assert found.weights.sum(axis=1) == pytest.approx(0.0, abs=1e-9 * C)
    assert found.weights[own].min() >= -1e-9 * C
    assert found.weights[own].max() <= C
    assert found.weights[~own].max() <= 0.0
    # the same value on both sides
    scores = gram @ found.weights
    square = (found.weights * scores).sum()
    primal, dual = naive_objective(square, scores, numbers, C), dual_objective(square, found.weights, numbers, C)
    assert found.objective == pytest.approx(primal)
    assert found.gap == pytest.approx(primal - dual, abs=1e-10 * primal)
    assert -1e-10 * primal <= primal - dual <= 1.001e-7 * primal
    # who has a share of C is a class that is furthest ahead
    ahead = scores + ~own
    share = np.where(own, C, 0.0) - found.weights
    behind = ahead.max(axis=1, keepdims=True) - ahead
    assert (share * behind).max() <= found.gap * 1.001 + 1e-12 * primal
    # and a step away from there is worse
    moved = found.weights.copy()
    moved[0, numbers[0]] += 0.1 * C
    moved[0, numbers[0] - 1] -= 0.1 * C
    square = (moved * (gram @ moved)).sum()
    assert dual_objective(square, moved, numbers, C) <= dual + 1e-7 * primal or moved[0, numbers[0]] > C


@settings(deadline=None, max_examples=100)
@given(problems(), st.booleans())
def test_features_and_kernel_values_have_the_same_machine(problem, bias):
    rows, numbers, _, C, seed = problem
    options = {"C": C, "tol": 1e-7, "max_iter": 100_000, "random_state": seed}
    linear = CrammerSingerSVC(fit_intercept=bias, **options).fit(rows, numbers)
    gram = CrammerSingerSVC(kernel="precomputed", **options).fit(rows @ rows.T + bias, numbers)
    square = (linear.coef_**2).sum() + (linear.intercept_**2).sum()
    scores = rows @ linear.coef_.T + linear.intercept_
    assert linear.objective_ == pytest.approx(naive_objective(square, scores, numbers, C))
    assert linear.objective_ == pytest.approx(gram.objective_, rel=3e-7)
    # the objective is strongly convex: the distance of two weights is at most what both are above the least
    distance = np.sqrt(2.0 * linear.gap_) + np.sqrt(2.0 * gram.gap_) + 1e-9
    reach = np.sqrt((rows**2).sum(axis=1).max() + bias)
    sums = gram._class_scores(rows @ rows.T + bias)
    assert np.abs(linear._class_scores(rows) - sums).max() <= distance * reach
    sparse = CrammerSingerSVC(fit_intercept=bias, **options).fit(scipy.sparse.csr_array(rows), numbers)
    assert sparse.objective_ == pytest.approx(linear.objective_, rel=3e-7)


def test_units_of_the_features_do_not_matter():
    """Features times s and C over s**2 are the same problem; with a power of 2 every bit is the same."""
    s = 2.0**-20
    options = {"fit_intercept": False, "random_state": 0}
    plain = CrammerSingerSVC(C=0.3, **options).fit(X, Y)
    tiny = CrammerSingerSVC(C=0.3 / s**2, **options).fit(X * s, Y)
    assert np.array_equal(tiny.coef_ * s, plain.coef_)
    assert tiny.n_iter_ == plain.n_iter_
    gram = CrammerSingerSVC(C=0.3, kernel="precomputed", random_state=0).fit(X @ X.T, Y)
    small = CrammerSingerSVC(C=0.3 / s**2, kernel="precomputed", random_state=0).fit(X @ X.T * s**2, Y)
    assert np.array_equal(small.dual_coef_ * s**2, gram.dual_coef_)


def product(a, b):
    return float(a @ b)


def test_every_form_of_the_same_kernel_gives_the_same_scores():
    plain = CrammerSingerSVC(kernel="rbf", gamma=0.4, **TIGHT).fit(X, NAMES[Y])
    values = plain.decision_function(X[:20])
    for form, given_, new in (
        ("precomputed", rbf_kernel(X, gamma=0.4), rbf_kernel(X[:20], X, gamma=0.4)),
        ("distances", euclidean_distances(X, squared=True), euclidean_distances(X[:20], X, squared=True)),
        ("rbf", scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X[:20])),
    ):
        model = clone(plain).set_params(kernel=form).fit(given_, NAMES[Y])
        assert model.decision_function(new) == pytest.approx(values, abs=1e-4)
        assert (model.predict(new) == plain.predict(X[:20])).all()
    assert plain.dual_coef_.shape == (len(plain.support_), 3)
    assert len(plain.support_) < 150
    linear = CrammerSingerSVC(fit_intercept=False, **TIGHT).fit(X, Y).decision_function(X)
    for kernel in (product, "poly"):
        model = CrammerSingerSVC(kernel=kernel, degree=1, gamma=1.0, **TIGHT).fit(X, Y)
        assert model.decision_function(X) == pytest.approx(linear, abs=1e-3)


def descend_naively(rows, numbers, count, penalty, orders, shrink):
    """Run the steps of the notes with explicit weights; return the mean over the last half of all steps."""
    weights = np.zeros((count, rows.shape[1]))
    steps, t = [], 0
    for order in orders:
        for i in order:
            t += 1
            own = numbers[i]
            losses = [1.0 + (weights[r] - weights[own]) @ rows[i] if r != own else -np.inf for r in range(count)]
            best, eta = int(np.argmax(losses)), 1.0 / (penalty * t)
            active = losses[best] > 0.0
            if active or shrink == "always":
                weights = (1.0 - penalty * eta) * weights
            if active:
                weights[own] += eta * rows[i]
                weights[best] -= eta * rows[i]
            steps.append(weights.copy())
    return np.mean(steps[len(steps) // 2 :], axis=0)


@pytest.mark.parametrize("shrink", ["always", "active"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("penalty", "epochs"), [(0.1, 3), (1e-3, 8), (1e-2, 1)])
def test_stochastic_steps_are_the_printed_ones(shrink, bias, penalty, epochs):
    points, numbers = X[::2][:-1], Y[::2][:-1]  # an odd number of rows: a half is rounded
    whole = np.column_stack([points, np.ones(len(points))]) if bias else points
    rng = np.random.RandomState(5)
    mean = descend_naively(whole, numbers, 3, penalty, [rng.permutation(74) for _ in range(epochs)], shrink)
    options = {"C": 1.0 / (penalty * 74), "shrink": shrink, "fit_intercept": bias, "max_iter": epochs}
    for form in (points, scipy.sparse.csr_matrix(points)):
        model = CrammerSingerSVC("sgd", random_state=5, **options).fit(form, numbers)
        coef = np.column_stack([model.coef_, model.intercept_]) if bias else model.coef_
        assert coef == pytest.approx(mean, rel=1e-8, abs=1e-10)
        scores = whole @ coef.T
        assert model.objective_ == pytest.approx(naive_objective((coef**2).sum(), scores, numbers, options["C"]))
        assert model.n_iter_ == epochs


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_steps_go_to_the_optimum_only_if_all_of_them_shrink(seed):
    """The printed algorithm shrinks the weights where there is a loss: on rows most of which have none, too rarely."""
    C = 1.0 / (1e-2 * 150)
    least = CrammerSingerSVC(C=C, **TIGHT).fit(X, Y).objective_
    shrunk, printed = (
        CrammerSingerSVC("sgd", C=C, shrink=shrink, max_iter=400, random_state=seed).fit(X, Y).objective_ / least
        for shrink in ("always", "active")
    )
    assert 1.0 <= shrunk < 1.002
    assert printed > 2.0


@pytest.mark.parametrize("settings_", [{}, {"solver": "sgd"}, {"kernel": "rbf", "gamma": 1.0}], ids=str)
def test_small_and_flat_data(settings_):
    model = CrammerSingerSVC(C=100.0, random_state=0, **settings_)
    two = clone(model).fit(X[:100], NAMES[Y[:100]])
    assert two.decision_function(X[:100]).shape == (100,)
    assert (two.decision_function(X[:100]) > 0.0).tolist() == [False] * 50 + [True] * 50
    assert two.score(X[:100], NAMES[Y[:100]]) == 1.0
    lonely = np.r_[0:100, 131]
    assert clone(model).fit(X[lonely], Y[lonely]).predict(X[[131]]) == [2]
    steady = np.column_stack([X, np.ones(150)])[:100]
    assert clone(model).fit(steady, Y[:100]).score(steady, Y[:100]) == 1.0
    assert clone(model).fit([[0.0], [1.0]], ["a", "b"]).predict([[0.0], [1.0]]).tolist() == ["a", "b"]
    flat = clone(model).set_params(C=1.0).fit(np.ones((6, 2)), [1, 1, 1, 2, 2, 3])
    assert flat.predict(np.ones((1, 2))) == [1]


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_rows_without_length_have_all_their_loss(kernel):
    model = CrammerSingerSVC(kernel=kernel, C=2.0, fit_intercept=False, tol=1e-12)
    empty = model.fit(np.zeros((4, 4)), [0, 0, 1, 2])
    assert (empty.objective_, empty.gap_) == (8.0, 0.0)
    assert not empty.decision_function(np.zeros((2, 4))).any()


def test_it_lives_in_pipelines_and_searches():
    penalties = {"crammersingersvc__C": [0.01, 1.0], "crammersingersvc__solver": ["dual", "sgd"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), CrammerSingerSVC(random_state=0)), penalties, cv=3)
    assert search.fit(X, NAMES[Y]).best_score_ > 0.93
    on_distances = GridSearchCV(CrammerSingerSVC(kernel="distances"), {"gamma": [0.01, 1.0]}, cv=3)
    assert on_distances.fit(euclidean_distances(X, squared=True), Y).best_score_ > 0.93


@pytest.mark.parametrize("solver", ["dual", "sgd"])
def test_seeds_decide_and_models_travel(solver):
    first, again, other = (CrammerSingerSVC(solver, random_state=seed).fit(X, Y) for seed in (3, 3, 4))
    assert np.array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)
    assert np.array_equal(pickle.loads(pickle.dumps(first)).decision_function(X), first.decision_function(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_too_few_passes_are_told(kernel):
    model = CrammerSingerSVC(kernel=kernel, C=100.0, tol=1e-12, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="Solver terminated early: raise max_iter"):
        model.fit(X, Y)
    assert model.gap_ > 1e-12 * model.objective_
    model.set_params(tol=0.01, max_iter=None).fit(X, Y)  # a warning would be an error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "The 'C' parameter of CrammerSingerSVC must be a float in the range"),
        ({"C": np.inf}, "The 'C' parameter of CrammerSingerSVC must be a float in the range"),
        ({"tol": 0.0}, "The 'tol' parameter of CrammerSingerSVC must be a float in the range"),
        ({"solver": "primal"}, "The 'solver' parameter of CrammerSingerSVC must be a str among"),
        ({"shrink": "never"}, "The 'shrink' parameter of CrammerSingerSVC must be a str among"),
        (
            {"solver": "sgd", "kernel": "rbf"},
            r"The 'kernel' parameter of CrammerSingerSVC must be 'linear' with solver='sgd'\. Got 'rbf' instead",
        ),
        ({"kernel": "precomputed"}, "should be a square matrix"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        CrammerSingerSVC(**options).fit(X, Y)
    with pytest.raises(ValueError, match="The number of classes has to be greater than one; got 1 class"):
        CrammerSingerSVC().fit(X, np.zeros(150))
