"""How far an exact value may be worked out: some seconds, and less than 2 GB."""

from __future__ import annotations

from collections.abc import Callable

from pairsim.exact_values.result import too_large

BUDGET = 1.6e10  # units of work, each about half a nanosecond: one multiply-add in a wide row


def check_work(spec: str, label: str, n: int, work: Callable[[int], float], smallest: int = 2) -> None:
    """Reject n classes when their work is over the budget; `work` grows with n, and is defined from `smallest` on."""
    limit = largest_affordable(work, smallest)
    if n > limit:
        raise too_large(spec, label, n, limit if limit >= smallest else 0)


def largest_affordable(work: Callable[[int], float], smallest: int = 2) -> int:
    """Return the largest n whose work is within the budget; `smallest` - 1 when there is none.

    Examples
    --------
    >>> largest_affordable(lambda n: 10.0**n)
    10
    """
    n = smallest
    while work(n) <= BUDGET:
        n += 1
    return n - 1
