"""Estimators of pairsim.learn at the edges: numbers too large or too small, kernels that are none, few steps."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel, sigmoid_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from pairsim import ParameterError
from pairsim.learn import (
    AllPairsClassifier,
    CrammerSingerSVC,
    KesslerSVC,
    MulticlassPerceptronClassifier,
    OneVsAllClassifier,
    OutputCodeClassifier,
    PairwiseClassifier,
    SingleBinaryClassifier,
    VectorPerceptronClassifier,
    VectorSVC,
)
from pairsim.learn.solvers.extensions import ClassKernels

X, Y = load_iris(return_X_y=True)
X, Y = scale(X)[::2], Y[::2]
KERNEL = {
    "OneVsAllClassifier": OneVsAllClassifier(),
    "AllPairsClassifier": AllPairsClassifier(),
    "OutputCodeClassifier": OutputCodeClassifier("all-pairs", "hamming"),
    "SingleBinaryClassifier": SingleBinaryClassifier(),
    "SingleBinaryClassifier narrow": SingleBinaryClassifier("identity", rho=0.0, gram_dtype="float32"),
    "VectorSVC": VectorSVC(random_state=0),
    "VectorSVC simplex": VectorSVC("simplex", random_state=0),
    "VectorPerceptronClassifier": VectorPerceptronClassifier(random_state=0),
    "CrammerSingerSVC": CrammerSingerSVC(kernel="rbf", random_state=0),
    "KesslerSVC": KesslerSVC(random_state=0),
    "SingleBinaryClassifier learned": SingleBinaryClassifier(mu_update="mkl"),
}
LINEAR = {
    "VectorPerceptronClassifier": VectorPerceptronClassifier(kernel="linear", random_state=0),
    "MulticlassPerceptronClassifier": MulticlassPerceptronClassifier(random_state=0),
    "MulticlassPerceptronClassifier last": MulticlassPerceptronClassifier("spread", average=False, random_state=0),
    "CrammerSingerSVC": CrammerSingerSVC(C=1e-3, random_state=0),
    "CrammerSingerSVC sgd": CrammerSingerSVC("sgd", random_state=0),
}
TOO_LARGE = "The kernel's values are too large or not numbers"


def each(models):
    return pytest.mark.parametrize("model", models.values(), ids=models)


# --- numbers too large or too small ----------------------------------------------------------------------------------


@each(KERNEL)
@pytest.mark.parametrize("unit", [2.0**-490, 2.0**-60, 2.0**60, 2.0**490])
def test_units_do_not_matter_where_gamma_is_scaled(model, unit):
    """A power of 2 changes no digit: 2**490 is about 3e147. The copies have to be told apart, though."""
    own = clone(model).set_params(**{"rho": 0.0} if isinstance(model, SingleBinaryClassifier) else {})
    plain, other = clone(own).fit(X, Y), clone(own).fit(X * unit, Y)
    assert other.decision_function(X * unit) == pytest.approx(plain.decision_function(X), abs=1e-6)


@each(KERNEL)
@pytest.mark.parametrize("unit", [1e-300, 1e-158, 1e155, 1e300])
def test_a_variance_that_no_number_holds_is_refused(model, unit):
    for rows in (X * unit, scipy.sparse.csr_array(X * unit)):
        for kernel in ("rbf", "poly", "laplacian"):
            with pytest.raises(ValueError, match="The features' variance is beyond what numbers can hold"):
                clone(model).set_params(kernel=kernel).fit(rows, Y)


@each(KERNEL)
def test_kernel_values_that_no_number_holds_are_refused(model):
    """Once one of these was solved for ever."""
    for kernel, rows, own in (
        ("poly", X * 1e100, {"gamma": 1.0}),
        ("rbf", X * 1e200, {"gamma": 1.0}),
        ("precomputed", 1e250 * rbf_kernel(X), {}),
        (lambda a, b: np.nan, X, {}),
        (lambda a, b: float(a @ b) / 0.5e-200, X, {}),
    ):
        with pytest.raises(ValueError, match=TOO_LARGE):
            clone(model).set_params(kernel=kernel, **own).fit(rows, Y)
    steep = clone(model).set_params(kernel="poly", gamma=1.0, degree=2)
    if not isinstance(model, AllPairsClassifier | VectorPerceptronClassifier):
        fitted = steep.set_params(C=1e-3).fit(X, Y)
        with pytest.raises(ValueError, match=TOO_LARGE):
            fitted.predict(np.array([[1e200, -1e200, 1e200, -1e200]]))


@each(KERNEL)
def test_squared_distances_are_not_negative(model):
    matrix = euclidean_distances(X, squared=True)
    wrong = f"Negative values in data passed to {type(model).__name__}: X holds squared distances"
    own = clone(model).set_params(kernel="distances", gamma=0.3)
    with pytest.raises(ValueError, match=wrong):
        own.fit(-1e3 * matrix, Y)
    with pytest.raises(ValueError, match=wrong):
        own.fit(matrix, Y).predict(matrix - 1.0)
    rounded = matrix - 1e-12  # as |x|**2 + |y|**2 - 2 x.y leaves them
    assert own.decision_function(rounded) == pytest.approx(own.decision_function(matrix))


@each(LINEAR)
def test_weights_that_no_number_holds_are_refused(model):
    for rows in (X * 1e160, X * 1e300, scipy.sparse.csr_array(X * 1e300)):
        with pytest.raises(ValueError, match=r"became infinite: the features are too large.* Scale them"):
            clone(model).fit(rows, Y)
    assert clone(model).fit(X, Y).score(X, Y) > 0.5


@each(KERNEL)
def test_penalties_and_widths_at_the_ends(model):
    kinds = [{"gamma": 0}, {"gamma": 1e300}, {"gamma": 1e-300}, {"gamma": "auto"}]
    if "C" in model.get_params():
        kinds += [{"C": 1e-300}, {"C": 1e4 if isinstance(model, CrammerSingerSVC) else 1e300, "gamma": 1.0}]
    for how in kinds:
        fitted = clone(model).set_params(**how).fit(X, Y)
        scores = fitted.decision_function(X)
        assert np.isfinite(scores).all(), how
        assert (scores.argmax(axis=1) == fitted.predict(X)).all(), how
        if how == {"gamma": 0}:  # all rows are alike
            assert len(np.unique(fitted.predict(X))) == 1


@each(KERNEL)
def test_kernels_that_are_none_come_to_an_end(model):
    rng = np.random.RandomState(0)
    for matrix in (
        sigmoid_kernel(X, gamma=1.0, coef0=-2.0),
        -np.eye(75),
        rng.normal(size=(75, 75)),
        np.zeros((75, 75)),
    ):
        few = {"max_iter": 2000} if "max_iter" in model.get_params() else {"tol": 0.5}
        fitted = clone(model).set_params(kernel="precomputed", **few)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            fitted.fit(matrix, Y)
        assert {warning.category for warning in told} <= {ConvergenceWarning}
        scores = fitted.decision_function(matrix)
        assert np.isfinite(scores).all()
        assert (scores.argmax(axis=1) == fitted.predict(matrix)).all()
    signs = np.where(Y == 0, 1.0, -1.0)
    if isinstance(
        model, OneVsAllClassifier
    ):  # where the kernel is one of the indefinite ones, it is still LIBSVM's machine
        matrix = sigmoid_kernel(X, gamma=0.05, coef0=-0.1)
        theirs = SVC(kernel="precomputed", tol=1e-6).fit(matrix, signs).decision_function(matrix)
        ours = OneVsAllClassifier(kernel="precomputed", tol=1e-6).fit(matrix, Y).decision_function(matrix)[:, 0]
        assert ours == pytest.approx(theirs, abs=1e-4)


# --- SingleBinaryClassifier ------------------------------------------------------------------------------------------


def test_a_fit_with_another_bias_does_not_start_from_the_last_one():
    """One bias balances all copies together, one a class each class's: the steps of the solver keep the balance."""
    options = {"C": 3.0, "rho": 0.0, "gamma": 0.125, "tol": 1e-6}
    warm = SingleBinaryClassifier("identity", warm_start=True, **options).fit(X, Y)
    assert np.abs(warm.dual_coef_.sum(axis=0)).max() > 1e-3
    warm.set_params(bias="class").fit(X, Y)
    cold = SingleBinaryClassifier("identity", bias="class", **options).fit(X, Y)
    assert np.abs(warm.dual_coef_.sum(axis=0)).max() < 1e-9
    assert warm.decision_function(X) == pytest.approx(cold.decision_function(X), abs=1e-4)


def test_a_start_can_be_too_far_away():
    model = (
        SingleBinaryClassifier("identity", C=1e-300, rho=0.0, warm_start=True).fit(X, Y).set_params(C=1e300).fit(X, Y)
    )
    assert model.objective_ == pytest.approx(SingleBinaryClassifier("identity", C=1e300, rho=0.0).fit(X, Y).objective_)


def test_all_rounds_share_the_steps():
    options = {"C": 50.0, "gamma": 0.125, "mu_tol": 1e-9, "mu_update": "mkl"}
    with pytest.warns(ConvergenceWarning, match="The weights still change"):
        whole = SingleBinaryClassifier(max_rounds=20, **options).fit(X, Y)
    assert whole.n_rounds_ == 20
    half = whole.n_iter_ // 2
    with pytest.warns(ConvergenceWarning, match="Solver terminated early: raise max_iter") as told:
        model = SingleBinaryClassifier(max_rounds=20, max_iter=half, **options).fit(X, Y)
    assert len(told) == 1
    assert model.n_iter_ == half
    assert model.n_rounds_ < 20


def test_classes_without_weight_cannot_be_told_apart():
    mu = np.array([2.0, 0.0, 1.0, 0.0])
    gram = ClassKernels(4, 0.3).weighted(mu)
    assert (gram[1] == gram[3]).all()
    assert (gram[1] != gram[0]).any()
    rows, labels = make_blobs(180, 5, centers=60, random_state=0)
    learned, printed = (SingleBinaryClassifier(mu_update=update).fit(rows, labels) for update in ("mkl", "paper"))
    gone = learned.mu_ < 1e-3 * learned.mu_.max()
    assert gone.sum() > 30
    assert np.ptp(learned.decision_function(rows)[:, gone], axis=1).max() < 0.01
    assert (printed.mu_ > 1e-3 * printed.mu_.max()).all()
    assert printed.score(rows, labels) > learned.score(rows, labels) + 0.3


def test_a_narrow_gram_matrix_is_computed_in_doubles():
    """Rows far from 0, and such as single precision does not hold: only the kernel values are rounded."""
    for rows in (X + 1e6, X * 1e60, X * 1e-60):
        for kernel in ("rbf", "laplacian"):
            options = {"rho": 0.0, "kernel": kernel, "gamma": 0.3 / np.var(rows) ** (1.0 if kernel == "rbf" else 0.5)}
            wide, narrow = (
                SingleBinaryClassifier("identity", gram_dtype=dtype, **options).fit(rows, Y)
                for dtype in ("float64", "float32")
            )
            assert narrow.decision_function(rows) == pytest.approx(wide.decision_function(rows), abs=2e-3)
            assert wide.score(rows, Y) > 0.9


def test_marks_of_any_width():
    for scale_, rho in ((1e-200, 0.0), (1e-320, 0.0), (1e200, 1.0)):
        assert SingleBinaryClassifier("identity", ext_scale=scale_).fit(X, Y).label_gram_[0, 1] == rho


def test_the_product_matrix_is_never_formed():
    """It would have (300 * 20)**2 doubles, 288 MB; the Gram matrix has 0.7 MB, a table of the copies 48 kB."""
    rows, labels = make_blobs(300, 5, centers=20, random_state=0)
    for extension in ("kernel", "identity"):
        model = SingleBinaryClassifier(extension, rho=0.1)
        model.fit(rows[:60], labels[:60])  # compiled by now
        tracemalloc.start()
        try:
            model.fit(rows, labels)
            assert tracemalloc.get_traced_memory()[1] < 8_000_000
        finally:
            tracemalloc.stop()


# --- AllPairsClassifier, VectorSVC and others ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        OneVsAllClassifier(tol=5.0),
        AllPairsClassifier(tol=5.0),
        OutputCodeClassifier(tol=5.0),
        SingleBinaryClassifier(tol=5.0),
    ],
)
def test_machines_without_a_support_vector_say_nothing(model):
    assert (model.fit(X, Y).decision_function(X) == model.decision_function(X[:1])).all()
    assert len(set(model.predict(X).tolist())) == 1


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "cosine", "distances", lambda a, b: float(a @ b)])
def test_pairs_that_were_given_away_do_not_change_with_the_next_fit(kernel):
    rows = euclidean_distances(X, squared=True) if kernel == "distances" else X
    model = AllPairsClassifier(kernel=kernel, gamma=0.3, coef0=0.5).fit(rows, Y)
    pairs = PairwiseClassifier.from_fitted(model.pairs_.model_, "weighted-vote", random_state=0)
    before = pairs.decision_function(rows)
    model.set_params(kernel="laplacian", gamma=9.0, degree=1, coef0=0.0).fit(X, Y)
    assert (pairs.decision_function(rows) == before).all()


@pytest.mark.parametrize("kind", [OneVsAllClassifier, AllPairsClassifier, OutputCodeClassifier, PairwiseClassifier])
def test_estimators_that_give_neither_margins_nor_probabilities(kind):
    name = kind.__name__
    with pytest.raises(ParameterError, match=f"The 'estimator' parameter of {name} must be .* with decision_function"):
        kind(estimator=KMeans(2)).fit(X, Y)


def test_indicator_labels_need_kernel_values_within_classes_only():
    numbers = np.r_[0.0, 0.2, 0.4, 10.0, 10.2, 20.0]
    asked = set()

    def kernel(a, b):
        asked.add((float(a[0]), float(b[0])))
        return float(np.exp(-((a[0] - b[0]) ** 2)))

    VectorSVC(kernel=kernel, random_state=0).fit(numbers[:, None], numbers // 10)
    assert asked
    assert all(a // 10 == b // 10 for a, b in asked)
    VectorSVC("simplex", kernel=kernel, random_state=0).fit(numbers[:, None], numbers // 10)
    assert any(a // 10 != b // 10 for a, b in asked)  # the simplex needs all


@pytest.mark.parametrize("C", [0.05, 1.0, np.inf])
def test_the_simplex_machine_is_optimal(C):
    tol = 1e-6
    model = VectorSVC("simplex", C=C, gamma=0.5, tol=tol, max_iter=100_000, random_state=0).fit(X, Y)
    products = np.where(Y[:, None] == Y, 1.0, -0.5)
    gradient = 1.0 - (rbf_kernel(X, gamma=0.5) * products) @ model.alpha_
    assert gradient[model.alpha_ < C].max(initial=-1.0) < 2 * tol
    assert gradient[model.alpha_ > 0.0].min() > -2 * tol
    assert 0.0 <= model.alpha_.min() <= model.alpha_.max() <= C
