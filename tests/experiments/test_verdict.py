"""The verdict: its rule, its tables, and that the committed text is what the tables say."""

from __future__ import annotations

import math
import shutil

import pandas as pd
import pytest

pytest.importorskip("sklearn")

from hypothesis import given
from hypothesis import strategies as st

from experiments import frame, verdict
from experiments.catalogue import catalogue
from experiments.claims_poll import BEYOND
from experiments.judging import Claim, Found, Tables, at_most, below, number, within
from experiments.results_table import ErrorRow, error_interval

ALL = (*verdict.CLAIMS, *BEYOND)


def test_the_committed_text_is_what_the_tables_say():
    assert verdict.document(Tables(frame.RESULTS)) == verdict.README.read_text(encoding="utf-8")


def test_other_tables_give_another_text(tmp_path):
    """A control: the figures and verdicts do come from the tables."""
    for path in frame.RESULTS.glob("*.csv"):
        shutil.copy(path, tmp_path)
    before = verdict.document(Tables(tmp_path))
    rows = pd.read_csv(tmp_path / "poll_top_k.csv")
    turned = rows.assign(
        rescore_over_maxwin=-rows.rescore_over_maxwin,
        rescore_over_maxwin_low=-rows.rescore_over_maxwin_high,
        rescore_over_maxwin_high=-rows.rescore_over_maxwin_low,
    )
    turned.to_csv(tmp_path / "poll_top_k.csv", index=False)
    (tmp_path / "perceptron_updates.csv").unlink()
    after = verdict.document(Tables(tmp_path))
    lines = {line for line in before.splitlines() if line not in after.splitlines()}
    assert any("rescoring is better" in line and "**holds**" in line for line in lines)
    changed = [line for line in after.splitlines() if "rescoring is better" in line]
    assert "**does not hold**" in changed[0]
    assert any("updates" in line and "**not yet measured**" in line for line in after.splitlines())


def test_every_claim_has_its_script_and_a_verdict():
    scripts = {each.name for each in catalogue()}
    rows = list(verdict.judged(ALL, Tables(frame.RESULTS)))
    assert len(rows) >= 40
    for each, row in zip(ALL, rows, strict=True):
        assert each.paper in {*verdict.PAPERS, "-"}
        assert each.script in scripts or (each.script == "-" and each.judge is None)
        assert (each.judge is None) == row[6].strip("*").startswith(("not yet", "cannot"))
    assert {each.paper for each in ALL} >= set(verdict.PAPERS)


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=12))
def test_the_rule(checks):
    yes, no, unsure = (sum(each is said for each in checks) for said in (True, False, None))
    found = Found(checks, "")
    assert found.counts == (yes, no, unsure)
    if yes + no == 0:
        expected = "not decided"
    elif no and yes / (yes + no) < 0.25:
        expected = "does not hold"
    elif no or yes < unsure:
        expected = "holds partly"
    else:
        expected = "holds"
    assert found.verdict == expected


def test_checks_are_decided_by_intervals_alone():
    assert within(4.0, 3.0, 5.0)
    assert within(6.0, 3.0, 5.0) is False
    assert within(math.nan, 3.0, 5.0) is None
    assert below((1.0, 2.0), (3.0, 4.0))
    assert below((3.0, 4.0), (1.0, 2.0)) is False
    assert below((1.0, 3.0), (2.0, 4.0)) is None
    assert at_most((0.0, 1.0), 1.0)
    assert at_most((1.1, 2.0), 1.0) is False
    assert at_most((0.0, 2.0), 1.0) is None
    assert [number(value) for value in (0.0, 0.00012, 0.1234, 12.34, 1234.5)] == [
        "0",
        "1.2e-04",
        "0.123",
        "12.3",
        "1,234",
    ]


def test_what_was_not_measured_says_why():
    rows = list(
        verdict.judged(
            [
                Claim("SDT", "x", "y", "z", "-", why="cannot be tested here: gone"),
                Claim("SDT", "x", "y", "z", "verdict", judge=lambda tables: Found([True], tables("absent"))),
            ],
            Tables(frame.RESULTS),
        )
    )
    assert rows[0][4:7] == ("gone", "-", "**cannot be tested here**")
    assert rows[1][4:7] == ("no table absent", "-", "**not yet measured**")


def test_a_bar_in_a_cell_does_not_end_it():
    assert verdict.as_table(["a"], [["|W|"]]).splitlines()[-1] == "| \\|W\\| |"


def test_intervals_of_errors():
    assert error_interval(5.0, math.nan, 3, 200) == pytest.approx((2.42, 9.0), abs=0.01)  # one run's worth of rows
    low, high = error_interval(5.0, 0.0, 3, 200)
    assert (low, high) == (4.5, 5.5)  # a row to each side
    assert error_interval(5.0, 1.0, 3, 10_000)[1] == pytest.approx(5.0 + 4.302653 * math.sqrt(4 / 3))
    assert all(math.isnan(limit) for limit in error_interval(-0.5, math.nan, 1, 200))
    row = ErrorRow("iris", "OVA", 5.0, math.nan, math.nan, 4.0, "told", 1.0, rows=200)
    assert within(row.paper, *row.interval)


def test_columns_hold_what_they_say():
    """`paper` is printed (with its source), and the notes print no errors."""
    for path in frame.RESULTS.glob("*_errors.csv"):
        table = pd.read_csv(path)
        assert (table.paper.notna() == table.source.notna()).all(), path.name
        assert table.low.le(table.error + 0.011).all() or table.low.isna().any()
    assert pd.read_csv(frame.RESULTS / "linear_errors.csv").paper.isna().all()
