"""Pool of reusable buffers: fresh memory would cost its page faults anew."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class WorkspacePool(Generic[T]):
    """Makes working memory for n classes, and keeps what was given back for the next who asks, on any thread.

    Memory for another n is dropped when it is come across, so that no more is kept than was in use at one time.
    """

    def __init__(self, make: Callable[[int], T]) -> None:
        self._make = make
        self._idle: list[tuple[int, T]] = []

    @contextlib.contextmanager
    def take(self, n: int) -> Iterator[T]:
        """Yield memory for n classes, and keep it for the next afterwards; nothing is expected in it."""
        memory = self._pop(n)
        try:
            yield memory
        finally:
            self._idle.append((n, memory))

    def _pop(self, n: int) -> T:
        while self._idle:
            try:
                size, memory = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if size == n:
                return memory
        return self._make(n)
