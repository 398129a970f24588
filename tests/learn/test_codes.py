"""Output codes: what every code promises, the published BCH generators, and the matrices that are kept as data."""

from __future__ import annotations

import itertools
import math
import tomllib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from pairsim import ParameterError
from pairsim.learn import OutputCodeClassifier, SingleBinaryClassifier
from pairsim.learn.codes import bch
from pairsim.learn.codes.code_tables import (
    CODES,
    _best_draw,
    bch_code,
    dense_code,
    exhaustive_code,
    make_code,
    read_code,
    sparse_code,
)

MOST = {"exhaustive": 12, "bch": 64}
STATED = {4: (7, 4), 5: (14, 7), 6: (23, 11), 10: (31, 12), 29: (63, 22), 48: (63, 21)}  # columns, least distance


def complaints(code):
    """Return what is wrong with a code, looking at all pairs of columns and rows one by one."""
    found = []
    columns, rows = code.T.tolist(), code.tolist()
    if any(1 not in column or -1 not in column for column in columns):
        found.append("one-sided column")
    for one, two in itertools.combinations(columns, 2):
        if one == two or one == [-each for each in two]:
            found.append("repeated column")
    for one, two in itertools.combinations(rows, 2):
        if not any(a * b == -1 for a, b in zip(one, two, strict=True)):
            found.append("rows that nothing tells apart")
    return found


@pytest.mark.parametrize("name", CODES)
@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_every_code_tells_its_classes_apart_and_repeats_nothing(name, n, seed):
    n = min(n, 9 if name == "exhaustive" else n)  # all pairs of its columns are looked at
    code = make_code(name, n, seed)
    assert code.shape[0] == n
    assert set(np.unique(code)) <= {-1, 0, 1}
    assert complaints(code) == []
    assert (code == make_code(name, n, seed)).all()


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ([[1, 1], [-1, 1]], "one-sided column"),
        ([[1, 0], [-1, -1]], "one-sided column"),
        ([[1, 1], [-1, -1]], "repeated column"),
        ([[1, -1], [-1, 1]], "repeated column"),
        ([[1, 1], [1, 1], [-1, -1]], "rows that nothing tells apart"),
        ([[1, 0], [0, 1], [-1, -1]], "rows that nothing tells apart"),
    ],
)
def test_the_law_can_fail(code, complaint):
    assert complaint in complaints(np.array(code))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 10, 26, 40])
def test_widths(n):
    dichotomies, columns = 2 ** (n - 1) - 1, (3**n - 2 ** (n + 1) + 1) // 2
    assert make_code("one-vs-all", n).shape[1] == (n if n > 2 else 1)
    assert make_code("all-pairs", n).shape[1] == n * (n - 1) // 2
    assert make_code("dense", n).shape[1] == min(dichotomies, math.ceil(10 * math.log2(n)))
    assert make_code("sparse", n).shape[1] == min(columns, math.ceil(15 * math.log2(n)))
    if n <= 12:
        assert make_code("exhaustive", n).shape[1] == dichotomies


def test_simple_codes_entry_by_entry():
    for name in CODES:
        assert make_code(name, 2).tolist() == [[1], [-1]], name
    assert make_code("one-vs-all", 3).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    pairs = list(itertools.combinations(range(5), 2))
    for column, (low, high) in zip(make_code("all-pairs", 5).T, pairs, strict=True):
        assert column.tolist() == [(c == low) - (c == high) for c in range(5)]
    every = {row for row in itertools.product((-1, 1), repeat=4) if row[0] == 1 and -1 in row}
    assert {tuple(column) for column in exhaustive_code(4).T.tolist()} == every


def least_distance(code):
    """Return the smallest number of places in which two rows differ, a half for a 0."""
    pairs = itertools.combinations(code.tolist(), 2)
    return min(sum((1 - a * b) / 2 for a, b in zip(one, two, strict=True)) for one, two in pairs)


@pytest.mark.parametrize(("make", "values"), [(dense_code, [-1, 1]), (sparse_code, [-1, 0, 0, 1])])
def test_random_codes_are_the_best_of_many_draws(make, values):
    rng = np.random.RandomState(0)
    code = make(12, rng)
    single = [least_distance(rng.choice(values, size=code.shape)) for _ in range(30)]
    assert least_distance(code) >= np.quantile(single, 0.9) > np.mean(single)
    assert (code != make(12, rng)).any()
    many = make(40, rng)
    assert (many == 0).mean() == pytest.approx(values.count(0) / len(values), abs=0.05)
    assert abs(many[1:].mean()) < 0.08  # the first class is 1 wherever it is there


def test_bad_draws_are_repaired():
    """Of six classes there are 31 dichotomies, of which a draw of 26 has few more than half."""
    drawn = np.random.RandomState(0).choice([-1, 1], size=(6, 26))
    assert complaints(drawn)
    assert not complaints(make_code("dense", 6))


def test_codes_with_rows_that_nothing_tells_apart_are_drawn_again():
    bad, good = np.array([[1, 0], [0, 1], [-1, -1]]), np.array([[1, 1], [-1, 1], [1, -1]])
    drawn = []

    def draw(columns):
        drawn.append(columns)
        return good if len(drawn) > 150 else bad

    assert _best_draw(3, 2, draw).tolist() == good.tolist()
    assert complaints(bad)


# --- BCH -------------------------------------------------------------------------------------------------------------

# generators as printed in tables of BCH codes (Peterson; Lin and Costello), in octal digits
PUBLISHED = {
    (4, 1): "23", (4, 2): "721", (4, 3): "2467",
    (5, 1): "45", (5, 2): "3551", (5, 3): "107657", (5, 5): "5423325", (5, 7): "313365047",
    (6, 1): "103", (6, 2): "12471", (6, 3): "1701317", (6, 4): "166623567", (6, 5): "1033500423",
    (6, 6): "157464165547", (6, 7): "17323260404441", (6, 10): "1363026512351725", (6, 11): "6331141367235453",
}  # fmt: skip


@pytest.mark.parametrize(("q", "t"), PUBLISHED)
def test_generators_are_the_published_ones(q, t):
    assert oct(bch.generator_polynomial(q, t)) == "0o" + PUBLISHED[q, t]


def remainder(dividend, divisor):
    """Divide polynomials with coefficients modulo 2, digit by digit."""
    while dividend.bit_length() >= divisor.bit_length():
        dividend ^= divisor << dividend.bit_length() - divisor.bit_length()
    return dividend


@pytest.mark.parametrize(("n", "q", "t"), [(5, 4, 2), (11, 5, 5), (40, 6, 10)])
def test_words_are_multiples_of_the_generator_and_far_apart(n, q, t):
    words = bch.draw_words(n, q, t, np.random.RandomState(1))
    assert words.shape == (n, 2**q - 1)
    generator = int(PUBLISHED[q, t], 8)
    for word in words.tolist():
        number = sum(1 << place for place, entry in enumerate(word) if entry == 1)
        assert remainder(number, generator) == 0
        assert remainder(number ^ 4, generator) != 0  # with one wrong place it is no word
    assert least_distance(words) > 2 * t


def test_no_word_is_drawn_beside_its_complement():
    for seed in range(60):
        words = bch.draw_words(5, 4, 2, np.random.RandomState(seed))
        assert np.abs(np.triu(words @ words.T, 1)).max() < 15, seed


@pytest.mark.parametrize("n", [4, 5, 6, 13])
def test_what_is_kept_can_be_made_again(n):
    assert (bch_code(n) == bch.search_code(n)).all()


@pytest.mark.parametrize("n", range(4, 65))
def test_kept_matrices(n):
    code = bch_code(n)
    assert complaints(code) == []
    columns, distance = code.shape[1], least_distance(code)
    assert columns <= 2 ** bch.choose_field(n)[0] - 1
    if columns == 2 ** bch.choose_field(n)[0] - 1:
        assert distance > 2 * bch.choose_field(n)[1]  # what the code promises
    if n in STATED:
        assert (distance, columns) >= STATED[n][::-1]


def test_the_text_of_the_data_is_what_the_generator_writes(monkeypatch):
    monkeypatch.setattr(bch, "search_code", bch_code)
    text = resources.files("pairsim.learn").joinpath("data/bch_codes.txt").read_text()
    assert bch.write_codes() == text
    settings_ = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert "learn/data/*.txt" in settings_["tool"]["setuptools"]["package-data"]["pairsim"]


# --- rejections
# --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hadamard", 4), "The 'name' parameter of make_code must be one of 'one-vs-all', .*'bch'. Got 'hadamard'"),
        ((["bch"], 4), "The 'name' parameter of make_code must be one of"),
        (("bch", 1), "The 'n' parameter of make_code must be an integer of at least 2. Got 1"),
        (("bch", 2.5), "The 'n' parameter of make_code must be an integer"),
        (("bch", 65), "must be 'one-vs-all', .*, 'dense' or 'sparse' for more than 64 classes. Got 'bch' for 65"),
        (("exhaustive", 13), "for more than 12 classes. Got 'exhaustive' for 13"),
    ],
)  # fmt: skip
def test_names_that_cannot_be(arguments, message):
    with pytest.raises(ParameterError, match=message):
        make_code(*arguments)


BAD_MATRICES = [
    (np.ones((2, 4)), "an array of 3 different rows of -1, 0 and 1.* Got an array of shape \\(2, 4\\) instead"),
    ([1, -1, 1], "Got an array of shape \\(3,\\) instead"),
    (np.empty((3, 0)), "Got an array of shape \\(3, 0\\) instead"),
    ([[1, -1], [1], [-1, 1]], "Got rows of different lengths instead"),
    ([[1, 0], [2, -1], [-1, 1]], "Got an array of shape \\(3, 2\\) with other entries instead"),
    ([[1, np.nan], [0, -1], [-1, 1]], "with other entries instead"),
    ([[1, -1], [1, -1], [-1, 1]], "with equal rows instead"),
    ([[1, 1], [-1, 1], [0, 1]], "a 1 and a -1 in every column. Got .* \\[1, 1, 1\\] in column 1 instead"),
    ([[1, 0], [-1, -1], [0, -1]], "\\[0, -1, -1\\] in column 1 instead"),
]


@pytest.mark.parametrize(("code", "message"), BAD_MATRICES)
def test_matrices_that_cannot_be(code, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="The 'code' parameter of somebody must be .*" + message):
        read_code("somebody", code, 3, 0)
    for model in (OutputCodeClassifier(code), SingleBinaryClassifier("ecoc", code=code)):
        if not isinstance(code, list) or len({np.size(row) for row in code}) == 1:
            with pytest.raises(ParameterError, match=f"The 'code' parameter of {type(model).__name__} must be .*"):
                model.fit(X, y)


def test_a_name_beyond_the_classes_is_refused_by_the_estimator():
    X, y = np.arange(130.0)[:, None], np.arange(130) % 65
    with pytest.raises(
        ParameterError, match=r"The 'code' parameter of OutputCodeClassifier must be 'one-vs-all', .* 64 classes"
    ):
        OutputCodeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="The 'code' parameter of OutputCodeClassifier must be a str among"):
        OutputCodeClassifier("hadamard").fit(X, y)
    with pytest.raises(ValueError, match="The 'code' parameter of SingleBinaryClassifier must be a str among"):
        SingleBinaryClassifier("ecoc", code="hadamard").fit(X, y)
    assert OutputCodeClassifier("sparse", random_state=0).fit(X, y).code_.shape == (65, 91)
