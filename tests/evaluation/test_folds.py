"""What is said of cross-validated rows holds where the truth is known, and what was said before does not."""

from __future__ import annotations

import json
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, ttest_1samp
from scipy.stats import t as student

pytest.importorskip("sklearn")

from pairsim import ParameterError
from pairsim.datasets import Dataset
from pairsim.evaluation import EVALUATION_TABLE, evaluate_reductions, mcnemar
from pairsim.evaluation.folds import corrected_error, corrected_t, deal_folds, fold_interval, folds_of, name_split
from pairsim.evaluation.results import read_evaluation
from pairsim.evaluation.rows import LATER_COLUMNS, LATEST_COLUMNS
from pairsim.stats import binomial_interval

FALSE_ALARM = 1e-6  # the probability that a right program fails a statistical test with another seed
REPEATS, PAIRED_REPEATS = 1500, 1000


def nearest(X, y, new):
    return y[((new[:, None] - X[None]) ** 2).sum(axis=2).argmin(axis=1)]


def nearest_mean(X, y, new):
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    return ((new[:, None] - means[None]) ** 2).sum(axis=2).argmin(axis=1)


def most_frequent(X, y, new):
    return np.full(len(new), np.bincount(y).argmax())


def fickle(X, y, new):
    """Trusts the good or the useless feature, as the digits of the training rows have it."""
    trusted = int(abs(X.sum()) * 1e6) % 2
    return (new[:, trusted] > X[:, trusted].mean()).astype(int)


def draw(rng, rows, features, apart):
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, features))
    X[y == 1, 0] += apart
    return X, y


def cross_validated(learn, X, y, fold):
    right = np.empty(len(y), np.bool_)
    for k in range(fold.max() + 1):
        test = fold == k
        right[test] = learn(X[~test], y[~test], X[test]) == y[test]
    return right


COVERED = [
    (nearest, 150, 3, 1.0),
    (nearest, 60, 10, 1.0),
    (nearest, 60, 2, 3.0),
    (nearest_mean, 60, 5, 3.0),
    (most_frequent, 60, 5, 1.0),
    (fickle, 100, 10, 3.0),
]


@pytest.mark.parametrize(("learn", "rows", "folds", "apart"), COVERED)
def test_the_interval_covers_the_expected_accuracy(learn, rows, folds, apart):
    rng = np.random.default_rng(5)
    found = []
    for seed in range(REPEATS):
        X, y = draw(rng, rows, 2, apart)
        fold = deal_folds(y, folds, seed)
        found.append((cross_validated(learn, X, y, fold), fold))
    truth = statistics.fmean(right.mean() for right, _ in found)
    corrected = [fold_interval(right, fold, 0.95) for right, fold in found]
    misses = sum(not low <= truth <= high for low, high in corrected)
    assert binom.sf(misses - 1, REPEATS, 0.05) > FALSE_ALARM
    by_rows = [binomial_interval(int(right.sum()), rows, 0.95) for right, _ in found]
    assert all(a <= c <= d <= b for (a, b), (c, d) in zip(corrected, by_rows, strict=True))
    if learn in (nearest, fickle):  # negative control: rows are not independent
        misses = sum(not low <= truth <= high for low, high in by_rows)
        assert binom.sf(misses - 1, REPEATS, 0.05) < FALSE_ALARM


@pytest.mark.parametrize(("rows", "folds", "apart"), [(150, 3, 1.0), (60, 10, 1.0), (150, 2, 1.0)])
def test_procedures_of_equal_accuracy_are_rarely_told_apart(rows, folds, apart):
    """1-NN on two features, and on two others with the same distribution."""
    rng = np.random.default_rng(6)
    corrected, by_rows = [], []
    for seed in range(PAIRED_REPEATS):
        one, y = draw(rng, rows, 2, apart)
        two = rng.normal(size=(rows, 2)) + np.where(y == 1, apart, 0.0)[:, None] * (1.0, 0.0)
        fold = deal_folds(y, folds, seed)
        first, second = (cross_validated(nearest, X, y, fold) for X in (one, two))
        corrected.append(corrected_t(first, second, fold))
        by_rows.append(mcnemar(int((first & ~second).sum()), int((second & ~first).sum())))
    rejected, control = (sum(p <= 0.05 for p in each) for each in (corrected, by_rows))
    assert binom.sf(rejected - 1, PAIRED_REPEATS, 0.05) > FALSE_ALARM
    assert binom.sf(control - 1, PAIRED_REPEATS, 0.05) < FALSE_ALARM  # negative control: McNemar's test on folds
    assert rejected > 0  # a test that never rejects is none


def test_a_large_difference_is_found():
    rng = np.random.default_rng(7)
    X, y = draw(rng, 150, 2, 3.0)
    fold = deal_folds(y, 10, 0)
    good, useless = (cross_validated(nearest, part, y, fold) for part in (X[:, :1], X[:, 1:]))
    assert corrected_t(good, useless, fold) < 1e-3
    low, high = fold_interval(good, fold, 0.95)
    assert high - low < 0.3


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(2, 12), st.integers(1, 8), st.integers(0, 10**6), st.floats(0.01, 0.999))
def test_folds_of_one_size_have_the_formula_of_nadeau_and_bengio(folds, size, seed, confidence):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, folds * size)) < 0.7
    fold = rng.permutation(np.arange(folds * size) % folds)
    gaps = [statistics.fmean(first[fold == k].astype(float) - second[fold == k]) for k in range(folds)]
    share = size / (size * (folds - 1))
    expected = math.sqrt(statistics.variance(gaps) * (1 / folds + share))
    error, freedom = corrected_error(first.astype(float) - second, fold)
    assert (error, freedom) == (pytest.approx(expected, abs=1e-12), folds - 1)
    p_value, by_rows = corrected_t(first, second, fold), mcnemar((first & ~second).sum(), (second & ~first).sum())
    assert p_value == corrected_t(second, first, fold) >= by_rows
    if expected > 1e-9 and abs(statistics.fmean(gaps)) > 1e-9:
        shrunk = ttest_1samp(gaps, 0.0).statistic * math.sqrt(1 / folds / (1 / folds + share))
        assert p_value == pytest.approx(max(by_rows, 2 * student.sf(abs(shrunk), folds - 1)), rel=1e-9)
    low, high = fold_interval(first, fold, confidence)
    assert 0.0 <= low <= first.mean() <= high <= 1.0


def test_folds_that_agree_do_not_claim_certainty():
    fold = np.arange(60) % 10
    assert fold_interval(np.ones(60, bool), fold, 0.95) == binomial_interval(60, 60, 0.95)
    one_error_each = np.arange(60) >= 10
    assert fold_interval(one_error_each, fold, 0.95) == binomial_interval(50, 60, 0.95)
    assert corrected_t(np.ones(60, bool), one_error_each, fold) == mcnemar(10, 0)
    assert corrected_t(one_error_each, one_error_each, fold) == 1.0


def named_blobs(rows: int = 61) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.array(["pear", "apple", "fig"])[rng.integers(0, 3, rows)]
    X = pd.DataFrame(rng.normal(size=(rows, 2)) + (y == "fig")[:, None], columns=["a", "b"])
    return Dataset("fruit", X, y, X[:0], y[:0])


def test_rows_have_the_interval_and_the_test_of_their_folds(tmp_path, monkeypatch):
    """Folds are known again from what a store has: the split in words and the numbers of the classes."""
    seen = {}

    def remember(reduction, *rest, run=evaluate_reductions.__globals__["run_fold"]):
        fold = run(reduction, *rest)
        seen.setdefault(reduction.spec, []).append((fold.rows, fold.labels))
        return fold

    monkeypatch.setitem(evaluate_reductions.__globals__, "run_fold", remember)
    dataset, store = named_blobs(), tmp_path / "r.db"
    found = evaluate_reductions([dataset], ["vector-svm", "perceptron"], folds=4, seed=3, store=store, confidence=0.9)
    truth, fold = dataset.y, np.empty(61, int)
    named = {}
    for spec, parts in seen.items():
        named[spec] = np.empty(61, object)
        for place, (rows, labels) in enumerate(parts):
            fold[rows], named[spec][rows] = place, labels
    first, second = (named[spec] == truth for spec in ("vector-svm", "perceptron"))
    one, two = found.rows
    assert (one.low, one.high) == fold_interval(first, fold, 0.9)
    assert (two.low, two.high) == fold_interval(second, fold, 0.9)
    assert (one.low, one.high) != binomial_interval(int(first.sum()), 61, 0.9)
    assert (one.agreement, one.agreement_low, one.agreement_high) == (1.0, 1.0, 1.0)
    assert math.isnan(one.corrected_t)
    assert math.isnan(one.mcnemar)
    same = named["vector-svm"] == named["perceptron"]
    assert (two.agreement_low, two.agreement_high) == fold_interval(same, fold, 0.9)
    assert two.corrected_t == found.comparisons[0].corrected_t == corrected_t(first, second, fold)
    assert math.isnan(two.mcnemar)
    assert math.isnan(found.comparisons[0].mcnemar)
    rows, comparisons = read_evaluation(store)
    assert repr((rows, comparisons)) == repr((list(found.rows), list(found.comparisons)))


@pytest.mark.parametrize(
    "split",
    ["1 folds, seed 0", "62 folds, seed 0", "3 folds, seed 4294967296", "3 folds", "official", "٣ folds, seed 0"],
)
def test_a_split_that_no_cross_validation_has_is_refused(split):
    with pytest.raises(ParameterError, match="split"):
        folds_of(split, np.zeros(61, np.int64))


def test_labels_and_their_numbers_are_dealt_alike():
    y = named_blobs().y
    numbers = np.unique(y, return_inverse=True)[1]
    assert (folds_of(name_split(7, 11), numbers) == deal_folds(y, 7, 11)).all()
    assert (folds_of(name_split(7, 12), numbers) != deal_folds(y, 7, 11)).any()


def earlier_table(rows, path):
    """Write rows as pairsim 0.2.0 did, with McNemar's test on folds."""
    frame = EVALUATION_TABLE.to_frame([row._asdict() for row in rows]).assign(mcnemar=0.01)
    frame = frame.drop(columns=[*LATER_COLUMNS, *LATEST_COLUMNS])
    write_frame(frame, path)


def write_frame(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".json":
        records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        path.write_text(json.dumps({"rows": records, "comparisons": []}))
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path, index=False)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_tables_of_earlier_versions_are_read(tmp_path, suffix, pairsim_command):
    found = evaluate_reductions([named_blobs()], ["vector-svm", "perceptron"], folds=3)
    old, new = tmp_path / f"old{suffix}", tmp_path / f"new{suffix}"
    earlier_table(found.rows, old)
    EVALUATION_TABLE.write([row._asdict() for row in found.rows], new)
    assert repr(read_evaluation(new)[0]) == repr(list(found.rows))
    unknown = {"agreement_low": math.nan, "agreement_high": math.nan, "corrected_t": math.nan, "scaling": ""}
    assert repr(read_evaluation(old)[0]) == repr([row._replace(**unknown) for row in found.rows])
    for path, told in ((old, True), (new, False)):
        shown = pairsim_command("show", path)
        assert shown.code == 0, shown.err
        assert ("too narrow" in shown.err) == told
    drawn = pairsim_command("plot", old, "--out", tmp_path / "p.png")
    assert (drawn.code, "too narrow" in drawn.err) == (0, True)
    odd = tmp_path / "odd.csv"
    pd.read_csv(new if suffix == ".csv" else _as_csv(found.rows, tmp_path)).drop(columns="agreement_low").to_csv(odd)
    assert pairsim_command("show", odd).code == 2


def _as_csv(rows, folder):
    EVALUATION_TABLE.write([row._asdict() for row in rows], folder / "as.csv")
    return folder / "as.csv"


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_tables_from_before_tuning_are_read(tmp_path, suffix):
    found = evaluate_reductions([named_blobs()], ["vector-svm", "perceptron"], folds=3)
    frame = EVALUATION_TABLE.to_frame([row._asdict() for row in found.rows])
    write_frame(frame.drop(columns=[*LATEST_COLUMNS]), tmp_path / f"old{suffix}")
    assert repr(read_evaluation(tmp_path / f"old{suffix}")[0]) == repr([row._replace(scaling="") for row in found.rows])
    write_frame(frame.drop(columns=["tuning"]), tmp_path / f"foreign{suffix}")
    with pytest.raises(ParameterError, match="results table that pairsim wrote"):
        read_evaluation(tmp_path / f"foreign{suffix}")
