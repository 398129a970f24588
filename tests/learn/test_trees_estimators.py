"""Trees of SVMs as estimators: scikit-learn's contract, laws, bad input, what a fitted tree tells."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from estimator_checks import every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from pairsim.bounds import tree_risk_bound
from pairsim.errors import ParameterError
from pairsim.learn import HierarchicalSVC, shared_fits
from pairsim.learn import SequentialDiscriminatingTreeClassifier as Tree
from pairsim.learn.gram import KernelClassifier
from pairsim.learn.trees import class_rows, linear_svm

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
BOTH = pytest.mark.parametrize("kind", [Tree, HierarchicalSVC])

CHECKED = every_check(
    Tree(),
    Tree(kernel="linear"),
    Tree(kernel="precomputed"),
    HierarchicalSVC(),
    HierarchicalSVC("samples", kernel="linear"),
)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def blobs(classes, rows=20, features=4, spread=2.0, seed=0):
    return make_blobs(classes * rows, features, centers=classes, cluster_std=spread, random_state=seed)


# --- predictions -----------------------------------------------------------------------------------------------------


def dense_walk(model, points):
    """Walk down the tree row by row, from the scores of all nodes."""
    labels = []
    for scores in model.node_scores(points):
        node = 0
        while node >= 0:
            node = int(model.tree_.left[node] if scores[node] >= 0.0 else model.tree_.right[node])
        labels.append(model.classes_[-node - 1])
    return np.array(labels)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 8),
    st.integers(0, 10**6),
    st.sampled_from(["linear", "rbf", "poly", "sparse", "precomputed", "distances", "wide"]),
    st.sampled_from([Tree, HierarchicalSVC]),
)
def test_lazy_labels_are_those_of_the_dense_walk_and_of_the_scores(classes, seed, form, kind):
    points, labels = blobs(classes, 8, 12 if form == "wide" else 3, 4.0, seed)
    options = {"kernel": form}
    if form in ("precomputed", "distances"):
        points = (rbf_kernel if form == "precomputed" else euclidean_distances)(points)
    elif form == "sparse":
        points, options = scipy.sparse.csr_matrix(points), {"kernel": "linear"}
    elif form == "wide":  # more features than rows
        points, options = np.tile(points, 10), {"kernel": "linear"}
    model = kind(C=3.0, random_state=seed, **options).fit(points, labels)
    predicted = model.predict(points)
    assert (predicted == dense_walk(model, points)).all()
    scores = model.decision_function(points)
    if classes == 2:
        assert scores.shape == (16,)
        assert (predicted == model.classes_[(scores > 0.0).astype(int)]).all()
    else:
        assert scores.shape == (8 * classes, classes)
        assert (predicted == model.classes_[scores.argmax(axis=1)]).all()
        assert ((scores >= 0.0).sum(axis=1) == 1).all()
    places = np.array([0, 5, 3])
    few = points[places] if form != "precomputed" else np.ascontiguousarray(points[places])
    assert (model.predict(few) == predicted[places]).all()  # whichever rows are beside it
    assert model.tree_.n_nodes == classes - 1 == len(model.problem_rows_)
    assert model.problem_rows_.tolist() == [int(np.isin(labels, below).sum()) for below in model.tree_.classes]


def test_scores_are_the_smallest_on_the_way():
    points, labels = blobs(5)
    model = Tree(kernel="linear").fit(points, labels)
    nodes, scores = model.node_scores(points), model.decision_function(points)
    for c in range(5):
        way = [nodes[:, node] * (1.0 if left else -1.0) for node, left in model.tree_.path_to(c)]
        assert scores[:, c] == pytest.approx(np.min(way, axis=0))
    assert nodes == pytest.approx(points @ model.coef_.T + model.intercept_)


def test_a_row_on_the_plane_goes_left_and_scores_say_so():
    for labels in (["a", "b"], ["b", "a"]):
        model = Tree(kernel="linear", C=10.0).fit([[1.0], [-1.0]], labels)
        model.intercept_[:] = 0.0
        assert model.predict([[0.0]]).tolist() == ["a"]
        assert model.decision_function([[0.0]])[0] < 0.0
    model = Tree(kernel="linear").fit(X, Y)
    model.coef_[:], model.intercept_[:] = 0.0, 0.0
    assert model.decision_function(X[:1]).argmax() == 0
    assert model.predict(X[:1]).tolist() == [0]
    assert (np.sort(model.decision_function(X[:1]))[0, :2] < 0.0).all()


@BOTH
def test_two_classes_are_one_svm(kind):
    two = Y > 0
    for kernel in ("linear", "rbf"):
        model = kind(C=2.0, kernel=kernel, tol=1e-6).fit(X, two)
        theirs = SVC(C=2.0, kernel=kernel, tol=1e-6).fit(X, two)
        assert model.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-3)
        assert model.tree_.n_nodes == 1


# --- laws ------------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_order_of_rows_and_names_of_classes_do_not_matter(kind, kernel):
    points, labels = load_wine(return_X_y=True)
    points = scale(points)
    rng = np.random.default_rng(0)
    plain = kind(C=2.0, kernel=kernel, tol=1e-6, random_state=0).fit(points, labels)
    order = rng.permutation(len(points))
    mixed = clone(plain).fit(points[order], labels[order])
    assert mixed.tree_ == plain.tree_
    assert mixed.objectives_ == pytest.approx(plain.objectives_, rel=1e-5)
    assert mixed.decision_function(points) == pytest.approx(plain.decision_function(points), abs=1e-3)
    names = np.array(["z", "m", "a"])[labels]  # the other way round
    named = clone(plain).fit(points, names)
    assert (named.predict(points) == np.array(["z", "m", "a"])[plain.predict(points)]).all()
    assert sorted(named.objectives_) == pytest.approx(sorted(plain.objectives_), rel=1e-5)


@pytest.mark.parametrize("label_kind", [str, int, float, bool, object])
def test_labels_of_any_type(label_kind):
    names = NAMES if label_kind in (str, object) else np.array([3, 4, 9])
    labels = (Y > 0 if label_kind is bool else names[Y]).astype(label_kind)
    for kind in (Tree, HierarchicalSVC):
        model = kind().fit(X, labels)
        assert set(model.predict(X).tolist()) <= set(labels.tolist())
        assert model.score(X, labels) > 0.9
        assert str(labels[0]) in model.export_text()


@BOTH
def test_every_form_of_the_same_kernel_gives_the_same_scores(kind):
    plain = kind(C=2.0, gamma=0.4, tol=1e-6, random_state=0).fit(X, NAMES[Y])
    values = plain.decision_function(X[:20])
    mixed = np.random.RandomState(0).permutation(150)
    for form, given_, new in (
        ("precomputed", rbf_kernel(X[mixed], gamma=0.4), rbf_kernel(X[:20], X[mixed], gamma=0.4)),
        ("distances", euclidean_distances(X[mixed], squared=True), euclidean_distances(X[:20], X[mixed], squared=True)),
        ("rbf", scipy.sparse.csr_matrix(X[mixed]), scipy.sparse.coo_array(X[:20])),
        ("rbf", scipy.sparse.csr_matrix(X[mixed]), X[:20]),
        ("rbf", X[mixed], scipy.sparse.csr_matrix(X[:20])),
        (lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum()), X[mixed], X[:20]),
        ("rbf", pd.DataFrame(X[mixed], columns=list("abcd")), pd.DataFrame(X[:20], columns=list("abcd"))),
    ):
        model = clone(plain).set_params(kernel=form).fit(given_, NAMES[Y][mixed])
        assert model.decision_function(new) == pytest.approx(values, abs=1e-4)


@pytest.mark.parametrize("form", ["dense", "sparse", "wide"])
def test_the_linear_kernel_is_the_same_with_and_without_a_gram_matrix(form, monkeypatch):
    few = Tree(kernel="linear", C=0.7, tol=1e-6).fit(X + 5.0, Y)
    points = scipy.sparse.csr_matrix(X + 5.0) if form == "sparse" else X + 5.0
    if form != "sparse":
        monkeypatch.setattr(class_rows, "FEATURES", 3)
    many = Tree(kernel="linear", C=0.7, tol=1e-6).fit(points, Y)
    assert many.tree_ == few.tree_
    assert many.objectives_ == pytest.approx(few.objectives_, rel=1e-6)
    assert many.decision_function(points) == pytest.approx(few.decision_function(X + 5.0), abs=1e-3)
    assert many.margins_ == pytest.approx(few.margins_, abs=1e-3)
    assert many.radius_ == pytest.approx(few.radius_)
    assert many.coef_.shape == (2, 4)


@BOTH
def test_pickles_clones_and_threads(kind):
    points, labels = blobs(9, 10)
    model = kind(random_state=3, n_jobs=2).fit(points, labels)
    again = kind(random_state=3).fit(points, labels)
    assert again.tree_ == model.tree_
    assert (again.decision_function(points) == model.decision_function(points)).all()
    loaded = pickle.loads(pickle.dumps(model))
    assert (loaded.decision_function(points) == model.decision_function(points)).all()
    assert loaded.tree_ == model.tree_
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(make_pipeline(StandardScaler(), kind()), {f"{kind.__name__.lower()}__C": [0.1, 10.0]}, cv=3)
    assert search.fit(X, Y).best_score_ > 0.9


def test_a_second_fit_leaves_nothing_of_the_first():
    model = Tree().fit(X, Y)
    assert model.dual_coef_.shape[0] == 2
    model.set_params(kernel="linear").fit(X, Y)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "support_")
    assert model.set_params(kernel="rbf").fit(X, Y).score(X, Y) > 0.9
    assert not hasattr(model, "coef_")


# --- parameters ------------------------------------------------------------------------------------------------------


def test_the_papers_scaling_divides_by_the_rows_of_the_node():
    scaled = Tree(C_scaling="lambda", lambda_1=300.0, kernel="linear", tol=1e-6).fit(X, Y)
    assert scaled.tree_.nested == (0, (1, 2))
    for rows, labels, objective in ((X, Y == 0, 0), (X[50:], Y[50:] == 1, 1)):
        theirs = SVC(kernel="linear", C=300.0 / len(rows), tol=1e-6).fit(rows, labels)
        value = np.abs(theirs.dual_coef_).sum() - 0.5 * (theirs.coef_**2).sum()
        assert scaled.objectives_[objective] == pytest.approx(value, rel=1e-5)


def test_class_weights():
    rows = np.r_[0:50, 50:60, 100:150]
    points, labels = X[rows], NAMES[Y[rows]]
    for kernel in ("linear", "rbf"):
        model = HierarchicalSVC(kernel=kernel, class_weight="balanced", tol=1e-6).fit(points, labels)
        assert model.tree_.nested == (0, (1, 2))
        inner = points[50:], labels[50:]
        theirs = SVC(kernel=kernel, class_weight="balanced", tol=1e-6, gamma=model.gamma_).fit(*inner)
        node = model.node_scores(points[50:])[:, 1]
        assert node == pytest.approx(-theirs.decision_function(points[50:]), abs=2e-3)
        factors = {"versicolor": 7.0}
        model = HierarchicalSVC(kernel=kernel, class_weight=factors, tol=1e-6).fit(points, labels)
        theirs = SVC(kernel=kernel, class_weight=factors, tol=1e-6, gamma=model.gamma_).fit(*inner)
        assert model.node_scores(points[50:])[:, 1] == pytest.approx(-theirs.decision_function(points[50:]), abs=2e-3)


@pytest.mark.parametrize("weights", [{"setosa": 0.0}, {"setosa": -1.0}, {"rose": 1.0}, {"setosa": np.nan}, {0: 1.0}])
def test_class_weights_that_make_no_sense(weights):
    with pytest.raises(ParameterError, match=r"The 'class_weight' parameter of .* must be"):
        Tree(class_weight=weights).fit(X, NAMES[Y])


@pytest.mark.parametrize(
    "wrong",
    [{"C": 0.0}, {"tol": 0.0}, {"kernel": "x"}, {"gamma": -1.0}, {"solver": "x"}, {"n_starts": -1},
     {"C_scaling": "mean"}, {"lambda_1": 0.0}, {"lambda_2": -1.0}, {"random_state": "x"}, {"class_weight": "x"}],
)  # fmt: skip
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of SequentialDisc"):
        Tree(**wrong).fit(X, Y)


def test_wrong_parameters_of_the_hierarchical_one():
    for wrong in ({"cluster_on": "x"}, {"n_init": 0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of HierarchicalSVC"):
            HierarchicalSVC(**wrong).fit(X, Y)


# --- bad and odd input -----------------------------------------------------------------------------------------------


@BOTH
def test_bad_input_is_refused_in_scikit_learns_words(kind):
    with pytest.raises(ValueError, match="The number of classes has to be greater than one; got 1 class"):
        kind().fit(X, np.zeros(150))
    gaps = X.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        kind().fit(gaps, Y)
    model = kind().fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(gaps)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="Unknown label type"):
        kind().fit(X, np.linspace(0, 1, 150))
    with pytest.raises(NotFittedError):
        kind().predict(X)
    with pytest.raises(ValueError, match="should be a square matrix"):
        kind(kernel="precomputed").fit(X, Y)
    for points in (X * 1e150, scipy.sparse.csr_matrix(X * 1e150)):
        with pytest.raises(ValueError, match=r"too large or not numbers"):
            kind(kernel="linear").fit(points, Y)


@BOTH
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_constant_features_and_one_row_per_class(kind, kernel):
    for points in (np.ones((20, 2)), np.zeros((20, 2)), np.full((20, 1), 1e9)):
        model = kind(kernel=kernel, random_state=0).fit(points, np.arange(20) % 4)
        assert len(set(model.predict(points).tolist())) == 1
        assert np.isfinite(model.decision_function(points)).all()
    with_constant = kind(kernel=kernel, random_state=0).fit(np.column_stack([X, np.ones(150)]), Y)
    assert with_constant.score(np.column_stack([X, np.ones(150)]), Y) > 0.9
    single = kind(C=100.0, kernel=kernel, random_state=0).fit(np.eye(6), list("abcdef"))
    assert single.score(np.eye(6), list("abcdef")) == 1.0
    assert sorted(single.problem_rows_)[-1] == 6


@pytest.mark.parametrize("spread", [1e-8, 1e-3, 1e3, 1e6])
def test_features_of_any_size(spread):
    points, labels = X * spread, NAMES[Y]
    model = Tree(kernel="linear", C=1.0 / spread**2, tol=1e-6).fit(points, labels)  # the same problem
    plain = Tree(kernel="linear", tol=1e-6).fit(X, labels)
    assert model.objectives_ * spread**2 == pytest.approx(plain.objectives_, rel=1e-4)
    assert (model.predict(points) == plain.predict(X)).all()
    assert Tree(C=1e6, kernel="linear").fit(X, Y).score(X, Y) > 0.95


def test_a_solver_that_does_not_end_warns(monkeypatch):
    monkeypatch.setattr(linear_svm, "MOST", 3)
    with pytest.warns(ConvergenceWarning, match="Solver terminated early"):
        Tree(kernel="linear").fit(X, Y)


def test_a_gram_matrix_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("pairsim.memory.free_memory", lambda: 1000)
    with pytest.raises(ParameterError, match="a Gram matrix of 150 rows fits in memory"):
        Tree().fit(X, Y)
    Tree(kernel="linear").fit(X, Y)  # needs none


# --- what a fitted tree tells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_risk_bound_is_that_of_the_margins(kernel):
    points, labels = blobs(4, spread=0.5)
    model = Tree(C=1e4, kernel=kernel, gamma=0.01).fit(points, labels)
    gram = points @ points.T if kernel == "linear" else rbf_kernel(points, gamma=0.01)
    nodes = model.node_scores(points)
    signs = model.tree_.signs()
    number = np.searchsorted(model.classes_, labels)
    for node in range(3):
        own = signs[number, node]
        inside = own != 0
        svm = SVC(kernel="precomputed", C=1e4).fit(gram[np.ix_(inside, inside)], own[inside])
        length = np.sqrt(
            svm.dual_coef_ @ gram[np.ix_(inside, inside)][np.ix_(svm.support_, svm.support_)] @ svm.dual_coef_.T
        )
        nearest = (nodes[inside, node] * own[inside]).min() / length.item()
        assert model.margins_[node] == pytest.approx(nearest, rel=2e-2)
        assert nearest > 0.0
    middle = gram.mean()
    radius = np.sqrt((gram.diagonal() - 2 * gram.mean(axis=1) + middle).max())
    assert model.radius_ == pytest.approx(radius)
    for reading in ("scale-free", "printed"):
        expected = tree_risk_bound(80, model.margins_.tolist(), model.radius_, delta=0.1, reading=reading)
        assert model.risk_bound(delta=0.1, reading=reading) == expected
        assert np.isfinite(expected.value)
    mixed = Tree(C=1.0, kernel=kernel).fit(X, Y).risk_bound()
    assert mixed.value == np.inf
    assert "does not separate" in mixed.note


def test_the_order_of_discrimination_as_text():
    model = Tree(kernel="linear").fit(X, NAMES[Y])
    assert model.export_text() == (
        "node 0: setosa | versicolor, virginica\n"
        "|-- setosa\n"
        "`-- node 1: versicolor | virginica\n"
        "    |-- versicolor\n"
        "    `-- virginica"
    )


# --- the printed method ----------------------------------------------------------------------------------------------


def test_the_printed_method_separates_setosa_first():
    model = Tree(kernel="linear", solver="cccp", C=10.0, n_starts=4, random_state=0).fit(X, NAMES[Y])
    assert model.tree_.nested == (0, (1, 2))
    found, nothing = model.cccp_results_
    assert nothing is None  # two classes leave nothing to divide
    assert found.pure
    assert list(found.objectives) == sorted(found.objectives, reverse=True)
    assert model.n_search_fits_ == 2
    searched = Tree(kernel="linear", C=10.0).fit(X, NAMES[Y])
    assert model.decision_function(X) == pytest.approx(searched.decision_function(X))
    assert not hasattr(model.set_params(solver="search").fit(X, Y), "cccp_results_")


def test_the_printed_method_draws_more_starts_where_all_are_trivial(monkeypatch):
    asked = []

    def partition(gram, classes, *, starts, **options):
        asked.append(starts)
        if len(asked) < wanted:
            raise ParameterError("every start put every class on one side")
        return type("Found", (), {"sides": np.array([-1, 1, 1], np.int8)})()

    monkeypatch.setattr("pairsim.learn.trees.cccp.cccp_partition", partition)
    wanted = 3
    assert Tree(solver="cccp", n_starts=2).fit(X, Y).tree_.nested == (0, (1, 2))
    assert asked == [2, 8, 32]
    wanted = 9
    with pytest.raises(ParameterError, match=r"The 'solver' parameter of Sequential.* must be 'search' for these data"):
        Tree(solver="cccp").fit(X, Y)


def test_a_tree_can_be_drawn():
    from matplotlib.figure import Figure

    from pairsim.plots import plot_tree

    ax = plot_tree(Tree(kernel="linear").fit(X, NAMES[Y]), ax=Figure().subplots())
    texts = " ".join(text.get_text() for text in ax.texts) + " ".join(
        label.get_text() for label in ax.get_yticklabels() + ax.get_xticklabels()
    )
    assert all(name in texts for name in NAMES)


def test_trees_share_a_gram_matrix_with_others(monkeypatch):
    made = []
    plain = KernelClassifier._new_gram
    monkeypatch.setattr(
        KernelClassifier, "_new_gram", lambda self, *rest: made.append(type(self).__name__) or plain(self, *rest)
    )
    with shared_fits():
        shared = [kind(random_state=0).fit(X, Y) for kind in (Tree, HierarchicalSVC)]
    assert made == ["SequentialDiscriminatingTreeClassifier"]
    assert (shared[0].predict(X) == Tree(random_state=0).fit(X, Y).predict(X)).all()
    assert (shared[1].predict(X) == HierarchicalSVC(random_state=0).fit(X, Y).predict(X)).all()
