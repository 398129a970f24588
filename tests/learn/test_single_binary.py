"""SingleBinaryClassifier: the papers' constructions spelled out point by point, and scikit-learn's own checks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from estimator_checks import every_check
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from pairsim.learn import SingleBinaryClassifier
from pairsim.learn.codes.code_tables import dense_code, exhaustive_code
from pairsim.learn.codes.decoding import decode_scores
from pairsim.learn.solvers.extensions import ClassKernels, extension_gram
from pairsim.learn.solvers.kernel_weights import next_weights

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
GAMMA = 0.125  # s = 2
EXACT = {"gamma": GAMMA, "tol": 1e-7}


CHECKED = every_check(
    *(SingleBinaryClassifier(each) for each in ("kernel", "identity", "single", "ecoc")),
    SingleBinaryClassifier(kernel="precomputed"),
    SingleBinaryClassifier("identity", bias="class", gram_dtype="float32"),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def extended(points, marks):
    """Return every point with every mark behind it, the marks of one point side by side."""
    return np.hstack([np.repeat(points, len(marks), axis=0), np.tile(marks, (len(points), 1))])


MARKS = {"identity": np.eye(3), "single": np.array([[1.0], [2.0], [3.0]])}


@pytest.mark.parametrize("extension", MARKS)
def test_algorithm_1_is_an_ordinary_machine_on_extended_points(extension):
    replicas, labels = extended(X, MARKS[extension]), (Y[:, None] == np.arange(3)).ravel()
    machine = SVC(gamma=GAMMA, C=4.0, tol=1e-7).fit(replicas, labels)
    model = SingleBinaryClassifier(extension, C=4.0, **EXACT).fit(X, NAMES[Y])
    new = X[::7] + 0.1
    values = machine.decision_function(extended(new, MARKS[extension])).reshape(-1, 3)
    assert np.abs(model.decision_function(new) - values).max() < 1e-4
    assert (model.predict(new) == NAMES[values.argmax(axis=1)]).all()


def test_ecoc_marks_columns_and_names_the_nearest_row():
    code = np.array([[1, -1, 1, -1], [-1, -1, 1, 1], [1, 1, -1, 1]])
    replicas, labels = extended(X, np.arange(4.0)[:, None]), code[Y].ravel()
    values = SVC(gamma=GAMMA, C=4.0, tol=1e-7).fit(replicas, labels).decision_function(replicas).reshape(-1, 4)
    model = SingleBinaryClassifier("ecoc", code=code, C=4.0, **EXACT).fit(X, Y)
    assert np.abs(model.copy_scores(X) - values).max() < 1e-4
    nearest = np.linalg.norm(values[:, None] - code, axis=2).argmin(axis=1)
    assert (model.predict(X) == nearest).all()
    model.set_params(decode="hamming")
    wrong = (np.sign(values)[:, None] != code).sum(axis=2)
    assert (wrong[np.arange(150), model.predict(X)] == wrong.min(axis=1)).all()


def test_summed_margins_settle_ties_between_code_words():
    code = np.array([[1, 1, 1], [-1, -1, 1], [1, -1, -1]])
    scores = np.array([[0.1, -5.0, 3.0]])  # one wrong sign for each of the three
    assert decode_scores(scores, code, "hamming").argmax() == (scores @ code.T).argmax() == 1
    scores = np.array([[100.0, 100.0, -0.1]])  # large margins are no match for a sign
    assert decode_scores(scores, code, "hamming").argmax() == 0


@given(st.integers(2, 7), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_the_closed_forms_of_the_weighted_kernels(count, rho, seed):
    rng = np.random.default_rng(seed)
    mu, table = rng.random(count), rng.normal(size=(count, count))
    table += table.T
    kernels = ClassKernels(count, rho)
    each = [kernels.gram(k) for k in range(count)]
    assert kernels.weighted(mu) == pytest.approx(sum(mu[k] * each[k] for k in range(count)))
    assert kernels.products(table) == pytest.approx([(table * one).sum() for one in each])


def test_marks_are_the_papers():
    """The k-th matrix of SBC-KERNEL is all zeros but for one 1; kernels are Gaussian with the points' width."""
    rho = np.exp(-2 * GAMMA)
    for k in range(4):
        marks = np.zeros((4, 4))
        marks[k, k] = 1.0
        assert ClassKernels(4, rho).gram(k) == pytest.approx(rbf_kernel(marks, gamma=GAMMA))
    assert extension_gram("identity", 4, rho) == pytest.approx(rbf_kernel(np.eye(4), gamma=GAMMA))
    assert extension_gram("single", 4, rho) == pytest.approx(rbf_kernel(np.arange(4.0)[:, None], gamma=GAMMA))


def naive_algorithm_2(gram, y, box, radius, rounds, gamma):
    """Algorithm 2 on explicit matrices, step by step as printed; return the weights after each round."""
    count = y.max() + 1
    q = np.exp(-gamma)
    labels = np.where(y[:, None] == np.arange(count), 1.0, -1.0).ravel()
    kernels = []
    for k in range(count):
        own = np.array([[q if (s == k) != (t == k) else 1.0 for t in range(count)] for s in range(count)])
        kernels.append(np.kron(gram, own))
    mu, path = np.full(count, radius / count), []
    for _ in range(rounds):
        machine = SVC(kernel="precomputed", C=box, tol=1e-8).fit(
            sum(m * k for m, k in zip(mu, kernels, strict=True)), labels
        )
        beta = np.zeros(len(labels))
        beta[machine.support_] = machine.dual_coef_[0]
        mu = mu + np.array([beta @ k @ beta for k in kernels])
        if mu.sum() > radius:
            mu = mu * radius / mu.sum()
        path.append(mu)
    return path


def test_algorithm_2_is_the_printed_one():
    some = slice(None, None, 3)
    path = naive_algorithm_2(rbf_kernel(X[some], gamma=GAMMA), Y[some], 2.0, 5.0, 3, GAMMA)
    for rounds, mu in enumerate(path, start=1):
        model = SingleBinaryClassifier(C=2.0, radius=5.0, mu_update="paper", mu_tol=0.0, max_rounds=rounds, **EXACT)
        with pytest.warns(ConvergenceWarning, match="still change"):
            model.fit(X[some], Y[some])
        assert model.mu_ == pytest.approx(mu, rel=1e-4)
        assert model.n_rounds_ == rounds


@pytest.fixture(scope="module")
def learned():
    settings = {"C": 4.0, "mu_tol": 1e-6, "max_rounds": 2000, **EXACT}
    return {each: SingleBinaryClassifier(mu_update=each, **settings).fit(X, Y) for each in ("paper", "mkl")}


def gradients(model):
    rows = model.support_
    inside = model.dual_coef_.T @ rbf_kernel(X[rows], gamma=GAMMA) @ model.dual_coef_
    return np.array([(inside * ClassKernels(3, np.exp(-2 * GAMMA)).gram(k)).sum() for k in range(3)])


def test_the_printed_update_stops_where_weights_are_proportional_to_gradients(learned):
    ratio = gradients(learned["paper"]) / learned["paper"].mu_
    assert ratio / ratio.mean() == pytest.approx(np.ones(3), rel=1e-3)
    assert learned["paper"].mu_.sum() == pytest.approx(np.sqrt(len(X)))


def test_the_other_update_reaches_equal_gradients_and_a_lower_objective(learned):
    gradient = gradients(learned["mkl"])[learned["mkl"].mu_ > 1e-3]
    assert gradient / gradient.mean() == pytest.approx(np.ones(len(gradient)), rel=1e-2)
    assert learned["mkl"].mu_gap_ < 1e-3 < learned["paper"].mu_gap_
    assert learned["mkl"].objective_ < learned["paper"].objective_ * (1 - 1e-4)


def test_a_step_keeps_weights_positive_and_within_the_radius():
    mu, gradient = np.array([1.0, 2.0, 3.0]), np.array([4.0, 0.0, 1.0])
    for update in ("paper", "mkl"):
        moved = next_weights(mu, gradient, 6.0, update)
        assert (moved >= 0.0).all()
        assert moved.sum() == pytest.approx(6.0)
    assert next_weights(mu, np.zeros(3), 6.0, "mkl") is mu


def test_weights_can_stay_as_they_are():
    model = SingleBinaryClassifier(learn_mu=False, gamma=GAMMA).fit(X, Y)
    assert model.mu_ == pytest.approx(np.full(3, np.sqrt(150) / 3))
    uneven = np.r_[0:50, 50:70, 100:130]
    model = SingleBinaryClassifier(learn_mu=False, mu_init="frequency", radius=2.0, gamma=GAMMA).fit(
        X[uneven], Y[uneven]
    )
    assert model.mu_ == pytest.approx([1.0, 0.4, 0.6])
    assert model.n_rounds_ == 0


@pytest.mark.parametrize("extension", ["kernel", "identity", "single"])
def test_a_shared_bias_never_changes_who_is_named(extension):
    model = SingleBinaryClassifier(extension, C=2.0, gamma=GAMMA).fit(X, Y)
    named = model.predict(X)
    for bias in (0.0, -7.0, 3.0):
        model.intercept_ = np.full(3, bias)
        assert (model.predict(X) == named).all()
    model.intercept_ = np.array([0.0, 9.0, 0.0])  # one for each class does
    assert (model.predict(X) != named).any()


def one_vs_all(X, y, C):
    machines = [SVC(gamma=GAMMA, C=C, tol=1e-7).fit(X, y == label) for label in np.unique(y)]
    return np.column_stack([machine.decision_function(X) for machine in machines])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_unlike_marks_and_a_bias_for_each_class_are_one_vs_all(load):
    points, labels = load(return_X_y=True)
    points = scale(points)
    values = one_vs_all(points, labels, 3.0)
    model = SingleBinaryClassifier("identity", C=3.0, rho=0.0, bias="class", **EXACT).fit(points, labels)
    assert np.abs(model.decision_function(points) - values).max() < 1e-4
    coded = SingleBinaryClassifier("ecoc", C=3.0, rho=0.0, bias="class", **EXACT).fit(points, labels)
    assert coded.code_.shape == (3, 3)  # the only dichotomies of three classes are those of one-vs-all
    assert (coded.predict(points) == values.argmax(axis=1)).all()


def test_every_form_of_the_same_kernel_gives_the_same_scores():
    plain = SingleBinaryClassifier(C=2.0, gamma=GAMMA).fit(X, Y)
    values = plain.decision_function(X[:20])
    for form, given_, new in (
        ("precomputed", rbf_kernel(X, gamma=GAMMA), rbf_kernel(X[:20], X, gamma=GAMMA)),
        ("distances", euclidean_distances(X, squared=True), euclidean_distances(X[:20], X, squared=True)),
        ("rbf", scipy.sparse.csr_matrix(X), scipy.sparse.csc_array(X[:20])),
        (lambda a, b: np.exp(-GAMMA * ((a - b) ** 2).sum()), X, X[:20]),
    ):
        model = clone(plain).set_params(kernel=form).fit(given_, Y)
        assert np.abs(model.decision_function(new) - values).max() < 5e-3


def test_the_mean_scaling_divides_by_the_number_of_copies():
    mean = SingleBinaryClassifier("identity", C=900.0, C_scaling="mean", **EXACT).fit(X, Y)
    plain = SingleBinaryClassifier("identity", C=2.0, **EXACT).fit(X, Y)
    assert mean.decision_function(X) == pytest.approx(plain.decision_function(X), abs=1e-6)


def test_likeness_of_marks_is_given_in_two_ways():
    by_width = SingleBinaryClassifier("single", gamma=GAMMA, ext_scale=1.5).fit(X, Y)
    by_likeness = SingleBinaryClassifier("single", gamma=GAMMA, rho=np.exp(-1 / 1.5**2)).fit(X, Y)
    tied = SingleBinaryClassifier("single", gamma=1 / (2 * 1.5**2)).fit(X, Y)
    assert by_width.label_gram_ == pytest.approx(by_likeness.label_gram_)
    assert by_width.label_gram_ == pytest.approx(tied.label_gram_)
    with pytest.raises(
        ValueError, match="The 'rho' parameter of SingleBinaryClassifier must be None where 'ext_scale' is given"
    ):
        SingleBinaryClassifier(rho=0.1, ext_scale=1.0).fit(X, Y)


def test_it_lives_in_pipelines_and_searches():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SingleBinaryClassifier("identity", rho=0.1)),
        {"singlebinaryclassifier__C": [0.1, 10.0], "singlebinaryclassifier__gamma": [0.01, 0.2]},
        cv=3,
    ).fit(X, NAMES[Y])
    assert search.best_score_ > 0.93
    distances = euclidean_distances(X, squared=True)
    on_distances = GridSearchCV(SingleBinaryClassifier("identity", kernel="distances"), {"gamma": [0.01, 0.2]}, cv=3)
    assert on_distances.fit(distances, Y).best_score_ > 0.9  # both sides of the matrix are cut


def test_two_classes_a_class_of_one_row_and_constant_features():
    two = SingleBinaryClassifier(gamma=GAMMA).fit(X[:100], NAMES[Y[:100]])
    assert two.decision_function(X[:100]).shape == (100,)
    assert two.score(X[:100], NAMES[Y[:100]]) == 1.0
    lonely = np.r_[0:100, 149]
    one = SingleBinaryClassifier("identity", C=100.0, gamma=2.0, rho=0.0).fit(X[lonely], Y[lonely])
    assert one.predict(X[[149]]) == [2]
    for extension in ("kernel", "identity", "single", "ecoc"):
        flat = SingleBinaryClassifier(extension).fit(np.ones((6, 2)), [1, 1, 1, 2, 2, 3])
        assert np.isfinite(flat.decision_function(np.ones((1, 2)))).all()


def test_a_fit_can_go_on_from_the_last_one():
    model = SingleBinaryClassifier("identity", C=1.0, gamma=GAMMA, warm_start=True).fit(X, Y)
    cold_steps = model.n_iter_
    assert model.fit(X, Y).n_iter_ == 1  # nothing is left to do
    warm = model.set_params(C=1.1).fit(X, Y)
    cold = SingleBinaryClassifier("identity", C=1.1, gamma=GAMMA).fit(X, Y)
    assert warm.n_iter_ < cold_steps
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    model.fit(X[:80], Y[:80])  # other rows: from the beginning
    assert model.objective_ == pytest.approx(
        SingleBinaryClassifier("identity", C=1.1, gamma=GAMMA).fit(X[:80], Y[:80]).objective_
    )


def test_the_order_of_classes_does_not_matter_where_marks_are_alike():
    turned = np.array([2, 0, 1])[Y]
    plain = SingleBinaryClassifier(C=2.0, **EXACT).fit(X, Y).decision_function(X)
    moved = SingleBinaryClassifier(C=2.0, **EXACT).fit(X, turned).decision_function(X)
    assert np.abs(plain[:, [1, 2, 0]] - moved).max() < 1e-3


def test_fitted_models_travel_and_unfitted_ones_say_so():
    model = SingleBinaryClassifier("ecoc", gamma=GAMMA, random_state=0).fit(X, Y)
    assert (pickle.loads(pickle.dumps(model)).decision_function(X) == model.decision_function(X)).all()
    with pytest.raises(NotFittedError):
        SingleBinaryClassifier().copy_scores(X)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"C": 0}, "The 'C' parameter of SingleBinaryClassifier must be a float in the range"),
        ({"extension": "pairs"}, "The 'extension' parameter of SingleBinaryClassifier must be a str among"),
        ({"rho": 1.5}, "The 'rho' parameter of SingleBinaryClassifier must be"),
        (
            {"extension": "ecoc", "code": np.ones((3, 4))},
            "The 'code' parameter of SingleBinaryClassifier must be an array of 3",
        ),
        (
            {"extension": "ecoc", "code": [[1, 0], [2, 0], [0, 1]]},
            "The 'code' parameter of SingleBinaryClassifier must be",
        ),
        ({"kernel": "distances"}, "should be a square matrix"),
    ],
)
def test_refusals(wrong, message):
    with pytest.raises(ValueError, match=message):
        SingleBinaryClassifier(**wrong).fit(X, Y)


def test_one_class_is_refused_and_too_few_steps_are_told():
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        SingleBinaryClassifier().fit(X, np.zeros(150))
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        SingleBinaryClassifier("identity", max_iter=3).fit(X, Y)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_exhaustive_code_has_every_dichotomy_once(count):
    code = exhaustive_code(count)
    assert code.shape == (count, 2 ** (count - 1) - 1)
    assert len(np.unique(code, axis=1).T) == code.shape[1]
    assert not (np.abs(code.sum(axis=0)) == count).any()


def test_a_random_code_tells_many_classes_apart():
    code = dense_code(12, np.random.RandomState(0))
    assert (code == dense_code(12, np.random.RandomState(0))).all()
    assert set(np.unique(code)) == {-1, 1}
    distances = (code.shape[1] - code @ code.T) / 2 + np.eye(12) * 99
    assert distances.min() >= 8
    points, labels = make_classification(
        300, 8, n_informative=8, n_redundant=0, n_classes=6, n_clusters_per_class=1, class_sep=3.0, random_state=0
    )
    assert (
        SingleBinaryClassifier("ecoc", C=8.0, rho=0.0, random_state=0).fit(points, labels).score(points, labels) > 0.95
    )
