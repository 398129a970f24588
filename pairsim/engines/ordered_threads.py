"""Threads of this process that take one piece of work after another, with or without the caller's among them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


class WorkThreads(Generic[Work]):
    """Threads that are started one by one, each with a piece of work, and take more until there is none.

    Parameters
    ----------
    do : callable
        Does one piece. What it raises is kept in `failed`, and stops all threads after the piece they are at.
    take : callable
        Gives the next piece, or None for no more; may wait.

    Examples
    --------
    >>> left, done = [3, 2], []
    >>> threads = WorkThreads(done.append, lambda: left.pop() if left else None)
    >>> threads.start(1)
    True
    >>> threads.join()
    >>> done
    [1, 2, 3]
    """

    def __init__(self, do: Callable[[Work], None], take: Callable[[], Work | None]) -> None:
        self._do, self._take = do, take
        self._threads: list[threading.Thread] = []
        self.failed: list[BaseException] = []
        self.stopped = False

    def __len__(self) -> int:
        return len(self._threads)

    def start(self, first: Work) -> bool:
        """Start a thread with its first piece; return False where the system has no thread left."""
        thread = threading.Thread(target=self._work, args=(first,), name="pairsim", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._threads.append(thread)
        return True

    def join(self) -> None:
        """Wait for the end of every thread."""
        for thread in self._threads:
            thread.join()

    def _work(self, first: Work) -> None:
        piece: Work | None = first
        try:
            while piece is not None and not self.stopped:
                self._do(piece)
                piece = None if self.stopped else self._take()
        except BaseException as error:
            self.stopped = True
            self.failed.append(error)


class OrderedThreads(Generic[Work, Result]):
    """Does pieces of work, each of which is taken by the next thread that has nothing to do, with the results in order.

    The caller's thread works too: one that only waited would be woken for every result, and take the place of one that
    works.

    Examples
    --------
    >>> from pairsim.engines.ordered_threads import OrderedThreads
    >>> list(OrderedThreads(lambda number: number**2, range(5)).work(threads=2))
    [0, 1, 4, 9, 16]
    """

    def __init__(self, do: Callable[[Work], Result], pieces: Iterator[Work] | range) -> None:
        self._do = do
        self._pieces = enumerate(pieces)
        self._taking = threading.Lock()
        self._done: dict[int, Result] = {}

    def work(self, threads: int) -> Iterator[Result]:
        """Yield the results in the order of the pieces; what is raised anywhere is raised here.

        A thread is started only with a piece to begin with. When it ends early, the other threads finish the piece they
        are at and no more.
        """
        helpers = WorkThreads(self._do_piece, self._take)
        own = self._take()
        try:
            while len(helpers) < threads - 1 and (taken := self._take()) is not None:
                if not helpers.start(taken):  # those that there are do the work
                    self._do_piece(taken)
                    break
            wanted = 0
            while True:
                if own is not None:
                    self._do_piece(own)
                else:  # the others have the last pieces
                    helpers.join()
                if helpers.failed:
                    raise helpers.failed[0]
                while wanted in self._done:
                    yield self._done.pop(wanted)
                    wanted += 1
                if own is None:
                    return
                own = self._take()
        finally:
            helpers.stopped = True
            helpers.join()

    def _do_piece(self, taken: tuple[int, Work]) -> None:
        number, piece = taken
        self._done[number] = self._do(piece)

    def _take(self) -> tuple[int, Work] | None:
        with self._taking:
            return next(self._pieces, None)  # type: ignore[return-value]
