"""Sums of very many positive terms that keep their last digits."""

from __future__ import annotations

from pairsim.kernels.jit import inner


@inner
def add_exactly(total: float, slip: float, term: float) -> tuple[float, float]:
    """Return the sum of total and term, and `slip` with what its rounding lost added (total >= 0, term >= 0)."""
    added = total + term
    # the larger of the two keeps all its digits, so that the difference is exactly what the smaller one lost
    lost = term - (added - total) if total >= term else total - (added - term)
    return added, slip + lost
