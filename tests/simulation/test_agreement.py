"""Agreement with max-win has an interval: exact for counts, and for sums of any numbers in [0, 1] one that holds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sweep_tools import small_blocks, swept

from pairsim import Adag, Ddag, Matrix, MaxWin, Poll, Quick, Uniform, simulate, sweep
from pairsim.stats import binomial_interval, sum_interval
from pairsim.sweeps.files import SWEEP_TABLE, read_table, write_table
from pairsim.sweeps.rows import LATER_COLUMNS, from_frame

FALSE_ALARM = 1e-6  # the probability that a right program fails a statistical test with another seed


def rounded_inwards(total, trials, confidence):
    """Negative control: a sum is taken for a count that says more."""
    return (
        binomial_interval(math.ceil(total), trials, confidence)[0],
        binomial_interval(math.floor(total), trials, confidence)[1],
    )


@pytest.mark.parametrize("trials", [1, 3, 20])
def test_the_interval_of_a_sum_covers_whatever_the_numbers_are(trials):
    """Numbers that are one of two values: the probability to cover is a finite sum."""
    least, control = 1.0, 1.0
    for low_value in (0.0, 0.3, 0.7):
        for high_value in (low_value + 0.05, 0.9, 1.0):
            count = np.arange(trials + 1)
            sums = trials * low_value + (high_value - low_value) * count
            intervals = [sum_interval(total, trials, 0.95, counted=False) for total in sums]
            inward = [rounded_inwards(total, trials, 0.95) for total in sums]
            for share in np.linspace(0.01, 0.99, 25):
                mean, probabilities = low_value + (high_value - low_value) * share, binom.pmf(count, trials, share)
                for found, wrong in ((intervals, False), (inward, True)):
                    covers = [low - 1e-12 <= mean <= high + 1e-12 for low, high in found]
                    if wrong:
                        control = min(control, float(probabilities @ covers))
                    else:
                        least = min(least, float(probabilities @ covers))
    assert least >= 0.95
    assert control < 0.9


def test_counts_have_the_exact_interval_and_certainty_has_none():
    for total in (0, 3, 10):
        assert sum_interval(total, 10, 0.9) == binomial_interval(total, 10, 0.9)
        low, high = sum_interval(total, 10, 0.9, counted=False)
        assert low <= binomial_interval(total, 10, 0.9)[0] <= binomial_interval(total, 10, 0.9)[1] <= high
    assert sum_interval(10.000000001, 10, 0.9, counted=False)[1] == 1.0
    assert sum_interval(-1e-9, 10, 0.9, counted=False)[0] == 0.0


def test_estimates_have_it():
    counted, polled, own, quick = simulate(
        Uniform(8, 0.7), [Adag(), Poll(3), MaxWin(), Quick()], trials=500, confidence=0.8
    )
    assert (counted.agreement_low, counted.agreement_high) == binomial_interval(
        round(500 * counted.agreement), 500, 0.8
    )
    assert polled.method == "conditional"
    expected = sum_interval(500 * polled.agreement, 500, 0.8, counted=False)
    assert (polled.agreement_low, polled.agreement_high) == pytest.approx(expected)
    assert 0.0 < polled.agreement_low < polled.agreement < polled.agreement_high < 1.0
    assert (own.agreement, own.agreement_low, own.agreement_high) == (1.0, 1.0, 1.0)
    assert quick.agreement_low == binomial_interval(round(500 * quick.agreement), 500, 0.8)[0] < 1.0
    lonely = simulate(Uniform(8, 0.7), Adag(), trials=100)
    assert math.isnan(lonely.agreement_low)
    assert math.isnan(lonely.agreement_high)
    alone = simulate(Uniform(8, 0.7), MaxWin(), trials=100, method="simulated")
    assert (alone.agreement_low, alone.agreement_high) == (1.0, 1.0)


def true_agreement(oracle, decoder, trials=200_000):
    return simulate(oracle, [decoder, MaxWin()], trials=trials, seed=999)[0].agreement


@pytest.mark.parametrize(("decoder", "method"), [(Adag(), "simulated"), (Poll(2), "conditional")])
def test_the_interval_covers_in_real_sweeps(decoder, method):
    """Also where counted failures of the decoder end the trials, which end on a disagreement more often than not."""
    oracle, repeats = Uniform(6, 0.98), 200
    truth = true_agreement(oracle, decoder)
    rule = {"max_failures": 5} if method == "simulated" else {"trials": 64}
    misses = elsewhere = 0
    with small_blocks(64):
        for seed in range(repeats):
            frame = sweep([oracle], [decoder, MaxWin()], seed=seed, method=method, threads=1, **rule)
            row = from_frame(frame)[0]
            assert row.method == method
            misses += not row.agreement_low <= truth <= row.agreement_high
            elsewhere += not row.agreement_low <= truth - 0.4 <= row.agreement_high
    assert binom.sf(misses - 1, repeats, 0.05) > FALSE_ALARM
    assert binom.sf(elsewhere - 1, repeats, 0.05) < FALSE_ALARM  # negative control


def test_a_store_has_the_columns_of_a_plain_sweep(tmp_path):
    given = ([Uniform(6, 0.8)], [MaxWin(), Poll(2), Adag(), Ddag()], 300)
    with small_blocks(64):
        plain = swept(*given)
        assert swept(*given, store=tmp_path / "r.db") == plain
        assert swept(*given, store=tmp_path / "r.db") == plain
    own, *others = from_frame(sweep(*given))
    assert own[-3:] == (1.0, 1.0, 1.0)
    for row in others:
        assert row.agreement_low < row.agreement < row.agreement_high


def test_the_reference_alone_knows_it_agrees():
    """The first max-win is the reference; another one is a decoder like others."""
    oracle = Matrix(Uniform(6, 0.8).matrix())
    rows = from_frame(sweep([oracle], [MaxWin(), MaxWin(ties="first")], 300, method="simulated"))
    assert rows[0].agreement_low == 1.0
    assert rows[1].agreement_low < rows[1].agreement < 1.0


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_tables_of_earlier_versions_are_read(tmp_path, suffix, pairsim_command):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    rows = from_frame(sweep([Uniform(6, 0.8)], [MaxWin(), Adag()], 100))
    old, new = tmp_path / f"old{suffix}", tmp_path / f"new{suffix}"
    write_table(rows, new)
    frame = SWEEP_TABLE.to_frame([row._asdict() for row in rows]).drop(columns=list(LATER_COLUMNS))
    if suffix == ".csv":
        frame.to_csv(old, index=False)
    elif suffix == ".json":
        frame.to_json(old, orient="records")
    else:
        frame.to_parquet(old, index=False)
    pd.testing.assert_frame_equal(read_table(new), pd.DataFrame(rows, columns=SWEEP_TABLE.columns))
    without = [row._replace(agreement_low=math.nan, agreement_high=math.nan) for row in rows]
    pd.testing.assert_frame_equal(read_table(old), pd.DataFrame(without, columns=SWEEP_TABLE.columns))
    for command in (("show", old), ("compare", old, "adag", "max-win"), ("plot", old, "--out", tmp_path / "p.png")):
        done = pairsim_command(*command)
        assert done.code == 0, done.err
    outcome = pairsim_command("sweep", "--n", 6, "--p", 0.8, "--trials", 50, "--out", old, "--quiet")
    assert outcome.code == 0, outcome.err  # an earlier table may be replaced, as one of ours
    assert read_table(old)["agreement_low"].notna().any()
