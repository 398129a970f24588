"""Work done by several threads, the caller's among them, with the results in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


class OrderedThreads(Generic[Work, Result]):
    """Does pieces of work, each of which is taken by the next thread that has nothing to do.

    The caller's thread works too: one that only waited would be woken for every result, and take the place of one that
    works.

    Examples
    --------
    >>> from pairsim.simulation.ordered_threads import OrderedThreads
    >>> list(OrderedThreads(lambda number: number**2, range(5)).work(threads=2))
    [0, 1, 4, 9, 16]
    """

    def __init__(self, do: Callable[[Work], Result], pieces: Iterator[Work] | range) -> None:
        self._do = do
        self._pieces = enumerate(pieces)
        self._taking = threading.Lock()
        self._done: dict[int, Result] = {}
        self._failed: list[BaseException] = []
        self._stopped = False

    def work(self, threads: int) -> Iterator[Result]:
        """Yield the results in the order of the pieces; what is raised anywhere is raised here.

        A thread is started only with a piece to begin with. When it ends early, the other threads finish the piece they
        are at and no more.
        """
        started: list[threading.Thread] = []
        own = self._take()
        try:
            while len(started) < threads - 1 and (taken := self._take()) is not None:
                helper = threading.Thread(target=self._help, args=taken, daemon=True)
                try:
                    helper.start()
                except RuntimeError:  # the system has no thread left: those that there are do the work
                    self._done[taken[0]] = self._do(taken[1])
                    break
                started.append(helper)
            if own is not None:
                self._done[own[0]] = self._do(own[1])
            wanted = 0
            working = True
            while working:
                working = self._do_next()
                if not working:  # the others have the last pieces
                    for helper in started:
                        helper.join()
                if self._failed:
                    raise self._failed[0]
                while wanted in self._done:
                    yield self._done.pop(wanted)
                    wanted += 1
        finally:
            self._stopped = True
            for helper in started:
                helper.join()

    def _help(self, number: int, piece: Work) -> None:
        try:
            self._done[number] = self._do(piece)
            while not self._stopped and self._do_next():
                pass
        except BaseException as error:
            self._stopped = True
            self._failed.append(error)

    def _do_next(self) -> bool:
        """Do the next piece; return False when there is none."""
        taken = self._take()
        if taken is not None:
            self._done[taken[0]] = self._do(taken[1])
        return taken is not None

    def _take(self) -> tuple[int, Work] | None:
        with self._taking:
            return next(self._pieces, None)  # type: ignore[return-value]
