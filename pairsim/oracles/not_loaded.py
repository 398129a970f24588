"""A user's oracle whose module is not loaded: it can be listed, and is rejected where it would have to answer."""

from __future__ import annotations

from typing import Any, ClassVar

from pairsim.checks import check_classes, check_whole
from pairsim.oracles.base import Oracle
from pairsim.specs import not_loaded


class NotLoaded(Oracle):
    """Stands for an oracle of which only the stored record is known."""

    name: ClassVar[str] = "not loaded"
    summary: ClassVar[str] = "a user-defined oracle whose module is not loaded"
    registered: ClassVar[bool] = False
    loaded: ClassVar[bool] = False

    def __init__(self, stored_name: str, digest: str, params: dict[str, Any]) -> None:
        self.n = check_classes("store", params["n"])
        p, rows = params["p"], params["rows"]
        self._p = None if p is None else float(p)
        if self._p is not None and not 0.0 <= self._p <= 1.0:
            raise ValueError
        self._rows = None if rows is None else check_whole("store", "rows", rows, 1)
        self._name, self._digest = stored_name, digest
        self._seal()

    @property
    def label(self) -> str:
        return self._name

    @property
    def p(self) -> float | None:
        return self._p

    @property
    def rows(self) -> int | None:
        return self._rows

    def kernel(self) -> Any:
        raise not_loaded("store", "oracle", self._name)

    def _identity(self) -> tuple[object, ...]:
        return (self._digest,)
