"""What users hand to the estimators of pairsim.learn: labels and data of every form, new rows, threads, other fits."""

from __future__ import annotations

import pickle
import threading

import joblib
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

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

X, Y = load_iris(return_X_y=True)
X, Y = scale(X)[::2], Y[::2]  # every class has 25 rows
NAMES = np.array(["first", "second", "third"])

KERNEL = {
    "OneVsAllClassifier": OneVsAllClassifier(gamma=0.3),
    "AllPairsClassifier": AllPairsClassifier(gamma=0.3),
    "AllPairsClassifier margin": AllPairsClassifier(decision="margin", gamma=0.3),
    "OutputCodeClassifier": OutputCodeClassifier(gamma=0.3),
    "OutputCodeClassifier sparse": OutputCodeClassifier("sparse", "probability", gamma=0.3, random_state=0),
    "SingleBinaryClassifier": SingleBinaryClassifier(gamma=0.3),
    "SingleBinaryClassifier ecoc": SingleBinaryClassifier("ecoc", gamma=0.3, rho=0.1),
    "SingleBinaryClassifier narrow": SingleBinaryClassifier("identity", gamma=0.3, gram_dtype="float32"),
    "VectorSVC": VectorSVC(gamma=0.3, random_state=0),
    "VectorSVC simplex": VectorSVC("simplex", gamma=0.3, random_state=0),
    "VectorPerceptronClassifier": VectorPerceptronClassifier(gamma=0.3, random_state=0),
    "CrammerSingerSVC rbf": CrammerSingerSVC(kernel="rbf", gamma=0.3, random_state=0),
    "KesslerSVC": KesslerSVC(gamma=0.3, random_state=0),
    "SingleBinaryClassifier learned": SingleBinaryClassifier(mu_update="mkl", gamma=0.3),
}
LINEAR = {
    "VectorPerceptronClassifier linear": VectorPerceptronClassifier(kernel="linear", random_state=0),
    "MulticlassPerceptronClassifier": MulticlassPerceptronClassifier(random_state=0),
    "CrammerSingerSVC": CrammerSingerSVC(random_state=0),
    "CrammerSingerSVC sgd": CrammerSingerSVC("sgd", max_iter=5, random_state=0),
}
ESTIMATORS = {
    "OneVsAllClassifier logistic": OneVsAllClassifier(LogisticRegression()),
    "AllPairsClassifier logistic": AllPairsClassifier(LogisticRegression()),
    "OutputCodeClassifier logistic": OutputCodeClassifier("all-pairs", "hamming", LogisticRegression()),
    "PairwiseClassifier": PairwiseClassifier(SVC(gamma=0.3), "max-win:ties=margin", random_state=0),
}
ALL = KERNEL | LINEAR | ESTIMATORS


def each(models):
    return pytest.mark.parametrize("model", models.values(), ids=models)


def named_by_scores(model, rows):
    """Return the labels that the decision function says: of two classes by its sign, of more by the highest."""
    scores = model.decision_function(rows)
    assert np.isfinite(scores).all()
    return model.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


# --- labels ----------------------------------------------------------------------------------------------------------

LABELS = {
    "text": NAMES[Y],
    "objects": NAMES[Y].astype(object),
    "numbers": Y * 10.0 - 7.0,
    "categorical": pd.Categorical(NAMES[Y]),
    "series": pd.Series(NAMES[Y], dtype="category"),
    "days": np.array(["2020-01-01", "2020-01-02", "2020-03-01"], "M8[D]")[Y],
    "list": NAMES[Y].tolist(),
}


@each(ALL)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_names_only(model, kind):
    plain, other = clone(model).fit(X, Y), clone(model).fit(X, LABELS[kind])
    assert (other.decision_function(X) == plain.decision_function(X)).all()
    assert (other.predict(X) == np.unique(np.asarray(LABELS[kind]))[plain.predict(X)]).all()
    assert (other.classes_ == np.unique(np.asarray(LABELS[kind]))).all()


@each(ALL)
def test_truth_values_are_labels_too(model):
    two, truth = clone(model).fit(X[:50], Y[:50]), clone(model).fit(X[:50], Y[:50] == 1)
    assert truth.classes_.dtype == bool
    assert (truth.decision_function(X) == two.decision_function(X)).all()
    assert (truth.predict(X) == (two.decision_function(X) > 0.0)).all()


@each(ALL)
def test_labels_that_are_none(model):
    for labels, message in (
        (np.linspace(0.0, 1.0, 75), "Unknown label type: continuous"),
        (np.r_[np.nan, Y[1:]], "Input y contains NaN"),
        (np.column_stack([Y, Y]), "y should be a 1d array"),
        (Y[:-1], "inconsistent numbers of samples"),
        (np.array([1, *NAMES[Y[1:]]], object), "Unknown label type"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(X, labels)


# --- data ------------------------------------------------------------------------------------------------------------


def long_indices(rows, form, twice=False):
    """Return rows as a sparse matrix with 64-bit indices; with `twice` in two halves, and out of order."""
    values, columns = (np.hstack([rows[:, ::-1] / 2.0] * 2), np.tile([3, 2, 1, 0], 2)) if twice else (rows, range(4))
    starts = np.arange(0, values.size + 1, values.shape[1], dtype=np.int64)
    parts = values.ravel(), np.tile(np.asarray(columns, np.int64), len(rows)), starts
    matrix = scipy.sparse.csr_array(parts, shape=rows.shape)
    return matrix if form == "csr" else matrix.asformat(form)


def on_disk(array, folder):
    joblib.dump(array, folder / "rows")
    return joblib.load(folder / "rows", mmap_mode="r")


@each(ALL)
def test_the_form_of_dense_data_does_not_matter(model, tmp_path):
    plain = clone(model).fit(X, Y).decision_function(X)
    frozen = on_disk(X, tmp_path)
    assert not frozen.flags.writeable
    for rows in (np.asfortranarray(X), frozen, X[::-1][::-1], X.astype(object), X.tolist(), pd.DataFrame(X)):
        assert clone(model).fit(rows, Y).decision_function(rows) == pytest.approx(plain, abs=1e-9)
    whole = np.round(X * 8.0)
    ours, narrow = (clone(model).fit(form, Y) for form in (whole.astype(int), whole.astype(np.float32)))
    assert ours.decision_function(whole) == pytest.approx(clone(model).fit(whole, Y).decision_function(whole))
    assert narrow.decision_function(whole) == pytest.approx(ours.decision_function(whole), rel=0.02, abs=0.02)


@each(KERNEL | LINEAR)
@pytest.mark.parametrize(("form", "twice"), [("csr", False), ("csr", True), ("csc", False), ("coo", False)])
def test_the_form_of_sparse_data_does_not_matter(model, form, twice):
    tight = {"tol": 1e-6} if "tol" in model.get_params() else {}
    plain = clone(model).set_params(**tight).fit(X, Y).decision_function(X)
    rows = long_indices(X, form, twice)
    before = rows.data.copy()
    found = clone(model).set_params(**tight).fit(rows, Y).decision_function(rows)
    assert found == pytest.approx(plain, abs=2e-3 * np.abs(plain).max())
    assert (rows.data == before).all()  # what is given is not changed


def test_every_kernel_takes_long_indices():
    for kernel in ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine"):
        for model in (AllPairsClassifier(kernel=kernel), VectorSVC(kernel=kernel, C=0.1, random_state=0)):
            scores = model.fit(long_indices(X, "csr", True), Y).decision_function(long_indices(X, "csc", True))
            assert scores == pytest.approx(clone(model).fit(X, Y).decision_function(X), abs=5e-3), kernel


@each(ALL)
def test_new_rows_are_checked(model):
    fitted = clone(model).fit(pd.DataFrame(X, columns=list("abcd")), Y)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    for rows, message in (
        (pd.DataFrame(X, columns=list("abdc")), "Feature names must be in the same order"),
        (pd.DataFrame(X[:, :3], columns=list("abc")), "feature names should match|3 features"),
        (pd.DataFrame(X[:0], columns=list("abcd")), "0 sample"),
        (pd.DataFrame(np.where(X > 1.0, np.nan, X), columns=list("abcd")), "NaN"),
    ):
        for method in (fitted.predict, fitted.decision_function):
            with pytest.raises(ValueError, match=message):
                method(rows)


@each(KERNEL)
def test_matrices_of_pairs_are_cut_on_both_sides(model):
    plain = cross_val_score(model, X, Y, cv=3)
    forms = {"distances": euclidean_distances(X, squared=True), "precomputed": rbf_kernel(X, gamma=0.3)}
    for kernel, matrix in forms.items():
        own = clone(model).set_params(kernel=kernel)
        assert cross_val_score(own, matrix, Y, cv=3) == pytest.approx(plain, abs=0.05), kernel
        search = GridSearchCV(own, {"gamma": [0.3]}, cv=3).fit(matrix, Y)
        assert search.best_estimator_.predict(matrix[:5]).tolist() == [0] * 5
        with pytest.raises(ValueError, match="X has 74 features"):
            search.predict(matrix[:, 1:])
        with pytest.raises(ValueError, match="square matrix"):
            own.fit(matrix[:, 1:], Y)


# --- few rows, many classes, decisions that agree --------------------------------------------------------------------


@each(ALL)
def test_scores_and_labels_agree_where_rows_are_few_equal_or_without_length(model):
    twice, apart = np.repeat(X[::15], 2, axis=0), np.tile([0, 1], 5)  # every row has both labels
    problems = [(twice, apart), (np.ones((9, 3)), np.arange(9) % 3), (np.zeros((9, 3)), np.arange(9) % 3)]
    problems += [(X[::15][:size], np.arange(size) % classes) for size in range(2, 6) for classes in range(2, size + 1)]
    problems += [(X[:, 2:3], Y), (np.column_stack([X, np.ones(75)]), Y)]
    for rows, labels in problems:
        fitted = clone(model).set_params(**{"max_iter": 20_000} if "CrammerSingerSVC()" in repr(model) else {})
        fitted.fit(rows, labels)
        assert (named_by_scores(fitted, rows) == fitted.predict(rows)).all()
        assert (named_by_scores(fitted, rows[:1]) == fitted.predict(rows[:1])).all()


@each(
    {
        name: ALL[name]
        for name in (
            "OneVsAllClassifier",
            "AllPairsClassifier",
            "OutputCodeClassifier sparse",
            "VectorSVC",
            "MulticlassPerceptronClassifier",
        )
    }
)
def test_two_hundred_classes(model):
    rows, labels = make_blobs(600, 5, centers=200, random_state=0)
    fitted = clone(model).fit(rows, labels)
    assert fitted.decision_function(rows[:40]).shape == (40, 200)
    assert (named_by_scores(fitted, rows) == fitted.predict(rows)).all()
    assert fitted.score(rows, labels) > 0.4


# --- other fits, threads, travel -------------------------------------------------------------------------------------


@each(ALL)
def test_a_fit_forgets_the_last_one_and_models_travel(model):
    again = clone(model).fit(X, Y).fit(X[20:60, :2], NAMES[Y[20:60]])
    fresh = clone(model).fit(X[20:60, :2], NAMES[Y[20:60]])
    scores = fresh.decision_function(X[:, :2])
    assert set(vars(again)) == set(vars(fresh))
    for form in (again, pickle.loads(pickle.dumps(again))):
        assert (form.decision_function(X[:, :2]) == scores).all()
        assert form.get_params().keys() == fresh.get_params().keys()
    assert not vars(clone(again)).keys() & {"classes_", "n_features_in_"}


@each({name: model for name, model in ALL.items() if "random_state" in model.get_params()})
def test_a_generator_is_as_good_as_a_number(model):
    first, second = (clone(model).set_params(random_state=np.random.RandomState(3)).fit(X, Y) for _ in range(2))
    number = clone(model).set_params(random_state=3).fit(X, Y)
    assert (first.decision_function(X) == second.decision_function(X)).all()
    assert (first.decision_function(X) == number.decision_function(X)).all()
    assert clone(model).set_params(random_state=None).fit(X, Y).score(X, Y) > 0.4  # guessing: 0.33


@each(ALL)
def test_a_training_that_was_refused_is_none(model):
    unfitted = clone(model)
    with pytest.raises(ValueError, match="class"):
        unfitted.fit(X, np.zeros(75))
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


@each(ALL)
def test_threads_may_predict_at_once(model):
    fitted = clone(model).fit(X, Y)
    scores, found = fitted.decision_function(X), []

    def work():
        found.extend(np.array_equal(fitted.decision_function(X), scores) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_widths_have_the_names_that_they_have_in_svc(gamma):
    some = np.where(X > 0.3, X, 0.0)  # most entries are left out of a sparse matrix
    for rows in (X, some, scipy.sparse.csr_array(some), X * 1e5 + 1.0, np.ones((75, 3))):
        theirs = SVC(gamma=gamma).fit(rows, Y)._gamma
        assert OneVsAllClassifier(gamma=gamma).fit(rows, Y).gamma_ == pytest.approx(theirs, rel=1e-12)
    squares = euclidean_distances(X, squared=True)
    on_distances = OneVsAllClassifier(kernel="distances", gamma=gamma).fit(squares, Y).gamma_
    assert on_distances == pytest.approx(SVC(gamma="scale").fit(X, Y)._gamma, rel=0.02)


@pytest.mark.parametrize(
    "model",
    [
        CrammerSingerSVC(),
        CrammerSingerSVC(kernel="rbf"),
        MulticlassPerceptronClassifier(random_state=0),
        OneVsAllClassifier(),
        SingleBinaryClassifier("identity"),
        VectorPerceptronClassifier(kernel="linear", random_state=0),
        VectorSVC(random_state=0),
    ],
    ids=str,
)
def test_a_rows_scores_do_not_depend_on_the_rows_around_it(model):
    """To the last bit: in any order, alone or with others."""
    rng = np.random.default_rng(5)
    model.fit(rng.standard_normal((90, 7)), rng.integers(0, 5, 90))
    new = rng.standard_normal((150, 7))
    scores = model.decision_function(new)
    order = rng.permutation(150)
    assert (model.decision_function(new[order]) == scores[order]).all()
    assert all((model.decision_function(new[k : k + 1]) == scores[k]).all() for k in range(0, 150, 7))
    assert (model.decision_function(new[20:103]) == scores[20:103]).all()
