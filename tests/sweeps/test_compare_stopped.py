"""Comparisons after counting to a number of failures: no bias, and an interval that covers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, norm
from sweep_tools import counted_runs, small_blocks

from pairsim import Adag, Ddag, MaxWin, Poll, Uniform, sweep
from pairsim.simulation.paired import PairedTally
from pairsim.simulation.tally import Tally
from pairsim.store import Store
from pairsim.sweeps.block_results import BlockResults
from pairsim.sweeps.comparisons import compare_in_store, difference_apart, difference_of, ends_by_luck
from pairsim.sweeps.oracle_records import oracle_record
from pairsim.sweeps.progress import TaskProgress
from pairsim.sweeps.rows import from_frame
from pairsim.sweeps.stopping import Stop
from pairsim.sweeps.tasks import make_task

FALSE_ALARM = 1e-6  # the probability that a right program fails a statistical test with another seed
BLOCK, LONGEST = 8, 4000


def cell(decoder, stop, confidence=0.95):
    oracle = Uniform(4, 0.9)
    task = make_task(oracle, oracle_record(oracle), decoder, "simulated", 0)
    return TaskProgress(task, None, "simulated", "uniform", stop, confidence)


def stopped_pair(rng, cells, probabilities):
    """Let two decoders fail in random blocks until both have stopped; return the failures of all trials."""
    blocks = LONGEST // BLOCK
    kind = rng.choice(4, p=probabilities, size=blocks * BLOCK)  # nobody, only the first, only the second, both
    lost = np.array([kind % 2 == 1, kind >= 2])
    results = BlockResults(None)
    for each, failed in zip(cells, lost.reshape(2, blocks, BLOCK).sum(axis=2), strict=True):
        for block, count in enumerate(failed.tolist()):
            results.put(each.task.id, block, Tally(BLOCK, count), None)
            each.advance(results)
            if each.ended:
                break
        assert each.ended
    return lost, results


def plain_difference(lost, cells):
    """What was said before: the paired difference over the trials up to the first stop."""
    one, two = lost[:, : BLOCK * min(each.frontier for each in cells)]
    return difference_of(PairedTally(len(one), int((one & ~two).sum()), int((two & ~one).sum())), 0.95)


def is_off(values, truth):
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return bool(abs(np.mean(values) - truth) > norm.isf(FALSE_ALARM / 2) * error)


RULES = {
    "failures": ((Stop(10**6, failures=3), Stop(10**6, failures=3)), (0.93, 0.05, 0.01, 0.01)),
    "one fixed": ((Stop(10**6, failures=4), Stop(400)), (0.93, 0.04, 0.02, 0.01)),
    "relative": ((Stop(10**6, 0.9, True), Stop(10**6, 0.9, True)), (0.9, 0.08, 0.01, 0.01)),
    "different": ((Stop(10**6, failures=2), Stop(10**6, failures=8)), (0.9, 0.03, 0.04, 0.03)),
}


@pytest.mark.parametrize("name", RULES)
def test_the_difference_has_no_bias_and_its_interval_covers(name):
    stops, probabilities = RULES[name]
    truth = probabilities[2] - probabilities[1]  # of successes
    repeats, differences, plain, misses, elsewhere = 700, [], [], 0, 0
    rng = np.random.default_rng(1)
    with small_blocks(BLOCK):
        for _ in range(repeats):
            cells = [cell(decoder, stop) for decoder, stop in zip((Adag(), Ddag()), stops, strict=True)]
            lost, results = stopped_pair(rng, cells, probabilities)
            assert ends_by_luck(*cells)
            found = difference_apart(*cells, results, 0.95)
            assert found is not None
            assert found.low <= found.difference <= found.high
            differences.append(found.difference)
            plain.append(plain_difference(lost, cells)[0])
            misses += not found.low <= truth <= found.high
            elsewhere += not found.low <= truth + 0.3 <= found.high
    assert not is_off(differences, truth)
    assert is_off(plain, truth)  # negative control: what was said before
    assert binom.sf(misses - 1, repeats, 0.05) > FALSE_ALARM
    assert binom.sf(elsewhere - 1, repeats, 0.05) < FALSE_ALARM  # negative control: an interval somewhere else


def test_what_decides_how_many_trials_there_are():
    with small_blocks(BLOCK):
        counting, fixed = cell(Adag(), Stop(10**6, failures=3)), cell(Ddag(), Stop(100))
        assert ends_by_luck(counting, fixed)
        assert ends_by_luck(fixed, counting)
        assert not ends_by_luck(fixed, fixed)
        assert not ends_by_luck(counting, cell(Ddag(), Stop(BLOCK)))  # the first block is always there
        assert not ends_by_luck(cell(Adag(), Stop(10**6, 0.1)), fixed)  # an absolute width counts nothing
        assert ends_by_luck(cell(Adag(), Stop(10**6, 0.1, True)), fixed)


def compared(path, *pair, confidence=0.95):
    with Store.read(path) as store:
        return compare_in_store(store, *pair, confidence)


@pytest.mark.parametrize("rule", [{"max_failures": 40}, {"half_width": "40%"}])
def test_a_store_gives_the_difference_of_its_rows(tmp_path, rule):
    store, oracle, pair = tmp_path / "r.db", Uniform(6, 0.97), (Adag(order="given"), Ddag(order="given"))
    with small_blocks(64):
        frame = sweep([oracle], [*pair, MaxWin()], seed=2, method="simulated", store=store, threads=1, **rule)
        one, two, _ = from_frame(frame)
        assert one.trials != two.trials
        with counted_runs() as calls:
            (found,) = compared(store, *pair)
            (turned,) = compared(store, *reversed(pair))
        assert not calls
        (wide,) = compared(store, *pair, confidence=0.99)
    assert found.difference == pytest.approx(one.success - two.success, abs=1e-12)
    assert (found.paired, found.trials) == (False, min(one.trials, two.trials))
    assert (turned.difference, turned.low, turned.high) == pytest.approx((-found.difference, -found.high, -found.low))
    assert found.low < one.low - two.high < one.high - two.low < found.high  # each at a higher confidence
    assert wide.low < found.low < found.high < wide.high


def test_tasks_that_end_in_their_first_block_are_paired(tmp_path):
    ruled, fixed, pair = tmp_path / "ruled.db", tmp_path / "fixed.db", (Adag(), Ddag())
    with small_blocks(256):
        sweep([Uniform(8, 0.7)], pair, max_failures=20, method="simulated", store=ruled, threads=1)
        sweep([Uniform(8, 0.7)], pair, 256, method="simulated", store=fixed, threads=1)
        (found,), (planned,) = compared(ruled, *pair), compared(fixed, *pair)
        (wider,) = compared(fixed, *pair, confidence=0.975)
    assert found.paired
    assert found.difference == planned.difference
    assert (found.low, found.high) == (wider.low, wider.high)  # half of the error is for the case that they do not


def test_probabilities_that_stop_on_their_width_are_paired(tmp_path):
    with small_blocks(64):
        sweep([Uniform(6, 0.8)], [Poll(2), Poll(3)], half_width="10%", store=tmp_path / "r.db", threads=1)
        (found,) = compared(tmp_path / "r.db", Poll(2), Poll(3))
    assert found.paired


def test_the_command_says_why(tmp_path, pairsim_command):
    with small_blocks(64):
        given = ("--p", "0.97", "--n", "6", "--method", "simulated", "--decoder", "adag", "--decoder", "ddag")
        swept = pairsim_command("sweep", *given, "--max-failures", "40", "--store", tmp_path / "r.db", "--quiet")
        assert swept.code == 0, swept.err
        found = pairsim_command("compare", tmp_path / "r.db", "adag", "ddag", "--format", "csv")
    assert found.code == 0
    assert found.out.splitlines()[1].endswith(",no")
    assert "paired no" in found.err
