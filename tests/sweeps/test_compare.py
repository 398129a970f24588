"""Comparisons: the difference of two decoders on the same tournaments, and an interval that covers it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sweep_tools import counted_runs, put_side_by_side, small_blocks, swept

from pairsim import Adag, Ddag, Halving, Matrix, MaxWin, ParameterError, Poll, Similarity, Uniform, exact, sweep
from pairsim.simulation import BlockSimulator
from pairsim.simulation.paired import PairedTally, swapped
from pairsim.stats import bounded_interval
from pairsim.store import Store
from pairsim.sweeps.comparisons import as_record, compare_in_store, compare_in_table, difference_of, verdict
from pairsim.sweeps.rows import from_frame

FALSE_ALARM = 1e-6  # the probability that a right program fails a statistical test with another seed


def compared(path, first, second, confidence=0.95):
    with Store.read(path) as store:
        return compare_in_store(store, first, second, confidence)


def test_the_difference_over_all_outcomes():
    """All ways in which two decoders can fail in three trials."""
    for cells in itertools.product(itertools.product((False, True), repeat=2), repeat=3):
        first, second = np.array(cells).T
        versus = put_side_by_side([first, second])[0, 1]
        assert (versus.first_only, versus.second_only) == ((first & ~second).sum(), (second & ~first).sum())
        difference, low, high = difference_of(versus, 0.9)
        assert difference == (int(second.sum()) - int(first.sum())) / 3  # of successes
        assert -1.0 <= low <= difference <= high <= 1.0
        smooth = put_side_by_side([first * 1.0, second * 1.0])[0, 1]
        assert difference_of(smooth, 0.9) == pytest.approx((difference, low, high), abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(1, 500), st.integers(0, 2**32), st.sampled_from(["counted", "smooth", "mixed"]))
def test_exchanging_the_decoders_negates_everything(trials, seed, kind):
    rng = np.random.default_rng(seed)
    probabilities = rng.random((2, trials)) * rng.choice([1.0, 1e-3, 1e-9], (2, 1))
    lost = [
        probabilities[0] if kind != "counted" else probabilities[0] < 0.3,
        probabilities[1] if kind == "smooth" else probabilities[1] < 0.3,
    ]
    versus = put_side_by_side(lost)[0, 1]
    difference, low, high = difference_of(versus, 0.95)
    assert difference == pytest.approx(np.mean(lost[1]) - np.mean(lost[0]), rel=1e-9, abs=1e-18)
    turned = difference_of(swapped(versus), 0.95)
    assert turned[0] == -difference
    assert turned[1:] == pytest.approx((-high, -low), rel=1e-9, abs=1e-12)
    assert put_side_by_side(lost[::-1])[0, 1] == swapped(versus)


def test_no_difference_at_all():
    difference, low, high = difference_of(PairedTally(1000), 0.95)
    assert difference == 0.0
    assert math.copysign(1.0, difference) == 1.0  # not -0
    assert low == pytest.approx(-high)
    assert 0.0 < high < 0.01


@pytest.mark.parametrize(("p", "trials"), [(0.9, 256), (0.6, 64)])
def test_the_paired_interval_covers_the_exact_difference(p, trials):
    oracle = Uniform(8, p)
    truth = exact(oracle, Adag()).success - exact(oracle, Ddag()).success
    assert abs(truth) > 0.01
    seeds, misses, control, widths = 600, 0, 0, []
    for seed in range(seeds):
        simulator = BlockSimulator((oracle,), (Adag(), Ddag()), ("simulated",) * 2, -1, seed, paired=True)
        _, low, high = difference_of(simulator.run(0, trials)[0].versus[0, 1], 0.95)
        misses += not low <= truth <= high
        control += not low <= truth + 0.3 <= high
        widths.append(high - low)
    assert binom.sf(misses - 1, seeds, 0.05) > FALSE_ALARM
    assert binom.sf(control - 1, seeds, 0.05) < FALSE_ALARM  # an interval somewhere else does not cover
    assert misses > 0  # 600 intervals of confidence 0.95 that never miss would be too wide


def test_pairing_pays_where_decoders_agree():
    trials, oracle = 2000, Matrix(Uniform(16, 0.9).matrix())
    for pair, method in (((Poll(20), Poll(21)), "conditional"), ((MaxWin(), MaxWin(ties="first")), "simulated")):
        simulator = BlockSimulator((oracle,), pair, (method,) * 2, -1, 1, paired=True)
        tallies = [simulator.run(first, min(1024, trials - first))[0] for first in range(0, trials, 1024)]
        total = tallies[0].plus(tallies[1])
        _, low, high = difference_of(total.versus[0, 1], 0.95)
        widths = [np.subtract(*bounded_interval(tally.failures, 0.95)[::-1]) for tally in total.tallies]
        assert 1.4 * (high - low) < math.hypot(*widths)


CASES = [
    pytest.param(Uniform(6, 0.8), (Poll(2), Poll(3)), "auto", id="both smooth"),
    pytest.param(Matrix(Uniform(6, 0.8).matrix()), (Poll(2), Adag(order="given")), "auto", id="smooth and counted"),
    pytest.param(Uniform(6, 0.8), (Poll(2), Halving(2, "first")), "auto", id="smooth and relabelled"),
    pytest.param(Similarity([0.4, 0.3, 0.2, 0.1]), (MaxWin(), Ddag()), "simulated", id="both counted"),
]


@pytest.mark.parametrize(("oracle", "pair", "method"), CASES)
def test_blocks_without_pairs_are_played_again_to_the_same_digits(tmp_path, oracle, pair, method):
    with small_blocks(64):
        swept([oracle], pair, 500, 3, method=method, store=tmp_path / "together.db")
        for decoder in pair:  # never side by side
            swept([oracle], [decoder], 500, 3, method=method, store=tmp_path / "apart.db")
        with counted_runs() as calls:
            together = compared(tmp_path / "together.db", *pair)
            assert calls == []
            apart = compared(tmp_path / "apart.db", *pair)
            assert len(calls) == 8
        assert together == apart
        (turned,) = compared(tmp_path / "together.db", *reversed(pair))
    (found,) = together
    assert (found.trials, found.n, found.paired) == (500, oracle.n, True)
    assert turned.difference == -found.difference
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-12)
    rows = {row.decoder: row.success for row in from_frame(sweep([oracle], pair, 500, 3, method=method))}
    assert found.difference == pytest.approx(rows[pair[0].spec] - rows[pair[1].spec], abs=1e-12)


def test_different_lengths_are_compared_where_both_are(tmp_path):
    with small_blocks(64):
        store, oracle = tmp_path / "results.db", Uniform(6, 0.8)
        swept([oracle], [Poll(2)], 500, store=store)
        swept([oracle], [Poll(3)], 300, store=store)
        (found,) = compared(store, Poll(2), Poll(3))
        assert found.trials == 300
        simulator = BlockSimulator((oracle,), (Poll(2), Poll(3)), ("conditional",) * 2, -1, 0, paired=True)
        parts = [simulator.run(first, min(64, 300 - first))[0].versus[0, 1] for first in range(0, 300, 64)]
        total = parts[0]
        for part in parts[1:]:
            total = total.plus(part)
        assert (found.difference, found.low, found.high) == pytest.approx(difference_of(total, 0.95), rel=1e-9)


def test_a_comparison_under_a_rule_does_not_depend_on_who_played(tmp_path):
    """Blocks that were played ahead of a rule are left out."""
    oracle, pair = Uniform(4, 0.9), (Adag(), Ddag())
    found = []
    with small_blocks(64):
        for threads in (1, 3):
            store = tmp_path / f"{threads}.db"
            swept([oracle], pair, max_failures=30, store=store, threads=threads)
            found.append(compared(store, *pair))
        swept([oracle], pair, 6400, store=store, method="simulated")  # more blocks are there
        swept([oracle], pair, max_failures=30, store=store)
        found.append(compared(store, *pair))
    assert found[0] == found[1] == found[2]
    assert found[0][0].trials < 6400


def test_every_oracle_and_seed_has_its_own_line(tmp_path):
    store, oracles = tmp_path / "results.db", [Uniform(6, 0.8), Uniform(6, 0.9), Uniform(4, 0.9)]
    with small_blocks(64):
        for seed in (0, 1):
            swept(oracles, [Adag(), Ddag(), MaxWin()], 200, seed, method="simulated", store=store)
        found = compared(store, Adag(), Ddag(), confidence=0.5)
        assert [(each.n, each.p) for each in found] == 2 * [(6, 0.8), (6, 0.9), (4, 0.9)]
        wide = compared(store, Adag(), Ddag(), confidence=0.99)
    assert all(a.high - a.low < b.high - b.low for a, b in zip(found, wide, strict=True))
    assert as_record(found[0])["paired"] == "yes"
    decided = [each._replace(low=low, high=high) for each, (low, high) in zip(found, [(0.1, 0.2), (-0.2, -0.1)] * 3)]  # noqa: B905
    assert (
        verdict([*decided, found[0]._replace(low=-0.1, high=0.1)]) == "adag is better on 3, ddag on 3, undecided on 1"
    )


def test_tables_give_wide_intervals(tmp_path):
    oracle = Uniform(6, 0.8)
    with small_blocks(64):
        frame = sweep(
            [oracle, Uniform(7, 0.8)], [Adag(), Ddag()], 300, method="simulated", store=tmp_path / "results.db"
        )
        paired = compared(tmp_path / "results.db", Adag(), Ddag())
    found = compare_in_table(from_frame(frame), "adag", "ddag")
    assert [each.n for each in found] == [6, 7]
    for each, better in zip(found, paired, strict=True):
        assert (each.paired, each.trials) == (False, 300)
        assert each.difference == pytest.approx(better.difference, abs=1e-12)
        assert each.low < better.low < better.high < each.high
    (turned, _) = compare_in_table(from_frame(frame), "ddag", "adag")
    assert (turned.difference, turned.low, turned.high) == (-found[0].difference, -found[0].high, -found[0].low)


def test_what_cannot_be_compared(tmp_path):
    store = tmp_path / "results.db"
    with small_blocks(64):
        frame = sweep([Uniform(6, 0.8)], [Adag(order="given")], 100, 0, store=store)
        swept([Uniform(6, 0.9)], [Ddag(order="given")], 100, 0, store=store)
        for pair in ((Adag(order="given"), Ddag(order="given")), (Adag(order="given"), MaxWin())):
            with pytest.raises(ParameterError, match=r"two decoders that the store has .* Got a store with adag.*ddag"):
                compared(store, *pair)
        swept([Uniform(6, 0.8)], [Ddag(order="given")], 100, 1, store=store)  # another seed: other tournaments
        with pytest.raises(ParameterError, match="on the same oracle"):
            compared(store, Adag(order="given"), Ddag(order="given"))
        with pytest.raises(ParameterError, match="confidence"):
            compared(store, Adag(order="given"), Adag(order="given"), confidence=1.0)
    with pytest.raises(ParameterError, match="Got a table with adag:order=given instead"):
        compare_in_table(from_frame(frame), "adag:order=given", "ddag")
