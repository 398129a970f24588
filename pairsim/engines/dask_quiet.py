"""Dask's own log lines, held back while an engine runs: the engine tells what matters in one line of its own."""

from __future__ import annotations

import logging


class Quiet:
    """Raises the level of Dask's loggers above everything between `start` and `stop`.

    Examples
    --------
    >>> quiet = Quiet()
    >>> quiet.start()
    >>> quiet.stop()
    """

    def __init__(self) -> None:
        self._levels: dict[str, int] = {}

    def start(self) -> None:
        """Silence every logger of the family that there is."""
        names = {name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"}
        for name in names | {"distributed"}:
            logger = logging.getLogger(name)
            self._levels.setdefault(name, logger.level)
            logger.setLevel(logging.CRITICAL + 1)

    def stop(self) -> None:
        """Give every logger the level it had."""
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
        self._levels.clear()
