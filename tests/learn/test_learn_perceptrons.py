"""All perceptrons at once: coefficient for coefficient those of scikit-learn, and those of a plain-Python twin."""

from __future__ import annotations

import math
import platform
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsOneClassifier

from pairsim import ParameterError, from_model
from pairsim.learn import PairwiseClassifier, fit_perceptrons, perceptrons

UNFUSED = platform.machine() in ("x86_64", "AMD64")  # elsewhere scikit-learn may be built with fused multiply-add
quietly = pytest.mark.filterwarnings("ignore:Maximum number of iteration")


def coefficients(model: Any) -> Any:
    """Return coefficients and intercepts as scikit-learn writes them: positive for the higher class."""
    return -np.column_stack([model.coef, model.intercept])


def trained_by_sklearn(X: Any, y: Any, base: Any) -> Any:
    many = OneVsOneClassifier(base).fit(X, y)
    return np.array([[*np.ravel(one.coef_), *one.intercept_] for one in many.estimators_])


@pytest.fixture
def fast_only(monkeypatch):
    """Make the way round by scikit-learn an error, so that a test knows which road it is on."""

    def refuse(*_: object) -> None:
        raise AssertionError("this should have been trained by the kernel")

    monkeypatch.setattr(perceptrons.OneVsOneClassifier, "fit", refuse)


# --- the twin --------------------------------------------------------------------------------------------------------


def shuffled(items: list[int], seed: int) -> list[int]:
    """Shuffle as scikit-learn's data sets do: Fisher-Yates from the front, by Marsaglia's 32-bit xorshift."""
    items, state = list(items), seed or 1
    for k in range(len(items) - 1):
        state ^= (state << 13) % 2**32
        state ^= state >> 17
        state ^= (state << 5) % 2**32
        other = k + (state % 2**31) % (len(items) - k)
        items[k], items[other] = items[other], items[k]
    return items


def train_naively(X: list[list[float]], signs: list[int], base: Any, seed: int) -> tuple[list[float], int]:
    """Return w and b of one pair, and the number of epochs."""
    w, b = [0.0] * len(X[0]), 0.0
    rows, best, no_better = list(range(len(X))), math.inf, 0
    for epoch in range(1, base.max_iter + 1):
        rows = shuffled(rows, seed) if base.shuffle else rows
        loss = 0.0
        for row in rows:
            score = 0.0
            for weight, value in zip(w, X[row], strict=True):
                score += weight * value
            score += b
            if score * signs[row] <= 0:
                loss -= score * signs[row]
                w = [weight + value * (base.eta0 * signs[row]) for weight, value in zip(w, X[row], strict=True)]
                b += base.eta0 * signs[row] if base.fit_intercept else 0.0
        loss /= len(X)
        no_better = no_better + 1 if base.tol is not None and loss > best - base.tol else 0
        best = min(best, loss)
        if no_better == base.n_iter_no_change:
            return [*w, b], epoch
    return [*w, b], base.max_iter


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Draw data with ties, repeated rows and classes of very different sizes, and a perceptron's parameters."""
    n, features = draw(st.integers(2, 4)), draw(st.integers(1, 9))
    y = [*range(n), *draw(st.lists(st.integers(0, n - 1), max_size=30))]
    # tenths are no machine numbers: their sums differ from 0 by rounding alone, and the order of adding matters
    scale = draw(st.sampled_from([1.0, 0.1, 1e-160]))
    numbers = st.integers(-3, 3).map(lambda whole: whole * scale)
    X = draw(st.lists(st.lists(numbers, min_size=features, max_size=features), min_size=len(y), max_size=len(y)))
    base = Perceptron(
        shuffle=draw(st.booleans()),
        fit_intercept=draw(st.booleans()),
        max_iter=draw(st.integers(1, 12)),
        tol=draw(st.sampled_from([None, 0.0, 1e-3, 0.5])),
        eta0=draw(st.sampled_from([1.0, 0.3])),
        n_iter_no_change=draw(st.integers(1, 5)),
        random_state=draw(st.integers(0, 2**32 - 1)),
    )
    return np.array(X), np.array(y), base


def seed_of(base: Any) -> int:
    generator = np.random.RandomState(base.random_state)
    generator.randint(1, 2**31 - 1)
    return int(generator.randint(2**31 - 1))


@quietly
@settings(derandomize=True, deadline=None, max_examples=150)
@given(problems())
def test_equals_the_twin_and_scikit_learn(problem: tuple[Any, Any, Any]) -> None:
    X, y, base = problem
    ours = coefficients(fit_perceptrons(X, y, base))
    if UNFUSED:
        assert np.array_equal(ours, trained_by_sklearn(X, y, base))
    for k, (i, j) in enumerate(zip(*np.triu_indices(y.max() + 1, 1), strict=True)):
        mine = (y == i) | (y == j)
        signs = [1 if label == j else -1 for label in y[mine]]
        w_and_b, _ = train_naively(X[mine].tolist(), signs, base, seed_of(base))
        assert ours[k].tolist() == w_and_b


def test_stops_in_the_same_epoch() -> None:
    X, y = make_blobs(120, 3, centers=2, cluster_std=3.0, random_state=4)
    seen = set()
    for tol in (None, 0.0, 1e-3, 0.3):
        for patience in (1, 2, 5):
            for enough in (1, 2, 3, 9, 40):
                base = Perceptron(tol=tol, max_iter=enough, n_iter_no_change=patience)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    fit_perceptrons(X, y, base)
                _, epochs = train_naively(X.tolist(), [1 if label else -1 for label in y], base, seed_of(base))
                assert bool(caught) == (tol is not None and epochs == enough)
                seen.add((bool(caught), epochs == enough))
    assert len(seen) == 3, "all cases must be seen"


# --- against scikit-learn on larger data -----------------------------------------------------------------------------

LARGER = {
    "digits": load_digits(return_X_y=True),
    "iris": load_iris(return_X_y=True),
    "blobs": make_blobs(300, 33, centers=12, cluster_std=8.0, random_state=1),
}


@quietly
@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("base", [Perceptron(), Perceptron(shuffle=False, max_iter=7, tol=None)], ids=repr)
def test_equals_scikit_learn(fast_only, monkeypatch, name, base):
    X, y = LARGER[name]
    ours = fit_perceptrons(X, y, base)
    monkeypatch.undo()
    theirs = from_model(OneVsOneClassifier(base).fit(X, y))
    assert np.array_equal(coefficients(ours), coefficients(theirs))
    assert np.array_equal(ours.answers(X), theirs.answers(X))
    other = Perceptron(max_iter=7, random_state=1)
    assert not np.array_equal(coefficients(fit_perceptrons(X, y, other)), coefficients(ours)), "negative control"


def test_labels_and_types_of_data(fast_only):
    X, y = LARGER["digits"]
    words = np.array([f"c{9 - label}" for label in y])
    model = fit_perceptrons(X.astype(np.int16).tolist(), words.tolist())
    assert model.classes_.tolist() == sorted(set(words))
    doubled = fit_perceptrons(np.asfortranarray(X), words)
    assert np.array_equal(coefficients(model), coefficients(doubled))


@quietly
@pytest.mark.parametrize("jobs", [2, 3, -1])
def test_threads_change_nothing(jobs):
    X, y = LARGER["blobs"]
    assert np.array_equal(coefficients(fit_perceptrons(X, y)), coefficients(fit_perceptrons(X, y, n_jobs=jobs)))


@quietly
def test_the_ways_to_say_random_state():
    X, y = LARGER["blobs"]
    generator = np.random.RandomState(3)
    ours = coefficients(fit_perceptrons(X, y, Perceptron(random_state=generator)))
    assert np.array_equal(ours, trained_by_sklearn(X, y, Perceptron(random_state=generator)))
    state = np.random.get_state()
    try:
        np.random.seed(8)
        ours = coefficients(fit_perceptrons(X, y, Perceptron(random_state=None)))
        np.random.seed(8)
        assert np.array_equal(ours, trained_by_sklearn(X, y, Perceptron(random_state=None)))
    finally:
        np.random.set_state(state)


class Own(Perceptron):  # type: ignore[misc]
    """Anything may be different in a subclass."""


@quietly
@pytest.mark.parametrize(
    "base",
    [
        Perceptron(penalty="l2"),
        Perceptron(class_weight="balanced"),
        Perceptron(early_stopping=True),
        Own(),
    ],
    ids=repr,
)
def test_what_the_kernel_does_not_know_is_trained_by_scikit_learn(base):
    X, y = LARGER["iris"]
    assert np.array_equal(coefficients(fit_perceptrons(X, y, base)), trained_by_sklearn(X, y, base))


@quietly
@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, lambda X: X.astype(np.float32)], ids=["sparse", "single"])
def test_data_that_the_kernel_does_not_know_is_trained_on_by_scikit_learn(form):
    X, y = LARGER["iris"]
    assert np.array_equal(coefficients(fit_perceptrons(form(X), y)), trained_by_sklearn(form(X), y, Perceptron()))


# --- what may go wrong -----------------------------------------------------------------------------------------------


def test_refusals_are_those_of_scikit_learn():
    X, y = LARGER["iris"]
    holey = X.copy()
    holey[3, 1] = np.nan
    one_class, wide = np.zeros(len(y)), np.array([[1e308], [-1e308], [1e308], [1.0]])
    for case in (
        lambda fit: fit(holey, y, Perceptron()),
        lambda fit: fit(X, one_class, Perceptron()),
        lambda fit: fit(X, y[:-1], Perceptron()),
        lambda fit: fit(X, X[:, 0], Perceptron()),
        lambda fit: fit(X, y, Perceptron(max_iter=0)),
        lambda fit: fit(X, y, Perceptron(random_state="x")),
        lambda fit: fit(wide, [0, 1, 0, 1], Perceptron(eta0=10.0)),
    ):
        with pytest.raises(ValueError, match=r".") as theirs:
            case(trained_by_sklearn)
        with pytest.raises(ValueError, match=r".") as ours:
            case(fit_perceptrons)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(ParameterError, match="perceptron"):
        fit_perceptrons(X, y, 3)


@pytest.mark.filterwarnings("error")
def test_too_few_epochs_are_told():
    X, y = LARGER["iris"]
    with pytest.raises(ConvergenceWarning, match="Maximum number of iteration"):
        fit_perceptrons(X, y, Perceptron(max_iter=2))


@quietly
def test_the_classifier_takes_the_fast_road(fast_only, monkeypatch):
    X, y = LARGER["iris"]
    model = PairwiseClassifier(Perceptron(), decoder="max-win:ties=first", random_state=0).fit(X, y)
    monkeypatch.undo()
    assert np.array_equal(coefficients(model.model_), trained_by_sklearn(X, y, Perceptron()))
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


def test_importing_without_scikit_learn_is_an_import_error():
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n    import pairsim.learn\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "pairsim.learn needs scikit-learn: pip install 'pairsim[sklearn]'\n"
