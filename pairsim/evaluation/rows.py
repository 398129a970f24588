"""The rows of an evaluation, one a way to predict, and the test by which two of them are told apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.evaluation.outcomes import Ledger, Wanted
from pairsim.evaluation.reductions import problems_of
from pairsim.evaluation.tasks import ONE_VS_ONE, Task
from pairsim.stats import binomial_interval
from pairsim.tables import TableKind

if TYPE_CHECKING:
    import pandas as pd


class Row(NamedTuple):
    """One line of an evaluation's table.

    `agreement` is the share of rows for which the same class was named as by the reference (max-win), `mcnemar` the
    p-value of McNemar's exact test against it: how surprising the difference in errors would be if both were equally
    good (nan for the reference itself). Prices are means a row. `decoder` is empty and prices are nan for reductions
    that ask no pairs. `problems` and `problem_rows` are number and size of the binary problems that a reduction trains
    on when it is given all rows. Seconds are processor time: of training, and of predicting all rows.
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
    mcnemar: float
    queries: float
    distinct: float
    rounds: float
    problems: float
    problem_rows: float
    fit_seconds: float
    predict_seconds: float


class Comparison(NamedTuple):
    """Two ways to predict the same rows: on how many only the one, or only the other, was right."""

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


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the two-sided p-value of McNemar's exact test: are the rows that only one got right split evenly?

    Examples
    --------
    >>> mcnemar(0, 0), round(mcnemar(1, 9), 6)
    (1.0, 0.021484)
    """
    from scipy.stats import binomtest

    total = first_only + second_only
    return float(binomtest(first_only, total).pvalue) if total else 1.0


def make_row(wanted: Wanted, ledger: Ledger) -> Row | None:
    """Return the row of a task; None while it has no outcome."""
    task, outcome = wanted.task, ledger.outcome(wanted.task)
    if outcome is None:
        return None
    exam, seconds = ledger.exam(task), ledger.seconds(task)
    rows = len(exam.truth)
    right = outcome.named == exam.truth
    low, high = binomial_interval(int(right.sum()), rows, wanted.confidence)
    agreement = p_value = math.nan
    reference = ledger.outcome(wanted.reference)
    if reference is not None:
        agreement = float((outcome.named == reference.named).mean())
    if reference is not None and wanted.reference.id != task.id:
        p_value = mcnemar(*_one_only(right, reference.named == exam.truth))
    problems = problems_of(task.reduction, exam.n, rows)
    return Row(
        data=wanted.label,
        n=exam.n,
        reduction=task.reduction,
        estimator=task.estimator_spec,
        decoder="" if task.decoder is None else task.decoder.spec,
        split=task.split,
        seed=task.seed,
        rows=rows,
        accuracy=float(right.mean()),
        low=low,
        high=high,
        agreement=agreement,
        mcnemar=p_value,
        queries=outcome.queries / rows,
        distinct=outcome.distinct / rows,
        rounds=outcome.rounds / rows,
        problems=exam.n * (exam.n - 1) / 2 if task.reduction == ONE_VS_ONE else float(problems.number),
        problem_rows=float(problems.rows),
        fit_seconds=seconds.fit,
        predict_seconds=seconds.predict,
    )


def compare(wanted: Iterable[Wanted], ledger: Ledger) -> list[Comparison]:
    """Return every two rows with the same exam and seed side by side."""
    groups: dict[tuple[str, int], list[Wanted]] = {}
    for each in wanted:
        if ledger.outcome(each.task) is not None:
            groups.setdefault((each.task.exam_digest, each.task.seed), []).append(each)
    found = []
    for group in groups.values():
        truth = ledger.exam(group[0].task).truth
        right = [outcome.named == truth for each in group if (outcome := ledger.outcome(each.task)) is not None]
        for (one, first), (two, second) in itertools.combinations(zip(group, right, strict=True), 2):
            only = _one_only(first, second)
            names = (one.label, one.task.split, one.task.seed, describe(one.task), describe(two.task))
            difference = (only[0] - only[1]) / len(truth)
            found.append(Comparison(*names, len(truth), *only, difference, mcnemar(*only)))
    return found


def describe(task: Task) -> str:
    """Return a task's estimator and decoder in one word."""
    reduction = "" if task.reduction == ONE_VS_ONE else task.reduction
    return " ".join(filter(None, (reduction, task.estimator_spec, "" if task.decoder is None else task.decoder.spec)))


def _one_only(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[int, int]:
    return int((first & ~second).sum()), int((second & ~first).sum())


def _is_sound(frame: pd.DataFrame) -> bool:
    """Say whether the numbers are such as an evaluation can give."""
    shares = frame[["accuracy", "low", "high", "agreement", "mcnemar"]]
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
    text=("data", "reduction", "estimator", "decoder", "split"),
    whole=("n", "seed", "rows"),
    is_sound=_is_sound,
    text_may_lack=("decoder", "estimator"),
)
