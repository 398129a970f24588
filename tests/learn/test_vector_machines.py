"""VectorSVC and VectorPerceptronClassifier: explicit label vectors, optimality, the bound on updates, common checks."""

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
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize, scale
from vector_twins import label_vectors, least_value, naive_perceptron

from pairsim.learn import VectorPerceptronClassifier, VectorSVC
from pairsim.learn.label_vectors import named_product, named_vectors
from pairsim.learn.solvers.vector_dual import solve_joint

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
LABELS = ("indicator", "simplex")
TIGHT = {"tol": 1e-9, "max_iter": 100_000, "random_state": 0}


CHECKED = every_check(
    VectorSVC(),
    VectorSVC("simplex"),
    VectorSVC("simplex", fit_intercept=True),
    VectorSVC(kernel="precomputed"),
    VectorPerceptronClassifier(),
    VectorPerceptronClassifier("simplex", average=True),
    VectorPerceptronClassifier(kernel="linear"),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("count", [2, 3, 28])
def test_products_of_labels_are_those_of_the_printed_vectors(labels, count):
    vectors = label_vectors(labels, count)
    products = np.full((count, count), named_product(labels, count))
    np.fill_diagonal(products, 1.0)
    assert vectors @ vectors.T == pytest.approx(products)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(("q", "p"), [("one", "one"), ("one", "norm"), ("norm", "one"), ("norm", "norm")])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_it_is_the_minimum_that_a_general_solver_finds(labels, q, p, kernel):
    points, C = X[::3] + 0.5, 0.3
    own = Y[::3]
    gram = rbf_kernel(points, gamma=0.5) if kernel == "rbf" else linear_kernel(points)
    vectors = label_vectors(labels, 3)[own]
    matrix, length = gram * (vectors @ vectors.T), np.sqrt(np.diag(gram))
    wanted, limit = length if q == "norm" else 1.0 + 0.0 * length, C / (length if p == "norm" else 1.0 + 0.0 * length)
    model = VectorSVC(labels, C=C, kernel=kernel, gamma=0.5, q=q, p=p, **TIGHT).fit(points, own)
    value = 0.5 * model.alpha_ @ matrix @ model.alpha_ - wanted @ model.alpha_
    assert value == pytest.approx(least_value(matrix, wanted, limit), rel=1e-7)
    # scores are <y_t, W phi(x)>, W the sum of a_i y_i phi(x_i)'
    scores = label_vectors(labels, 3) @ (model.alpha_[:, None] * vectors).T @ gram
    assert model.decision_function(points) == pytest.approx(scores.T)
    normal = VectorSVC(labels, C=C, kernel=kernel, gamma=0.5, **TIGHT).fit(points, own)
    alike = np.allclose(model.alpha_, normal.alpha_, atol=1e-6)
    assert alike == (kernel == "rbf" or (q, p) == ("one", "one"))  # lengths matter where rows differ in length


def test_classes_alone_and_all_together_have_the_same_solution():
    model = VectorSVC(C=0.4, gamma=0.3, **TIGHT).fit(X, Y)
    gram, ones = rbf_kernel(X, gamma=0.3), np.ones(150)
    rng = np.random.RandomState(1)
    joint = solve_joint(gram, Y, named_vectors("indicator", 3), ones, 0.4 * ones, tol=1e-9, most=100_000, rng=rng)
    assert np.abs(joint.margins - np.where(Y[:, None] == Y, gram, 0.0) @ model.alpha_).max() < 1e-7
    assert joint.alpha.sum() == pytest.approx(model.alpha_.sum(), rel=1e-8)
    other = solve_joint(gram, Y, named_vectors("simplex", 3), ones, 0.4 * ones, tol=1e-9, most=100_000, rng=rng)
    assert other.alpha.sum() != pytest.approx(model.alpha_.sum(), rel=1e-2)  # the simplex is another problem


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.floats(0.01, 10.0), st.floats(0.01, 3.0))
def test_with_a_gaussian_kernel_no_variable_exceeds_one(seed, count, gamma, C):
    rng = np.random.default_rng(seed)
    points, own = rng.normal(size=(30, 3)), np.r_[np.arange(count), rng.integers(count, size=30 - count)]
    tol = 1e-4
    model = VectorSVC(C=C, gamma=gamma, tol=tol, max_iter=100_000, random_state=0).fit(points, own)
    alpha = model.alpha_
    assert alpha.max() <= min(C, 1.0)
    # optimality, from the definition
    gradient = 1.0 - np.where(own[:, None] == own, rbf_kernel(points, gamma=gamma), 0.0) @ alpha
    assert gradient[alpha < C].max(initial=-1.0) < tol + 1e-9
    assert gradient[alpha > 0.0].min() > -tol - 1e-9
    if C >= 1.0:
        free = VectorSVC(C=np.inf, gamma=gamma, tol=tol, max_iter=100_000, random_state=0).fit(points, own)
        assert np.abs(free.alpha_ - alpha).max() < 1e-9


def test_a_low_penalty_is_a_parzen_window():
    uneven = np.r_[0:50, 50:80, 100:120]
    model = VectorSVC(C=1 / 50, gamma=0.5).fit(X[uneven], Y[uneven])
    assert (model.alpha_ == 1 / 50).all()
    sums = rbf_kernel(X, X[uneven], gamma=0.5) @ (Y[uneven][:, None] == np.arange(3))
    assert model.decision_function(X) == pytest.approx(sums / 50)
    assert VectorSVC(C=1.0, gamma=0.5).fit(X[uneven], Y[uneven]).alpha_.std() > 0.01


@pytest.mark.parametrize("labels", LABELS)
def test_every_form_of_the_same_kernel_gives_the_same_scores(labels):
    plain = VectorSVC(labels, C=0.2, gamma=0.4, **TIGHT).fit(X, NAMES[Y])
    values = plain.decision_function(X[:20])
    for form, given_, new in (
        ("precomputed", rbf_kernel(X, gamma=0.4), rbf_kernel(X[:20], X, gamma=0.4)),
        ("distances", euclidean_distances(X, squared=True), euclidean_distances(X[:20], X, squared=True)),
        ("rbf", scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X[:20])),
    ):
        model = clone(plain).set_params(kernel=form).fit(given_, NAMES[Y])
        assert model.decision_function(new) == pytest.approx(values, abs=1e-6)
        assert (model.predict(new) == plain.predict(X[:20])).all()


@pytest.mark.parametrize("estimator", [VectorSVC(random_state=0), VectorPerceptronClassifier(random_state=0)])
@pytest.mark.parametrize("labels", LABELS)
def test_small_and_flat_data(estimator, labels):
    model = clone(estimator).set_params(labels=labels, gamma=2.0)
    two = model.fit(X[:100], NAMES[Y[:100]])
    assert two.decision_function(X[:100]).shape == (100,)
    assert two.score(X[:100], NAMES[Y[:100]]) == 1.0
    lonely = np.r_[0:100, 131]
    assert model.fit(X[lonely], Y[lonely]).predict(X[[131]]) == [2]
    flat = clone(model).set_params(gamma="scale").fit(np.ones((6, 2)), [1, 1, 1, 2, 2, 3])
    assert np.isfinite(flat.decision_function(np.ones((1, 2)))).all()
    empty = clone(model).set_params(kernel="linear", max_iter=5)  # rows without length
    if isinstance(empty, VectorSVC):
        empty.fit(np.zeros((4, 2)), [1, 1, 2, 2])
        assert (empty.alpha_ == empty.C).all()
    else:
        assert empty.fit(np.zeros((4, 2)), [1, 1, 2, 2]).update_bound() == np.inf


def test_they_live_in_pipelines_and_searches():
    for model in (VectorSVC(random_state=0), VectorPerceptronClassifier(random_state=0, average=True)):
        name = type(model).__name__.lower()
        widths = {f"{name}__gamma": [0.01, 1.0], f"{name}__labels": list(LABELS)}
        search = GridSearchCV(make_pipeline(StandardScaler(), model), widths, cv=3).fit(X, NAMES[Y])
        assert search.best_score_ > 0.93
    on_distances = GridSearchCV(VectorSVC(C=0.1, kernel="distances"), {"gamma": [0.01, 1.0]}, cv=3)
    assert on_distances.fit(euclidean_distances(X, squared=True), Y).best_score_ > 0.93


def test_seeds_decide_and_models_travel():
    first, again = (VectorPerceptronClassifier(gamma=1.0, random_state=3).fit(X, Y) for _ in range(2))
    assert (first.decision_function(X) == again.decision_function(X)).all()
    assert (pickle.loads(pickle.dumps(first)).decision_function(X) == first.decision_function(X)).all()
    other = VectorPerceptronClassifier(gamma=1.0, random_state=4).fit(X, Y)
    assert (first.decision_function(X) != other.decision_function(X)).any()


def test_too_few_passes_are_told_and_bad_parameters_refused():
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        VectorSVC(max_iter=1, tol=1e-9).fit(X, Y)
    with pytest.raises(ValueError, match="The 'C' parameter of VectorSVC must be a float in the range"):
        VectorSVC(C=0.0).fit(X, Y)
    with pytest.raises(
        ValueError, match="The 'margin' parameter of VectorPerceptronClassifier must be a float in the range"
    ):
        VectorPerceptronClassifier(margin=0.0).fit(X, Y)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("step", "margin", "epochs"), [(1.0, 1.0, 4), (0.3, 2.0, 50)])
def test_the_perceptron_is_the_printed_one(labels, average, step, margin, epochs):
    vectors = label_vectors(labels, 3)
    last, mean, updates = naive_perceptron(X, Y, vectors, step, margin, epochs)
    scores = X @ (mean if average else last).T @ vectors.T
    options = {"step": step, "margin": margin, "max_iter": epochs, "shuffle": False, "average": average}
    for kernel, rows in (
        ("linear", X),
        ("linear", scipy.sparse.csr_matrix(X)),
        ("precomputed", X @ X.T),
        ("poly", X),
    ):
        model = VectorPerceptronClassifier(labels, kernel=kernel, degree=1, gamma=1.0, **options).fit(rows, Y)
        assert model.n_updates_ == updates
        assert model.decision_function(rows) == pytest.approx(scores)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(LABELS),
    st.sampled_from(["rbf", "linear"]),
    st.sampled_from([(1.0, 1.0), (0.25, 1.0), (3.0, 0.5)]),
)
def test_no_order_causes_more_updates_than_the_bound(seed, labels, kernel, step_and_margin):
    rng = np.random.default_rng(seed)
    points, own = rng.normal(size=(24, 4)), np.r_[0:3, rng.integers(3, size=21)]
    points[:, 0] = np.abs(points[:, 0]) + rng.random()  # for indicator labels a plane with all rows on one side
    step, margin = step_and_margin
    model = VectorPerceptronClassifier(
        labels, step=step, margin=margin, kernel=kernel, gamma=1.0, random_state=seed % 2**32
    )
    bound = model.set_params(max_iter=1).fit(points, own).update_bound()
    if np.isfinite(bound):
        model.set_params(max_iter=min(int(bound) + 2, 20_000)).fit(points, own)
        assert model.halted_  # a pass that does not halt makes an update
        assert model.n_updates_ <= bound


@pytest.mark.parametrize("labels", LABELS)
def test_the_printed_constant_is_needed(labels):
    """With unit rows and step = margin = 1 the bound is 3 |W*|**2; |W*|**2 alone is exceeded."""
    points, own = load_wine(return_X_y=True)
    points = normalize(scale(points))
    model = VectorPerceptronClassifier(labels, gamma=2.0, random_state=0, max_iter=1000).fit(points, own)
    hard = VectorSVC(labels, C=np.inf, gamma=2.0, tol=1e-8, max_iter=10_000).fit(points, own)
    assert model.update_bound() == pytest.approx(3.0 * hard.alpha_.sum(), rel=1e-3)  # |W*|**2 = sum of a
    assert model.halted_
    assert hard.alpha_.sum() < model.n_updates_ <= model.update_bound()


def test_rows_on_both_sides_have_no_bound():
    model = VectorPerceptronClassifier(kernel="linear", max_iter=3).fit([[1.0], [-1.0], [2.0]], [0, 0, 1])
    assert model.update_bound() == np.inf
    assert not model.halted_


def test_halting_is_not_naming_rightly():
    """Every row has its margin in its own class; nothing is said of the others."""
    digits, own = (part[:500] for part in load_digits(return_X_y=True))
    model = VectorPerceptronClassifier(gamma=1e-3, random_state=0).fit(scale(digits), own)
    assert model.halted_
    assert model.score(scale(digits), own) < 0.75
