"""`exact`, `bound` and `plan`: three ways to a number from the command line, each in agreement with the others."""

from __future__ import annotations

import csv
import json
import math

import pytest

import pairsim
from pairsim import MaxWin, ParameterError, Poll, Recorded, Uniform, exact, plan, simulate
from pairsim.bounds import bound, certified_sample_size, least_mean_queries, least_queries, most_success


def test_exact_prints_what_the_function_returns(pairsim_command):
    (record,) = json.loads(
        pairsim_command("exact", "--n", 8, "--p", 0.8, "--decoder", "max-win", "--format", "json").out
    )
    value = exact(Uniform(8, 0.8), MaxWin())
    assert (record["success"], record["failure"], record["queries"]) == (value.success, value.failure, 28.0)
    rows = list(csv.DictReader(pairsim_command("exact", "--n", "4,8", "--p", 0.8, "--format", "csv").out.splitlines()))
    assert [row["n"] for row in rows] == ["4"] * 6 + ["8"] * 6
    assert {row["decoder"] for row in rows} == {"max-win", "poll:l=log", "poll:l=3log", "poll:l=5log", "adag", "ddag"}


def test_exact_says_what_there_is_instead(pairsim_command):
    refused = pairsim_command("exact", "--n", 512, "--p", 0.9, "--decoder", "max-win")
    assert (refused.code, refused.out) == (2, "")
    assert "simulate" in refused.err
    assert "bound" in refused.err
    partly = pairsim_command("exact", "--n", 512, "--p", 0.9, "--format", "csv")
    assert partly.code == 0
    assert [line.split(",")[3] for line in partly.out.splitlines()[1:]] == ["adag", "ddag"]
    assert partly.err.count("no exact value at n = 512 for max-win, poll:l=log") == len(partly.err.splitlines()) == 1


def test_bound_answers_with_the_certified_sample_size(pairsim_command):
    out = pairsim_command("bound", "--n", 512, "--p", 0.9, "--failure", "1/n", "--format", "json").out
    (record,) = json.loads(out)
    assert record["certified_l"] == certified_sample_size(512, 0.9).l <= 52
    assert record["paper_l"] == 2106  # 233.72 log2 n + 2
    assert record["failure_low"] <= record["failure_high"] <= 1 / 512
    (square,) = json.loads(
        pairsim_command("bound", "--n", 512, "--p", 0.9, "--failure", "1/n^2", "--format", "json").out
    )
    assert square["certified_l"] > record["certified_l"]


def test_bound_answers_with_the_floors(pairsim_command):
    """Over a grid, as the functions answer; the least budget and the least mean are two columns."""
    given = ("bound", "--n", "9,64", "--p", "0.6,0.9", "--format", "json")
    records = json.loads(pairsim_command(*given, "--target", "0.6,0.9").out)
    assert list(records[0]) == ["oracle", "n", "p", "target", "least_budget", "least_mean"]
    assert len(records) == 8
    for record in records:
        oracle, target = Uniform(record["n"], record["p"]), record["target"]
        found = [least_queries(oracle, target), least_mean_queries(oracle, target)]
        wanted = [math.inf if record[name] is None else record[name] for name in ("least_budget", "least_mean")]
        assert wanted == found
    assert {record["least_budget"] for record in records if record["n"] == 9 and record["p"] == 0.6} == {None}
    assert "inf" in pairsim_command("bound", "--n", 9, "--p", 0.6, "--target", 0.9).out
    records = json.loads(pairsim_command(*given, "--queries", "0,8..32").out)
    assert [record["queries"] for record in records] == 4 * [0, 8, 16, 32]
    for record in records:
        assert record["most_success"] == most_success(Uniform(record["n"], record["p"]), record["queries"])


def test_bounds_hold_what_is_exact_and_are_not_crossed_by_a_simulation(pairsim_command):
    """False alarm 1e-6 a comparison."""
    records = json.loads(pairsim_command("bound", "--n", "8,12", "--p", "0.7,0.9", "--format", "json").out)
    assert len(records) == 16
    for record in records:
        oracle, decoder = Uniform(record["n"], record["p"]), pairsim.decoder(record["decoder"])
        value = exact(oracle, decoder).failure
        assert record["failure_low"] <= value <= record["failure_high"]
        estimate = simulate(oracle, decoder, 50_000, confidence=1 - 1e-6, method="simulated")
        assert 1 - estimate.high <= record["failure_high"]
        assert 1 - estimate.low >= record["failure_low"]


BAD = {
    "failure is 0": ("bound", ["--n", "8", "--p", "0.9", "--failure", "0"], "failure"),
    "failure is text": ("bound", ["--n", "8", "--p", "0.9", "--failure", "1/m"], "failure"),
    "failure out of reach": ("bound", ["--n", "64", "--p", "0.7", "--failure", "1/n"], "failure"),
    "decoder without a bound": ("bound", ["--n", "8", "--p", "0.9", "--decoder", "adag"], "decoder"),
    "decoder with failure": ("bound", ["--n", "8", "--p", "0.9", "--decoder", "poll", "--failure", "1/n"], "decoder"),
    "floor of 1": ("bound", ["--n", "8", "--p", "0.9", "--target", "0.9,1"], "target"),
    "floor of text": ("bound", ["--n", "8", "--p", "0.9", "--target", "high"], "target"),
    "floor of a fraction": ("bound", ["--n", "8", "--p", "0.9", "--queries", "2.5"], "queries"),
    "floor of less than nothing": ("bound", ["--n", "8", "--p", "0.9", "--queries=-2"], "queries"),
    "floor of trials": ("bound", ["--oracle", "ranked", "--n", "8", "--p", "0.9", "--target", "0.9"], "oracle"),
    "two floors": ("bound", ["--n", "8", "--p", "0.9", "--queries", "2", "--target", "0.9"], "queries"),
    "floor of a decoder": ("bound", ["--n", "8", "--p", "0.9", "--target", "0.9", "--decoder", "adag"], "decoder"),
    "floor with alpha": ("bound", ["--n", "8", "--p", "0.9", "--target", "0.9", "--alpha", "1.5"], "target"),
    "floor of many classes": ("bound", ["--r", "zipf:1", "--n", "99999", "--target", "0.9"], "fits in memory"),
    "bad ties": ("bound", ["--n", "8", "--p", "0.9", "--failure", "1/n", "--ties", "x"], "ties"),
    "bad format": ("exact", ["--n", "8", "--p", "0.9", "--format", "x"], "format"),
    "no point": ("exact", ["--p", "0.9"], "n"),
    "target above 1": ("plan", ["--n", "8", "--p", "0.9", "--target", "1.5"], "target"),
    "target is 0": ("plan", ["--n", "8", "--p", "0.9", "--target", "0"], "target"),
    "several points": ("plan", ["--n", "8,16", "--p", "0.9", "--target", "0.5"], "one point"),
    "no target": ("plan", ["--n", "8", "--p", "0.9"], "target"),
    "no queries": ("plan", ["--n", "8", "--p", "0.9", "--target", "0.5", "--max-queries", "0"], "max_queries"),
    "too few queries": ("plan", ["--n", "8", "--p", "0.9", "--target", "0.5", "--max-queries", "3"], "max_queries"),
    "plan picture": ("plan", ["--n", "8", "--p", "0.9", "--target", "0.5", "--plot", "a.gif"], "plot"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_2(pairsim_command, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    command, arguments, name = BAD[case]
    outcome = pairsim_command(command, *arguments)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert name in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_a_plan_keeps_what_it_says(pairsim_command, tmp_path):
    """Every option reaches the target in an independent simulation (false alarm 1e-6 each); the order is by cost."""
    out = pairsim_command(
        "plan", "--n", 64, "--p", 0.9, "--target", 0.9, "--format", "json", "--plot", tmp_path / "plan.svg"
    ).out
    options = json.loads(out)
    assert list(options[0]) == [
        *("decoder", "distinct", "mean_floor", "distinct_95", "most", "budget_floor", "queries", "rounds", "at_once"),
        *("success", "low", "high", "method"),
    ]
    assert [option["distinct"] for option in options] == sorted(option["distinct"] for option in options)
    assert {"certified", "conditional"} <= {option["method"] for option in options}
    assert (tmp_path / "plan.svg").stat().st_size > 10_000
    for option in options:
        assert option["success"] >= 0.89
        decoder = pairsim.decoder(option["decoder"])
        assert option["queries"] == decoder.cost(64).queries or decoder.adaptive
        assert option["queries"] <= decoder.cost(64).queries
        check = simulate(Uniform(64, 0.9), decoder, 20_000, seed=99, confidence=1 - 1e-6)
        assert check.high >= 0.9
        assert option["method"] in ("certified", check.method)
    cheapest = options[0]
    assert cheapest["queries"] < MaxWin().cost(64).queries / 2


def test_quick_and_champion_are_as_good_as_max_win_and_cheaper():
    found = {option.decoder.spec: option for option in plan(Uniform(32, 0.9), 0.9).options}
    for name in ("quick", "champion"):
        assert found[name].queries < found["max-win"].queries / 2
        assert (found[name].success, found[name].method) == (found["max-win"].success, "certified")
    assert found["champion"].rounds < found["quick"].rounds / 2
    limited = plan(Uniform(32, 0.9), 0.9, max_queries=400)  # a limit is a limit, whatever the answers
    specs = {option.decoder.spec for option in limited.looked_at}
    assert {"quick", "champion"}.isdisjoint(specs)
    assert {"quick:budget=400", "champion:budget=400"} <= specs


def test_a_plan_is_minimal_in_l():
    """One opponent less than the certified poll is not certified."""
    found = plan(Uniform(128, 0.9), 0.95)
    certified = next(
        option for option in found.options if option.method == "certified" and isinstance(option.decoder, Poll)
    )
    l = certified.decoder.l
    assert bound(Uniform(128, 0.9), Poll(l)).failure_high <= 0.05
    assert bound(Uniform(128, 0.9), Poll(l - 1)).failure_high > 0.05


def test_limits_are_kept_and_unreachable_targets_say_what_is_reachable():
    found = plan(Uniform(64, 0.9), 0.9, max_rounds=1, max_queries=2000)
    assert found.options
    assert all(option.rounds <= 1 and option.most <= 2000 for option in (*found.options, *found.looked_at))
    with pytest.raises(ParameterError, match=r"at most 0\.4\d+, the success of max-win, which none exceeds") as refused:
        plan(Uniform(16, 0.7), 0.99)
    reachable = float(str(refused.value).split("at most ")[1].split(",")[0])
    assert plan(Uniform(16, 0.7), reachable - 0.01).options


def test_exact_options_are_marked_so():
    found = plan(Uniform(16, 0.99), 0.9)
    methods = {option.decoder.spec: option.method for option in found.options}
    assert methods["adag"] == "exact"
    assert math.isclose(next(o for o in found.options if o.decoder == pairsim.Adag()).success, 0.99**4)


def test_other_oracles_can_be_planned_for():
    similar = plan(pairsim.Similarity.profile("geometric:0.5", 12), 0.5)
    assert similar.options[0].queries <= 66
    recorded = plan(Recorded.of(Uniform(12, 0.95), 500), 0.8)
    assert all(option.method == "simulated" for option in recorded.options)


def test_a_plan_can_be_limited_to_named_decoders(pairsim_command):
    arguments = ("plan", "--n", 32, "--p", 0.95, "--target", 0.7, "--format", "json")
    options = json.loads(pairsim_command(*arguments, "--decoder", "adag", "--decoder", "poll:l=20").out)
    assert [option["decoder"] for option in options] == ["adag", "poll:l=20"]
    refused = pairsim_command(*arguments, "--decoder", "ddag")
    assert (refused.code, refused.out) == (2, "")
    assert "ddag" in refused.err
