"""Work on several threads with results in order, and memory that is reused."""

from __future__ import annotations

import threading
import time

import pytest

from pairsim.engines.ordered_threads import OrderedThreads
from pairsim.simulation.workspace_pool import WorkspacePool


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order_whoever_was_faster(threads):
    def work(number):
        time.sleep(0.002 * (number % 3))
        return number, threading.get_ident()

    found = list(OrderedThreads(work, iter(range(40))).work(threads))
    assert [number for number, _ in found] == list(range(40))
    assert len({who for _, who in found}) == threads
    assert threading.get_ident() in {who for _, who in found}


@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_raised_anywhere_is_raised_here_and_nobody_goes_on(threads):
    done = []

    def work(number):
        if number == 7:
            raise ValueError("seven")
        time.sleep(0.001)
        done.append(number)

    with pytest.raises(ValueError, match="seven"):
        list(OrderedThreads(work, iter(range(1000))).work(threads))
    assert len(done) < 100
    before = len(done)
    time.sleep(0.02)
    assert len(done) == before


def test_whoever_stops_listening_stops_the_work():
    done = []

    def work(number):
        time.sleep(0.001)
        done.append(number)

    results = OrderedThreads(work, iter(range(1000))).work(3)
    next(results)
    results.close()
    before = len(done)
    time.sleep(0.02)
    assert len(done) == before < 1000


def test_an_iterator_that_raises_is_not_swallowed():
    def pieces():
        yield 1
        raise KeyError("no more")

    with pytest.raises(KeyError):
        list(OrderedThreads(lambda piece: piece, pieces()).work(2))


def test_memory_is_reused_and_never_by_two_at_once():
    made = []
    capacity = WorkspacePool(lambda n: made.append(n) or [n])
    with capacity.take(5) as first, capacity.take(5) as second:
        assert first is not second
    with capacity.take(5) as again:
        assert again is first or again is second
    assert made == [5, 5]
    with capacity.take(6) as other:
        assert other == [6]
    assert made == [5, 5, 6]
    with capacity.take(6) as same:
        assert same is other


def test_memory_comes_back_after_an_error():
    capacity = WorkspacePool(lambda n: [n])
    with pytest.raises(ZeroDivisionError), capacity.take(3) as first:
        raise ZeroDivisionError
    with capacity.take(3) as again:
        assert again is first
