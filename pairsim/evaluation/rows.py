"""The rows of an evaluation, one per way to predict, and every two of them side by side."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.datasets.preparing import SCALINGS
from pairsim.evaluation.fold_records import fold_numbers, trained_in
from pairsim.evaluation.folds import OFFICIAL, corrected_t, fold_interval, mcnemar
from pairsim.evaluation.outcomes import EvaluationResults, RequestedRow
from pairsim.evaluation.tasks import ONE_VS_ONE, Task, TestSet
from pairsim.evaluation.tuning import summarise
from pairsim.stats import binomial_interval
from pairsim.tables import TableKind

if TYPE_CHECKING:
    import pandas as pd


# tables of earlier versions lack them: those of 0.2.0 both groups
LATER_COLUMNS = ("agreement_low", "agreement_high", "corrected_t")
LATEST_COLUMNS = ("scaling", "tuning", "chosen")


class Row(NamedTuple):
    """One line of an evaluation's table.

    `agreement` is the share of rows for which the same class was named as by the reference (max-win, or the first
    reduction). The p-value of the test against it says how surprising the difference in errors would be if both were
    equally good: `mcnemar` on a test part, McNemar's exact test; `corrected_t` on folds, where rows are not independent
    (see `pairsim.evaluation.folds`, also for the intervals there). Both are nan for the reference itself, and the
    other one is nan always. Costs are means per row. `decoder` is empty and costs are nan for reductions that ask no
    pairs.

    `problems` and `problem_rows` are number and mean size of the binary problems that a reduction has trained, as its
    fitted classifiers say, means over the folds; nan in results of earlier versions' stores, which do not have them.
    `tuning` is the search for settings in words, empty where there was none; it holds "optimistic" where the error is
    the one by which the settings were chosen. `chosen` are those, with the number of folds that chose them. `scaling`
    is that of the features, empty in tables of earlier versions.

    Seconds are processor time: of training with all searches, and of predicting all rows.
    """

    data: str
    n: int
    reduction: str
    estimator: str
    decoder: str
    split: str
    seed: int
    rows: int
    accuracy: float
    low: float
    high: float
    agreement: float
    agreement_low: float
    agreement_high: float
    mcnemar: float
    corrected_t: float
    queries: float
    distinct: float
    rounds: float
    problems: float
    problem_rows: float
    scaling: str
    tuning: str
    chosen: str
    fit_seconds: float
    predict_seconds: float


class Comparison(NamedTuple):
    """Two ways to predict the same rows: on how many only the one, or only the other, was right.

    `mcnemar` or, of a cross-validation, `corrected_t` is the p-value of the test whether both are equally good.
    """

    data: str
    split: str
    seed: int
    first: str
    second: str
    rows: int
    first_only: int
    second_only: int
    difference: float
    mcnemar: float
    corrected_t: float


def make_row(wanted: RequestedRow, results: EvaluationResults) -> Row | None:
    """Return the row of a task; None while it has no outcome."""
    task, outcome = wanted.task, results.outcome(wanted.task)
    if outcome is None:
        return None
    test_set, seconds = results.test_set(task), results.seconds(task)
    rows = len(test_set.truth)
    fold = _folds(task, test_set)
    right = outcome.named == test_set.truth
    low, high = _interval(right, fold, wanted.confidence)
    agreement, p_values = (math.nan,) * 3, (math.nan,) * 2
    reference = results.outcome(wanted.reference)
    if wanted.reference.id == task.id:
        agreement = (1.0,) * 3
    elif reference is not None:
        same = outcome.named == reference.named
        agreement = (float(same.mean()), *_interval(same, fold, wanted.confidence))
        p_values = _p_values(right, reference.named == test_set.truth, fold)
    trained = trained_in(task, list(results.folds(task).values()))
    return Row(
        data=wanted.label,
        n=test_set.n,
        reduction=task.reduction,
        estimator=task.estimator_spec,
        decoder="" if task.decoder is None else task.decoder.spec,
        split=task.split,
        seed=task.seed,
        rows=rows,
        accuracy=float(right.mean()),
        low=low,
        high=high,
        agreement=agreement[0],
        agreement_low=agreement[1],
        agreement_high=agreement[2],
        mcnemar=p_values[0],
        corrected_t=p_values[1],
        queries=outcome.queries / rows,
        distinct=outcome.distinct / rows,
        rounds=outcome.rounds / rows,
        problems=test_set.n * (test_set.n - 1) / 2 if task.reduction == ONE_VS_ONE else trained.problems,
        problem_rows=trained.problem_rows,
        scaling=task.scaling,
        tuning="" if task.tuning is None else str(task.tuning),
        chosen=summarise(trained.settings, once=task.tuning is not None and task.tuning.optimistic),
        fit_seconds=seconds.fit,
        predict_seconds=seconds.predict,
    )


def compare(wanted: Iterable[RequestedRow], results: EvaluationResults) -> list[Comparison]:
    """Return every two rows with the same test set and seed side by side."""
    groups: dict[tuple[str, int], list[RequestedRow]] = {}
    for each in wanted:
        if results.outcome(each.task) is not None:
            groups.setdefault((each.task.exam_digest, each.task.seed), []).append(each)
    found = []
    for group in groups.values():
        test_set = results.test_set(group[0].task)
        truth, fold = test_set.truth, _folds(group[0].task, test_set)
        right = [outcome.named == truth for each in group if (outcome := results.outcome(each.task)) is not None]
        for (one, first), (two, second) in itertools.combinations(zip(group, right, strict=True), 2):
            only = _one_only(first, second)
            names = (one.label, one.task.split, one.task.seed, describe(one.task), describe(two.task))
            difference = (only[0] - only[1]) / len(truth)
            found.append(Comparison(*names, len(truth), *only, difference, *_p_values(first, second, fold)))
    return found


def describe(task: Task) -> str:
    """Return what names a way to predict among others on the same rows."""
    reduction = "" if task.reduction == ONE_VS_ONE else task.reduction
    decoder = "" if task.decoder is None else task.decoder.spec
    tuning = "" if task.tuning is None else str(task.tuning)
    return name_method(reduction, task.estimator_spec, decoder, task.scaling, tuning)


def name_method(reduction: str, estimator: str, decoder: str, scaling: str, tuning: str) -> str:
    """Return a name of what stands in these columns; what is as usual is left out.

    Examples
    --------
    >>> name_method("one-vs-all", "svc-rbf", "", "minmax", "greedy: C from 1; 5 inner folds, patience 3")
    'one-vs-all svc-rbf minmax (greedy)'
    """
    search = f"({short_tuning(tuning)})" if tuning else ""
    return " ".join(filter(None, (reduction, estimator, decoder, "" if scaling == SCALINGS[0] else scaling, search)))


def short_tuning(tuning: str) -> str:
    """Return a search without the values that it tries.

    Examples
    --------
    >>> short_tuning("best-of-grid (optimistic): C=1|2"), short_tuning("")
    ('best-of-grid, optimistic', '')
    """
    return tuning.partition(":")[0].replace(" (", ", ").replace(")", "")


def _folds(task: Task, test_set: TestSet) -> NDArray[np.int64] | None:
    """Return the fold of each row; None of a test part, on which decoders are compared, and reductions may be."""
    return fold_numbers(test_set.split, test_set.truth) if task.decoder is None and test_set.split != OFFICIAL else None


def _interval(hits: NDArray[np.bool_], fold: NDArray[np.int64] | None, confidence: float) -> tuple[float, float]:
    if fold is None:
        return binomial_interval(int(hits.sum()), len(hits), confidence)
    return fold_interval(hits, fold, confidence)


def _p_values(
    first: NDArray[np.bool_], second: NDArray[np.bool_], fold: NDArray[np.int64] | None
) -> tuple[float, float]:
    """Return the p-values of McNemar's and of the corrected t-test, one of which is nan."""
    if fold is None:
        return mcnemar(*_one_only(first, second)), math.nan
    return math.nan, corrected_t(first, second, fold)


def _one_only(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[int, int]:
    return int((first & ~second).sum()), int((second & ~first).sum())


def _is_sound(frame: pd.DataFrame) -> bool:
    """Say whether the numbers are such as an evaluation can give."""
    shares = frame[["accuracy", "low", "high", "agreement", *LATER_COLUMNS, "mcnemar"]]
    always = frame[["accuracy", "low", "high"]]
    amounts = frame[["queries", "distinct", "rounds", "problems", "problem_rows", "fit_seconds", "predict_seconds"]]
    return bool(
        (frame["n"] >= 2).all()
        and (frame["rows"] >= 1).all()
        and (frame["seed"] >= 0).all()
        and ((shares >= 0.0) & (shares <= 1.0) | shares.isna()).all(axis=None)
        and always.notna().all(axis=None)
        and ((amounts >= 0.0) & (amounts < math.inf) | amounts.isna()).all(axis=None)
    )


EVALUATION_TABLE = TableKind(
    columns=Row._fields,
    text=("data", "reduction", "estimator", "decoder", "split", *LATEST_COLUMNS),
    whole=("n", "seed", "rows"),
    is_sound=_is_sound,
    text_may_lack=("decoder", "estimator", *LATEST_COLUMNS),
    later=(LATER_COLUMNS, LATEST_COLUMNS),
)
