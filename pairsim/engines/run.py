"""The loop that feeds an engine and hands out what it finishes."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from pairsim.checks import check_whole
from pairsim.engines.base import Engine, EngineLost, Finished
from pairsim.engines.interrupts import DeferredInterrupt

PULSE = 0.25
"""The longest wait for the engine, in seconds: how late a tick or Ctrl-C may be noticed."""

BREATH = 0.1
"""The shortest time between two ticks, so that a stream of tiny units is not slowed by its own progress."""


def run_units(
    engine: Engine,
    next_unit: Callable[[], Any | None],
    done: Callable[[Any, Any, float], None],
    failed: Callable[[Any, BaseException], None],
    *,
    tick: Callable[[], None] | None = None,
    attempts: int = 3,
) -> None:
    """Run every unit that `next_unit` gives on a started engine, and report each exactly once.

    All callbacks are called in the calling thread. When one of them raises, or Ctrl-C is pressed, the engine
    is stopped and the exception is raised; units that have finished by then are reported to `done` first,
    unless it was `done` that raised.

    Parameters
    ----------
    engine : Engine
        Already started; still running after a normal end, stopped after an exception.
    next_unit : callable
        Gives the next unit, or None for none at the moment; asked again after results came in. The run is over
        when it gives None while nothing is in flight.
    done : callable
        Takes (unit, result, seconds) of a unit that worked, in order of completion.
    failed : callable
        Takes (unit, error) of a unit that raised, or lost its worker, in each of its attempts.
    tick : callable, optional
        Called about every quarter of a second or more often.
    attempts : int
        How often a unit is tried in all. Units are told apart by identity.

    Examples
    --------
    >>> from pairsim.engines import ThreadEngine
    >>> units, powers = [3, 2, 1], {}
    >>> with ThreadEngine(2) as engine:
    ...     engine.start(pow, 10)
    ...     run_units(engine, lambda: units.pop() if units else None,
    ...               lambda unit, result, seconds: powers.update({unit: result}), print)
    >>> sorted(powers.items())
    [(1, 10), (2, 100), (3, 1000)]
    """
    attempts = check_whole("run_units", "attempts", attempts, 1)
    with DeferredInterrupt() as interrupt:
        run = _Run(engine, done, failed, tick, attempts, interrupt)
        try:
            while run.fill(next_unit):
                run.collect(PULSE)
                run.settle()
        except BaseException:
            try:
                run.deliver_finished()
            finally:
                engine.stop(now=True)
            raise


class _Run:
    """The state of one `run_units`: what is in flight, what has arrived, and the strikes of each unit."""

    def __init__(
        self,
        engine: Engine,
        done: Callable[[Any, Any, float], None],
        failed: Callable[[Any, BaseException], None],
        tick: Callable[[], None] | None,
        attempts: int,
        interrupt: DeferredInterrupt,
    ) -> None:
        self.engine, self.attempts, self.interrupt = engine, attempts, interrupt
        self._done, self._failed, self._tick = done, failed, tick
        self.in_flight = 0
        self.arrived: deque[Finished] = deque()
        self.strikes: dict[int, tuple[Any, int]] = {}  # by id; the unit is kept so that its id stays its own
        self.last_tick = float("-inf")
        self.done_raised = False

    def fill(self, next_unit: Callable[[], Any | None]) -> bool:
        """Hand units out while there is room; false when the run is over."""
        self.beat()
        while self.in_flight < max(1, self.engine.capacity):
            unit = next_unit()
            if unit is None:
                break
            self.engine.submit(unit)
            self.in_flight += 1
            self.beat()
        return self.in_flight > 0

    def collect(self, timeout: float) -> None:
        """Wait for the engine; a unit leaves the flight when it arrives."""
        finished = self.engine.wait(timeout)
        self.arrived.extend(finished)
        self.in_flight -= len(finished)

    def settle(self) -> None:
        """Report what has arrived, and send a unit that went wrong out again while it has attempts left."""
        while self.arrived:
            finished = self.arrived.popleft()
            if finished.error is None:
                self.report(finished)
            else:
                self.strike(finished.unit, finished.error)
            self.beat()

    def report(self, finished: Finished) -> None:
        """Tell `done`."""
        self.strikes.pop(id(finished.unit), None)
        try:
            self._done(finished.unit, finished.result, finished.seconds)
        except BaseException:
            self.done_raised = True
            raise

    def strike(self, unit: Any, error: BaseException) -> None:
        """Count one bad attempt."""
        count = self.strikes.pop(id(unit), (unit, 0))[1] + 1
        if count >= self.attempts:
            self._failed(unit, error)
            return
        self.strikes[id(unit)] = (unit, count)
        self.engine.submit(unit)
        self.in_flight += 1

    def beat(self) -> None:
        """Notice Ctrl-C, and tick when it is time."""
        self.interrupt.check()
        if self._tick is not None and time.monotonic() - self.last_tick >= BREATH:
            self._tick()
            self.last_tick = time.monotonic()

    def deliver_finished(self) -> None:
        """After an exception: tell `done` of the results that are there already, and of nothing else."""
        if self.done_raised:
            return
        with contextlib.suppress(EngineLost):  # it is what brought us here, or is no news any more
            self.collect(0)
        while self.arrived:
            finished = self.arrived.popleft()
            if finished.error is None:
                self.report(finished)
