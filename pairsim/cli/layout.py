"""One layout for every table that is printed: what names a row is always there, the rest as far as there is room."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence

BLANKS = " "
SPEC_BREAKS = ",:;_/ "  # of specs, paths and headers
GAP = 2  # blanks between columns
NARROWEST = 8  # that a column of text becomes where nothing else helps


@dataclasses.dataclass(frozen=True)
class Column:
    """One column as it is printed.

    Attributes
    ----------
    name : str
        Its header.
    cells : sequence of str
        One for each row.
    is_key : bool
        It names the rows: it is never left out.
    rank : int
        0: it matters, and keys are folded to make room for it. Above: it is shown where there is room, low ranks first.
    is_text : bool
        It is aligned to the left, and may be folded over several lines.
    short : Column or None
        A narrower form of it, for where room is short.
    """

    name: str
    cells: Sequence[str]
    is_key: bool = False
    rank: int = 0
    is_text: bool = False
    short: Column | None = None

    def width(self) -> int:
        """Return how wide it is when nothing in it is folded."""
        return max(map(text_width, (self.name, *self.cells)))

    def folded_width(self) -> int:
        """Return how wide it is when text is folded where it may be."""
        cells = itertools.chain(*map(_pieces, self.cells)) if self.is_text else self.cells
        return max(map(text_width, (self.name, *cells)))

    def least_width(self) -> int:
        """Return how wide it is when its header is folded, too."""
        return dataclasses.replace(self, name=max(_pieces(self.name), key=text_width)).folded_width()


@dataclasses.dataclass(frozen=True)
class Fitted:
    """The columns that a terminal has room for, how wide they are, and the names of the others."""

    columns: list[Column]
    widths: list[int]
    left_out: list[str]


def fit(columns: Sequence[Column], width: int | None) -> Fitted:
    """Choose columns for a terminal of this width; without a width (in a pipe), all of them.

    Tried one after the other: all that matters in full; in its short form; with folded text; with folded headers; and
    as much of it as fits, from the left. Then what matters less is added as far as there is room.

    Examples
    --------
    >>> key = Column("decoder", ["poll:l=5log,ties=first"], is_key=True, is_text=True)
    >>> found = fit([key, Column("success", ["0.5"]), Column("distinct", ["9"], rank=1)], 32)
    >>> [column.name for column in found.columns], found.widths, found.left_out
    (['decoder', 'success'], [22, 7], ['distinct'])
    >>> fit([key, Column("success", ["0.5"])], 22).widths
    [13, 7]
    """
    if width is None:
        return Fitted(list(columns), [column.width() for column in columns], [])
    short = [column.short or column for column in columns]
    ways = [(columns, Column.width)]
    ways += [(short, measure) for measure in (Column.width, Column.folded_width, Column.least_width)]
    for form, measure in ways:
        chosen = [column.is_key or column.rank == 0 for column in form]
        needed = [measure(column) for column in form]
        if _total(needed, chosen) <= width:
            break
    for place in reversed(range(len(form))):
        if _total(needed, chosen) > width and not form[place].is_key:
            chosen[place] = False
    for place in sorted(range(len(form)), key=lambda place: form[place].rank):
        more = [*chosen[:place], True, *chosen[place + 1 :]]
        if form[place].rank and _total(needed, more) <= width:
            chosen = more
    kept = list(itertools.compress(form, chosen))
    left_out = [column.name for column, there in zip(columns, chosen, strict=True) if not there]
    return Fitted(kept, _widths(kept, width), left_out)


def _total(widths: Sequence[int], chosen: Sequence[bool]) -> int:
    kept = list(itertools.compress(widths, chosen))
    return sum(kept) + GAP * (len(kept) - 1)


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Return widths that fit: text is folded first, then headers, and at last text wherever it must be."""
    widths = [column.width() for column in columns]
    _shrink(widths, [column.folded_width() for column in columns], width)
    _shrink(widths, [column.least_width() for column in columns], width)
    _shrink(widths, [min(NARROWEST, c.least_width()) if c.is_text else c.least_width() for c in columns], width)
    return widths


def _shrink(widths: list[int], least: Sequence[int], width: int) -> None:
    """Make the widest column narrower, again and again, until all fit or none may become narrower."""
    while sum(widths) + GAP * (len(widths) - 1) > width:
        able = [place for place, own in enumerate(widths) if own > least[place]]
        if not able:
            return
        widths[max(able, key=widths.__getitem__)] -= 1


def fold(text: str, width: int, breaks: str = SPEC_BREAKS, indent: str = "") -> str:
    """Return the text over as many lines as it needs, broken behind one of `breaks` where that is possible.

    Examples
    --------
    >>> print(fold("top-k:k=20,l=3log,final=rescore", 18))
    top-k:k=20,l=3log,
    final=rescore
    >>> print(fold("a line of words", 9, BLANKS, indent="  "))
    a line of
      words
    """
    if text_width(text) <= width:
        return text
    lines = [""]
    for piece in _pieces(text, breaks):
        if text_width(lines[-1] + piece.rstrip()) > width and lines[-1] not in ("", indent):
            lines.append(indent)
        lines[-1] += piece
        while text_width(lines[-1].rstrip()) > width > len(indent) + 1:
            line = lines[-1]
            cut = next(k for k in range(len(line), len(indent), -1) if text_width(line[:k]) <= width)
            lines[-1:] = [line[:cut], indent + line[cut:]]
    return "\n".join(line.rstrip() for line in lines)


def text_width(text: str) -> int:
    """Return how many columns of a terminal the text takes; some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _pieces(text: str, breaks: str = SPEC_BREAKS) -> list[str]:
    """Cut a text where a line may end."""
    return [piece for piece in re.findall(rf"[^{breaks}]*[{breaks}]*", text) if piece] or [""]
