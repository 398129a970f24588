"""Stores of sweeps: whatever was asked before and in whatever order, the rows are those of one fresh run."""

from __future__ import annotations

import dataclasses
import math
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweep_tools import bits, counted_runs, put_side_by_side, rows_in, rows_of_frame, small_blocks, swept

from pairsim import Adag, Ddag, MaxWin, Poll, Similarity, TopK, Uniform, sweep
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.engines import ThreadEngine
from pairsim.oracles import REGISTRY as ORACLES
from pairsim.simulation import BlockSimulator
from pairsim.simulation.outcomes import TrialOutcomes
from pairsim.simulation.paired import PairedTally, swapped, turned, versus_of_numbers
from pairsim.simulation.tally import numbers_of_tally, tally_of_numbers
from pairsim.stats import Moments
from pairsim.store import Store, merge_stores
from pairsim.sweeps import Sweep, make_request
from pairsim.sweeps.rows import to_frame

BLOCK = 64  # for these tests: some hundred trials are many blocks; scored tournaments come 64 at a time
N = 4


@st.composite
def commands(draw):
    """Draw some oracles and a list of commands on them: (oracles, decoders, trials, method, seed)."""
    kinds = draw(st.lists(st.sampled_from(sorted(ORACLES)), min_size=1, max_size=3))
    oracles = [draw(strategies.oracle_cases(kind, N)).oracle for kind in kinds]
    pool = [draw(strategies.decoders(name, N)) for name in DECODERS]
    pool += [MaxWin(), MaxWin(ties="lose")]
    chosen = []
    for _ in range(draw(st.integers(2, 4))):
        some = draw(st.lists(st.sampled_from(oracles), min_size=1, max_size=3, unique_by=id))
        decoders = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=4, unique=True))
        rows = min(oracle.rows or 200 for oracle in some)
        trials = draw(st.integers(1, min(rows, 3 * BLOCK)))
        method = draw(st.sampled_from(["auto", "simulated"]))
        chosen.append((some, decoders, trials, method, draw(st.integers(0, 1))))
    return chosen


def fresh_rows(command):
    some, decoders, trials, method, seed = command
    cells = run_sweep(make_request(some, decoders, trials, seed, method=method)).cells()
    return [(cell.task.id, cell.reference_id) for cell in cells], swept(some, decoders, trials, seed, method=method)


def run_sweep(request, store=None):
    with ThreadEngine(1) as engine:
        opened = Sweep(request, store, engine)
        opened.run()
    return opened


@settings(derandomize=True, deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(commands())
def test_any_history_gives_the_rows_of_a_fresh_run(history):
    with small_blocks(BLOCK), tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "results.db")
        union: dict[str, tuple[int, tuple[str, ...]]] = {}
        for command in history:
            some, decoders, trials, method, seed = command
            got = swept(some, decoders, trials, seed, method=method, store=store)
            tasks, wanted = fresh_rows(command)
            assert got == wanted
            for (task, _), row in zip(tasks, wanted, strict=True):
                if task not in union or trials >= union[task][0]:  # of fixed numbers of trials the largest is shown
                    union[task] = (trials, row)
            assert rows_in(store) == [row for _, row in union.values()]


def test_other_decoders_change_no_row(tmp_path):
    oracles = [Uniform(5, 0.8), Uniform(5, 0.6), Similarity([0.5, 0.3, 0.2])]
    with small_blocks(64):
        store = tmp_path / "results.db"
        first = swept(oracles, [Poll(2), MaxWin()], 300, store=store)
        for more in ([Adag()], [TopK(k=2), Poll(3)], [MaxWin(ties="lose"), Ddag()]):
            swept(oracles, more, 500, store=store)
            there = rows_in(store)
            assert set(first) <= set(there)
        assert len(there) == len(set(there)) == 3 * 7


def test_a_reference_that_grew_does_not_lose_its_own_row(tmp_path):
    """The max-win of a short command is played on, beside others, by a longer one."""
    oracle = Similarity([0.5, 0.3, 0.2])
    with small_blocks(64):
        store = tmp_path / "results.db"
        short = swept([oracle], [MaxWin(), Adag()], 100, store=store)
        swept([oracle], [Poll(2), Ddag()], 640, store=store)
        assert rows_in(store)[:2] == short


def test_blocks_ahead_of_a_rule_do_not_lose_a_shorter_row(tmp_path):
    with small_blocks(64):
        store = tmp_path / "results.db"
        oracle, decoders = Uniform(4, 0.9), [Adag(), Ddag()]
        swept([oracle], decoders, max_failures=40, store=store, threads=2)
        fixed = swept([oracle], decoders, 100, method="simulated", store=store)
        assert fixed == swept([oracle], decoders, 100, method="simulated")
        assert rows_in(store) == fixed


def test_the_order_of_decoders_is_no_conflict(tmp_path):
    """Two commands that play the same two decoders side by side, in another order, store the same digits."""
    store, oracle = tmp_path / "results.db", Uniform(8, 0.8)
    with small_blocks(64):
        swept([oracle], [Poll(3), Poll(5)], 200, store=store)
        with counted_runs() as calls:
            got = swept([oracle], [Poll(5), Poll(3), MaxWin(ties="lose")], 200, store=store)
        assert calls  # another max-win to compare with: everything was played again
        assert got == swept([oracle], [Poll(5), Poll(3), MaxWin(ties="lose")], 200)


def test_a_decoder_given_twice_is_no_conflict(tmp_path):
    twice = [MaxWin(), MaxWin(), Adag(), Adag()]
    got = swept([Uniform(5, 0.8)], twice, 200, store=tmp_path / "results.db")
    assert got == swept([Uniform(5, 0.8)], twice, 200)
    assert got[0] == got[1]


@settings(derandomize=True, deadline=None, max_examples=12)
@given(st.integers(1, 5), st.integers(1, 400), st.booleans(), st.randoms(use_true_random=False))
def test_shards_make_the_whole(parts, trials, conditional, random):
    oracles = [Uniform(4, 0.8), Uniform(4, 0.6), Uniform(6, 0.7)]
    decoders = [MaxWin(), Poll(2), Adag()]
    method = "auto" if conditional else "simulated"
    with small_blocks(64), tempfile.TemporaryDirectory() as folder:
        paths, blocks = [], 0
        for part in range(1, parts + 1):
            paths.append(Path(folder, f"{part}.db"))
            with Store.create_or_open(paths[-1]) as store, counted_runs() as calls:
                run_sweep(make_request(oracles, decoders, trials, method=method, shard=f"{part}/{parts}"), store)
            blocks += len(calls)
        random.shuffle(paths)
        merge_stores(paths, Path(folder, "all.db"))
        whole = swept(oracles, decoders, trials, method=method)
        assert blocks == 2 * math.ceil(trials / 64)  # two groups (n = 4, n = 6); a block of 64 is one piece
        assert rows_in(Path(folder, "all.db")) == whole


@pytest.mark.parametrize("stopped", [0, 1, 5, 9])
def test_going_on_plays_exactly_what_is_missing(tmp_path, stopped):
    """A run that breaks off after some blocks is gone on with, decoder added and trials added."""
    store, oracles, decoders = tmp_path / "results.db", [Uniform(6, 0.8), Uniform(6, 0.9)], [MaxWin(), Poll(2)]

    class BreakOffError(Exception):
        pass

    with small_blocks(64):
        done = []

        def breaks_off(oracle, trials):
            done.append(trials)
            if len(done) > 2 * stopped:
                raise BreakOffError

        with pytest.raises(BreakOffError):
            sweep(oracles, decoders, 640, threads=1, store=store, progress=breaks_off)
        with Store.read(store) as opened:
            blocks = [record.block for record in opened.all_blocks()]
        there = set(blocks)
        assert len(there) >= stopped
        assert len(blocks) == 4 * len(there)  # two oracles, two decoders: whole blocks only
        with counted_runs() as calls:
            assert swept(oracles, decoders, 640, store=store) == swept(oracles, decoders, 640, threads=2)
        resumed = [first // 64 for first, *_ in calls][: 10 - len(there)]
        assert set(resumed) == set(range(10)) - there
        assert len(calls) == 10 - len(there) + 10  # what was missing, and the run to compare with
        with counted_runs() as calls:
            swept(oracles, decoders, 640, store=store)
            assert calls == []  # nothing is missing
            swept(oracles, decoders, 1000, store=store)
            assert sorted(first // 64 for first, *_ in calls) == list(range(10, 16))
            calls.clear()
            swept(oracles, [*decoders, Ddag()], 1000, store=store)
            assert {decoders for *_, decoders in calls} == {2}  # the new one, and max-win to compare it with
            assert len(calls) == 16


def test_time_that_is_up_leaves_the_rest_open(tmp_path):
    store, oracles, decoders = tmp_path / "results.db", [Uniform(6, 0.8)], [MaxWin(), Adag()]
    with small_blocks(64):
        with counted_runs() as calls:
            assert len(sweep(oracles, decoders, 6400, threads=1, store=store, max_seconds=1e-9)) == 0
            assert calls == []
        assert swept(oracles, decoders, 6400, store=store) == swept(oracles, decoders, 6400)


# tallies


def moments_of(values):
    """The moments of some numbers, by NumPy."""
    gaps = values - values.mean()
    return Moments(len(values), float(values.mean()), float((gaps**2).sum()), float((gaps**3).sum()))


def random_played(rng, counted, trials=64):
    """Return what three decoders gave in some trials: counts, or probabilities where they are not counted."""
    outcomes = TrialOutcomes(3, np.zeros(trials, np.int64))
    outcomes.named[:] = rng.random((3, trials)) < 0.4
    outcomes.lost[:] = rng.random((3, trials))
    outcomes.costs[:] = rng.integers(0, trials, (3, 3))
    for place, each in enumerate(counted):
        outcomes.note_names(place)
        if not each:
            outcomes.note_probabilities(place, agreed=False)
    return outcomes.add_up(1, paired=True)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.tuples(st.booleans(), st.booleans(), st.booleans()), st.integers(1, 200))
def test_adding_up(seed, counted, trials):
    rng = np.random.default_rng(seed)
    a, b, c = (random_played(rng, counted, trials) for _ in range(3))
    left, right = a.plus(b).plus(c), a.plus(b.plus(c))
    for place, is_counted in enumerate(counted):
        one, two = left.tallies[place], right.tallies[place]
        if is_counted:  # whole numbers: any way of adding gives the same bits
            assert one == two == c.plus(a).plus(b).tallies[place]
        else:
            assert dataclasses.replace(one, smooth=None) == dataclasses.replace(two, smooth=None)
            for name in ("count", "mean", "second", "third"):
                assert getattr(one.smooth, name) == pytest.approx(getattr(two.smooth, name), rel=1e-9, abs=1e-9)
    for (first, second), versus in left.versus.items():
        if counted[first] and counted[second]:
            assert versus == right.versus[first, second]
            assert versus.first_only - versus.second_only == left.tallies[first].failed - left.tallies[second].failed
        else:
            means = [left.tallies[each].failures.mean for each in (first, second)]
            assert versus.smooth.mean == pytest.approx(means[0] - means[1], abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 1100), st.integers(-1, 2))
def test_a_sheet_adds_up_to_what_numpy_finds(seed, trials, reference):
    """Three decoders name somebody (or nobody, -1), one of them with probabilities to fail; a fourth has these only."""
    rng = np.random.default_rng(seed)
    outcomes = TrialOutcomes(4, rng.integers(0, 3, trials))
    outcomes.named[:3] = rng.integers(-1, 3, (3, trials))
    outcomes.lost[:], outcomes.agreed[:] = rng.random((2, 4, trials))
    outcomes.costs[:] = rng.integers(0, 9, (4, 3))
    for place in range(3):
        outcomes.note_names(place)
    outcomes.note_probabilities(2, agreed=False)
    outcomes.note_probabilities(3, agreed=reference >= 0)
    probabilities, agreed = outcomes.lost.copy(), outcomes.agreed.copy()
    found = outcomes.add_up(reference, paired=True)
    for place, tally in enumerate(found.tallies):
        assert (tally.trials, tally.queries, tally.distinct, tally.rounds) == (trials, *outcomes.costs[place])
        if place < 2:
            assert tally.smooth is None
            assert tally.failed == (outcomes.named[place] != outcomes.truth).sum()
        else:
            assert tally.failed == 0
            wanted = dataclasses.astuple(moments_of(probabilities[place]))
            assert dataclasses.astuple(tally.smooth) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        if reference < 0:
            assert math.isnan(tally.agreements)
        elif place < 3:
            same = (outcomes.named[place] == outcomes.named[reference]) & (outcomes.named[place] >= 0)
            assert tally.agreements == same.sum()
        else:
            assert tally.agreements == pytest.approx(agreed[place].sum(), rel=1e-12)
    for (a, b), versus in found.versus.items():
        if b < 2:
            misses = [outcomes.named[place] != outcomes.truth for place in (a, b)]
            assert (versus.first_only, versus.second_only) == (
                (misses[0] & ~misses[1]).sum(),
                (misses[1] & ~misses[0]).sum(),
            )
        else:
            wanted = dataclasses.astuple(moments_of(outcomes.lost[a] - outcomes.lost[b]))
            assert dataclasses.astuple(versus.smooth) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.tuples(st.booleans(), st.booleans(), st.booleans()), st.integers(1, 1100))
def test_plain_numbers_come_back_and_turning_is_exact(seed, counted, trials):
    rng = np.random.default_rng(seed)
    played = random_played(rng, counted, trials)
    for tally in played.tallies:
        assert tally_of_numbers(tally.trials, numbers_of_tally(tally), tally.agreements) == tally
    for a, b, numbers in played.versus.plain():
        versus = played.versus[a, b]
        assert versus_of_numbers(trials, numbers) == versus
        assert versus_of_numbers(trials, turned(numbers)) == swapped(versus)
        assert swapped(swapped(versus)) == versus
        assert struct.pack("5d", *turned(turned(numbers))) == struct.pack("5d", *numbers)
        assert all(struct.pack("d", each) == struct.pack("d", math.nan) for each in numbers if math.isnan(each))
    lost = [rng.random(trials), rng.random(trials) < 0.5, rng.random(trials) * 1e-9]
    straight, reverse = put_side_by_side(lost), put_side_by_side(lost[::-1])
    for a, b in straight:
        assert reverse[2 - b, 2 - a] == swapped(straight[a, b])
    assert put_side_by_side(lost[:2])[0, 1] == straight[0, 1]  # whoever else was there


@pytest.mark.parametrize("decoders", [[MaxWin("lose"), MaxWin("first"), Adag()], [MaxWin(), Adag()]], ids=str)
def test_decoders_that_never_differ_are_stored_alike_in_any_order(decoders, tmp_path):
    """A difference of exactly 0 has no sign: stores of either order merge, and a sweep goes on in the other's."""
    oracles = [Uniform(2, 0.7), Uniform(6, 1.0)]
    for name, request in (("a", decoders), ("b", decoders[::-1])):
        sweep(oracles, request, 3000, store=tmp_path / f"{name}.db")
    merge_stores([tmp_path / "a.db", tmp_path / "b.db"], tmp_path / "both.db")
    sweep(oracles, [decoders[-1], MaxWin(), decoders[0]], 3000, store=tmp_path / "both.db")
    with Store.read(tmp_path / "both.db") as store:
        values = [value for pair in store.all_pairs() for value in pair.values]
    assert 0.0 in values
    assert not any(value == 0.0 and math.copysign(1.0, value) < 0.0 for value in values)


def test_a_decoders_rows_do_not_depend_on_the_others():
    """The premise of it all: a decoder's tally does not depend on the decoders simulated with it."""
    decoders = (MaxWin(), Poll(2), TopK(k=2), Adag())
    methods = ("conditional", "conditional", "conditional", "simulated")
    oracles = (Uniform(5, 0.8), Uniform(5, 0.6))
    whole = BlockSimulator(oracles, decoders, methods, 0, 3).run(1024, 700)
    for place, (decoder, method) in enumerate(zip(decoders, methods, strict=True)):
        for number, oracle in enumerate(oracles):
            pair = ((decoder, MaxWin()), (method, "conditional"), 1) if place else ((decoder,), (method,), 0)
            (alone,) = BlockSimulator((oracle,), *pair, 3).run(1024, 700)
            assert alone.tallies[0] == whole[number].tallies[place]
    assert PairedTally(5, 1, 2) == swapped(PairedTally(5, 2, 1))
    frame = sweep([Uniform(5, 0.8)], [MaxWin()], 100, threads=1)
    assert rows_of_frame(to_frame([])) == []
    assert len(bits(frame.iloc[0])) == len(frame.columns)
