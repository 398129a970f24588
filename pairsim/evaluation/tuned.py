"""Which search every reduction gets, from what the caller asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from pairsim.checks import check_choice, check_whole
from pairsim.errors import parameter_error, shown
from pairsim.evaluation.reductions import Reduction, check_trains
from pairsim.evaluation.specs import Setting, write_value
from pairsim.evaluation.tuning import GREEDY, MOST_FOLDS, MOST_PLACES, NONE, SEARCHES, Steps, Tuning, Values, check_grid

MOST_SETTINGS = 10_000  # of a grid


class Wish(NamedTuple):
    """A search that was asked for, checked; `grid` is empty where reductions have their own."""

    search: str
    grid: dict[str, tuple[Setting, ...]]
    inner_folds: int
    patience: int

    def tuning(self, reduction: Reduction) -> Tuning | None:
        """Return the search for a reduction; None where there is nothing to search for."""
        if self.search == NONE:
            return None
        axes: list[Steps | Values]
        if self.search == GREEDY:
            axes = [Steps(each.key, each.start, each.factor) for each in reduction.searched]
        elif self.grid:
            axes = [Values(key, values) for key, values in self.grid.items() if key in reduction.open_keys]
        else:
            axes = [Values(each.key, each.grid) for each in reduction.searched]
        return Tuning(self.search, tuple(axes), self.inner_folds, self.patience) if axes else None


def make_wish(tune: str, grid: Any, inner_folds: int, patience: int, reductions: Sequence[Reduction]) -> Wish:
    """Check what is asked of searches before any training."""
    search = check_choice("evaluate", "tune", tune, SEARCHES)
    if grid is not None and search in (NONE, GREEDY):
        raise parameter_error("evaluate", "grid", "omitted unless tune is 'grid' or 'best-of-grid'", shown(grid))
    inner_folds = check_whole("evaluate", "inner_folds", inner_folds, 2, MOST_FOLDS)
    patience = check_whole("evaluate", "patience", patience, 1, MOST_PLACES)
    checked = {} if grid is None else check_grid(grid)
    count = math.prod(len(values) for values in checked.values())
    if count > MOST_SETTINGS:
        raise parameter_error("evaluate", "grid", f"of at most {MOST_SETTINGS:,} settings", f"{count:,}")
    for key, values in checked.items():
        takers = [each for each in reductions if key in each.open_keys]
        if not takers:
            known = sorted(set().union(*(each.open_keys for each in reductions)))
            raise parameter_error(
                "evaluate", "grid", f"of parameters that a reduction leaves open: {', '.join(known)}", repr(key)
            )
        for value in values:
            text = f"{key}={write_value(value)}"
            for each in takers:
                check_trains(each.chosen(((key, value),)), "evaluate", "grid", f"{text} of {each.spec}")
    wish = Wish(search, checked, inner_folds, patience)
    if search != NONE and not any(wish.tuning(each) for each in reductions):
        must_be = f"{NONE!r} where no reduction leaves a width or a cost open"
        raise parameter_error(
            "evaluate", "tune", must_be, f"{search!r} for {', '.join(each.spec for each in reductions)}"
        )
    return wish
