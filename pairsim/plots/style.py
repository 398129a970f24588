"""What all pictures share: colours and markers, axes of plain numbers, and files that know who drew them."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from pairsim.checks import check_choice, check_instance
from pairsim.errors import ParameterError
from pairsim.input_files import as_path, read_input

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
SIGNATURE = "drawn by pairsim"  # written into every picture: by it a later run knows the file as its own

# Okabe and Ito's palette, which people with any colour vision can tell apart; markers and dashes say it again
COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#8C6D1F")
MARKERS = "osD^vPX*"
DASHES = ("-", "--", "-.", ":")


def point_style(place: int, shape: int | None = None) -> dict[str, Any]:
    """Return how the points number `place` look: a colour and a marker, hollow when the colours begin again.

    `shape` is the number of the marker where that stands for something else.
    """
    colour = COLOURS[place % len(COLOURS)]
    hollow = place // len(COLOURS) % 2 == 1
    marker = MARKERS[(place if shape is None else shape) % len(MARKERS)]
    return {"color": colour, "marker": marker, "markerfacecolor": "none" if hollow else colour, "linestyle": ""}


def count_on_log_axis(ax: Axes) -> None:
    """Make the x axis of what is drawn logarithmic, with 10 and 300 on it instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    decades = math.log10(high / low)
    between = (2, 3, 4, 6) if decades <= 1.0 else (2, 5) if decades <= 3.0 else ()  # as many as there is room for
    ax.xaxis.set_minor_locator(LogLocator(subs=between) if between else NullLocator())
    for name in ("major", "minor"):
        getattr(ax.xaxis, f"set_{name}_formatter")(FuncFormatter(lambda x, _: f"{x:g}"))


def check_axes(owner: str, ax: Any) -> None:
    """Reject what cannot be drawn on; None stands for a new figure's axes."""
    from matplotlib.axes import Axes

    if ax is not None:
        check_instance(owner, "ax", ax, Axes, "matplotlib axes")


def save_picture(figure: Figure, path: Path) -> None:
    """Save a figure as png, svg or pdf with pairsim's signature; equal figures give equal bytes."""
    import matplotlib
    from matplotlib.figure import Figure as AnyFigure

    check_instance("save_picture", "figure", figure, AnyFigure, "a figure of matplotlib")
    must_be = "a file name ending in .png, .svg or .pdf"
    path = as_path("save_picture", "path", path, must_be)
    signatures: dict[str, dict[str, Any]] = {
        ".png": {"Description": SIGNATURE},
        ".svg": {"Description": SIGNATURE, "Date": None},
        ".pdf": {"Subject": SIGNATURE, "CreationDate": None},
    }
    with matplotlib.rc_context({"svg.hashsalt": "pairsim"}):
        kind = check_choice("save_picture", "path", path.suffix.lower(), signatures)
        content = io.BytesIO()  # not a file: on a full disk, what matplotlib does next hides the reason
        figure.savefig(content, format=kind.removeprefix("."), dpi=150, metadata=signatures[kind])
    path.write_bytes(content.getvalue())


def is_our_picture(path: Path) -> bool:
    """Say whether `path` is a picture that pairsim drew."""
    try:
        return SIGNATURE.encode() in read_input("plot", "out", path, "a picture")
    except ParameterError:
        return False
