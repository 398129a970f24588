"""Settings are searched for inside the training part: by the papers' greedy search or a grid, resumed, and labelled."""

from __future__ import annotations

import itertools
import math
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from sklearn.dummy import DummyClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sweep_processes import PATIENCE, Process

from experiments import sbc_errors
from pairsim import MaxWin, ParameterError
from pairsim.datasets import Dataset
from pairsim.evaluation import cross_validation, evaluate, evaluate_reductions, greedy_search, reduction, searches
from pairsim.evaluation.folds import deal_equal_folds, deal_folds, deal_random_folds, folds_of, name_split
from pairsim.evaluation.results import read_evaluation
from pairsim.evaluation.rows import name_method
from pairsim.evaluation.searches import InnerErrors, choose
from pairsim.evaluation.tasks import Task, task_of
from pairsim.evaluation.tuning import MOST_PLACES, Steps, Tuning, Values, check_grid, read_grid, summarise
from pairsim.learn import OneVsAllClassifier, VectorSVC
from pairsim.reductions import REDUCTIONS
from pairsim.store import Store, StoreError, TaskRecord, merge_stores

TIMES = ("fit_seconds", "predict_seconds")


def noisy(name: str = "noisy", n: int = 3, rows: int = 90, seed: int = 0, official: int = 0) -> Dataset:
    """Return classes that overlap, so that settings differ in their errors; the last rows are the test part."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % n
    X = pd.DataFrame(rng.normal(size=(rows, 3)) + 1.1 * rng.normal(size=(n, 3))[y], columns=["a", "b", "c"])
    cut = rows - official
    return Dataset(name, X[:cut], y[:cut], X[cut:].reset_index(drop=True), y[cut:])


def naive_greedy(error, patience, start, factor):
    """The papers' search in plain words: a list of attempts in each direction, cut where enough of them failed."""
    best = (error(start), start)
    for sign in (1, -1):
        failed, exponent = 0, 0
        while failed < patience:
            exponent += sign
            value = start * factor**exponent
            attempt = error(value)
            if attempt < best[0]:
                best, failed = (attempt, value), 0
            else:
                failed += 1
    return best[1]


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.integers(0, 4), min_size=41, max_size=41), st.integers(1, 4), st.sampled_from([2.0, 0.25, 3.0]))
def test_the_greedy_search_is_that_of_its_naive_twin(errors, patience, factor):
    """Errors of 0 .. 4 make plateaus, on which nothing improves; the values that are tried are the same, in order."""
    tried: dict[str, list[float]] = {"fast": [], "naive": []}

    def objective(name):
        def error(value):
            tried[name].append(value)
            place = round(math.log(value / 0.5, factor))
            return errors[place + 20] if abs(place) <= 20 else 5

        return error  # fmt: skip

    found = greedy_search(objective("fast"), patience=patience, start=0.5, factor=factor)
    assert found == naive_greedy(objective("naive"), patience, 0.5, factor)
    assert tried["fast"] == tried["naive"]


def test_the_greedy_search_goes_both_ways_and_gives_up_after_some_attempts():
    tried = []

    def valley(value):
        tried.append(value)
        return abs(math.log2(value) + 2)  # best at 1/4

    assert greedy_search(valley) == 0.25
    assert tried == [1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125, 0.0625, 0.03125]
    assert greedy_search(lambda value: 0.5, patience=2) == 1.0  # a plateau: nothing improves
    assert greedy_search(lambda value: -value) == 2.0**MOST_PLACES  # ever better: it ends before numbers do


def counted(tuning, error_of):
    """Return what a search chooses where the error is a function of the settings, and how often it was asked."""
    asked = []

    class Errors(InnerErrors):
        def __init__(self):
            self._errors = {}

        def _count(self, settings):
            asked.append(dict(settings))
            return error_of(**dict(settings))

    return choose(tuning, Errors()), asked


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(-4, 4), st.integers(-4, 4), st.integers(1, 3))
def test_the_width_is_searched_first_and_then_the_cost_and_nothing_is_computed_twice(wide, dear, patience):
    def error(gamma, C):
        return abs(math.log(gamma / 0.5, 0.25) - wide) + abs(math.log2(C) - dear)

    axes = (Steps("gamma", 0.5, 0.25), Steps("C", 1.0, 2.0))
    places, asked = counted(Tuning("greedy", axes, patience=patience), error)
    assert places == (wide, dear)
    assert len({tuple(each.items()) for each in asked}) == len(asked)
    first = list(itertools.takewhile(lambda each: each["C"] == 1, asked))
    assert {each["gamma"] for each in asked[len(first) :]} == {0.5 * 0.25**wide}


def test_a_grid_is_tried_whole_and_its_first_least_error_is_chosen():
    axes = (Values("gamma", (0.1, 1, 10)), Values("C", (1, 2)))
    places, asked = counted(Tuning("grid", axes), lambda gamma, C: int(gamma != 1))
    assert [tuple(each.values()) for each in asked] == list(itertools.product((0.1, 1, 10), (1, 2)))
    assert places == (1, 0)


def test_the_search_is_the_one_that_measured_the_papers_sets():
    """Fold by fold as in `experiments.sbc_errors`, written on its own; it has equal folds and squared distances."""
    dataset = noisy(rows=68)
    X, y = dataset.whole()
    found = evaluate_reductions(
        [dataset], ["one-vs-all", "sbc-identity"], tune="greedy", fold_size="floor", inner_folds=3, patience=2
    ).rows
    for row, method in zip(found, ("OVA", "IDENTITY"), strict=True):
        errors = sbc_errors.nested_errors(method, X.to_numpy(), y, sbc_errors.Search(1, 3, 2))
        assert 100.0 * (1.0 - row.accuracy) == pytest.approx(errors[0], abs=1e-9)
        assert row.rows == 60
        assert row.tuning == "greedy: gamma from 0.5, C from 1; 3 inner folds, patience 2"
        assert "gamma=" in row.chosen
    assert found[0].accuracy != found[1].accuracy  # the two can differ


@pytest.mark.parametrize("tune", ["greedy", "grid"])
def test_tuned_rows_are_those_of_a_plain_nested_cross_validation(tune):
    dataset = noisy()
    grid = {"C": [0.01, 0.1, 1], "gamma": [0.1, 1]}
    row = evaluate_reductions(
        [dataset], ["vector-svm"], folds=4, seed=2, tune=tune, grid=grid if tune == "grid" else None, inner_folds=3
    ).rows[0]
    X, y = dataset.whole()
    fold, right, chosen = deal_folds(y, 4, 2), 0, []
    for k in range(4):
        scaler = StandardScaler().fit(X[fold != k])
        train, new, own = scaler.transform(X[fold != k]), scaler.transform(X[fold == k]), y[fold != k]
        inner = deal_folds(own, 3, 2)

        def error(gamma, C, train=train, own=own, inner=inner):
            wrong = 0
            for part in range(3):
                rough = VectorSVC(C=C, gamma=gamma, tol=1e-2, max_iter=100, random_state=2)
                rough.fit(train[inner != part], own[inner != part])
                wrong += (rough.predict(train[inner == part]) != own[inner == part]).sum()
            return wrong

        if tune == "grid":
            pairs = list(itertools.product(grid["C"], grid["gamma"]))
            C, gamma = min(pairs, key=lambda pair: error(pair[1], pair[0]))
        else:
            gamma = naive_greedy(lambda value: error(value, 1), 3, 0.5, 0.25)
            C = naive_greedy(lambda value, gamma=gamma: error(gamma, value), 3, 1.0, 2.0)
        model = VectorSVC(C=C, gamma=gamma, random_state=2).fit(train, own)
        right += (model.predict(new) == y[fold == k]).sum()
        chosen.append((gamma, C))
    assert row.accuracy == right / len(y)
    for gamma, C in set(chosen):
        assert f"({chosen.count((gamma, C))} of 4)" in row.chosen
        assert f"{C:g}" in row.chosen
        assert f"{gamma:g}" in row.chosen


class Recorder(DummyClassifier):
    """Keeps the first feature of the rows that it is trained with and asked about."""

    trained: list[set[float]] = []  # noqa: RUF012
    asked: list[set[float]] = []  # noqa: RUF012

    def __init__(self, C=1.0):
        super().__init__()
        self.C = C

    def fit(self, X, y):
        self.trained.append(set(X[:, 0]))
        return super().fit(X, y)

    def decision_function(self, X):
        self.asked.append(set(X[:, 0]))
        return np.zeros(len(X))


@pytest.mark.parametrize("official", [0, 20])
def test_searches_never_see_the_test_rows(monkeypatch, official):
    """Every row is known by its first feature, which no scaling changes."""
    dataset = noisy(rows=60, official=official)
    X, _ = dataset.whole()
    seen: list[tuple[set[float], list[set[float]]]] = []
    run = cross_validation.run_fold

    def build(self, seed):
        return OneVsAllClassifier(estimator=Recorder())

    def remember(reduction, X, y, test, *rest):
        Recorder.trained.clear()
        Recorder.asked.clear()
        fold = run(reduction, X, y, test, *rest)
        # the last questions, one a class, are about the test rows
        seen.append((set(X["a"][test]), [*Recorder.trained, *Recorder.asked[:-3]]))
        assert {frozenset(each) for each in Recorder.asked[-3:]} == {frozenset(X["a"][test])}
        return fold

    given_reduction = reduction("one-vs-all")
    monkeypatch.setattr(type(given_reduction), "build", build)
    monkeypatch.setattr(cross_validation, "run_fold", remember)
    how = {"split": "official"} if official else {"folds": 3}
    evaluate_reductions([dataset], [given_reduction], tune="grid", grid={"C": [1, 2]}, scaling="none", **how)
    assert len(seen) == (1 if official else 3)
    for test, others in seen:
        assert len(others) >= 2 * 5 * 3  # settings, inner folds, classes
        assert all(len(each & test) == 0 for each in others)
        assert set().union(*others) == set(X["a"]) - test


def test_the_best_of_a_grid_is_the_least_error_of_its_settings_and_says_that_it_is_optimistic():
    grid = {"C": [0.01, 0.1, 1], "gamma": [0.1, 1]}
    sets = [noisy(seed=seed, n=4) for seed in range(2)]
    best = evaluate_reductions(sets, ["vector-svm"], folds=4, tune="best-of-grid", grid=grid).rows
    tuned = evaluate_reductions(sets, ["vector-svm"], folds=4, tune="grid", grid=grid).rows
    specs = [f"vector-svm:C={C},gamma={gamma}" for C, gamma in itertools.product(*grid.values())]
    fixed = evaluate_reductions(sets, specs, folds=4).rows
    for place, row in enumerate(best):
        own = fixed[len(specs) * place : len(specs) * (place + 1)]
        winner = max(own, key=lambda each: each.accuracy)
        assert (row.accuracy, row.chosen) == (winner.accuracy, winner.reduction.partition(":")[2])
        assert "optimistic" in row.tuning
        assert "optimistic" not in tuned[place].tuning
        assert "optimistic" in name_method(row.reduction, row.estimator, row.decoder, row.scaling, row.tuning)
    # folds that choose for themselves may by chance do better than any one setting; here they do worse on the whole
    assert sum(row.accuracy for row in best) > sum(row.accuracy for row in tuned)


def test_on_a_test_part_no_tuned_error_is_below_the_best_of_the_grid():
    dataset, grid = noisy(official=40, rows=120, n=4), {"C": [0.01, 0.1, 1, 5]}
    best, tuned = (
        evaluate_reductions([dataset], ["vector-svm", "one-vs-all"], split="official", tune=tune, grid=grid).rows
        for tune in ("best-of-grid", "grid")
    )
    assert all(one.accuracy >= two.accuracy for one, two in zip(best, tuned, strict=True))


def test_what_a_spec_sets_is_not_searched_for_and_what_has_nothing_to_search_is_left_as_it_is():
    specs = ["one-vs-all:gamma=0.2", "one-vs-all:C=3,gamma=0.1", "perceptron", "crammer-singer"]
    rows = evaluate_reductions([noisy(rows=40)], specs, folds=2, tune="greedy", inner_folds=2).rows
    assert [row.tuning.partition(";")[0] for row in rows] == ["greedy: C from 1", "", "", "greedy: C from 1"]
    assert [row.chosen == "" for row in rows] == [False, True, True, False]
    built = evaluate_reductions(
        [noisy(rows=40)], ["one-vs-all", "output-code"], estimator="logistic", folds=2, tune="grid", inner_folds=2,
        grid={"C": [0.1, 1], "decoding": ["hamming", "hinge"]},
    ).rows  # fmt: skip
    assert [row.tuning for row in built] == [
        "grid: C=0.1|1; 2 inner folds",
        "grid: C=0.1|1, decoding=hamming|hinge; 2 inner folds",
    ]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reduction_can_be_tuned_or_has_nothing_to_tune(name):
    made = reduction(name)
    kernel = made.build(0).get_params(deep=False).get("kernel")
    keys = [each.key for each in made.searched]
    assert ("gamma" in keys) == (kernel == "rbf")
    assert set(keys) <= made.open_keys
    if keys:
        (row,) = evaluate_reductions(
            [noisy(rows=36)], [name], folds=2, tune="grid", grid={keys[-1]: [0.5, 1]}, inner_folds=2
        ).rows
        assert row.chosen
    assert reduction(f"{name}").chosen(((keys[-1], 0.75),)).build(0).get_params()[keys[-1]] == 0.75 if keys else True


def test_a_linear_kernel_has_no_width_and_an_estimator_has_its_own_parameters():
    assert [each.key for each in reduction("one-vs-all:kernel=linear").searched] == ["C"]
    assert [each.key for each in reduction("crammer-singer:kernel=rbf").searched] == ["gamma", "C"]
    bases = {"svc-rbf": ["gamma", "C"], "svc-rbf:C=2": ["gamma"], "svc-linear": ["C"], "ridge": ["alpha"], "tree": []}
    for spec, keys in bases.items():
        from pairsim.evaluation import estimator

        made = reduction("all-pairs", estimator(spec))
        assert [each.key for each in made.searched] == keys
        if keys:
            model = made.chosen(((keys[-1], 0.75),)).build(0)
            assert model.estimator.get_params()[keys[-1]] == 0.75
            assert "kernel" not in made.open_keys


def test_settings_that_cannot_be_trained_are_the_last_choice(monkeypatch):
    dataset = noisy(rows=45)
    tried = []
    count = InnerErrors._wrong

    def remember(self, settings, test):
        tried.append(dict(settings)["nu"])
        return count(self, settings, test)

    monkeypatch.setattr(searches.InnerErrors, "_wrong", remember)
    (row,) = evaluate_reductions(
        [dataset], ["one-vs-all"], estimator="nu-svc", folds=2, tune="grid", grid={"nu": [0.6, 0.3]}, inner_folds=2
    ).rows
    assert row.chosen == "nu=0.3 (2 of 2)"  # a third of the rows against two thirds: nu is 2/3 at most
    assert set(tried) == {0.6, 0.3}


def test_texts_are_tuned_as_well():
    """Their features are sparse: no distances are kept for them."""
    words = [["red", "pear"], ["blue", "sea"], ["green", "tree"]]
    rng = np.random.default_rng(0)
    y = np.arange(36) % 3
    texts = [" ".join(rng.choice([*words[k], "the", "and"], 6)) for k in y]
    X = pd.DataFrame({"text": texts})
    rows = evaluate_reductions(
        [Dataset("texts", X, y, X[:0], y[:0])], ["one-vs-all", "vector-svm"], folds=2, tune="greedy", inner_folds=2
    ).rows
    assert all(row.accuracy > 0.8 and row.chosen for row in rows)


# what is stored


def tunings():
    return [
        Tuning("greedy", (Steps("gamma", 0.5, 0.25), Steps("C", 1.0, 2.0)), 5, 3),
        Tuning("grid", (Values("C", (0.1, 1, 10)), Values("kernel", ("linear", "rbf"))), 4),
        Tuning("best-of-grid", (Values("C", (0.1, 1)), Values("rho", (None, 0.5)))),
    ]


def task(**more):
    return Task("d" * 32, "10 folds, seed 0", "one-vs-all", "", (), None, 0, **more)


def test_names_of_tasks_without_the_new_options_are_those_of_earlier_versions():
    assert task().id == "db0954ae4dbdb2da30be76b1a2e732db"
    assert task(scaling="standard", tuning=None).id == task().id
    decoded = Task("d" * 32, "official", "one-vs-one", "svc-rbf", (("C", 10),), MaxWin(), 3)
    assert decoded.id == "33eda6fe29ee7246cc22e85c474fbd53"


def test_all_that_determines_a_search_is_part_of_the_name_and_comes_back_from_a_store():
    greedy, grid, best = tunings()
    others = [
        Tuning("greedy", greedy.axes[:1], 5, 3),
        Tuning("greedy", greedy.axes, 4, 3),
        Tuning("greedy", greedy.axes, 5, 2),
        Tuning("grid", grid.axes, 5),
        Tuning("grid", grid.axes[::-1], 4),
        Tuning("grid", (Values("C", (0.1, 1)), grid.axes[1]), 4),
        Tuning("best-of-grid", grid.axes),
    ]
    tasks = [task(tuning=each) for each in (greedy, grid, best, *others)]
    tasks += [task(scaling=each) for each in ("standard", "minmax", "symmetric", "none")]
    assert len({each.id for each in tasks}) == len(tasks)
    for each in tasks:
        assert task_of(TaskRecord(each.id, each.definition)) == each
    assert task(tuning=Tuning("best-of-grid", best.axes, 9, 9)).id == task(tuning=best).id  # it has neither


@pytest.mark.parametrize(
    "forged",
    [
        '"search": "greedy"', '"version": 1', '"inner_folds": 5', '"patience": 3', '["C", 1.0, 2.0]', '"gamma"',
    ],
)  # fmt: skip
def test_a_search_that_no_version_wrote_is_refused(forged):
    text = task(tuning=tunings()[0]).definition
    assert forged in text
    for other in ('"search": "random"', '"version": 2', '[["C"]]', '"a\\u0007"'):
        wrong = text.replace(forged, other)
        if wrong != text:
            with pytest.raises(ParameterError, match="this version of pairsim can read"):
                task_of(TaskRecord("", wrong))


def without_times(rows):
    return [repr(row[:-2]) for row in rows]


def content(path):
    """Return all blocks of a store, which hold no times; as text, which knows nan for nan."""
    with Store.read(path) as store:
        return [repr(block) for block in store.all_blocks()]


@pytest.mark.parametrize("tune", ["greedy", "best-of-grid"])
def test_an_interrupted_search_resumes_at_the_next_fold_and_gives_the_same_bytes(tmp_path, monkeypatch, tune):
    whole, cut = tmp_path / "whole.db", tmp_path / "cut.db"
    asked = {"folds": 3, "tune": tune, "inner_folds": 2, "grid": {"C": [0.1, 1]} if tune != "greedy" else None}
    wanted = evaluate_reductions([noisy(rows=45)], ["vector-svm", "one-vs-all"], **asked, store=whole)
    run, played = cross_validation.run_fold, []

    def stop(*given):
        if len(played) % 3 == 2:
            played.append(None)
            raise KeyboardInterrupt
        played.append(given[0].spec)
        return run(*given)

    monkeypatch.setattr(cross_validation, "run_fold", stop)
    while True:
        try:
            found = evaluate_reductions([noisy(rows=45)], ["vector-svm", "one-vs-all"], **asked, store=cut)
            break
        except KeyboardInterrupt:
            continue
    settings_tried = 1 if tune == "greedy" else 2
    assert len([each for each in played if each is not None]) == 2 * 3 * settings_tried  # nothing was done twice
    assert None in played
    assert without_times(found.rows) == without_times(wanted.rows)
    assert content(cut) == content(whole)
    assert without_times(read_evaluation(cut)[0]) == without_times(wanted.rows)
    assert all(row.fit_seconds > 0.0 for row in found.rows)
    both = tmp_path / "both.db"
    merge_stores([cut, whole], both)
    assert content(both) == content(whole)
    monkeypatch.setattr(cross_validation, "run_fold", lambda *given: pytest.fail("computed again"))
    again = evaluate_reductions([noisy(rows=45)], ["vector-svm", "one-vs-all"], **asked, store=cut)
    assert repr(again.rows) == repr(found.rows)


def test_the_settings_of_a_best_of_grid_are_tasks_that_others_share(tmp_path, monkeypatch):
    store = tmp_path / "r.db"
    dataset = noisy(rows=45)
    evaluate_reductions([dataset], ["vector-svm"], folds=3, tune="best-of-grid", grid={"C": [0.1, 1]}, store=store)
    monkeypatch.setattr(cross_validation, "run_fold", lambda *given: pytest.fail("computed again"))
    (row,) = evaluate_reductions([dataset], ["vector-svm:C=0.1"], folds=3, store=store).rows
    assert (row.tuning, row.chosen) == ("", "")
    assert {each.tuning.partition(" ")[0] for each in read_evaluation(store)[0]} == {"", "best-of-grid"}


def test_a_store_of_an_earlier_version_is_read_and_its_sizes_are_empty(tmp_path):
    """Such a store has the blocks of whole tasks and none of folds."""
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    wanted = evaluate_reductions([noisy(rows=45)], ["vector-svm", "one-vs-all"], folds=3, store=new)
    with Store.read(new) as store, Store.create_or_open(old) as earlier:
        earlier.add_oracles([store.oracle(digest) for digest in store.oracles()])
        earlier.add_tasks(store.tasks())
        earlier.put_requests(store.requests())
        earlier.record(block for block in store.all_blocks() if block.block < 1 << 20)
    for row, before in zip(read_evaluation(old)[0], wanted.rows, strict=True):
        assert math.isnan(row.problems)
        assert math.isnan(row.problem_rows)
        assert repr(row._replace(problems=0, problem_rows=0)) == repr(before._replace(problems=0, problem_rows=0))
    merge_stores([old, new], tmp_path / "both.db")
    assert repr(read_evaluation(tmp_path / "both.db")[0]) == repr(list(wanted.rows))


def test_folds_that_no_evaluation_gives_are_refused(tmp_path):
    store = tmp_path / "r.db"
    evaluate_reductions([noisy(rows=45)], ["vector-svm"], folds=3, tune="grid", grid={"C": [0.1, 1]}, store=store)
    with Store.read(store) as opened:
        blocks = list(opened.all_blocks())
        parts = [opened.oracle(digest) for digest in opened.oracles()], opened.tasks(), opened.requests()
    block = next(each for each in blocks if each.block >= 1 << 20)
    wrong = {
        "short": block._replace(values=block.values[:-1]),
        "fraction": block._replace(values=(*block.values[:-1], 0.5)),
        "negative": block._replace(values=(*block.values[:-1], -1.0)),
        "sizes": block._replace(values=(-1.0, *block.values[1:])),
        "place": block._replace(values=(*block.values[:2], 2.0, *block.values[3:])),
        "infinite": block._replace(values=(*block.values[:2], math.inf, *block.values[3:])),
        "fold": block._replace(block=block.block + 3),
    }
    for name, each in wrong.items():
        path = tmp_path / f"{name}.db"
        with Store.create_or_open(path) as opened:
            opened.add_oracles(parts[0])
            opened.add_tasks(parts[1])
            opened.put_requests(parts[2])
            opened.record([each, *(other for other in blocks if other != block)])
        with pytest.raises(ParameterError, match="as pairsim writes them"):
            read_evaluation(path)


def test_a_killed_command_gives_the_same_table(tmp_path, pairsim_command):
    words = ["evaluate", "--data", "wine", "--reduction", "sbc-identity", "--tune", "greedy", "--folds", "8"]
    words += ["--jobs", "1", "--format", "json"]
    store = tmp_path / "a.db"

    def known_folds():
        try:
            with Store.read(store) as opened:
                return opened.count_blocks()
        except (ParameterError, StoreError):
            return 0

    with Process([*words, "--store", str(store)], tmp_path) as process:
        patience = time.monotonic() + PATIENCE
        while known_folds() < 2:
            assert not process.is_over()
            assert time.monotonic() < patience
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait().code == 137
    assert 2 <= known_folds() < 8
    resumed = pairsim_command(*words, "--store", store)
    assert resumed.code == 0, resumed.err
    alone = evaluate_reductions(["wine"], ["sbc-identity"], folds=8, tune="greedy", store=tmp_path / "alone.db")
    assert without_times(read_evaluation(store)[0]) == without_times(alone.rows)
    assert content(store) == content(tmp_path / "alone.db")


# how rows are cut and scaled


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(4, 60), st.integers(2, 12), st.integers(0, 99))
def test_equal_folds_have_floor_of_rows_by_folds_and_are_known_again(rows, folds, seed):
    folds = min(folds, rows)
    fold = deal_equal_folds(rows, folds, seed)
    sizes = [int((fold == k).sum()) for k in range(folds)]
    assert sizes == [rows // folds] * folds
    assert int((fold < 0).sum()) == rows % folds
    kept = fold[fold >= 0]
    assert folds_of(name_split(folds, seed, rows), np.zeros(len(kept), np.int64)).tolist() == kept.tolist()
    drawn = np.bincount(deal_random_folds(rows, folds, seed), minlength=folds)
    assert drawn.sum() == rows
    assert drawn.max() - drawn.min() <= 1


@pytest.mark.parametrize("of", ["20 from 59", "20 from 63", "9 from 27", f"20 from {10**18 - 1}"])
def test_equal_folds_that_do_not_fit_are_refused(of):
    with pytest.raises(ParameterError, match="split"):
        folds_of(f"3 folds of {of} rows, seed 0", np.zeros(60, np.int64))
    assert len(folds_of("3 folds of 20 from 62 rows, seed 0", np.zeros(60, np.int64))) == 60


def test_rows_that_equal_folds_leave_out_are_neither_trained_nor_tested_on():
    dataset = noisy(rows=67)
    X, y = dataset.whole()
    (row,) = evaluate_reductions([dataset], ["vector-svm"], folds=5, fold_size="floor", seed=3).rows
    fold, right = deal_equal_folds(67, 5, 3), 0
    for k in range(5):
        train, test = (fold != k) & (fold >= 0), fold == k
        scaler = StandardScaler().fit(X[train])
        model = VectorSVC(random_state=3).fit(scaler.transform(X[train]), y[train])
        right += (model.predict(scaler.transform(X[test])) == y[test]).sum()
    assert (row.rows, row.accuracy) == (65, right / 65)
    assert row.split == "5 folds of 13 from 67 rows, seed 3"


@pytest.mark.parametrize("scaling", ["standard", "minmax", "symmetric", "none"])
def test_scaling_is_learned_from_the_training_part(scaling):
    dataset = noisy(official=30)
    scaler = {"standard": StandardScaler(), "minmax": MinMaxScaler(), "symmetric": MinMaxScaler((-1, 1))}.get(scaling)
    train, test = dataset.X.to_numpy(), dataset.X_test.to_numpy()
    if scaler is not None:
        train, test = scaler.fit(train).transform(train), scaler.transform(test)
    (row,) = evaluate_reductions([dataset], ["vector-svm:gamma=1"], split="official", scaling=scaling).rows
    model = VectorSVC(gamma=1, random_state=0).fit(train, dataset.y)
    assert row.accuracy == (model.predict(test) == dataset.y_test).mean()
    assert (row.split, row.rows, row.scaling) == ("official", 30, scaling)
    assert np.allclose(dataset.numbers(scaling).X, train)
    (decoded,) = evaluate([dataset], ["linear-svc"], ["max-win"], split="official", scaling=scaling).rows
    assert decoded.scaling == scaling


def test_on_a_test_part_rows_are_independent_and_compared_by_mcnemar(tmp_path):
    dataset, store = noisy(official=60, rows=180, n=4), tmp_path / "r.db"
    found = evaluate_reductions([dataset], ["vector-svm", "perceptron"], split="official", store=store)
    first, second = found.rows
    assert math.isnan(first.mcnemar)
    assert math.isnan(second.corrected_t)
    assert second.mcnemar == found.comparisons[0].mcnemar
    decoded = evaluate([dataset], ["linear-svc"], ["max-win"], store=store)
    rows, comparisons = read_evaluation(store)
    assert {row.decoder for row in rows} == {"", "max-win"}
    assert len(comparisons) == 3  # decoders and reductions on the same rows, side by side
    assert decoded.rows[0].split == second.split == "official"


# the command line


def test_the_command_line_tunes(tmp_path, pairsim_command):
    words = ["evaluate", "--data", "iris", "--reduction", "one-vs-all", "--reduction", "perceptron", "--jobs", "1"]
    grid = ["--grid", "C=0.1,1", "--grid", "gamma=0.1,1", "--folds", "3", "--inner-folds", "3"]
    store, table = tmp_path / "s.db", tmp_path / "t.csv"
    done = pairsim_command(*words, "--tune", "grid", *grid, "--store", store, "--out", table)
    assert done.code == 0, done.err
    assert "chosen" in done.out
    best = pairsim_command(*words, "--tune", "best-of-grid", *grid[:-2], "--store", store)
    assert best.code == 0, best.err
    assert "optimistic" in best.out
    shown = pairsim_command("show", store, "--format", "csv")
    frame = pd.read_csv(table, keep_default_na=False)
    assert frame["tuning"].tolist() == ["grid: C=0.1|1, gamma=0.1|1; 3 inner folds", ""]
    assert shown.out.splitlines()[:3] == table.read_text().splitlines()[:3]
    assert "best-of-grid (optimistic): C=0.1|1, gamma=0.1|1" in shown.out
    assert "best-of-grid" in pairsim_command("show", store, "--tasks", "--format", "csv").out
    assert pairsim_command("plot", store, "--out", tmp_path / "p.png").code == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--tune", "greedy"], "'tune'"),
        (["--fold-size", "floor"], "'fold_size'"),
        (["--grid", "C=1"], "'grid'"),
        (["--inner-folds", "3"], "'inner_folds'"),
        (["--split", "official"], "'split'"),
        (["--split", "half"], "'split'"),
        (["--scaling", "robust"], "'scaling'"),
        (["--reduction", "vector-svm", "--split", "official"], "iris"),
        (["--reduction", "vector-svm", "--tune", "random"], "greedy"),
        (["--reduction", "vector-svm", "--grid", "C=1"], "'grid'"),
        (["--reduction", "vector-svm", "--tune", "greedy", "--grid", "C=1"], "'grid'"),
        (["--reduction", "vector-svm", "--tune", "grid", "--grid", "depth=1"], "'depth'"),
        (["--reduction", "vector-svm:C=1", "--tune", "grid", "--grid", "C=1"], "'C'"),
        (["--reduction", "vector-svm", "--tune", "grid", "--grid", "C=-1"], "C=-1"),
        (["--reduction", "vector-svm", "--tune", "grid", "--grid", "C=1,1"], "differ"),
        (["--reduction", "vector-svm", "--tune", "grid", "--grid", "C"], "KEY=VALUE"),
        (["--reduction", "vector-svm", "--tune", "grid", "--grid", "C=1", "--grid", "C=2"], "once"),
        (["--reduction", "vector-svm", "--tune", "grid", "--inner-folds", "1"], "inner_folds"),
        (["--reduction", "vector-svm", "--tune", "best-of-grid", "--inner-folds", "3"], "inner_folds"),
        (["--reduction", "vector-svm", "--inner-folds", "3"], "inner_folds"),
        (["--reduction", "perceptron", "--tune", "greedy"], "'tune'"),
        (["--reduction", "vector-svm", "--fold-size", "ceil"], "'fold_size'"),
        (["--reduction", "vector-svm", "--split", "official", "--folds", "3"], "'folds'"),
        (["--reduction", "vector-svm", "--split", "official", "--fold-size", "floor"], "'fold_size'"),
    ],
)
def test_bad_options_are_one_line(pairsim_command, arguments, named):
    done = pairsim_command("evaluate", "--data", "iris", *arguments)
    assert (done.code, done.out, len(done.err.strip().splitlines())) == (2, "", 1)
    assert named in done.err


def test_a_grid_is_plain_values():
    assert read_grid(["C=0.1, 1", "kernel=rbf"]) == {"C": (0.1, 1), "kernel": ("rbf",)}
    for wrong in (None, {}, {"C": []}, {"C": 1}, {"C": "1"}, {"C": [object()]}, {"C": ["1"]}, {1: [2]}, {"C": [1, 1]}):
        with pytest.raises(ParameterError, match="grid"):
            check_grid(wrong)
    assert summarise([(("C", 2),), (("C", 4),), (("C", 4),)]) == "C=4 (2 of 3); C=2 (1 of 3)"
