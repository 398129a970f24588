"""The two examples of the lecture notes: decoding by distance, and three sectors of the circle.

    python -m experiments.notes_examples [--quick] [--results DIR] [--figures DIR]

notes_decoding.csv: the distances of the worked example (page 3) and the class that is named, beside the printed ones.
notes_sectors.csv: how well lines separate one sector from the two others, and one-vs-all and the machine of Crammer and
Singer all three, on the circle of the notes and on the whole disc, with and without a bias. notes_sectors.png has
the best line between one sector and the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from experiments import frame
from pairsim.learn import CrammerSingerSVC, OneVsAllClassifier
from pairsim.learn.codes.decoding import code_distances, decode_scores
from pairsim.plots import COLOURS

OUTPUTS = [[0.5, -7, -1, -2, -10, -12, 9]]
CODE = [[-1, 0, -1, -1, 1, -1, -1], [1, -1, 0, 1, 1, 1, -1], [1, 0, -1, -1, -1, 1, 1], [-1, -1, 1, 0, -1, -1, 1]]
PRINTED: dict[str, tuple[list[float], list[float], int]] = {  # distances, half a unit of their last digit, class
    "hamming": ([3.5, 4.5, 1.5, 2.5], [0.05] * 4, 3),
    "exponential": ([30133.0, 192893.0, 162757.0, 5.4], [0.5, 0.5, 0.5, 0.05], 4),
}
SHAPES, SECTORS, PENALTY = ("circle", "disc"), 3, 1000.0


def decoding() -> Iterator[dict[str, Any]]:
    """Yield the distance of every class by both rules."""
    for rule, (printed, halves, named) in PRINTED.items():
        distances = code_distances(OUTPUTS, CODE, rule)[0]
        ours = int(decode_scores(OUTPUTS, CODE, rule).argmax()) + 1
        for place, (distance, said, half) in enumerate(zip(distances, printed, halves, strict=True), 1):
            row: dict[str, Any] = {"rule": rule, "class": place, "distance": distance, "paper": said, "rounding": half}
            yield row | {"named": ours, "paper_named": named}


def points(shape: str, count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return points on the circle or in the disc, and their sectors."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0.0, 2.0 * np.pi, count)
    radii = np.ones(count) if shape == "circle" else np.sqrt(rng.random(count))
    rows = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    return rows, (angles // (2.0 * np.pi / SECTORS)).astype(np.int64)


def line(bias: bool) -> LinearSVC:
    """Return a linear machine with hardly any penalty on its weights."""
    return LinearSVC(C=PENALTY, fit_intercept=bias, intercept_scaling=10.0, max_iter=100_000, random_state=0)


def separations(count: int) -> Iterator[dict[str, Any]]:
    """Yield the share of points on the right side of lines, and named rightly."""
    for shape in SHAPES:
        rows, sectors = points(shape, count)
        for bias in (False, True):
            single = [line(bias).fit(rows, sectors == one).score(rows, sectors == one) for one in range(SECTORS)]
            all_in_one = CrammerSingerSVC(C=PENALTY, fit_intercept=bias, random_state=0, max_iter=100_000)
            values = {
                "one sector from the others": min(single),
                "one-vs-all": OneVsAllClassifier(line(bias)).fit(rows, sectors).score(rows, sectors),
                "Crammer-Singer": all_in_one.fit(rows, sectors).score(rows, sectors),
            }
            for method, value in values.items():
                yield {"shape": shape, "bias": bias, "method": method, "right": 100.0 * value, "points": count}


def draw_sectors(count: int, folder: Any, kind: str) -> None:
    """Draw the best line between the first sector and the others."""
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.6, 6.6), layout="constrained")
    side = np.linspace(-1.2, 1.2, 241)
    grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    for ax, (shape, bias) in zip(
        figure.subplots(2, 2).ravel(), [(shape, bias) for shape in SHAPES for bias in (False, True)], strict=True
    ):
        rows, sectors = points(shape, count)
        model = line(bias).fit(rows, sectors == 0)
        named = model.predict(grid).reshape(len(side), -1)
        palette = ListedColormap(["#FFFFFF", COLOURS[0]])
        ax.pcolormesh(side, side, named, cmap=palette, vmin=0, vmax=1, alpha=0.2, rasterized=True)
        for one, marker in zip(range(SECTORS), "osD", strict=True):
            mine = rows[sectors == one][:60]
            ax.plot(*mine.T, marker, color=COLOURS[one], ms=3)
        right = 100.0 * model.score(rows, sectors == 0)
        ax.set_title(f"{shape}, {'with' if bias else 'without'} a bias: {right:.1f}% right", fontsize="medium")
        ax.set(aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    frame.draw(figure, folder, "notes_sectors", kind)


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, measure, write and draw."""
    chosen = frame.parse(frame.parser(__doc__), argv)
    count = 300 if chosen.quick else 2000
    frame.write_table(pd.DataFrame(list(decoding())), chosen.results / "notes_decoding.csv")
    frame.write_table(pd.DataFrame(list(separations(count))), chosen.results / "notes_sectors.csv")
    draw_sectors(count, chosen.figures, chosen.format)


if __name__ == "__main__":
    main()
