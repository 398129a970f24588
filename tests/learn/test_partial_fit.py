"""Online learning: rows in parts are the rows as a whole, bit for bit; what a call is given, keeps and rejects."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale
from vector_twins import label_vectors, naive_perceptron

from pairsim.learn import CrammerSingerSVC, MulticlassPerceptronClassifier, VectorPerceptronClassifier, VectorSVC

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])
OWN = [[2.0, 0.0], [-1.0, 1.5], [-0.5, -1.0]]
ORDER = np.random.RandomState(0).permutation(150)


def own_kernel(a, b):
    """Return a kernel of the user's, which knows nothing of other rows."""
    return float(1.0 / (1.0 + np.abs(a - b).sum()))


MODELS = {
    "linear": VectorPerceptronClassifier(kernel="linear"),
    "linear simplex": VectorPerceptronClassifier("simplex", kernel="linear", average=True, step=0.3),
    "linear own": VectorPerceptronClassifier(OWN, kernel="linear", average=True),
    "rbf": VectorPerceptronClassifier(gamma=0.3),
    "rbf simplex": VectorPerceptronClassifier("simplex", gamma=0.3, average=True, margin=2.0),
    "rbf own": VectorPerceptronClassifier(OWN, gamma=0.3, step=0.7),
    "poly": VectorPerceptronClassifier("simplex", kernel="poly", gamma=0.2, degree=2, coef0=1.0),
    "sigmoid": VectorPerceptronClassifier(kernel="sigmoid", gamma=0.01),
    "laplacian": VectorPerceptronClassifier("simplex", kernel="laplacian", gamma=0.3),
    "cosine": VectorPerceptronClassifier("simplex", kernel="cosine"),
    "callable": VectorPerceptronClassifier("simplex", kernel=own_kernel),
    "best": MulticlassPerceptronClassifier(),
    "spread": MulticlassPerceptronClassifier("spread", average=False, fit_intercept=False),
}
FAST = ("linear", "rbf", "best")


def each(names=MODELS):
    return pytest.mark.parametrize("model", [MODELS[name] for name in names], ids=list(names))


def weights(model):
    """Return all that predicts and all that is told of a training."""
    parts = [getattr(model, name, None) for name in ("coef_", "intercept_", "dual_coef_", "support_")]
    rows = getattr(model, "X_fit_", None)
    parts.append(rows.toarray() if scipy.sparse.issparse(rows) else rows)
    return [None if part is None else np.asarray(part) for part in parts], (
        model.n_updates_,
        model.problem_rows_.tolist(),
    )


def equal(first, second):
    """Say whether two models are the same to the last bit."""
    (ours, counts), (theirs, others) = weights(first), weights(second)
    same = [(a is None and b is None) or np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)]
    return all(same) and counts == others


FORMS = [(name, np.asarray) for name in MODELS]
FORMS += [(name, scipy.sparse.csr_array) for name in MODELS if name != "callable"]  # which would take row after row


@pytest.mark.parametrize(("name", "form"), FORMS)
@settings(max_examples=8, deadline=None)
@given(st.data())
def test_rows_in_parts_are_the_rows_as_a_whole(name, form, data):
    """Few different values, so that rows are repeated and margins are met exactly."""
    seed, count = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(6, 40))
    rng, model = np.random.default_rng(seed), MODELS[name]
    unit = data.draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    rows, own = form(rng.integers(-1, 3, size=(count, 3)) * unit), np.r_[0:3, rng.integers(3, size=count - 3)]
    whole = clone(model).set_params(max_iter=1, shuffle=False).fit(rows, own)
    cuts = sorted(data.draw(st.sets(st.integers(1, count - 1), max_size=count - 1)))
    parts = clone(model)
    for first, end in zip([0, *cuts], [*cuts, count], strict=True):
        parts.partial_fit(rows[first:end], own[first:end], classes=[0, 1, 2])
    assert equal(parts, whole)
    assert parts.n_iter_ == len(cuts) + 1
    assert (parts.decision_function(rows) == whole.decision_function(rows)).all()


@each()
def test_another_order_is_another_model(model):
    whole, other = (clone(model).partial_fit(X[order], Y[order], classes=[0, 1, 2]) for order in (ORDER, ORDER[::-1]))
    assert (whole.decision_function(X) != other.decision_function(X)).any()


@pytest.mark.parametrize("labels", ["indicator", "simplex", OWN], ids=["indicator", "simplex", "own"])
@pytest.mark.parametrize("average", [False, True])
def test_online_rows_are_learned_as_the_paper_prints(labels, average):
    vectors = label_vectors(labels, 3) if isinstance(labels, str) else np.array(labels)
    rows, own = X[ORDER], Y[ORDER]
    last, mean, updates = naive_perceptron(rows, own, vectors, 0.5, 1.5, 1)
    for kernel in ("linear", "poly"):
        model = VectorPerceptronClassifier(
            labels, kernel=kernel, degree=1, gamma=1.0, step=0.5, margin=1.5, average=average
        )
        for k in range(150):  # one row after the other
            model.partial_fit(rows[k : k + 1], own[k : k + 1], classes=[0, 1, 2])
        assert model.n_updates_ == updates
        assert model.decision_function(X) == pytest.approx(X @ (mean if average else last).T @ vectors.T)


@each(("linear", "linear own", "best"))
def test_a_second_pass_online_is_a_second_epoch(model):
    twice = clone(model).set_params(max_iter=2, shuffle=False).fit(X[ORDER], Y[ORDER])
    online = clone(model).set_params(max_iter=1, shuffle=False).fit(X[ORDER], Y[ORDER]).partial_fit(X[ORDER], Y[ORDER])
    assert (online.coef_ == twice.coef_).all()
    assert online.n_updates_ == twice.n_updates_
    assert online.n_iter_ == twice.n_iter_ == 2
    assert online.problem_rows_.tolist() == [300]


def test_a_second_pass_with_a_kernel_is_a_second_epoch():
    """The same rows are kept twice, so the sums are rounded otherwise."""
    options = {"gamma": 0.3, "shuffle": False, "average": True}
    twice = VectorPerceptronClassifier("simplex", max_iter=2, **options).fit(X[ORDER], Y[ORDER])
    online = (
        VectorPerceptronClassifier("simplex", max_iter=1, **options)
        .fit(X[ORDER], Y[ORDER])
        .partial_fit(X[ORDER], Y[ORDER])
    )
    assert online.n_updates_ == twice.n_updates_
    assert online.decision_function(X) == pytest.approx(twice.decision_function(X), abs=1e-12)
    assert len(online.support_) == online.n_updates_ > len(twice.support_)
    assert online.support_.max() >= 150


@each()
def test_fit_starts_anew(model):
    model = clone(model).set_params(random_state=0)
    fresh = clone(model).fit(X[:, :2], NAMES[Y])
    again = clone(model).partial_fit(X, Y, classes=[0, 1, 2]).fit(X[:, :2], NAMES[Y])
    assert equal(again, fresh)
    assert set(vars(again)) == set(vars(fresh))
    assert again.classes_.tolist() == NAMES.tolist()


@each()
def test_models_go_on_after_travel(model):
    model = clone(model)
    for part in np.split(np.arange(150), [40, 41, 90]):
        model = pickle.loads(pickle.dumps(model)).partial_fit(X[ORDER[part]], NAMES[Y[ORDER[part]]], classes=NAMES)
    whole = clone(model).set_params(max_iter=1, shuffle=False).fit(X[ORDER], NAMES[Y[ORDER]])
    assert equal(model, whole)


def test_many_rows_at_once_are_learned_some_at_a_time():
    """More than a piece, and more support rows than features."""
    rows, own = load_digits(return_X_y=True)
    whole = VectorPerceptronClassifier("simplex", gamma=1e-3, max_iter=1, shuffle=False).fit(rows[:900], own[:900])
    parts = VectorPerceptronClassifier("simplex", gamma=1e-3).partial_fit(rows[:700], own[:700], classes=np.arange(10))
    assert equal(parts.partial_fit(rows[700:900], own[700:900]), whole)
    assert parts.n_iter_ == 2
    assert not parts.halted_


def test_rows_of_another_form_are_learned_as_well():
    for first, second in ((np.asarray, scipy.sparse.csr_array), (scipy.sparse.csr_matrix, np.asarray)):
        for model in (
            VectorPerceptronClassifier(gamma=0.3),
            VectorPerceptronClassifier(kernel="linear"),
            MulticlassPerceptronClassifier(),
        ):
            mixed = (
                clone(model).partial_fit(first(X[:70]), Y[:70], classes=[0, 1, 2]).partial_fit(second(X[70:]), Y[70:])
            )
            plain = clone(model).partial_fit(X[:70], Y[:70], classes=[0, 1, 2]).partial_fit(X[70:], Y[70:])
            assert mixed.decision_function(X) == pytest.approx(plain.decision_function(X))
            zeros = scipy.sparse.csr_array(
                (np.zeros(600), np.tile(range(4), 150), np.arange(0, 601, 4)), shape=(150, 4)
            )
            assert np.isfinite(mixed.partial_fit(zeros, Y).decision_function(X)).all()


def test_the_width_is_that_of_the_first_rows():
    model = VectorPerceptronClassifier().partial_fit(X[:50], Y[:50], classes=[0, 1, 2])
    assert model.gamma_ == pytest.approx(1.0 / (4 * X[:50].var()))
    before = model.gamma_
    assert model.partial_fit(X[50:] * 10.0, Y[50:]).gamma_ == before
    alone = VectorPerceptronClassifier().partial_fit(np.ones((1, 4)), [2], classes=[0, 1, 2])
    assert alone.gamma_ == 1.0
    assert alone.predict(np.ones((1, 4))) == [2]


@each()
@pytest.mark.parametrize("started", [False, True])
def test_what_is_refused_changes_nothing(model, started):
    model = clone(model)
    if started:
        model.partial_fit(X[:50], Y[:50], classes=[0, 1, 2])
    before = pickle.dumps(weights(model)) if started else None
    bad, classes = X[:4].copy(), None if started else [0, 1, 2]
    bad[2, 1] = np.nan
    for rows, own, given_, message in (
        (bad, Y[:4], classes, "Input X contains NaN"),
        (
            X[:4],
            [0, 1, 2, 3],
            classes,
            r"The target label\(s\) \[3\] in y do not exist in the initial classes \[0 1 2\]",
        ),
        (X[:4], ["a", "b", "a", "b"], classes, "do not exist in the initial classes|Unknown label"),
        (X[:4], [0.5, 1.5, 2.0, 0.0], classes, "Unknown label type: continuous"),
        (X[:4], Y[:3], classes, "inconsistent numbers of samples"),
        (X[:0], Y[:0], classes, "Found array with 0 sample"),
        (X[:4], Y[:4], [[0, 1], [1, 2]], "y should be a 1d array"),
        (X[:4], Y[:4], [0.0, np.nan, 1.0], "contains NaN"),
        (X[:4], Y[:4], [], "number of classes has to be greater than one|is not the same as on last call"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, own, classes=given_)
    if started:
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features as input"):
            model.partial_fit(X[:4, :3], Y[:4])
        with pytest.raises(
            ValueError, match=r"`classes=\[0, 1, 3\]` is not the same as on last call to partial_fit, was"
        ):
            model.partial_fit(X[:4], Y[:4], classes=[0, 1, 3])
        assert pickle.dumps(weights(model)) == before
        assert model.partial_fit(X[50:], Y[50:], classes=(2, 1, 0)).problem_rows_.tolist() == [150]
    else:
        with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
            model.partial_fit(X, Y)
        with pytest.raises(ValueError, match="The number of classes has to be greater than one; got 1 class"):
            model.partial_fit(X[:1], Y[:1], classes=[0])
        with pytest.raises(NotFittedError):
            model.predict(X)
        assert model.partial_fit(X[:1, :2], Y[:1], classes=[0, 1, 2]).n_features_in_ == 2


@pytest.mark.parametrize("model", [MODELS["linear"], MODELS["linear own"], MODELS["best"]], ids=str)
def test_rows_that_no_number_holds_leave_the_last_model(model):
    model = clone(model).partial_fit(X, Y, classes=[0, 1, 2])
    scores, updates = model.decision_function(X), model.n_updates_
    with pytest.raises(ValueError, match="The weights became infinite: the features are too large"):
        model.partial_fit(X * -1e300, Y)
    assert (model.decision_function(X) == scores).all()
    assert model.n_updates_ == updates
    assert np.isfinite(model.partial_fit(X, Y).decision_function(X)).all()


def test_other_kernels_and_labels_need_a_fit():
    model = VectorPerceptronClassifier(gamma=0.3).partial_fit(X, Y, classes=[0, 1, 2])
    for change in ({"kernel": "linear"}, {"gamma": 0.5}, {"kernel": "poly"}, {"labels": "simplex"}, {"labels": OWN}):
        with pytest.raises(ValueError, match="must be those of the last call; call fit to change them"):
            clone(model).fit(X, Y).set_params(**change).partial_fit(X, Y)
        model_ = clone(model).set_params(**change)
        assert model_.fit(X, Y).partial_fit(X, Y).n_iter_ >= 2
    model.set_params(step=0.5, margin=2.0, average=True).partial_fit(X, Y)  # these may change
    assert model.n_iter_ == 2
    for kernel in ("precomputed", "distances"):
        assert not hasattr(VectorPerceptronClassifier(kernel=kernel), "partial_fit")
    assert hasattr(VectorPerceptronClassifier(), "partial_fit")


@each(("rbf", "rbf own", "linear simplex"))
def test_the_bound_on_updates_needs_the_rows(model):
    model = clone(model).partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="update_bound needs X and y: partial_fit does not keep the rows"):
        model.update_bound()
    whole = clone(model).fit(X, Y)
    assert model.update_bound(X, Y) == whole.update_bound() == whole.update_bound(X, Y)
    some = whole.update_bound(X[:60], Y[:60])  # also without the third class
    assert some <= whole.update_bound()


def test_every_learner_says_how_many_rows_it_was_trained_on():
    for model in (
        VectorSVC(),
        VectorSVC("simplex", fit_intercept=True),
        VectorPerceptronClassifier(),
        VectorPerceptronClassifier(kernel="linear"),
        MulticlassPerceptronClassifier(),
        CrammerSingerSVC(),
        CrammerSingerSVC(kernel="rbf"),
        CrammerSingerSVC("sgd", max_iter=2),
    ):
        rows = model.fit(X[:120], Y[:120]).problem_rows_
        assert rows.dtype == np.int64
        assert rows.tolist() == [120]
