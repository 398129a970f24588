"""Theorem 1 of the voSVM paper: its bound on the updates of the vector perceptron against those that really happened.

    python -m experiments.perceptron_updates [--quick] [--results DIR] [--figures DIR]

Sets of scikit-learn, Gaussian kernel (so that all rows have length 1), indicator and simplex labels, three widths,
orders of the rows by several seeds; also with other steps and margins, where the bound is (1 + 2 margin / step) times
|W*|**2, with the W* of the machine without errors. Writes perceptron_updates.csv, with the training error at the end
beside the updates: the theorem does not bound that one. Draws perceptron_updates.png.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from experiments import frame
from pairsim.learn import VectorPerceptronClassifier
from pairsim.plots import COLOURS, MARKERS

SETS = {"iris": load_iris, "wine": load_wine, "breast-cancer": load_breast_cancer, "digits": load_digits}
LABELS = ("indicator", "simplex")
WIDTHS = (0.1, 1.0, 10.0)  # times 1 / features
SETTINGS = ((1.0, 1.0), (0.25, 1.0), (3.0, 0.5))  # step and margin; the theorem is about the first
MOST_ROWS, ORDERS, MOST_PASSES = 600, 5, 20_000


def measure(sets: Sequence[str], orders: int) -> Iterator[dict[str, Any]]:
    """Yield bound, updates and training error of every setting that has a bound."""
    for name in sets:
        rows, numbers = SETS[name](return_X_y=True)
        keep = np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS]
        points, own = scale(rows[keep]), numbers[keep]
        for labels in LABELS:
            for width in WIDTHS:
                for step, margin in SETTINGS:
                    options: dict[str, Any] = {"step": step, "margin": margin, "gamma": width / points.shape[1]}
                    models = [
                        VectorPerceptronClassifier(labels, **options, max_iter=MOST_PASSES, random_state=seed)
                        for seed in range(orders)
                    ]
                    for model in models:
                        model.fit(points, own)
                    bound = models[0].update_bound()
                    updates = [model.n_updates_ for model in models]
                    yield {
                        "set": name,
                        "rows": len(points),
                        "labels": labels,
                        "gamma": options["gamma"],
                        "step": step,
                        "margin": margin,
                        "orders": orders,
                        "halted": all(model.halted_ for model in models),
                        "bound": bound,
                        "fewest_updates": min(updates),
                        "most_updates": max(updates),
                        "ratio": max(updates) / bound,
                        "training_error": max(100.0 * (1.0 - model.score(points, own)) for model in models),
                    }


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, measure, write and draw."""
    from matplotlib.figure import Figure

    chosen = frame.parse(frame.parser(__doc__), argv)
    rows = pd.DataFrame(list(measure(list(SETS)[: 2 if chosen.quick else None], 2 if chosen.quick else ORDERS)))
    frame.write_table(rows, chosen.results / "perceptron_updates.csv")
    figure = Figure(figsize=(4.2, 3.6), layout="constrained")
    ax = figure.subplots()
    for place, (step, margin) in enumerate(SETTINGS):
        part = rows[(rows.step == step) & (rows.margin == margin)]
        style: dict[str, Any] = {"color": COLOURS[place], "marker": MARKERS[place], "ls": "", "ms": 4}
        ax.plot(part.bound, part.most_updates, label=f"step {step:g}, margin {margin:g}", **style)
    ends = np.array([rows.bound.min() / 1.5, rows.bound.max() * 1.5])
    ax.plot(ends, ends, color="#444444", lw=0.8, ls=":", label="the bound")
    ax.set(xscale="log", yscale="log", xlabel="bound on updates (Theorem 1)", ylabel="most updates of any order")
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small")
    frame.draw(figure, chosen.figures, "perceptron_updates", chosen.format)


if __name__ == "__main__":
    main()
