"""The sides of an evaluation's grid: data sets, estimators, decoders or reductions, each named or given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pairsim.checks import check_list
from pairsim.errors import parameter_error, shown


def read_side(name: str, values: Any, kind: Any, must_be: str, read: Callable[[str], Any] | None = None) -> list[Any]:
    """Return the members of a side, those that are text read; all of one kind, at least one, and none twice.

    Examples
    --------
    >>> read_side("folds", ["3", 5], int, "whole numbers or text of them", int)
    [3, 5]
    """
    members = check_list("evaluate", name, values, f"{must_be}, at least one")
    if read is not None:
        members = [read(each) if isinstance(each, str) else each for each in members]
    if not members:
        raise parameter_error("evaluate", name, "at least one", "none")
    wrong = [each for each in members if not isinstance(each, kind)]
    if wrong:
        raise parameter_error("evaluate", name, f"{must_be}, at least one", shown(wrong[0]))
    repeated = [each for place, each in enumerate(members) if each in members[:place]]
    if repeated:
        raise parameter_error(
            "evaluate", name, "given once each", f"{getattr(repeated[0], 'spec', repeated[0])!r} twice"
        )
    return members
