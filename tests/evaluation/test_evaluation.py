"""Evaluations: figures as by a plain count, the labels of recorded answers, and nothing computed twice."""

from __future__ import annotations

import itertools
import json
import math
from typing import ClassVar

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pairsim import ParameterError, Recorded, Session, decoder, from_model, simulate
from pairsim.datasets import Dataset
from pairsim.decoders import REGISTRY
from pairsim.evaluation import EVALUATION_TABLE, estimator, evaluate, mcnemar, run, training
from pairsim.evaluation.pictures import plot_evaluation
from pairsim.evaluation.recording import record_trained
from pairsim.evaluation.results import is_evaluation, read_evaluation
from pairsim.learn import PairwiseClassifier
from pairsim.stats import binomial_interval
from pairsim.store import BlockRecord, Store, merge_stores

SPECS = (
    *("max-win", "max-win:ties=first", "quick", "champion:ties=first", "poll:l=2", "poll:l=3log,ties=first"),
    *("top-k:k=3,l=2,final=rescore", "top-k:k=3,l=2,final=maxwin", "halving:l=2", "adag", "adag:order=given"),
    *("ddag", "ddag:order=given", "radag", "radag:errors=0.3/0.1/0.2/0.4/0.1/0.5/0.2/0.3/0.1/0.2"),
)
SPECS += tuple(name for name in REGISTRY if not any(spec.partition(":")[0] == name for spec in SPECS))


def mixed(n: int = 5, rows: int = 240, seed: int = 0) -> Dataset:
    """Return a data set of n classes that cannot be told apart without errors."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n, size=rows)
    X = pd.DataFrame(rng.normal(size=(rows, 2)) * 0.8 + rng.normal(size=(n, 2))[y] * 1.5, columns=["a", "b"])
    half = rows // 2
    return Dataset("mixed", X[:half], y[:half], X[half:].reset_index(drop=True), y[half:])


def but_times(rows) -> list[str]:
    """Return rows as text, which knows nan for nan, without the seconds that they took."""
    return [repr(row[:-2]) for row in rows]


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_probability_of_a_split_as_uneven(first, second):
    total = first + second
    gap = abs(first - second)
    ways = sum(math.comb(total, k) for k in range(total + 1) if abs(2 * k - total) >= gap)
    assert mcnemar(first, second) == pytest.approx(ways / 2**total, rel=1e-9)


def test_rows_are_those_of_a_plain_count():
    dataset = mixed()
    specs = ["max-win:ties=first", "adag:order=given", "poll:l=2"]
    found = evaluate([dataset], ["svc-rbf:C=2", "linear-svc"], specs, seed=3)
    numbers = dataset.numbers()
    models = {
        "svc-rbf:C=2": SVC(C=2, random_state=3),
        "linear-svc": OneVsOneClassifier(LinearSVC(random_state=3)),
    }
    assert [(row.estimator, row.decoder) for row in found.rows] == list(itertools.product(models, specs))
    labels: dict[tuple[str, str], list[int]] = {}
    for row in found.rows:
        fitted = models[row.estimator].fit(numbers.X, numbers.y)
        predictor = PairwiseClassifier.from_fitted(fitted, decoder=row.decoder, random_state=3)
        named, cost = predictor.predict(numbers.X_test, return_cost=True)
        labels[row.estimator, row.decoder] = named.tolist()
        right = sum(a == b for a, b in zip(named, dataset.y_test, strict=True))
        assert (row.rows, row.n, row.split, row.seed) == (120, 5, "official", 3)
        assert row.accuracy == right / 120
        assert row.low < row.accuracy < row.high
        assert row.queries == pytest.approx(cost.queries.mean())
        assert row.distinct == pytest.approx(cost.distinct.mean())
        assert row.rounds == pytest.approx(cost.rounds.mean())
        assert row.fit_seconds > 0.0
        assert row.predict_seconds > 0.0
        reference = labels[row.estimator, specs[0]]
        assert row.agreement == sum(a == b for a, b in zip(named, reference, strict=True)) / 120
        same = binomial_interval(round(120 * row.agreement), 120)
        assert (row.agreement_low, row.agreement_high) == ((1.0, 1.0) if row.decoder == specs[0] else same)
        assert math.isnan(row.corrected_t)
        better = sum(a == y != b for a, b, y in zip(named, reference, dataset.y_test, strict=True))
        worse = sum(a != y == b for a, b, y in zip(named, reference, dataset.y_test, strict=True))
        assert math.isnan(row.mcnemar) if row.decoder == specs[0] else row.mcnemar == mcnemar(better, worse)
    assert len(found.comparisons) == 6 * 5 // 2
    for each in found.comparisons:
        first, second = (labels[tuple(name.split(" "))] for name in (each.first, each.second))  # type: ignore[index]
        only = [sum(a == y != b for a, b, y in zip(one, two, dataset.y_test, strict=True))
                for one, two in ((first, second), (second, first))]  # fmt: skip
        assert [each.first_only, each.second_only] == only
        assert each.difference == (only[0] - only[1]) / 120


def test_the_figures_of_a_row_can_differ():
    """Negative control: the comparison above is not between equal things."""
    found = evaluate([mixed()], ["linear-svc"], ["max-win", "poll:l=1"], seed=3).frame
    assert found["accuracy"].nunique() == 2
    assert found["agreement"].nunique() == 2


@pytest.mark.parametrize("spec", ["svc-rbf", "linear-svc", "tree"])
def test_recorded_answers_give_the_labels_of_the_live_model(tmp_path, spec):
    """Decoder for decoder: a session that is told the recorded answers names what predicting with the model names."""
    dataset = mixed(rows=160)
    recorded, trained = record_trained(dataset, estimator(spec), seed=5)
    recorded.save(tmp_path / "a.npz")
    answers = Recorded.load(tmp_path / "a.npz").answers()
    pairs = {pair: k for k, pair in enumerate(itertools.combinations(range(recorded.n), 2))}
    X = dataset.numbers().X_test
    assert {decoder(each).name for each in SPECS} == set(REGISTRY)
    named = set()
    for each in SPECS:
        live = PairwiseClassifier.from_fitted(trained.model, decoder=each, random_state=5)
        labels, cost = live.predict(X, return_cost=True)
        for row in range(recorded.rows):
            session = Session(recorded.n, decoder(each), seed=live.seed_)
            while not session.done:
                session.tell_all(bool(answers[row, pairs[min(i, j), max(i, j)]]) == (i < j) for i, j in session.ask())
            assert live.classes_[session.winner] == labels[row]
            assert (session.queries, session.distinct, session.rounds) == tuple(spent[row] for spent in cost)
        named.add(tuple(labels.tolist()))
    assert len(named) > 2  # the decoders do not all say the same


def test_a_sweep_of_recorded_answers_is_right_as_often_as_the_evaluation():
    """For decoders that draw nothing; what others draw differs from trial to trial, and not from row to row."""
    dataset = mixed()
    specs = [
        *("max-win:ties=first", "quick:ties=first", "champion:ties=first", "adag:order=given", "ddag:order=given"),
        *("radag:errors=0.3/0.1/0.2/0.4/0.1/0.5/0.2/0.3/0.1/0.2", "poll:l=1"),
    ]
    recorded, _ = record_trained(dataset, estimator("linear-svc"), seed=2)
    swept = simulate(recorded, [decoder(each) for each in specs], seed=2)
    found = evaluate([dataset], ["linear-svc"], specs, seed=2).rows
    for live, replayed in zip(found[:-1], swept[:-1], strict=True):
        assert live.accuracy == replayed.success
        if live.decoder != "champion:ties=first":  # who plays first is drawn, and changes the cost alone
            assert (live.queries, live.rounds) == pytest.approx((replayed.queries, replayed.rounds))
    assert found[-1].accuracy != swept[-1].success  # negative control: a poll does draw


@pytest.mark.parametrize(
    "spec", ["svc-rbf:C=100,gamma=20", "tree:max_depth=2"], ids=["support vectors", "errors in training"]
)
def test_radag_goes_by_the_errors_that_its_model_shows_in_training(spec):
    """Shares of support vectors where there are such, else the errors on the training rows."""
    dataset = mixed(8, 600, seed=6)
    numbers = dataset.numbers()
    found = evaluate([dataset], [spec], ["radag", "adag:order=given"])
    if spec.startswith("svc"):
        fitted = SVC(C=100, gamma=20, random_state=0).fit(numbers.X, numbers.y)
        twin = PairwiseClassifier.from_fitted(fitted, decoder="radag", random_state=0)
    else:
        tree = DecisionTreeClassifier(max_depth=2, random_state=0)
        twin = PairwiseClassifier(tree, decoder="radag", random_state=0).fit(numbers.X, numbers.y)
    assert len(set(twin.pair_errors_)) > 1
    assert found.rows[0].accuracy == (twin.predict(numbers.X_test) == dataset.y_test).mean()
    assert found.comparisons[0].mcnemar < 1.0  # without errors it would be the adag


class Compiling(DecisionTreeClassifier):
    """A tree that compiles something when it is first asked about many rows, and counts how often it is asked."""

    asked: ClassVar[list[int]] = []
    compiles: ClassVar[bool] = True

    def predict_proba(self, X):
        if len(X) > 1:
            self.asked.append(len(X))
            if self.compiles and len(self.asked) == 1:
                numba.njit(lambda x: x + 1)(len(X))
        return super().predict_proba(X)


@pytest.mark.parametrize(("compiles", "soon", "times"), [(True, 0.0, 2), (False, 0.0, 1), (False, 1e9, 2)])
def test_compiling_and_loading_are_no_part_of_the_time(monkeypatch, compiles, soon, times):
    monkeypatch.setattr(training, "SOON", soon)
    monkeypatch.setattr(Compiling, "asked", [])
    monkeypatch.setattr(Compiling, "compiles", compiles)
    X = np.arange(40.0)[:, None]
    model = from_model(OneVsOneClassifier(Compiling()).fit(X, np.arange(40) // 20))
    training.predict(model, decoder("max-win"), X[:1], np.arange(2), 0)  # has compiled what is pairsim's own
    assert Compiling.asked == []
    outcome, seconds = training.predict(model, decoder("max-win"), X, np.arange(2), 0)
    assert Compiling.asked == [40] * times
    assert outcome.named.tolist() == [0] * 20 + [1] * 20
    assert seconds >= 0.0


def test_a_label_that_was_not_trained_on_is_an_error_and_not_a_crash():
    whole = mixed()
    kept = whole.y != 4
    cut = Dataset("cut", whole.X[kept].reset_index(drop=True), whole.y[kept], whole.X_test, whole.y_test)
    (row,) = evaluate([cut], ["linear-svc"], ["max-win"]).rows
    assert row.n == 4
    assert row.accuracy <= (whole.y_test != 4).mean()


@pytest.fixture
def no_training(monkeypatch):
    """Return what makes every training from then on a failure."""

    def forbid():
        monkeypatch.setattr(run, "train", lambda *arguments: pytest.fail("trained again"))

    return forbid


def test_what_is_stored_is_not_computed_again(tmp_path, no_training):
    store, data = tmp_path / "r.db", [mixed(), mixed(4, seed=1)]
    specs = ["max-win", "adag", "poll:l=2"]
    first = evaluate(data, ["linear-svc", "svc-rbf"], specs, store=store)
    no_training()
    again = evaluate(data, ["linear-svc", "svc-rbf"], specs, store=store)
    assert again.frame.equals(first.frame)
    assert repr(again.comparisons) == repr(first.comparisons)
    part = evaluate(data[:1], ["svc-rbf"], ["poll:l=2", "max-win"], store=store, confidence=0.5)
    assert [row.decoder for row in part.rows] == ["poll:l=2", "max-win"]
    assert part.rows[0].low > first.rows[5].low
    rows, comparisons = read_evaluation(store)
    # the rows that were asked for last have other intervals
    bare = [
        [repr(row._replace(low=0, high=0, agreement_low=0, agreement_high=0)) for row in each]
        for each in (rows, first.rows)
    ]
    assert bare[0] == bare[1]
    assert len(comparisons) == 2 * (6 * 5 // 2)
    with pytest.raises(pytest.fail.Exception, match="trained again"):
        evaluate(data, ["linear-svc"], specs, store=store, seed=1)


def test_only_what_is_missing_is_computed(tmp_path, monkeypatch):
    store = tmp_path / "r.db"
    evaluate([mixed()], ["linear-svc"], ["adag"], store=store)  # and max-win, to compare with
    asked: list[str] = []
    predict = run.predict
    monkeypatch.setattr(
        run, "predict", lambda model, each, *rest: asked.append(each.spec) or predict(model, each, *rest)
    )
    found = evaluate([mixed()], ["linear-svc"], ["max-win", "adag", "ddag"], store=store)
    assert asked == ["ddag"]
    alone = evaluate([mixed()], ["linear-svc"], ["max-win", "adag", "ddag"])
    assert but_times(found.rows) == but_times(alone.rows)
    assert not any(math.isnan(row.agreement) for row in found.rows)


def test_other_content_under_the_same_name_is_other_data(tmp_path, monkeypatch):
    store, file = tmp_path / "r.db", tmp_path / "mine.csv"
    text = "x,target\n" + "".join(f"{k % 7}.{k},{k % 3}\n" for k in range(60))
    file.write_text(text)
    evaluate([str(file)], store=store, decoders=["max-win"])
    file.write_text(text.replace("\n0.0,", "\n0.5,"))
    trained: list[str] = []
    train = run.train
    monkeypatch.setattr(run, "train", lambda *arguments: trained.append(arguments[-1]) or train(*arguments))
    evaluate([str(file)], store=store, decoders=["max-win"])
    file.write_text(text)
    evaluate([str(file)], store=store, decoders=["max-win"])
    assert trained == ["mine"]
    assert len(read_evaluation(store)[0]) == 2


def test_an_interrupted_evaluation_goes_on(tmp_path, monkeypatch):
    store, predict = tmp_path / "r.db", run.predict

    def stop_at_adag(model, each, *rest):
        if each.name == "adag":
            raise KeyboardInterrupt
        return predict(model, each, *rest)

    specs = ["max-win", "ddag", "adag", "poll:l=2"]
    monkeypatch.setattr(run, "predict", stop_at_adag)
    with pytest.raises(KeyboardInterrupt):
        evaluate([mixed()], ["linear-svc"], specs, store=store)
    assert [row.decoder for row in read_evaluation(store)[0]] == ["max-win", "ddag"]
    monkeypatch.setattr(run, "predict", predict)
    found = evaluate([mixed()], ["linear-svc"], specs, store=store)
    assert [row.decoder for row in read_evaluation(store)[0]] == specs
    assert but_times(found.rows) == but_times(evaluate([mixed()], ["linear-svc"], specs).rows)


def test_stores_of_two_machines_merge_although_their_times_differ(tmp_path):
    one, two, both = (tmp_path / name for name in ("1.db", "2.db", "both.db"))
    evaluate([mixed()], ["linear-svc"], ["max-win", "adag"], store=one)
    evaluate([mixed()], ["linear-svc"], ["max-win", "ddag"], store=two)
    merge_stores([one, two], both)
    assert [row.decoder for row in read_evaluation(both)[0]] == ["max-win", "adag", "ddag"]


def test_sweeps_and_evaluations_do_not_share_a_store(tmp_path, pairsim_command):
    swept, evaluated = tmp_path / "s.db", tmp_path / "e.db"
    sweep = ("sweep", "--n", 4, "--p", 0.7, "--decoder", "ddag:order=given", "--method", "simulated")
    sweep = (*sweep, "--trials", 100, "--store")
    judge = ("evaluate", "--data", "iris", "--decoder", "adag", "--store")
    assert pairsim_command(*sweep, swept).code == 0
    assert pairsim_command(*judge, evaluated).code == 0
    commands = [
        (*sweep, evaluated),
        (*judge, swept),
        ("merge", swept, evaluated, "--out", tmp_path / "m.db"),
        ("verify", evaluated),
    ]
    for command in commands:
        outcome = pairsim_command(*command)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.splitlines()[-1].startswith("pairsim: The ")
    assert not (tmp_path / "m.db").exists()
    assert pairsim_command("verify", swept).code == 0


def test_numbers_that_no_evaluation_gives_are_refused(tmp_path):
    store = tmp_path / "r.db"
    evaluate([mixed()], ["linear-svc"], ["max-win"], store=store)
    with Store.read(store) as opened:
        (block,) = opened.all_blocks()
        parts = [opened.oracle(digest) for digest in opened.oracles()], opened.tasks(), opened.requests()
    forged = {
        "short": block._replace(values=block.values[:-1]),
        "fraction": block._replace(values=(*block.values[:-1], 0.5)),
        "negative": block._replace(values=(*block.values[:-1], -1.0)),
        "costs": block._replace(values=(-5.0, *block.values[1:])),
        "second": block._replace(block=1),
        "rows": BlockRecord(block.task, 0, 2, block.values[:5]),
    }
    for name, each in forged.items():
        path = tmp_path / f"{name}.db"
        with Store.create_or_open(path) as opened:
            opened.add_oracles(parts[0])
            opened.add_tasks(parts[1])
            opened.put_requests(parts[2])
            opened.record([each])
        with pytest.raises(ParameterError, match="as pairsim writes them"):
            read_evaluation(path)


def test_tables_read_back_and_draw(tmp_path, pairsim_command):
    given = ("evaluate", "--data", "iris", "--data", "wine", "--estimator", "svc-rbf", "--estimator", "perceptron")
    given = (*given, "--decoder", "max-win", "--decoder", "adag", "--store", tmp_path / "r.db", "--quiet")
    for name in ("t.csv", "t.json", "t.parquet"):
        outcome = pairsim_command(*given, "--out", tmp_path / name, "--plot", tmp_path / "f.png", "--format", "json")
        assert (outcome.code, outcome.err) == (0, "")
    printed = json.loads(outcome.out)
    assert printed == json.loads((tmp_path / "t.json").read_text())
    assert len(printed["rows"]) == 8
    assert len(printed["comparisons"]) == 2 * (4 * 3 // 2)
    frames = [EVALUATION_TABLE.read(tmp_path / name) for name in ("t.csv", "t.json", "t.parquet")]
    assert frames[0].equals(frames[1])
    assert frames[1].equals(frames[2])
    for name in ("t.csv", "t.json", "t.parquet", "r.db"):
        assert is_evaluation(tmp_path / name)
        assert pairsim_command("plot", tmp_path / name, "--out", tmp_path / "g.svg").code == 0
        shown = pairsim_command("show", tmp_path / name, "--format", "csv").out
        assert shown == (tmp_path / "t.csv").read_text()
    assert pairsim_command("plot", tmp_path / "r.db", "--out", tmp_path / "g.svg", "--x", "n").code == 2
    assert pairsim_command("export", tmp_path / "r.db", "--out", tmp_path / "again.json").code == 0
    assert json.loads((tmp_path / "again.json").read_text()) == printed
    tasks = json.loads(pairsim_command("show", tmp_path / "r.db", "--tasks", "--format", "json").out)
    assert {task["state"] for task in tasks} == {"finished"}
    assert "scikit-learn" in pairsim_command("show", tmp_path / "r.db").out
    (_, second) = json.loads(pairsim_command("compare", tmp_path / "r.db", "adag", "max-win", "--format", "json").out)[
        :2
    ]
    assert (second["first"], second["second"]) == ("perceptron adag", "perceptron max-win")
    figure = plot_evaluation(frames[0])
    assert [ax.get_title() for ax in figure.axes] == ["iris, 3 classes", "wine, 3 classes"]
    assert {ax.get_xscale() for ax in figure.axes} == {"log"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--data", "nothing"),
        ("--data", "iris", "--data", "iris"),
        ("--data", "iris", "--estimator", "linear-svc", "--estimator", "linear-svc"),
        ("--data", "iris", "--estimator", "linear-svc:depth=3"),
        ("--data", "iris", "--decoder", "nothing"),
        ("--data", "iris", "--decoder", "max-win:ties=lose"),
        ("--data", "iris", "--decoder", "top-k:k=9,l=2,final=rescore"),
        ("--data", "iris", "--test-share", 1.5),
        ("--data", "iris", "--confidence", 2),
        ("--data", "iris", "--seed", -3),
        ("--data", "iris", "--target", "species"),
        ("--data", "iris", "--out", "table.txt"),
        ("--data", "iris", "--store", "table.csv"),
        ("--data", "iris", "--format", "xml"),
    ],
    ids=str,
)
def test_bad_options_are_one_line_before_any_training(pairsim_command, no_training, arguments):
    no_training()
    outcome = pairsim_command("evaluate", *arguments)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)


def test_a_model_that_cannot_be_trained_is_one_line(pairsim_command, tmp_path):
    file = tmp_path / "few.csv"
    file.write_text("x,target\n" + "1,a\n" * 99 + "2,b\n2,b\n")
    outcome = pairsim_command("evaluate", "--data", file, "--estimator", "nu-svc:nu=0.9")
    assert (outcome.code, outcome.out) == (2, "")
    assert "nu-svc:nu=0.9 on few" in outcome.err.splitlines()[-1]


@pytest.mark.parametrize("arguments", [("--decoder", "adag"), ("--reduction", "vector-svm", "--folds", 2)], ids=str)
def test_texts_without_a_word_are_one_line(pairsim_command, tmp_path, arguments):
    file = tmp_path / "letters.csv"
    file.write_text("text,target\n" + "a,x\nb,y\n" * 4)
    outcome = pairsim_command("evaluate", "--data", file, "--quiet", *arguments)
    (line,) = [line for line in outcome.err.splitlines() if "compiling" not in line]
    assert (outcome.code, outcome.out, "empty vocabulary" in line) == (2, "", True)


def test_pairs_that_did_not_converge_are_told_once(pairsim_command):
    outcome = pairsim_command(
        "evaluate", "--data", "wine", "--estimator", "logistic:max_iter=1", "--decoder", "adag", "--format", "csv"
    )
    assert outcome.code == 0
    assert [line for line in outcome.err.splitlines() if "3 of 3 pairs" in line]
