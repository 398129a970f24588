"""Nested dichotomies: trees drawn uniformly, products of branch probabilities in plain Python, common checks."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import joblib
import scipy.sparse
import scipy.stats
from estimator_checks import every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pairsim import ParameterError
from pairsim.learn import NestedDichotomiesClassifier
from pairsim.learn.trees.branch_models import platt_link, sigmoid, train_branch
from pairsim.learn.trees.random_trees import draw_class_balanced, draw_data_balanced, draw_uniform

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
DIGITS = tuple(part[:400] for part in load_digits(return_X_y=True))
DIGITS = DIGITS[0] / 16.0, DIGITS[1]

CHECKED = [
    *every_check(
        NestedDichotomiesClassifier(n_estimators=2, random_state=0),
        NestedDichotomiesClassifier(GaussianNB(), 1, split="class-balanced", random_state=0),
        NestedDichotomiesClassifier(LinearSVC(random_state=0), 2, split="data-balanced", calibration=2, random_state=0),
    ),
    *(
        each  # this one gives a matrix of pairs that is not square
        for each in every_check(
            NestedDichotomiesClassifier(SVC(kernel="precomputed"), 2, calibration=2, random_state=0)
        )
        if "check_decision_proba_consistency" not in each.id
    ),
]


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# --- which trees -----------------------------------------------------------------------------------------------------


@functools.cache
def every_system(classes):
    """Return all systems of nested dichotomies of a tuple of classes, the side with the lowest class first."""
    if len(classes) == 1:
        return [classes[0]]
    found = []
    first, others = classes[0], classes[1:]
    for chosen in range(2 ** len(others) - 1):
        one = (first, *(c for k, c in enumerate(others) if chosen >> k & 1))
        two = tuple(c for k, c in enumerate(others) if not chosen >> k & 1)
        found += [(left, right) for left in every_system(one) for right in every_system(two)]
    return found


def leaves(nested):
    return [nested] if isinstance(nested, int) else leaves(nested[0]) + leaves(nested[1])


def balanced(nested):
    if isinstance(nested, int):
        return True
    sizes = [len(leaves(side)) for side in nested]
    return abs(sizes[0] - sizes[1]) <= 1 and all(map(balanced, nested))


def draw_by_coins(rows, rng):
    """The negative control: each class goes to a side by a fair coin, at every node, which is not uniform."""
    from pairsim.learn.trees.class_tree import ClassTree

    def split(classes):
        while True:
            to_left = np.array([True, *rng.randint(2, size=len(classes) - 1).astype(bool)])
            if not to_left.all():
                return np.array(classes)[to_left], np.array(classes)[~to_left]

    return ClassTree.grow(len(rows), split)


def uniformity(draw, systems, count, draws=4000):
    """Return the p-value of chi-square for equally many draws of each of these systems."""
    rng = np.random.RandomState(7)
    seen = collections.Counter(draw(np.ones(count, np.int64), rng).nested for _ in range(draws))
    assert set(seen) <= set(systems)
    return scipy.stats.chisquare([seen[each] for each in systems]).pvalue


def test_every_tree_of_four_classes_is_equally_probable():
    """Fixed seeds; a correct sampler would fail with a probability of 0.001 per line under other ones."""
    assert [len(every_system(tuple(range(k)))) for k in (2, 3, 4, 5)] == [1, 3, 15, 105]
    assert [math.prod(range(1, 2 * k - 2, 2)) for k in (2, 3, 4, 5)] == [1, 3, 15, 105]
    assert uniformity(draw_uniform, every_system((0, 1, 2, 3)), 4) > 0.001
    assert uniformity(draw_uniform, every_system((0, 1, 2, 3, 4)), 5) > 0.001
    assert uniformity(draw_by_coins, every_system((0, 1, 2, 3)), 4) < 1e-6


def test_every_class_balanced_tree_is_equally_probable():
    """The numbers of trees are those that Dong, Frank and Kramer print."""
    for k, number in ((4, 3), (5, 30), (6, 90)):
        systems = [each for each in every_system(tuple(range(k))) if balanced(each)]
        assert len(systems) == number
        assert uniformity(draw_class_balanced, systems, k) > 0.001
    systems = [each for each in every_system((0, 1, 2, 3, 4)) if balanced(each)]


def test_data_balanced_roots_follow_the_rule():
    """All orders of four classes, dealt by hand; the negative control deals by class and not by rows."""
    rows = np.array([1, 2, 3, 9])
    wanted = collections.Counter()
    for order in itertools.permutations(range(4)):
        hands, waiting = [[], []], list(order)
        while waiting:
            hands[len(hands[0]) > len(hands[1])].append(waiting.pop(0))
            if max(sum(rows[c] for c in hand) for hand in hands) >= 7.5:
                lighter = min(hands, key=lambda hand: sum(rows[c] for c in hand))
                lighter += waiting
                break
        wanted[frozenset(map(frozenset, hands))] += 1

    def fit(draw, draws=4000):
        rng = np.random.RandomState(3)
        found = collections.Counter(frozenset(map(frozenset, draw(rows, rng).sides(0))) for _ in range(draws))
        if set(found) != set(wanted):
            return 0.0
        return scipy.stats.chisquare([found[each] for each in wanted], [wanted[each] * draws / 24 for each in wanted])[
            1
        ]

    assert len(wanted) > 2
    assert fit(draw_data_balanced) > 0.001
    assert fit(draw_class_balanced) < 1e-6
    assert fit(draw_uniform) < 1e-6


@settings(deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_trees_are_written_in_one_way_only(count, seed):
    rows = np.random.RandomState(seed).randint(1, 100, size=count)
    for draw in (draw_uniform, draw_class_balanced, draw_data_balanced):
        tree = draw(rows, np.random.RandomState(seed))
        assert tree.n_classes == count
        assert all(min(one) < min(two) for one, two in map(tree.sides, range(tree.n_nodes)))
        if draw is draw_class_balanced:
            assert tree.depth == math.ceil(math.log2(count))
        if draw is draw_data_balanced:
            for node in range(tree.n_nodes):
                parts = [rows[list(side)] for side in tree.sides(node)]
                heavier = max(parts, key=np.sum)  # without the class that was dealt last it had less than half
                assert heavier.sum() - heavier.max() < sum(part.sum() for part in parts) / 2


# --- probabilities ---------------------------------------------------------------------------------------------------


def naive_probabilities(nested, base, rows, numbers, new):
    """Return a dictionary from class to probabilities of new rows, by the definition."""
    if isinstance(nested, int):
        return {nested: np.ones(len(new))}
    one, two = (set(leaves(side)) for side in nested)
    inside = [i for i, c in enumerate(numbers) if c in one | two]
    model = clone(base).fit(rows[inside], [int(numbers[i] in one) for i in inside])
    left = model.predict_proba(new)[:, 1]
    below = [naive_probabilities(side, base, rows, numbers, new) for side in nested]
    return {c: p * left for c, p in below[0].items()} | {c: p * (1.0 - left) for c, p in below[1].items()}


@pytest.mark.parametrize("split", ["random", "class-balanced", "data-balanced"])
@pytest.mark.parametrize("base", [GaussianNB(), DecisionTreeClassifier(max_depth=2)])
def test_probabilities_are_products_averaged_over_the_trees(split, base):
    rows, numbers = DIGITS[0][DIGITS[1] < 6], DIGITS[1][DIGITS[1] < 6]
    model = NestedDichotomiesClassifier(clone(base).set_params(), 4, split=split, random_state=3)
    if "random_state" in base.get_params():
        base = clone(base).set_params(random_state=0)
        model.set_params(estimator=base)
    model.fit(rows[:120], numbers[:120])
    expected = np.zeros((len(rows) - 120, 6))
    for tree in model.trees_:
        by_class = naive_probabilities(tree.nested, base, rows[:120], numbers[:120], rows[120:])
        expected += np.column_stack([by_class[c] for c in range(6)]) / 4
    found = model.predict_proba(rows[120:])
    assert found == pytest.approx(expected, abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert (model.predict(rows[120:]) == expected.argmax(axis=1)).all()
    assert (model.decision_function(rows[120:]) == found).all()
    assert np.abs(found[:, ::-1] - expected).max() > 0.1  # other classes' probabilities are not these


def test_trees_share_the_models_of_equal_dichotomies():
    model = NestedDichotomiesClassifier(GaussianNB(), 30, random_state=0).fit(*DIGITS)
    wanted = {tree.sides(node) for tree in model.trees_ for node in range(9)}
    assert len(model.estimators_) == len(wanted) < 30 * 9 - 20
    assert model.problem_rows_.dtype == np.int64
    sizes = np.bincount(DIGITS[1])
    for tree, places in zip(model.trees_, model.node_estimators_, strict=True):
        rows = [sizes[list(tree.classes[node])].sum() for node in range(9)]
        assert model.problem_rows_[places].tolist() == rows
    iris = NestedDichotomiesClassifier(n_estimators=50, random_state=0).fit(X, Y)
    assert sorted(iris.problem_rows_) == [100] * 3 + [150] * 3  # all three trees, and no model twice


class CountingRows(GaussianNB):
    """Remembers how many rows it was trained on."""

    def fit(self, X, y):
        self.rows_ = len(X)
        return super().fit(X, y)


def test_the_told_sizes_are_those_of_the_arrays_trained_on():
    model = NestedDichotomiesClassifier(CountingRows(), 7, random_state=1).fit(*DIGITS)
    assert [each.rows_ for each in model.estimators_] == model.problem_rows_.tolist()


def test_one_tree_is_drawn_and_written():
    from pairsim.learn.trees.class_tree import export_text
    from pairsim.plots import plot_tree

    one = NestedDichotomiesClassifier(n_estimators=1, random_state=0).fit(X, NAMES[Y])
    assert one.tree_ == one.trees_[0]
    assert export_text(one).startswith("node 0: setosa")
    assert sorted(text.get_text() for text in plot_tree(one).get_yticklabels()) == sorted(NAMES)
    many = one.set_params(n_estimators=2).fit(X, Y)
    assert not hasattr(many, "tree_")
    assert not hasattr(NestedDichotomiesClassifier(n_estimators=1), "tree_")
    with pytest.raises(ParameterError):
        plot_tree(many)


# --- estimators without probabilities --------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 5.0), st.floats(-2.0, 2.0), st.floats(1e-3, 1e3))
def test_platts_sigmoid_is_the_likeliest(seed, slope, offset, scale_):
    rng = np.random.default_rng(seed)
    margins = rng.normal(size=200)
    labels = (rng.random(200) < 1.0 / (1.0 + np.exp(-slope * margins - offset))).astype(np.int64)
    high, low = labels.sum(), 200 - labels.sum()
    if not high or not low:
        assert platt_link(margins, labels) == (-1.0, 0.0)
        return
    targets = np.where(labels == 1, (high + 1) / (high + 2), 1 / (low + 2))

    def loss(link, values):
        p = np.clip(sigmoid(link, values), 1e-300, 1 - 1e-16)
        return -(targets * np.log(p) + (1 - targets) * np.log1p(-p)).sum()

    link = platt_link(margins * scale_, labels)
    least = loss(link, margins * scale_)
    for a, b in ((1.05, 0.0), (0.95, 0.0), (1.0, 0.05), (1.0, -0.05)):
        moved = link._replace(A=link.A * a, B=link.B + b)
        if -moved.A * scale_ > 2e-3:  # inside the bounds
            assert loss(moved, margins * scale_) >= least - 1e-5
    assert link.A < 0.0


def test_margins_are_calibrated_on_rows_left_out():
    """The probabilities of a base without them: better than those of its raw margins, and comparable to Platt's."""
    rows, numbers = DIGITS[0][DIGITS[1] < 6], DIGITS[1][DIGITS[1] < 6]
    losses = {}
    for folds in (None, 3):
        model = NestedDichotomiesClassifier(SVC(C=10.0), 3, calibration=folds, random_state=0)
        found = model.fit(rows[:120], numbers[:120]).predict_proba(rows[120:])
        assert found.sum(axis=1) == pytest.approx(1.0)
        losses[folds] = -np.log(found[np.arange(len(found)), numbers[120:]]).mean()
        assert model.score(rows[120:], numbers[120:]) > 0.8
    assert losses[3] < 0.8 * losses[None]
    raw = NestedDichotomiesClassifier(SVC(C=10.0), 1, calibration=None, random_state=0).fit(X, Y)
    margins = raw.estimators_[0].decision_function(X)
    left = raw.tree_.sides(0)[0]
    assert raw.predict_proba(X)[:, list(left)].sum(axis=1) == pytest.approx(1.0 / (1.0 + np.exp(-margins)))


def test_a_row_that_is_alone_in_its_class_is_never_left_out():
    numbers = np.array([0, 1, 2, 2, 2, 2])
    rows = np.arange(12.0).reshape(6, 2)
    both = train_branch(RidgeClassifier(), rows, numbers, ((0,), (1,)), folds=5, seed=0, pairwise=False)
    assert both.link == (-1.0, 0.0)
    one = train_branch(RidgeClassifier(), rows, numbers, ((0,), (1, 2)), folds=5, seed=0, pairwise=False)
    assert one.link == (-1.0, 0.0)
    assert one.rows == 6
    model = NestedDichotomiesClassifier(RidgeClassifier(), random_state=0).fit(rows, numbers)
    assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1.0)


def test_matrices_of_pairs_are_cut_on_both_sides():
    gram = rbf_kernel(DIGITS[0], gamma=0.05)
    train, test = np.split(np.flatnonzero(DIGITS[1] < 5), [100])
    options = {"n_estimators": 3, "calibration": 3, "random_state": 0}
    inside = NestedDichotomiesClassifier(SVC(kernel="precomputed"), **options)
    inside.fit(gram[np.ix_(train, train)], DIGITS[1][train])
    plain = NestedDichotomiesClassifier(SVC(gamma=0.05), **options).fit(DIGITS[0][train], DIGITS[1][train])
    found = inside.predict_proba(gram[np.ix_(test, train)])
    assert found == pytest.approx(plain.predict_proba(DIGITS[0][test]), abs=1e-6)


# --- the contract ----------------------------------------------------------------------------------------------------


def test_labels_sparse_rows_threads_and_pickles():
    model = NestedDichotomiesClassifier(random_state=5).fit(X, NAMES[Y])
    assert set(model.predict(X)) == set(NAMES)
    with joblib.parallel_config("threading"):
        sparse = clone(model).set_params(n_jobs=2).fit(scipy.sparse.csc_array(X), NAMES[Y])
    assert sparse.trees_ == model.trees_
    assert sparse.predict_proba(scipy.sparse.csr_matrix(X)) == pytest.approx(model.predict_proba(X), abs=1e-4)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.trees_ == model.trees_
    assert clone(model).fit(X, Y).trees_ == model.trees_
    assert clone(model).set_params(random_state=6).fit(X, Y).trees_ != model.trees_
    two = NestedDichotomiesClassifier(random_state=0).fit(X[50:], NAMES[Y[50:]])
    assert two.decision_function(X).shape == (150,)
    assert (two.classes_[(two.decision_function(X) > 0).astype(int)] == two.predict(X)).all()
    found = GridSearchCV(model, {"split": ["random", "class-balanced"], "estimator": [GaussianNB()]}, cv=2)
    assert found.fit(X, NAMES[Y]).best_score_ > 0.9


def test_few_rows_at_a_time_change_nothing(monkeypatch):
    model = NestedDichotomiesClassifier(GaussianNB(), 3, random_state=0).fit(*DIGITS)
    whole = model.predict_proba(DIGITS[0])
    monkeypatch.setattr("pairsim.learn.trees.nested_dichotomies.CHUNK", 90 * len(model.estimators_))
    assert model.predict_proba(DIGITS[0]) == pytest.approx(whole, abs=1e-12)


def test_an_ensemble_is_better_than_a_tree():
    rows, numbers = load_wine(return_X_y=True)
    assert NestedDichotomiesClassifier(random_state=0).fit(scale(rows), numbers).score(scale(rows), numbers) > 0.98
    train, test = slice(0, 200), slice(200, 400)
    scores = {
        trees: np.mean(
            [
                NestedDichotomiesClassifier(GaussianNB(var_smoothing=0.01), trees, random_state=seed)
                .fit(DIGITS[0][train], DIGITS[1][train])
                .score(DIGITS[0][test], DIGITS[1][test])
                for seed in range(4)
            ]
        )
        for trees in (1, 20)
    }
    assert scores[20] > scores[1] + 0.03


def test_refusals():
    with pytest.raises(ValueError, match="greater than one"):
        NestedDichotomiesClassifier().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="NaN"):
        NestedDichotomiesClassifier().fit(np.full((150, 2), np.nan), Y)
    with pytest.raises(ParameterError, match="predict_proba"):
        NestedDichotomiesClassifier(LinearRegression()).fit(X, Y)
    for wrong in ({"n_estimators": 0}, {"split": "x"}, {"calibration": 1}, {"estimator": 5}, {"n_estimators": 2**70}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            NestedDichotomiesClassifier(**wrong).fit(X, Y)
    with pytest.raises(NotFittedError):
        NestedDichotomiesClassifier().predict(X)
    with pytest.raises(ValueError, match="features"):
        NestedDichotomiesClassifier().fit(X, Y).predict_proba(X[:, :2])
    constant = NestedDichotomiesClassifier(random_state=0).fit(np.ones((6, 2)), [0, 0, 1, 1, 2, 2])
    assert constant.predict_proba(np.ones((1, 2))).sum() == pytest.approx(1.0)
