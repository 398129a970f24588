"""Which random oracle predicts what decoders do on trained one-vs-one models?

    python -m experiments.noise_models [--sets letter hwu64 plants100-texture clinc150] [--trials 20480]

On each data set, train one-vs-one SVMs (linear; RBF), record their answers on the test part, fit uniform, similarity
and ranked to them, and compare the success that each predicts for every decoder with the observed one, on rows that the
fit has not seen. The data sets are read from `PAIRSIM_DATA`, else from ../shared/data beside the project. Writes
results/noise_models.csv next to this file and figures/noise_models.png. Answers can be kept with --answers FOLDER,
which saves the training next time.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments import frame
from experiments.real_data import load_split
from pairsim import Recorded, fit_oracles, from_model
from pairsim.fitting import OracleFits
from pairsim.plots import plot_fits

SETS = ("letter", "hwu64", "plants100-texture", "clinc150")
QUICK_SETS = ("plants100-texture",)
KERNELS = ("linear", "rbf")
GOAL = 0.03
JUDGED = ("max-win", "poll", "top-k", "adag", "ddag")  # the decoders that the goal is about


def train(kernel: str, X: Any, y: Any) -> Any:
    """Train a one-vs-one SVM."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.multiclass import OneVsOneClassifier
    from sklearn.svm import SVC, LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a few pairs; their answers are as good as any
        model = OneVsOneClassifier(LinearSVC(random_state=0)) if kernel == "linear" else SVC(kernel="rbf", C=10.0)
        return model.fit(X, y)


def record(name: str, kernel: str, folder: Path | None) -> Recorded:
    """Return the answers of a trained model on the test part of a data set, from `folder` when they are there."""
    kept = None if folder is None else folder / f"{name}-{kernel}.npz"
    if kept is not None and kept.exists():
        return Recorded.load(kept)
    split = load_split(name)
    answers = from_model(train(kernel, split.X_train, split.y_train)).record(split.X_test, split.y_test)
    if kept is not None:
        answers.save(kept)
    return answers


def rows_of(name: str, kernel: str, fits: OracleFits) -> pd.DataFrame:
    """Return the table of one data set and kernel."""
    frame = fits.to_frame()
    frame.insert(0, "set", name)
    frame.insert(1, "kernel", kernel)
    frame.insert(2, "n", fits.traits.n)
    fitted: dict[str, float] = {}
    for each in fits["ranked"].parameters:
        fitted |= {each.name: each.value, f"{each.name}_low": each.low, f"{each.name}_high": each.high}
    return frame.assign(**fitted, circles=fits.traits.circles)


def worst_distances(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the largest distance of each oracle over the decoders that the goal is about, by set and kernel."""
    judged = frame[frame["decoder"].str.startswith(JUDGED)]
    columns = [name for name in frame.columns if name.endswith("_distance")]
    distances = judged[columns].abs().assign(set=judged["set"], kernel=judged["kernel"])
    return distances.groupby(["set", "kernel"], sort=False).max()


def _share_legend(figure: Figure) -> None:
    """Put one legend above the panels in place of one in each."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))


def main() -> None:
    """Run the experiment."""
    parser = frame.parser(__doc__)
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--kernels", nargs="+", default=None, choices=KERNELS)
    parser.add_argument("--trials", type=int, default=None)
    parser.add_argument("--answers", type=Path, help="folder that keeps the recorded answers")
    options = frame.parse(parser)
    options.sets = options.sets or (QUICK_SETS if options.quick else SETS)
    options.kernels = options.kernels or (KERNELS[:1] if options.quick else KERNELS)
    options.trials = options.trials or (1024 if options.quick else 20_480)
    frame.need(options.sets)
    tables = []
    figure = Figure(figsize=(5.2 * len(options.sets), 4.8 * len(options.kernels)), layout="constrained")
    grid = figure.subplots(len(options.kernels), len(options.sets), squeeze=False)
    for line, kernel in zip(grid, options.kernels, strict=True):
        for ax, name in zip(line, options.sets, strict=True):
            start = time.perf_counter()
            fits = fit_oracles(record(name, kernel, options.answers), trials=options.trials)
            tables.append(rows_of(name, kernel, fits))
            plot_fits(fits, ax=ax).set_title(f"{name}, {kernel} SVM ", fontsize="medium", loc="right", y=0.02)
            print(f"{name} {kernel}: {time.perf_counter() - start:.0f} s, {fits['ranked'].oracle}", flush=True)
            for note in fits.notes:
                print(f"  {note}", flush=True)
    _share_legend(figure)
    rows = pd.concat(tables)
    frame.write_table(rows, options.results / "noise_models.csv")
    frame.draw(figure, options.figures, "noise_models", options.format)
    worst = worst_distances(rows)
    print(worst.round(4).to_string())
    met = worst["ranked_distance"] <= GOAL
    names = ", ".join(" ".join(each) for each in worst[met].index)
    print(f"ranked is within {GOAL} on {met.sum()} of {len(met)}: {names}")
    off = (rows["ranked_distance_low"] > 0.0) | (rows["ranked_distance_high"] < 0.0)
    print(f"the interval of ranked's distance excludes 0 in {off.sum()} of {len(rows)} rows:")
    print(rows[off][["set", "kernel", "decoder", "ranked_distance"]].to_string(index=False))


if __name__ == "__main__":
    main()
