"""Numbers for people: no more digits than are known, and never a 0 or 1 that is none."""

from __future__ import annotations

import math
from collections.abc import Sequence

EXACT_DIGITS = 6
KNOWN_DIGITS = 2  # of the half-width of an interval
SMALLEST_PLAIN = 1e-4  # below it, and down to 0, numbers are written as 1.2e-05


def count(value: float) -> str:
    """Return an amount: whole, or with one digit after the point.

    Examples
    --------
    >>> count(130816), count(133.359)
    ('130,816', '133.4')
    """
    if not math.isfinite(value):
        return ""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def rounded(value: float, digits: int) -> str:
    """Return a number to so many significant digits; more where it would look like 1.

    Examples
    --------
    >>> rounded(0.123456, 3), rounded(1.0, 3), rounded(0.99999, 3)
    ('0.123', '1', '0.99999')
    """
    while value != 1.0 and float(f"{value:.{digits}g}") == 1.0 and digits < 17:
        digits += 1
    return f"{value:.{digits}g}"


def exact(value: float) -> str:
    """Return a number that is known exactly, to six digits; more where it would look like 1.

    Examples
    --------
    >>> exact(0.38742048), exact(3.309e-49), exact(1.0), exact(1 - 1e-9)
    ('0.38742', '3.309e-49', '1', '0.999999999')
    """
    return rounded(value, EXACT_DIGITS)


def estimated(value: float, low: float, high: float, *, is_share: bool = True) -> tuple[str, str, str]:
    """Return an estimate and the ends of its interval, rounded to two digits of the interval's half-width.

    At most to six digits, as exact values are, unless it is close to 1. A share that is not 0 or 1 never looks like it;
    a difference may.

    Examples
    --------
    >>> estimated(0.451234, 0.4445, 0.4579)
    ('0.4512', '0.4445', '0.4579')
    >>> estimated(0.99999, 0.99995, 1.0)
    ('0.999990', '0.999950', '1.000000')
    >>> estimated(2.345e-9, 2.1e-9, 2.6e-9)
    ('2.35e-09', '2.10e-09', '2.60e-09')
    """
    half = (high - low) / 2.0
    if not (math.isfinite(value) and math.isfinite(half)):
        return ("" if math.isnan(value) else exact(value), "", "")
    if half <= 0.0:
        return exact(value), exact(low), exact(high)
    largest = max(abs(value), abs(low), abs(high))
    last = math.floor(math.log10(half)) - KNOWN_DIGITS + 1  # the power of ten of the last digit
    if 0.0 < largest < SMALLEST_PLAIN:
        first = math.floor(math.log10(largest))
        digits = min(EXACT_DIGITS, first - last + 1)
        return _scientific(value, digits), _scientific(low, digits), _scientific(high, digits)
    decimals = max(0, min(-last, _most_decimals(value)))
    show = fixed if is_share else _signed
    return show(value, decimals), show(low, decimals), show(high, decimals)


def _most_decimals(value: float) -> int:
    """Return the decimals that an estimate may have: six digits of it, and two of what it lacks to 1."""
    most = EXACT_DIGITS - 1 - math.floor(math.log10(abs(value))) if value else EXACT_DIGITS
    gap = abs(1.0 - value)
    return max(most, KNOWN_DIGITS - 1 - math.floor(math.log10(gap))) if gap else most


def half_width(value: float, low: float, high: float) -> str:
    """Return how far the interval reaches from the estimate at most, to two digits.

    Examples
    --------
    >>> half_width(0.451234, 0.4445, 0.4579), half_width(0.99999, 0.99995, 1.0)
    ('0.0067', '0.000040')
    """
    reach = max(high - value, value - low)
    if not math.isfinite(reach):
        return ""
    if reach <= 0.0:
        return "0"
    if reach < SMALLEST_PLAIN / 10.0:
        return f"{reach:.{KNOWN_DIGITS - 1}e}"
    return f"{reach:.{max(0, KNOWN_DIGITS - 1 - math.floor(math.log10(reach)))}f}"


def aligned(cells: Sequence[str]) -> list[str]:
    """Return the numbers with blanks behind them, so that their points are below each other.

    Examples
    --------
    >>> aligned(["0.451", "0.38742", "1"])
    ['0.451  ', '0.38742', '1      ']
    """
    behind = [len(cell.partition(".")[2]) + ("." in cell) for cell in cells]
    if any("e" in cell for cell in cells):
        return list(cells)
    return [cell + " " * (max(behind) - length) if cell else cell for cell, length in zip(cells, behind, strict=True)]


def _signed(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0: there is no -0


def _scientific(value: float, digits: int) -> str:
    return "0" if value == 0.0 else f"{value:.{max(0, digits - 1)}e}"


def fixed(value: float, decimals: int) -> str:
    """Return the value with so many decimals; in another form where it would look like 0 or 1 and is not.

    Examples
    --------
    >>> fixed(0.23456, 3), fixed(0.9999, 3), fixed(0.00002, 3), fixed(1.0, 3)
    ('0.235', '0.9999', '2.0e-05', '1.000')
    """
    if value != 0.0 and float(f"{value:.{decimals}f}") == 0.0:
        if abs(value) < SMALLEST_PLAIN:
            return f"{value:.{KNOWN_DIGITS - 1}e}"
        decimals = KNOWN_DIGITS - 1 - math.floor(math.log10(abs(value)))
    while value != 1.0 and float(f"{value:.{decimals}f}") == 1.0 and decimals < 17:
        decimals += 1
    return f"{value:.{decimals}f}"
