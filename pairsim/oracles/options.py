"""What an oracle takes on the command line, and how values, lists and ranges are read there."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from pairsim.errors import ParameterError, parameter_error

MOST_POINTS = 10_000
REQUIRED: Any = object()


def real_points(name: str, text: str) -> list[float]:
    """Read numbers: `0.7`, `0.7,0.9` or `0.5..0.95:0.05` (in steps, both ends included, no rounding drift).

    Examples
    --------
    >>> real_points("p", "0.7,0.8..0.95:0.05")
    [0.7, 0.8, 0.85, 0.9, 0.95]
    """
    return [float(value) for value in _points(name, text, "numbers such as 0.7, 0.7,0.9 or 0.5..0.95:0.05", False)]


def whole_points(name: str, text: str) -> list[int]:
    """Read integers: `16`, `16,24,100`, `16..512` (doubling) or `16..128:16` (in steps).

    Examples
    --------
    >>> whole_points("n", "16..128"), whole_points("n", "3,8..16:4")
    ([16, 32, 64, 128], [3, 8, 12, 16])
    """
    points = []
    for value in _points(name, text, "integers such as 16, 16,24,100, 16..512 or 16..128:16", doubling=True):
        if value != value.to_integral_value():
            raise parameter_error("sweep", name, "integers such as 16, 16,24,100, 16..512 or 16..128:16", repr(text))
        points.append(int(value))
    return points


def one_text(name: str, text: str) -> list[str]:
    """Read text as it is, such as the name of a file."""
    return [text]


class Option(NamedTuple):
    """An option of an oracle: `--NAME` where the command line has it, else `--set NAME=POINTS`.

    Parameters
    ----------
    name : str
        The parameter of `Oracle.make` that it fills, and the attribute that has its value.
    read : callable
        (name, text) -> the values that the text stands for, each of which is a point of a grid.
    default : value, optional
        Without one, the option must be given.
    help : str
        For the list of oracles; of an option without default, what it must be.
    example : value
        A value for tests, where there is no default.
    """

    name: str
    read: Callable[[str, str], list[Any]] = real_points
    default: Any = REQUIRED
    help: str = ""
    example: Any = 0.8

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED


def check_points(*counts: int) -> None:
    """Reject a grid with more points than a sweep can list: the product of the numbers of values of its options.

    Examples
    --------
    >>> check_points(100, 100)
    """
    points = math.prod(counts)
    if points > MOST_POINTS:
        raise parameter_error("sweep", "n and p", f"a grid of at most {MOST_POINTS} points", f"{points} points")


def _points(name: str, text: str, must_be: str, doubling: bool) -> list[Decimal]:
    wrong = parameter_error("sweep", name, must_be, repr(text))
    points: list[Decimal] = []
    for part in text.split(","):
        first, dots, rest = part.partition("..")
        if not dots:
            points.append(_number(first, wrong))
            continue
        last, colon, step = rest.partition(":")
        if not colon and not doubling:
            raise parameter_error("sweep", name, "a range with a step, such as 0.5..0.95:0.05", repr(part))
        points += _range(name, _number(first, wrong), _number(last, wrong), _number(step, wrong) if colon else None)
    check_points(len(points))
    if len(set(points)) != len(points):
        raise parameter_error("sweep", name, "points that are all different", repr(text))
    return points


def _range(name: str, first: Decimal, last: Decimal, step: Decimal | None) -> list[Decimal]:
    if last < first:
        raise parameter_error("sweep", name, "a range that goes up", f"'{first}..{last}'")
    if step is None:
        if first < 1:
            raise parameter_error("sweep", name, "a doubling range that starts at 1 or more", f"'{first}..{last}'")
        points = [first]
        while points[-1] * 2 <= last:
            points.append(points[-1] * 2)
        return points
    if step <= 0:
        raise parameter_error("sweep", name, "a range with a step above 0", f"the step {step}")
    count = int((last - first) / step) + 1
    if count > MOST_POINTS:
        raise parameter_error("sweep", name, f"a range of at most {MOST_POINTS} points", f"{count} points")
    return [first + place * step for place in range(count)]


def _number(text: str, wrong: ParameterError) -> Decimal:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise wrong from None
    if not value.is_finite() or abs(value) > 10**18:
        raise wrong
    return value
