"""Units on any `concurrent.futures.Executor` that somebody else owns."""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from typing import Any

from pairsim.checks import check_whole
from pairsim.engines.base import Engine, EngineLost, Finished, UnitError, Work
from pairsim.engines.kept_context import pack_context, perform_recalled
from pairsim.engines.packing import Outcome, Reply, in_words, pack, perform, read_reply, unsent
from pairsim.errors import parameter_error


class ExecutorEngine(Engine):
    """Runs units on an executor of yours, which is never shut down here.

    Threads get the objects themselves. Any other executor gets bytes, and a worker that has not seen the
    context asks for it once. A process pool that breaks is lost (`EngineLost`): only its owner can build another.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Running, and left running.
    slots : int, optional
        How many units it runs at once; found out for the standard executors.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool, ExecutorEngine(pool) as engine:
    ...     engine.start(pow, 2)
    ...     engine.submit(10)
    ...     engine.wait(None)[0].result
    1024
    """

    def __init__(self, executor: Executor, slots: int | None = None) -> None:
        if not callable(getattr(executor, "submit", None)):
            raise parameter_error("ExecutorEngine", "executor", "a concurrent.futures.Executor", repr(executor))
        if slots is None:
            slots = int(getattr(executor, "_max_workers", 0) or os.cpu_count() or 1)
        self.slots = check_whole("ExecutorEngine", "slots", slots, 1)
        self.in_process = isinstance(executor, ThreadPoolExecutor)
        self._executor = executor
        self._forget()

    def _forget(self) -> None:
        # futures of an earlier run still hold the earlier queue: what they bring is never seen again
        self._arrivals: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._units: dict[Future[Any], Any] = {}
        self._unsent: list[Finished] = []
        self._lost: EngineLost | None = None

    def describe(self) -> str:
        """Say in a few words where the units run."""
        return f"{self.slots} slots of a {type(self._executor).__name__}"

    def start(self, work: Work, context: Any) -> None:
        """Remember the work; packs the context when it has to travel."""
        self._forget()
        self._work, self._context = work, context
        if not self.in_process:
            self._key = secrets.token_hex(16)
            self._packed = pack_context(type(self).__name__, work, context)

    def submit(self, unit: Any) -> None:
        """Pass one unit to the executor."""
        if self.in_process:
            self._hand_over(unit, perform, self._work, self._context, unit)
            return
        try:
            packed = pack(unit)
        except Exception as caught:
            self._unsent.append(unsent(unit, caught))
            return
        self._hand_over((unit, packed), perform_recalled, self._key, None, packed)

    def _hand_over(self, tag: Any, call: Callable[..., Any], *arguments: Any) -> None:
        try:
            future = self._executor.submit(call, *arguments)
        except RuntimeError as error:  # what executors raise when they are broken or shut down
            raise self._gone(error) from error
        self._units[future] = tag
        future.add_done_callback(self._arrivals.put)

    def _gone(self, error: BaseException) -> EngineLost:
        return EngineLost(f"the {type(self._executor).__name__} takes no more units ({in_words(error)})")

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return what has finished."""
        finished, self._unsent = self._unsent, []
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._units and self._lost is None:
            left = 0.0 if finished else None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                future = self._arrivals.get(timeout=left)
            except queue.Empty:
                break
            arrived = self._read(future)
            if arrived is not None:
                finished.append(arrived)
        if not finished and self._lost is not None:
            raise self._lost
        return finished

    def _read(self, future: Future[Any]) -> Finished | None:
        tag = self._units.pop(future)
        unit = tag if self.in_process else tag[0]
        try:
            answer = future.result()
        except BrokenExecutor as error:
            self._lost = self._gone(error)
            return None
        except CancelledError:
            return Finished(unit, None, UnitError("the executor dropped the unit"), 0.0)
        except BaseException as error:
            return Finished(unit, None, error, 0.0)
        return Finished(unit, *answer) if isinstance(answer, Outcome) else self._understand(tag, answer)

    def _understand(self, tag: tuple[Any, bytes], answer: Reply | str | None) -> Finished | None:
        """Read what came from another process."""
        unit, packed = tag
        if isinstance(answer, Reply):
            return read_reply(unit, answer)
        try:
            if answer is not None:
                raise EngineLost(f"the workers cannot read their work units ({answer})")
            # this worker has yet to see the context
            self._hand_over(tag, perform_recalled, self._key, self._packed, packed)
        except EngineLost as error:
            self._lost = error  # told by `wait`, after it has handed out what did finish
        return None

    def stop(self, *, now: bool) -> None:
        """Take back what has not begun; with `now`, do not wait for what has."""
        with contextlib.suppress(EngineLost):
            while not now and self._units:
                self.wait(None)
        for future in self._units:
            future.cancel()
        self._forget()
