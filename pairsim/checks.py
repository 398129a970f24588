"""Checks of plain values at the public edge."""

from __future__ import annotations

import operator
from typing import Any

from pairsim.errors import refusal


def check_whole(owner: str, name: str, value: Any, low: int, high: int | None = None, must_be: str = "") -> int:
    """Return `value` as an int when it is a whole number in low .. high (a bool is not, nor is 2.0).

    Examples
    --------
    >>> check_whole("simulate", "trials", 100, 1)
    100
    """
    try:
        number = low - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high):
        span = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise refusal(owner, name, must_be or f"a whole number {span}", repr(value))
    return number


def check_classes(owner: str, n: Any) -> int:
    """Return n as an int when it is a whole number of at least two classes."""
    return check_whole(owner, "n", n, 2, (1 << 31) - 1, "a whole number of classes, at least 2")


def check_number(owner: str, name: str, value: Any, must_be: str) -> float:
    """Return `value` as a float; nan passes, for the caller's comparison to refuse."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise refusal(owner, name, must_be, repr(value)) from None
