"""The loss of Weston and Watkins: a generic solver of its dual, optimality conditions, LIBLINEAR with two classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.optimize
import scipy.sparse
from estimator_checks import every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from pairsim.learn import CrammerSingerSVC
from pairsim.learn.compiled.weston_watkins_dual import divide_freely
from pairsim.learn.solvers.weston_watkins_dual import solve_features_by_sum, solve_gram_by_sum

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
DIGITS = tuple(part[:300] for part in load_digits(return_X_y=True))
TIGHT = {"loss": "weston-watkins", "tol": 1e-9, "max_iter": 100_000, "random_state": 0}

CHECKED = every_check(CrammerSingerSVC(loss="weston-watkins"), CrammerSingerSVC(loss="weston-watkins", kernel="rbf"))


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def naive_objective(square, scores, numbers, C):
    """Return the objective as it is defined, a row and a class at a time."""
    total = square / 2.0
    for row, own in zip(scores, numbers, strict=True):
        total += C * sum(max(0.0, 1.0 + row[r] - row[own]) for r in range(len(row)) if r != own)
    return total


def naive_dual(gram, numbers, count, C):
    """Return the dual's greatest value by a generic solver: its Hessian is built from the weights' definition."""
    pairs = [(i, r) for i, own in enumerate(numbers) for r in range(count) if r != own]
    weights = np.zeros((len(pairs), len(numbers), count))  # of row and class, per unit of a share
    for k, (i, r) in enumerate(pairs):
        weights[k, i, numbers[i]], weights[k, i, r] = 1.0, -1.0
    hessian = np.einsum("aic,ij,bjc->ab", weights, gram, weights, optimize=True)

    def minus(shares):
        return 0.5 * shares @ hessian @ shares - shares.sum(), hessian @ shares - 1.0

    bounds, shares = [(0.0, C)] * len(pairs), np.full(len(pairs), C / 2)
    steps: dict[str, dict[str, float]] = {  # the first is fast and now and then ends too early
        "L-BFGS-B": {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20_000, "maxfun": 100_000},
        "SLSQP": {"ftol": 1e-15, "maxiter": 1_000},
    }
    for method, options in steps.items():
        shares = scipy.optimize.minimize(minus, shares, jac=True, method=method, bounds=bounds, options=options).x
    return -minus(np.clip(shares, 0.0, C))[0]


@st.composite
def problems(draw):
    """Draw rows with repetitions, rows without length, rows of two classes in one place, and lonely classes."""
    count, size = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    numbers = np.array([*range(count), *draw(st.lists(st.integers(0, count - 1), max_size=10))])
    value = st.integers(-4, 4).map(lambda whole: whole / 4)
    rows = draw(st.lists(st.lists(value, min_size=size, max_size=size), min_size=len(numbers), max_size=len(numbers)))
    return np.array(rows), numbers, count, draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0])), draw(st.integers(0, 2**31))


@settings(deadline=None, max_examples=50)
@given(problems(), st.sampled_from(["rbf", "linear"]))
def test_it_is_what_a_generic_solver_finds(problem, kernel):
    rows, numbers, count, C, seed = problem
    gram = rbf_kernel(rows, gamma=0.7) if kernel == "rbf" else rows @ rows.T
    found = solve_gram_by_sum(gram, numbers, count, C, tol=1e-8, most=100_000, seed=seed)
    own = np.arange(count) == numbers[:, None]
    # what the dual allows: no row adds weight in sum, and takes from others 0 to C each
    assert found.weights.sum(axis=1) == pytest.approx(0.0, abs=1e-9 * C)
    assert found.weights[~own].max() <= 0.0
    assert found.weights[~own].min() >= -C
    scores = gram @ found.weights
    square = float((found.weights * scores).sum())
    assert found.objective == pytest.approx(naive_objective(square, scores, numbers, C), rel=1e-9)
    dual = -found.weights[~own].sum() - square / 2.0
    assert found.objective - dual == pytest.approx(found.gap, abs=1e-7 * found.objective)
    assert found.gap + 1e-12 * found.objective >= 0.0
    assert found.objective == pytest.approx(naive_dual(gram, numbers, count, C), rel=1e-5)
    if kernel == "linear":
        for form in (rows, scipy.sparse.csr_array(rows)):
            same = solve_features_by_sum(form, numbers, count, C, 0.0, tol=1e-8, most=100_000, seed=seed)
            assert same.objective == pytest.approx(found.objective, rel=1e-7)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([0.0, 1e-9, 0.3, 1.0, 1e6]), st.floats(1e-3, 1e3))
def test_a_rows_shares_are_the_best_ones(seed, count, curvature, limit):
    """The optimality conditions at the new shares, in plain numbers."""
    rng = np.random.default_rng(seed)
    excess, held, wanted = rng.normal(size=count), limit * rng.choice([0.0, 0.5, 1.0], size=count), np.empty(count)
    own = int(rng.integers(count))
    excess[own], held[own] = 0.0, 0.0
    before = held.copy()
    divide_freely(count, own, curvature, limit, excess, held, wanted)
    assert (held == before).all()
    assert wanted[own] == 0.0
    assert wanted.min() >= 0.0
    assert wanted.max() <= limit
    others = np.arange(count) != own
    after = excess - curvature * ((wanted - held) + (wanted - held).sum())
    size = 1e-9 * (np.abs(excess).max() + curvature * limit * count)
    for share, left in zip(wanted[others], after[others], strict=True):
        if share < limit:
            assert left <= size
        if share > 0.0:
            assert left >= -size


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_with_two_classes_both_losses_are_the_same(kernel):
    rows, numbers = X[50:], NAMES[Y[50:]]
    options = {"kernel": kernel, "tol": 1e-9, "max_iter": 100_000, "random_state": 0}
    one, two = (
        CrammerSingerSVC(loss=loss, **options).fit(rows, numbers) for loss in ("crammer-singer", "weston-watkins")
    )
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    assert one.decision_function(rows) == pytest.approx(two.decision_function(rows), abs=1e-3)
    low = options | {"C": 0.01}  # where rows cost something in more than one class
    three = [CrammerSingerSVC(loss=loss, **low).fit(X, Y).objective_ for loss in ("crammer-singer", "weston-watkins")]
    assert three[1] > 1.1 * three[0]


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_three_rows_that_have_nothing_in_common(kernel):
    """A high cost asks for margins of 1, at least length: 2/3 and -1/3. A low one leaves all shares at C."""
    options = {"kernel": kernel, "fit_intercept": False, **TIGHT}
    high = CrammerSingerSVC(C=10.0, **options).fit(np.eye(3), [0, 1, 2])
    assert high.decision_function(np.eye(3)) == pytest.approx(np.eye(3) - 1.0 / 3.0, abs=1e-6)
    assert high.objective_ == pytest.approx(1.0)
    low = CrammerSingerSVC(C=0.1, **options).fit(np.eye(3), [0, 1, 2])
    assert low.decision_function(np.eye(3)) == pytest.approx(0.3 * np.eye(3) - 0.1, abs=1e-12)
    assert low.objective_ == pytest.approx(0.5 * 3 * 0.06 + 0.1 * 3 * 2 * 0.7)


@pytest.mark.parametrize("C", [1e-3, 1.0, 30.0])
def test_features_sparse_rows_and_gram_matrices_agree(C):
    rows, numbers = DIGITS[0] / 16.0, DIGITS[1]
    options = TIGHT | {"tol": 1e-6, "C": C}
    dense = CrammerSingerSVC(fit_intercept=False, **options).fit(rows, numbers)
    sparse = CrammerSingerSVC(fit_intercept=False, **options).fit(scipy.sparse.csr_matrix(rows), numbers)
    kernel = CrammerSingerSVC(kernel="precomputed", **options).fit(rows @ rows.T, numbers)
    for other in (sparse, kernel):
        assert other.objective_ == pytest.approx(dense.objective_, rel=3e-6)
    assert sparse.coef_ == pytest.approx(dense.coef_, abs=1e-2 * np.abs(dense.coef_).max())
    assert kernel.decision_function(rows @ rows.T) == pytest.approx(dense.decision_function(rows), abs=2e-2)
    square = float((dense.coef_**2).sum())
    assert dense.objective_ == pytest.approx(naive_objective(square, dense.decision_function(rows), numbers, C))
    assert 0.0 <= dense.gap_ <= 1e-6 * dense.objective_
    assert dense.coef_.sum(axis=0) == pytest.approx(0.0, abs=1e-9 * np.abs(dense.coef_).max())
    biased = CrammerSingerSVC(**options).fit(rows, numbers)
    constant = CrammerSingerSVC(fit_intercept=False, **options).fit(np.hstack([rows, np.ones((300, 1))]), numbers)
    assert biased.objective_ == pytest.approx(constant.objective_, rel=3e-6)


def test_it_classifies_and_is_a_parameter_like_others():
    model = CrammerSingerSVC(C=10.0, loss="weston-watkins", random_state=0).fit(X, NAMES[Y])
    assert model.score(X, NAMES[Y]) > 0.95
    assert model.gap_ <= 1e-4 * model.objective_
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(X) == model.decision_function(X)).all()
    with pytest.raises(ValueError, match="'loss'"):
        CrammerSingerSVC("sgd", loss="weston-watkins").fit(X, Y)
    with pytest.raises(ValueError, match="'loss'"):
        CrammerSingerSVC(loss="hinge").fit(X, Y)
