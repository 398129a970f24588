"""Checks of plain values at the public edge."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pairsim.errors import parameter_error, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

BOOLEANS = ("bool", "bool_")  # Python's and NumPy's, which is not imported for it
MOST_CLASSES = (1 << 31) - 1
MOST_PER_CORE = 16  # threads or processes at once
MOST_ANYWHERE = 64  # allowed on any machine, however few cores it has


def check_whole(owner: str, name: str, value: Any, low: int, high: int | None = None, must_be: str = "") -> int:
    """Return `value` as an int when it is an integer in low .. high (a bool is not, nor is 2.0).

    Examples
    --------
    >>> check_whole("simulate", "trials", 100, 1)
    100
    """
    try:
        number = low - 1 if type(value).__name__ in BOOLEANS else operator.index(value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high):
        span = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise parameter_error(owner, name, must_be or f"an integer {span}", shown(value))
    return number


def check_classes(owner: str, n: Any) -> int:
    """Return n as an int when it is an integer of at least two classes."""
    number = check_whole(owner, "n", n, 2, None, "an integer number of classes, at least 2")
    return check_whole(owner, "n", number, 2, MOST_CLASSES, f"at most {MOST_CLASSES:,} classes")


def check_number(owner: str, name: str, value: Any, must_be: str) -> float:
    """Return `value` as a float; nan passes, for the caller's comparison to reject."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise parameter_error(owner, name, must_be, shown(value)) from None


def check_text(owner: str, name: str, value: Any, must_be: str) -> str:
    """Return `value` when it is text."""
    if not isinstance(value, str):
        raise parameter_error(owner, name, must_be, shown(value))
    return value


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Return `value` when it is True or False."""
    import numpy as np  # here: the command line's help does without it

    if not isinstance(value, bool | np.bool_):
        raise parameter_error(owner, name, "True or False", shown(value))
    return bool(value)


def check_callable(owner: str, name: str, value: Any, must_be: str) -> None:
    """Reject what cannot be called; None stands for a callable that was left out."""
    if value is not None and not callable(value):
        raise parameter_error(owner, name, must_be, shown(value))


def check_choice(owner: str, name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value` when it is one of the texts to choose from."""
    listed = list(choices)
    if not isinstance(value, str) or value not in listed:
        raise parameter_error(owner, name, "one of " + ", ".join(map(repr, listed)), shown(value))
    return value


def check_instance(owner: str, name: str, value: Any, kind: type, must_be: str) -> Any:
    """Return `value` when it is of that type, such as an oracle or a decoder."""
    if not isinstance(value, kind):
        raise parameter_error(owner, name, must_be, shown(value))
    return value


def check_list(owner: str, name: str, values: Any, must_be: str) -> list[Any]:
    """Return the members of a list, tuple or other collection; text, a mapping or a lone value is none."""
    if isinstance(values, str | bytes | bytearray | dict) or not isinstance(values, Iterable):
        raise parameter_error(owner, name, must_be, shown(values))
    try:
        return list(values)
    except TypeError:  # an array without dimensions
        raise parameter_error(owner, name, must_be, shown(values)) from None


def check_members(owner: str, name: str, values: Any, kind: type, must_be: str) -> list[Any]:
    """Return the members of a collection when there are any and all are of that type."""
    members = check_list(owner, name, values, must_be)
    if not members or not all(isinstance(each, kind) for each in members):
        raise parameter_error(owner, name, must_be, shown(values))
    return members


def as_array(owner: str, name: str, values: Any, must_be: str) -> NDArray[Any]:
    """Return `values` as an array, of whatever numbers they are; the caller looks at its shape and dtype."""
    import numpy as np

    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise parameter_error(owner, name, must_be, shown(values)) from None


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_parallel(owner: str, name: str, value: Any) -> int:
    """Return the number of threads or processes to run at once, when it is one that a machine can bear.

    The limit is generous, so that a command written for a large machine also runs on a small one; a number far above it
    is a slip, and would fill the memory.

    Examples
    --------
    >>> check_parallel("sweep", "workers", 2)
    2
    """
    most = max(MOST_ANYWHERE, MOST_PER_CORE * usable_cores())
    must_be = f"an integer from 1 to {most} ({MOST_PER_CORE} per usable core, or {MOST_ANYWHERE} if that is more)"
    return check_whole(owner, name, value, 1, most, must_be)
