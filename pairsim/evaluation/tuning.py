"""Searches for settings: the papers' greedy search, a grid, and the best of a grid by the test error itself."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pairsim.checks import check_number, check_text, check_whole
from pairsim.errors import parameter_error, shown
from pairsim.evaluation.specs import Setting, Settings, read_value, write_spec, write_value

NONE, GREEDY, GRID, OPTIMISTIC = SEARCHES = ("none", "greedy", "grid", "best-of-grid")
VERSION = 1  # of the rules of the searches: part of the names of tuned tasks
MOST_PLACES = 1000  # values on either side of the first that a greedy search may reach
EXACT = 2.0**53  # up to here integers are written as such
MOST_FOLDS = (1 << 31) - 1

Grid = Mapping[str, Sequence[Setting]]


class Steps(NamedTuple):
    """A parameter that a greedy search multiplies by `factor` and divides by it, from `start`."""

    key: str
    start: float
    factor: float

    def at(self, place: int) -> int | float:
        """Return the value after so many multiplications; negative ones are divisions."""
        try:
            value = self.start * self.factor**place
        except OverflowError:
            return math.inf
        return int(value) if value.is_integer() and value < EXACT else value

    def has(self, place: int) -> bool:
        """Say whether there is such a value."""
        return abs(place) <= MOST_PLACES

    def __str__(self) -> str:
        return f"{self.key} from {self.start:g}"


class Values(NamedTuple):
    """A parameter and the values that a grid has for it."""

    key: str
    values: tuple[Setting, ...]

    def at(self, place: int) -> Setting:
        """Return the value of that number."""
        return self.values[place]

    def has(self, place: int) -> bool:
        """Say whether there is such a value."""
        return 0 <= place < len(self.values)

    def __str__(self) -> str:
        return f"{self.key}={'|'.join(map(write_value, self.values))}"


@dataclasses.dataclass(frozen=True)
class Tuning:
    """How settings are chosen: the search, the parameters that it is for, and how thorough it is.

    "greedy" and "grid" choose by a cross-validation within the training part of each fold. "best-of-grid" takes the
    one setting whose error over all folds is least, and reports that error, which is optimistic.
    """

    search: str
    axes: tuple[Steps | Values, ...]
    inner_folds: int = 5
    patience: int = 3

    @property
    def optimistic(self) -> bool:
        """Whether the reported error is the one that the setting was chosen by."""
        return self.search == OPTIMISTIC

    @property
    def fixed(self) -> int:
        """The number of settings that are each tested alone: all of "best-of-grid", else one search."""
        return len(every_place(self)) if self.optimistic else 1

    def settings(self, places: Sequence[int]) -> Settings:
        """Return the settings at these places, one an axis."""
        return tuple((axis.key, axis.at(place)) for axis, place in zip(self.axes, places, strict=True))

    def definition(self) -> dict[str, Any]:
        """Return what determines the choice, as plain data."""
        axes = [
            [axis.key, axis.start, axis.factor]
            if isinstance(axis, Steps)
            else [axis.key, *map(write_value, axis.values)]
            for axis in self.axes
        ]
        parts: dict[str, Any] = {"search": self.search, "axes": axes, "version": VERSION}
        if not self.optimistic:
            parts["inner_folds"] = self.inner_folds
        if self.search == GREEDY:
            parts["patience"] = self.patience
        return parts

    def __str__(self) -> str:
        """Return the search in words, its name first."""
        axes = ", ".join(map(str, self.axes))
        if self.optimistic:
            return f"{OPTIMISTIC} (optimistic): {axes}"
        patience = f", patience {self.patience}" if self.search == GREEDY else ""
        return f"{self.search}: {axes}; {self.inner_folds} inner folds{patience}"


def every_place(tuning: Tuning) -> list[tuple[int, ...]]:
    """Return the places of all settings of a grid, the last axis varying fastest."""
    return list(itertools.product(*(range(len(axis.values)) for axis in tuning.axes if isinstance(axis, Values))))


def tuning_of(parts: Any) -> Tuning | None:
    """Return the search that a store names; whoever reads it compares its definition with what was read."""
    if parts is None:
        return None
    steps = parts["search"] == GREEDY
    axes = [Steps(*axis) if steps else Values(axis[0], tuple(map(read_value, axis[1:]))) for axis in parts["axes"]]
    if parts["search"] not in SEARCHES[1:] or not all(axis.key.isprintable() for axis in axes):
        raise ValueError
    return Tuning(parts["search"], tuple(axes), parts.get("inner_folds", 5), parts.get("patience", 3))


def greedy_search(
    error: Callable[[float], float], *, patience: int = 3, start: float = 1.0, factor: float = 2.0
) -> float:
    """Return the best value that doubling and halving finds (El-Yaniv, Pechyony and Yom-Tov, section 4).

    From `start` the value is multiplied by `factor` until `patience` attempts in a row have not improved on the least
    error so far, then divided by it, from `start` again. On a plateau it stays where it is: only less counts as better.

    Parameters
    ----------
    error : callable
        The error of a value.
    patience : int
        Attempts in a row without an improvement that end a direction.
    start, factor : float
        The first value, and by how much one attempt differs from the next.

    Examples
    --------
    >>> from pairsim.evaluation import greedy_search
    >>> greedy_search(lambda C: abs(C - 9.0))
    8.0
    >>> greedy_search(lambda C: 0.25)
    1.0
    """
    if not callable(error):
        raise parameter_error("greedy_search", "error", "a function of one number", shown(error))
    patience = check_whole("greedy_search", "patience", patience, 1, MOST_PLACES)
    numbers = [
        check_number("greedy_search", name, value, "a positive number")
        for name, value in (("start", start), ("factor", factor))
    ]
    if not (0.0 < numbers[0] < math.inf):
        raise parameter_error("greedy_search", "start", "a positive number", shown(start))
    if not (0.0 < numbers[1] < math.inf) or numbers[1] == 1.0:
        raise parameter_error("greedy_search", "factor", "a positive number other than 1", shown(factor))
    steps = Steps("", *numbers)
    best = greedy_place(lambda place: error(float(steps.at(place))), patience)
    return float(steps.at(best))


def greedy_place(error: Callable[[int], float], patience: int) -> int:
    """Return the place with the least error that going up from 0, then down, comes to.

    Examples
    --------
    >>> greedy_place(lambda place: abs(place + 2), patience=1)
    -2
    """
    best, least = 0, error(0)
    for step in (1, -1):
        place, failures = 0, 0
        while failures < patience and abs(place) < MOST_PLACES:
            place += step
            found = error(place)
            failures = failures + 1 if found >= least else 0
            if found < least:
                best, least = place, found
    return best


def read_grid(texts: Sequence[str]) -> dict[str, tuple[Setting, ...]]:
    """Read `key=value,value` lines as they are written on the command line.

    Examples
    --------
    >>> read_grid(["C=0.1,1", "kernel=linear,rbf"])
    {'C': (0.1, 1), 'kernel': ('linear', 'rbf')}
    """
    grid: dict[str, tuple[Setting, ...]] = {}
    for text in texts:
        key, equals, listed = (part.strip() for part in text.partition("="))
        values = tuple(read_value(part.strip()) for part in listed.split(",") if part.strip())
        if not key or not equals or not values or key in grid:
            raise parameter_error("evaluate", "grid", "KEY=VALUE,VALUE, each key once, such as C=0.1,1,10", repr(text))
        grid[key] = values
    return check_grid(grid)


def check_grid(grid: Any) -> dict[str, tuple[Setting, ...]]:
    """Return a grid whose values are plain ones, at least one a key and none twice."""
    must_be = "a dictionary of lists of values, such as {'C': [0.1, 1, 10]}"
    if not isinstance(grid, Mapping) or not grid:
        raise parameter_error("evaluate", "grid", must_be, shown(grid))
    checked: dict[str, tuple[Setting, ...]] = {}
    for key, values in grid.items():
        check_text("evaluate", "grid", key, must_be)
        plain = isinstance(values, list | tuple) and all(_is_plain(value) for value in values)
        words = [write_value(value) for value in values] if plain else []
        if not words:
            raise parameter_error("evaluate", "grid", must_be, f"{key}: {shown(values)}")
        if len(set(words)) < len(words):
            raise parameter_error("evaluate", "grid", "of values that differ", f"{key}={','.join(words)}")
        checked[key] = tuple(read_value(word) for word in words)
    return checked


def _is_plain(value: Any) -> bool:
    """Say whether a value is the same when it is written on the command line and read again."""
    if not (value is None or isinstance(value, bool | int | float | str)):
        return False
    word = write_value(value)
    return value == read_value(word) and word.isprintable() and bool(word) and "," not in word and "|" not in word


def summarise(settings: Sequence[Settings], once: bool = False) -> str:
    """Return the settings that folds have chosen, the most frequent ones first, with how often each was.

    With `once` they were chosen once for all folds.

    Examples
    --------
    >>> summarise([(("C", 2.0),), (("C", 4.0),), (("C", 2.0),)])
    'C=2.0 (2 of 3); C=4.0 (1 of 3)'
    >>> summarise([(("C", 8),)]), summarise([])
    ('C=8', '')
    """
    texts = [write_spec("", each).removeprefix(":") for each in settings]
    counts = sorted({text: texts.count(text) for text in texts}.items(), key=lambda item: -item[1])
    if once or len(texts) == 1:
        return counts[0][0]
    return "; ".join(f"{text} ({count} of {len(texts)})" for text, count in counts)
