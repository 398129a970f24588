"""fit_oracles(recorded): every random oracle fitted to the answers, and judged on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pairsim.decoders import Decoder, decoder
from pairsim.errors import parameter_error
from pairsim.fitting.folds import Floats, FoldPredictions, assign_folds, check_folds, judge
from pairsim.fitting.observed import RecordedRows
from pairsim.fitting.providers import FITS
from pairsim.fitting.result import ModelFit, OracleFits
from pairsim.fitting.traits import check_recorded, count_rows, traits_of
from pairsim.oracles import Oracle, Recorded, Uniform
from pairsim.simulation import check_seed, check_threads, check_trials, simulate
from pairsim.simulation.methods import counts_scores
from pairsim.stats import Estimate, check_confidence

FITTED_SPECS = (
    "max-win",
    "poll:l=log",
    "poll:l=3log",
    "poll:l=5log",
    "top-k:k=5,l=3log",
    "halving:l=3log",
    "adag",
    "ddag",
)
TRAIT_ROWS = 1024  # drawn of each fitted oracle to see its traits
FOLD_TRIALS = 1024  # per fold, at least; and as many more
FOLD_QUERIES = 4e6  # as these queries allow: about a second of work

Progress = Callable[[str], None]


def fitted_specs(n: int) -> list[str]:
    """Return the default decoders: top-k only where there are more classes than its candidates."""
    return [spec for spec in FITTED_SPECS if n > 5 or not spec.startswith("top-k")]


def step_count(folds: int) -> int:
    """Return how many steps `fit_oracles` reports."""
    return 2 + len(FITS) * (2 + folds)


def fit_oracles(
    recorded: Recorded,
    decoders: Sequence[Decoder] | None = None,
    *,
    trials: int | None = None,
    folds: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    threads: int | None = None,
    progress: Progress | None = None,
) -> OracleFits:
    """Fit uniform, similarity and ranked to recorded answers, and compare predicted with observed success.

    The rows are cut into folds. Each oracle is fitted to all rows, which gives its parameters, and once more without
    each fold: its predictions are judged on the fold that it has not seen. The observed success is exact in each row
    where there is a way, else a mean over many draws of the decoder's random choices (`Observed`). How the interval of
    a distance comes about is told at `pairsim.fitting.folds.judge`.

    Parameters
    ----------
    recorded : Recorded
        The answers of a model on data points with known classes, as from `from_model(model).record(X, y)`: at least
        2 rows and 4 classes.
    decoders : sequence of Decoder, optional
        Default: max-win, poll at log n, 3 log n and 5 log n, top-k, halving, adag and ddag; top-k where there are
        more than 5 classes.
    trials : int, optional
        Tournaments drawn of each fitted oracle. Default: 10,000. Decoders that ask many queries one by one get fewer
        of them in each fold, at least trials / folds.
    folds : int, optional
        From 2 to the number of rows. Default: 10, or one per row where there are fewer. With few folds the intervals
        of the distances are long.
    seed : int
        Seed for the folds, the draws and the simulations.
    confidence : float
        Confidence level of all intervals.
    threads : int, optional
        Default: one per core. The result does not depend on it.
    progress : callable, optional
        Called with the name of each step before it begins.

    Returns
    -------
    OracleFits

    Notes
    -----
    The difficulty of ranked is not identified where models are accurate: see `Parameter.note`.

    Examples
    --------
    >>> from pairsim import MaxWin, Poll, Ranked, Recorded, fit_oracles
    >>> fits = fit_oracles(Recorded.of(Ranked(16, 0.95), 500), [MaxWin(), Poll("log")], trials=2000)
    >>> fits.best.oracle.name
    'ranked'
    >>> fits.worst("ranked") < 0.05 < 0.2 < fits.worst("uniform")
    True
    """
    check_recorded("fit_oracles", recorded)
    if decoders is None:
        decoders = [decoder(spec) for spec in fitted_specs(recorded.n)]
    if not decoders or not all(isinstance(each, Decoder) for each in decoders):
        raise parameter_error("fit_oracles", "decoders", "decoders such as [MaxWin(), Poll()]", repr(decoders))
    seed, threads = check_seed("fit_oracles", seed), check_threads("fit_oracles", threads)
    confidence, folds = check_confidence("fit_oracles", confidence), check_folds("fit_oracles", folds, recorded.rows)
    count = check_trials("fit_oracles", trials, Uniform(recorded.n, 1.0))  # as of any oracle that has no rows
    report = progress or (lambda step: None)
    report("traits of the answers")
    counts = count_rows(recorded, assign_folds(recorded.rows, folds, seed))
    report("decoders on the answers")
    rows = RecordedRows(recorded)
    observed = [rows.observe(each, seed, confidence, threads) for each in decoders]
    models = []
    for each in FITS:
        report(f"fit of {each.name}")
        oracle, parts = each.fit(counts.traits()), [each.fit(counts.traits(without)) for without in range(folds)]
        parameters = each.parameters(oracle, parts, counts, confidence)
        predicted = _predict(oracle, parts, decoders, count, seed, threads, report)
        judged = [
            judge(seen.decoder, probabilities, counts.group, foreseen, confidence)
            for (seen, probabilities), foreseen in zip(observed, predicted, strict=True)
        ]
        drawn = traits_of(Recorded.of(oracle, min(TRAIT_ROWS, recorded.rows), seed))
        models.append(ModelFit(oracle, parameters, drawn, tuple(judged)))
    return OracleFits(counts.traits(), tuple(seen for seen, _ in observed), tuple(models), folds, confidence)


def _predict(
    oracle: Oracle,
    parts: Sequence[Oracle],
    decoders: Sequence[Decoder],
    trials: int,
    seed: int,
    threads: int,
    report: Progress,
) -> list[FoldPredictions]:
    """Return what the oracle fitted to all rows and those fitted without a fold predict, decoder by decoder."""
    report(f"decoders on {oracle.name}")
    full = simulate(oracle, decoders, trials, seed, threads=threads)
    counts = [_fold_trials(each, seen, trials, len(parts)) for each, seen in zip(decoders, full, strict=True)]

    def success(of: Oracle) -> Floats:
        found = np.empty(len(decoders))
        for count in set(counts):
            places = [place for place, own in enumerate(counts) if own == count]
            estimates = simulate(of, [decoders[place] for place in places], count, seed, threads=threads)
            found[places] = [each.success for each in estimates]
        return found

    reference = success(oracle) if min(counts) < trials else np.array([each.success for each in full])
    without = []
    for fold, part in enumerate(parts):
        report(f"decoders on {oracle.name}, fold {fold + 1} of {len(parts)}")
        without.append(success(part))
    return [
        FoldPredictions(each.success, each.standard_error, float(reference[k]), np.array([f[k] for f in without]))
        for k, each in enumerate(full)
    ]


def _fold_trials(decoder: Decoder, seen: Estimate, trials: int, folds: int) -> int:
    """Return the trials of a fold: all, but fewer for a decoder that has to ask many queries one by one."""
    if seen.method != "simulated" or counts_scores(decoder):  # scored many trials at a time
        return trials
    return min(trials, max(FOLD_TRIALS, -(-trials // folds), int(FOLD_QUERIES / seen.queries)))
