"""Sweeps from Python: points, rows, files and pictures."""

from __future__ import annotations

import itertools
import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Adag, Ddag, Estimate, MaxWin, ParameterError, Poll, Uniform, simulate, sweep
from pairsim.plots import plot_panels, plot_success, save_picture
from pairsim.stats import binomial_interval
from pairsim.sweeps.files import read_table, write_table
from pairsim.sweeps.ranges import real_points, whole_points
from pairsim.sweeps.rows import COLUMNS, from_frame


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 1000), st.integers(1, 10_000))
def test_doubling_ranges(first, last):
    if last < first:
        with pytest.raises(ParameterError):
            whole_points("n", f"{first}..{last}")
        return
    points = whole_points("n", f"{first}..{last}")
    assert points[0] == first
    assert points[-1] <= last < 2 * points[-1]
    assert all(b == 2 * a for a, b in itertools.pairwise(points))


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 100), st.integers(1, 20), st.integers(0, 40))
def test_stepped_ranges_have_no_drift(first, step, count):
    last = first + step * count
    wanted = [first + step * k for k in range(count + 1)]
    assert whole_points("n", f"{first}..{last}:{step}") == wanted
    assert real_points("p", f"{first / 100}..{last / 100}:{step / 100}") == [k / 100 for k in wanted]


def test_rows_are_what_simulate_says():
    decoders = [MaxWin(), Poll(3), Adag()]
    rows = sweep([Uniform(5, 0.8), Uniform(9, 0.8)], decoders, trials=500, seed=4)
    assert list(rows.columns) == COLUMNS
    estimates = [e for n in (5, 9) for e in simulate(Uniform(n, 0.8), decoders, trials=500, seed=4)]
    for (_, row), estimate in zip(rows.iterrows(), estimates, strict=True):
        assert isinstance(estimate, Estimate)
        for name in COLUMNS[3:]:
            assert row[name] == getattr(estimate, name)


def test_intervals_are_scipys_exact_ones():
    from scipy.stats import binomtest

    estimate = simulate(Uniform(8, 0.7), MaxWin(), trials=777, confidence=0.9, method="simulated")
    interval = binomtest(round(estimate.success * 777), 777).proportion_ci(0.9, method="exact")
    assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert binomial_interval(0, 10)[0] == 0.0
    assert binomial_interval(10, 10)[1] == 1.0


@pytest.mark.parametrize(("successes", "trials"), [(1, 2), (1, 700_000), (699_999, 700_000), (3, 10**9), (50, 100)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
def test_intervals_are_the_ends_at_which_the_tails_are_what_they_should(successes, trials, confidence):
    """From the definition, also where a root finder with an absolute tolerance would give up."""
    from scipy.special import bdtr, bdtrc

    low, high = binomial_interval(successes, trials, confidence)
    tail = (1.0 - confidence) / 2.0
    assert bdtrc(successes - 1, trials, low) == pytest.approx(tail, rel=1e-3)  # next to 1 a double has few digits left
    assert bdtr(successes, trials, high) == pytest.approx(tail, rel=1e-3)  # next to 1 a double has few digits left


def test_agreement_needs_company():
    assert math.isnan(simulate(Uniform(8, 0.7), Adag(), trials=100).agreement)
    one, two = simulate(Uniform(8, 0.7), [Adag(), MaxWin()], trials=1000)
    assert two.agreement == 1.0
    assert 0.0 < one.agreement < 1.0
    beside, _ = simulate(Uniform(8, 0.7), [Adag(), Ddag()], trials=1000)
    assert beside.agreement == one.agreement  # max-win is run beside decoders that lack it
    for estimate in simulate(Uniform(8, 1.0), [MaxWin(), Adag(), Ddag()], trials=100):
        assert estimate.agreement == 1.0


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_tables_read_back_exactly(tmp_path, suffix):
    rows = sweep([Uniform(5, 0.8), Uniform(6, 1 / 3)], [MaxWin(), Adag()], trials=300)
    rows.loc[0, "agreement"] = math.nan
    path = tmp_path / f"table{suffix}"
    write_table(from_frame(rows), path)
    pd.testing.assert_frame_equal(read_table(path), rows, check_dtype=False)
    first = path.read_bytes()
    write_table(from_frame(read_table(path)), path)
    assert path.read_bytes() == first


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    rows = from_frame(sweep([Uniform(5, 0.8)], [MaxWin()], trials=100))
    path = tmp_path / "table.csv"
    write_table(rows, path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_table(rows, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_curves_bands_and_axes():
    rows = sweep([Uniform(n, p) for p in (0.7, 0.9) for n in (4, 8, 16)], [MaxWin(), Adag(), Ddag()], trials=200)
    ax = plot_success(rows[rows["p"] == 0.9])
    assert [line.get_label() for line in ax.lines] == ["max-win", "adag", "ddag"]
    assert ax.get_xscale() == "log"
    assert len(ax.collections) == 3  # one interval band a curve
    assert list(ax.lines[0].get_ydata()) == list(rows[(rows["p"] == 0.9) & (rows["decoder"] == "max-win")]["success"])
    figure = plot_panels(rows)
    assert [panel.get_title() for panel in figure.axes] == ["uniform, p = 0.7", "uniform, p = 0.9"]
    over_p = plot_success(rows[rows["n"] == 8])
    assert over_p.get_xlabel().startswith("probability p")
    assert over_p.get_xscale() == "linear"
    assert plot_success(rows[rows["p"] == 0.9], scale="linear").get_xscale() == "linear"
    with pytest.raises(ParameterError, match="'x' parameter"):
        plot_success(rows, x="q")


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_figures_are_equal_bytes(tmp_path, suffix):
    rows = sweep([Uniform(n, 0.9) for n in (4, 8, 16)], [MaxWin(), Adag()], trials=200)
    for name in ("a", "b"):
        save_picture(plot_panels(rows), tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: simulate(Uniform(8, 0.7), MaxWin(), trials=0), "trials"),
        (lambda: simulate(Uniform(8, 0.7), MaxWin(), trials=1.5), "trials"),
        (lambda: simulate(Uniform(8, 0.7), MaxWin(), seed=-1), "seed"),
        (lambda: simulate(Uniform(8, 0.7), MaxWin(), confidence=0.0), "confidence"),
        (lambda: simulate(Uniform(8, 0.7), []), "decoder"),
        (lambda: simulate(Uniform(8, 0.7), "max-win"), "decoder"),
        (lambda: simulate("uniform", MaxWin()), "oracle"),
        (lambda: sweep([], [MaxWin()]), "oracles"),
        (lambda: sweep([Uniform(8, 0.7)], []), "decoders"),
    ],
)
def test_python_refusals(call, name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of .* must be .* Got .* instead."):
        call()
