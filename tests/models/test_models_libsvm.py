"""LIBSVM's text files: the same margins as the model that was written; anything else is rejected in one line."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import event, given, settings
from hypothesis import strategies as st
from libsvm_text import libsvm_text
from sklearn.svm import SVC, NuSVC
from trained import data, every_question, named_by_max_win, ovo_scores

from pairsim import ParameterError
from pairsim.models import PairModel, read_libsvm

KERNELS = ("linear", "rbf", "poly", "sigmoid")

# three classes on a line, at 1, 0 and -1 (labels 30, 10, 20), told apart half way
GOLDEN = """svm_type c_svc
kernel_type linear
nr_class 3
total_sv 3
rho 0.5 0 -0.5
label 30 10 20
nr_sv 1 1 1
SV
1 0.5 1:1
-1 1
-0.5 -1 1:-1
"""


def read(folder, text):
    path = folder / "a.model"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_libsvm(path)


def test_a_file_written_by_hand(tmp_path):
    """Margins x - 0.5, x and x + 0.5; a margin of 0 is a vote for the class that stands later in the file."""
    model = read(tmp_path, GOLDEN)
    assert model.classes_.tolist() == [30, 10, 20]  # as in the file, neither sorted nor numbered anew
    assert model.n_features is None
    assert model.margins([[1.0], [0.25], [-3.0]]).tolist() == [[0.5, 1.0, 1.5], [-0.25, 0.25, 0.75], [-3.5, -3.0, -2.5]]
    assert model.answers([[0.5], [0.0], [-0.5]]).tolist() == [[False, True, True], [False, False, True], [False] * 3]
    recorded = model.record([[1.0], [0.1], [-1.0]], [30, 10, 20])
    assert named_by_max_win(recorded).tolist() == recorded.truth(0, 3).tolist() == [0, 1, 2]
    with pytest.raises(ParameterError, match="labels of the model's classes"):
        model.record([[1.0]], [2])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_margins_are_those_of_the_model_that_was_written(tmp_path, kernel, name):
    X, y = data(name, True, rows=200)
    for maker in (SVC(kernel=kernel, C=2.0, coef0=0.5), NuSVC(kernel=kernel, nu=0.1, degree=2)):
        svc = maker.fit(X[::2], y[::2])
        model = read(tmp_path, libsvm_text(svc))
        wanted = ovo_scores(svc, X)
        np.testing.assert_allclose(model.margins(X), wanted, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.margins(scipy.sparse.csr_matrix(X)), wanted, rtol=1e-9, atol=1e-9)
        asked = model.some_margins(X, *every_question(len(X), model.n))
        np.testing.assert_allclose(asked, wanted.ravel(), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(model.classes_[named_by_max_win(model.record(X))], svc.predict(X))


def test_another_order_of_the_labels(tmp_path):
    """LIBSVM lists labels by first appearance: the pairs turn round, the votes stay."""
    X, y = data("iris")
    svc = SVC().fit(X, y)
    model = read(tmp_path, libsvm_text(svc, order=[2, 0, 1]))
    assert model.classes_.tolist() == [2, 0, 1]
    wanted = ovo_scores(svc, X)  # pairs 01, 02, 12; the file has 20, 21, 01
    np.testing.assert_allclose(
        model.margins(X), np.column_stack([-wanted[:, 1], -wanted[:, 2], wanted[:, 0]]), atol=1e-9
    )


def test_two_classes(tmp_path):
    X, y = data("wine", True)
    svc = SVC().fit(X[y < 2], y[y < 2] + 5)
    model = read(tmp_path, libsvm_text(svc))
    np.testing.assert_allclose(model.margins(X), ovo_scores(svc, X), atol=1e-9)
    assert model.classes_.tolist() == [5, 6]


@pytest.mark.parametrize("kernel", KERNELS)
def test_features_that_one_side_does_not_have_are_zero(tmp_path, monkeypatch, kernel):
    X, y = data("iris")
    X = np.column_stack([X[:, :2], np.zeros(len(X)), X[:, 2:]])  # no vector in the file has feature 3
    svc = SVC(kernel=kernel).fit(X, y)
    other = np.random.default_rng(1).normal(size=(30, 5))
    short = np.column_stack([other[:, :4], np.zeros(30)])
    for limit in (1 << 22, 10):  # few numbers, kept as an array, and many, kept sparse
        monkeypatch.setattr("pairsim.models.libsvm_form.DENSE_NUMBERS", limit)
        model = read(tmp_path, libsvm_text(svc))
        for form in (np.asarray, scipy.sparse.csr_array):
            np.testing.assert_allclose(model.margins(form(other)), ovo_scores(svc, other), atol=1e-9)
            np.testing.assert_allclose(model.margins(form(short[:, :4])), ovo_scores(svc, short), atol=1e-9)
            wide = np.column_stack([other, np.zeros((30, 3))])
            np.testing.assert_allclose(model.margins(form(wide)), ovo_scores(svc, other), atol=1e-9)


def test_precomputed_kernels(tmp_path):
    lines = GOLDEN.replace("linear", "precomputed").replace(" 1:1\n", " 0:2\n").replace("-1 1\n", "-1 1 0:4\n")
    model = read(tmp_path, lines.replace(" 1:-1", " 0:1"))
    gram = np.array([[3.0, 5.0, 100.0, 7.0]])  # with training points 1 .. 4
    wanted = [5.0 - 7.0 - 0.5, 2.5 - 1.5, 7.0 - 3.0 + 0.5]
    assert model.margins(gram).tolist() == [wanted]
    with pytest.raises(ParameterError, match="at least 4 columns"):
        model.margins(gram[:, :3])


def test_votes_that_only_rounding_decides_follow_libsvm(tmp_path):
    """A sum whose parts cancel: LIBSVM's order of additions gives the sign."""
    values = [0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 2.3, 3.1, 0.9, 0.4]
    lines = [f"1 1:{value}" for value in values] + [f"-1 1:{value}" for value in values[::-1]]
    text = "svm_type c_svc|kernel_type linear|nr_class 2|total_sv 20|rho 0|label 1 2|nr_sv 10 10|SV|".replace("|", "\n")
    model = read(tmp_path, text + "\n".join(lines))
    X = np.random.default_rng(0).normal(size=(400, 1))
    wanted = np.empty(len(X))
    for row, x in enumerate(X[:, 0].tolist()):
        total = 0.0
        for value in values:
            total += 1.0 * (x * value)
        for value in values[::-1]:
            total += -1.0 * (x * value)
        wanted[row] = total
    assert 0 < (wanted > 0).sum() < 400
    np.testing.assert_array_equal(model.margins(X)[:, 0], wanted)
    np.testing.assert_array_equal(model.some_margins(X, np.arange(400), [0] * 400, [1] * 400), wanted)
    model._settle = None
    assert (model.answers(X)[:, 0] != (wanted > 0)).any()  # negative control


def test_what_libsvm_also_writes(tmp_path):
    text = GOLDEN.replace("label", "probA 1 2 3\nprobB 1 2 3\nlabel").replace("nu_svc", "c_svc") + "\n"
    assert read(tmp_path, text.replace("\n", "\r\n")).n == 3
    assert read(tmp_path, GOLDEN.replace("c_svc", "nu_svc")).n == 3


HOSTILE = {
    "empty": "",
    "text": "hello",
    "binary": bytes(range(256)) * 50,
    "zeros": b"\0" * 100_000,
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94.",
    "no vectors": GOLDEN.partition("SV\n")[0],
    "cut": GOLDEN[:-12],
    "cut in a number": GOLDEN[:-4] + "1:",
    "a vector more": GOLDEN + "1 1 1:1\n",
    "huge total": GOLDEN.replace("total_sv 3", "total_sv 2000000000"),
    "huge everything": GOLDEN.replace("total_sv 3", "total_sv 2000000000").replace(
        "nr_sv 1 1 1", "nr_sv 1 1 1999999998"
    ),
    "huge classes": GOLDEN.replace("nr_class 3", "nr_class 2000000000"),
    "beyond int": GOLDEN.replace("nr_class 3", "nr_class " + "9" * 5000),
    "one class": GOLDEN.replace("nr_class 3", "nr_class 1"),
    "negative": GOLDEN.replace("nr_sv 1 1 1", "nr_sv 3 1 -1"),
    "nan rho": GOLDEN.replace("rho 0.5", "rho nan"),
    "inf value": GOLDEN.replace("1:1\n", "1:inf\n"),
    "overflow": GOLDEN.replace("1:1\n", "1:1e999\n"),
    "nan coefficient": GOLDEN.replace("-1 1\n", "-1 nan\n"),
    "underscores": GOLDEN.replace("1:1\n", "1:1_0\n"),
    "index 0": GOLDEN.replace("1:1\n", "0:1\n"),
    "index back": GOLDEN.replace("1:1\n", "2:1 1:1\n"),
    "index twice": GOLDEN.replace("1:1\n", "1:1 1:2\n"),
    "index beyond int": GOLDEN.replace("1:1\n", "99999999999:1\n"),
    "no colon": GOLDEN.replace("1:1\n", "11\n"),
    "few coefficients": GOLDEN.replace("-1 1\n", "-1\n"),
    "labels": GOLDEN.replace("label 30 10 20", "label 30 10"),
    "equal labels": GOLDEN.replace("label 30 10 20", "label 30 10 30"),
    "word labels": GOLDEN.replace("label 30 10 20", "label a b c"),
    "few rho": GOLDEN.replace("rho 0.5 0", "rho 0"),
    "twice": GOLDEN.replace("nr_class 3", "nr_class 3\nnr_class 3"),
    "unknown": GOLDEN.replace("nr_class 3", "nr_class 3\nnr_classes 3"),
    "missing": GOLDEN.replace("rho 0.5 0 -0.5\n", ""),
    "no value": GOLDEN.replace("nr_class 3", "nr_class"),
    "no gamma": GOLDEN.replace("linear", "rbf"),
    "regression": GOLDEN.replace("c_svc", "epsilon_svr"),
    "kernel": GOLDEN.replace("linear", "cubic"),
    "degree": GOLDEN.replace("linear", "polynomial\ndegree -1\ngamma 1\ncoef0 0"),
    "precomputed": GOLDEN.replace("linear", "precomputed"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_other_files_are_refused_in_one_line(tmp_path, name):
    assert HOSTILE[name] != GOLDEN
    tracemalloc.start()
    try:
        with pytest.raises(ParameterError, match="'path' parameter of read_libsvm") as error:
            read(tmp_path, HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_no_file(tmp_path):
    for path in (tmp_path / "nowhere", tmp_path, "\0"):
        with pytest.raises(ParameterError, match="read_libsvm"):
            read_libsvm(path)


@pytest.mark.parametrize("kernel", ["linear", "rbf\ngamma 0.5"])
def test_the_largest_index_takes_no_room(tmp_path, kernel):
    text = GOLDEN.replace("linear", kernel).replace("1:1\n", "1:1 2147483647:5\n")
    tracemalloc.start()
    try:
        model = read(tmp_path, text)
        margins = model.margins([[1.0], [0.0]])
        far = scipy.sparse.csr_array(([1.0, 5.0], ([0, 0], [0, 2147483646])), shape=(1, 2147483647))
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert np.isfinite(margins).all()
    assert far.nnz == 2


@pytest.mark.parametrize("X", [[[np.nan]], [[np.inf]], [1.0], [["a"]], np.empty((0, 1)), [[1j]]], ids=str)
def test_an_x_that_is_none(tmp_path, X):
    model = read(tmp_path, GOLDEN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParameterError, match="'X' parameter of margins"):
            model.margins(X)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.data())
def test_damaged_files_never_crash(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(GOLDEN.replace("linear", "sigmoid\ngamma 0.5\ncoef0 1").encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.sampled_from(list(b"0123456789 .:-e\n\0\xffx")))
    end = data.draw(st.integers(len(content) // 2, len(content)))
    try:
        model = read(folder, bytes(content[:end]))
    except ParameterError as error:
        event("rejected")
        lines = str(error).splitlines()
    else:
        event("read")
        lines = ["fine"]
        assert isinstance(model, PairModel)
        assert model.margins([[0.5, 1.0]]).shape == (1, model.pairs)
    assert len(lines) == 1
