"""Reductions compared on whole data sets, or on their official split: each row predicted by a model new to it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pairsim.checks import check_callable, check_parallel
from pairsim.datasets import Dataset
from pairsim.datasets.preparing import SCALINGS
from pairsim.evaluation.cross_validation_request import CrossValidationRequest, make_cross_validation_request
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.fold_records import FoldRecord, fold_numbers
from pairsim.evaluation.fold_training import Fold, Manner, run_fold
from pairsim.evaluation.fold_workers import FoldWorkers
from pairsim.evaluation.folds import FOLD_SIZES
from pairsim.evaluation.outcomes import EvaluationResults, Outcome, Seconds
from pairsim.evaluation.protocols import Protocol
from pairsim.evaluation.reductions import Reduction
from pairsim.evaluation.rows import compare, make_row
from pairsim.evaluation.run import PROGRESS_MUST_BE, STORE_MUST_BE, Evaluation, Progress
from pairsim.evaluation.tasks import Task
from pairsim.evaluation.tuning import NONE, Grid, Tuning, every_place
from pairsim.input_files import as_path
from pairsim.store import Store, TaskRecord
from pairsim.sweeps.requests import this_run


class Way(NamedTuple):
    """A reduction, how its settings are chosen, its task, and the task for which its time counts."""

    reduction: Reduction
    tuning: Tuning | None
    task: Task
    timed: Task


class Unit(NamedTuple):
    """What is trained in one go: the number of the fold, and reductions by their place among the ways."""

    number: int
    places: tuple[int, ...]
    reductions: tuple[Reduction, ...]
    manner: Manner


def evaluate_reductions(
    data: Sequence[str | Dataset],
    reductions: Sequence[str | Reduction],
    *,
    estimator: str | Estimator | None = None,
    folds: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    target: str | None = None,
    tune: str = NONE,
    grid: Grid | None = None,
    inner_folds: int = 5,
    patience: int = 3,
    scaling: str = SCALINGS[0],
    split: str | None = None,
    fold_size: str = FOLD_SIZES[0],
    store: Path | str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Cross-validate several multiclass reductions on several data sets.

    Parameters
    ----------
    data : sequence of str or Dataset
        Names as `pairsim.datasets.load` takes them, or data sets; all rows of a set are used.
    reductions : sequence of str or Reduction
        Such as "one-vs-all", "sbc-kernel:C=10"; the others are compared with the first.
    estimator : str or Estimator, optional
        Binary model, for reductions that take any, such as "svc-rbf:C=10".
    folds, seed : int
        Number of folds, and the seed for the folds and the training. Default: 10 folds, seed 0.
    confidence : float
        Confidence level of the intervals of accuracy and agreement, which allow for what the models of the folds have
        in common (see `pairsim.evaluation.folds`); the fewer the folds, the wider they are.
    target
        As in `pairsim.datasets.load`.
    tune : {"none", "greedy", "grid", "best-of-grid"}
        How the kernel's width and the regularisation parameter are tuned, where a reduction has them and its spec does
        not fix them. "greedy" doubles and halves the width, then the penalty (`greedy_search`), "grid" tries all
        combinations; both compare parameters by cross-validation within the training part of each fold. "best-of-grid"
        reports the least test error over the grid, as papers do; that is optimistic.
    grid : mapping of str to sequence, optional
        The values of "grid" and "best-of-grid", such as {"C": [1, 10], "gamma": [0.1, 1]}, for any parameter of a
        reduction or, where that has one, of its estimator. Default: a few widths and penalties.
    inner_folds, patience : int
        Folds of the cross-validations within training parts; attempts without an improvement that end a direction of
        the greedy search.
    scaling : {"standard", "minmax", "symmetric", "none"}
        As in `pairsim.datasets.preprocessor`; fitted on the training part.
    split : {"official"}, optional
        Use the data set's own training and test parts in place of folds.
    fold_size : {"even", "floor"}
        "even" uses all rows, stratified by class; "floor" draws folds of floor(rows / folds) rows regardless of class,
        and drops the remainder.
    store : path, optional
        A results store; finished results in it are reused.
    jobs : int
        Number of folds run in parallel, each in its own process; with more than one, a script must start its run
        under ``if __name__ == "__main__"``.
    progress : callable, optional
        Called with the fraction of the work done and the next step.

    Examples
    --------
    >>> from pairsim.evaluation import evaluate_reductions
    >>> found = evaluate_reductions(["wine"], ["vector-svm", "perceptron"], folds=3)
    >>> found.frame[["data", "reduction", "rows"]]
       data   reduction  rows
    0  wine  vector-svm   178
    1  wine  perceptron   178
    >>> tuned = evaluate_reductions(["wine"], ["vector-svm"], folds=2, tune="grid", grid={"C": [0.1, 1.0]})
    >>> tuned.rows[0].tuning
    'grid: C=0.1|1.0; 5 inner folds'
    """
    check_callable("evaluate", "progress", progress, PROGRESS_MUST_BE)
    path = None if store is None else as_path("evaluate", "store", store, STORE_MUST_BE)
    request = make_cross_validation_request(
        data,
        reductions,
        estimator=estimator,
        folds=folds,
        seed=seed,
        confidence=confidence,
        target=target,
        tune=tune,
        grid=grid,
        inner_folds=inner_folds,
        patience=patience,
        scaling=scaling,
        split=split,
        fold_size=fold_size,
    )
    jobs = check_parallel("evaluate", "jobs", jobs)
    with contextlib.ExitStack() as stack:
        opened = None if path is None else stack.enter_context(Store.create_or_open(path))
        return run_cross_validation_request(request, opened, jobs, progress or (lambda done, label: None))


def run_cross_validation_request(
    request: CrossValidationRequest, store: Store | None, jobs: int, progress: Progress, command: str | None = None
) -> Evaluation:
    """Compute what the store lacks, and return the rows that were asked for; `command` is what asked for them."""
    results = EvaluationResults(store)
    if store is not None:
        from sklearn import __version__ as version

        store.add_run(this_run(command, {"scikit-learn": version}))
    for dataset in request.datasets:
        results.add_test_set(request.protocol.test_set(dataset))
    work = [(dataset, reduction) for dataset in request.datasets for reduction in request.reductions]
    wanted = [request.wanted(*each) for each in work]
    results.want(wanted)
    with FoldWorkers(_run_numbered, min(jobs, request.most_units)) as workers:
        for place, ((dataset, reduction), row) in enumerate(zip(work, wanted, strict=True)):
            name = f"{dataset.name}, {reduction.spec}"
            stored = results.outcome(row.task) is not None
            progress(place / len(work), f"{name}: {'stored' if stored else 'training'}")
            if not stored:
                for done, label in _compute(request, dataset, reduction, results, workers):
                    progress((place + done) / len(work), f"{name}: {label}")
    rows = (make_row(each, results) for each in wanted)
    return Evaluation(tuple(row for row in rows if row is not None), tuple(compare(wanted, results)))


def _compute(
    request: CrossValidationRequest,
    dataset: Dataset,
    reduction: Reduction,
    results: EvaluationResults,
    workers: FoldWorkers,
) -> Iterator[tuple[float, str]]:
    """Compute the outcome of a task, and yield how far it is.

    The best of a grid is the best of tasks with fixed settings, each of which has a name of its own in the store.
    Reductions that need the same one-vs-one models are computed together, and share them in each fold.
    """
    tuning = request.wish.tuning(reduction)
    task = request.task(dataset, reduction, tuning)
    if tuning is None or not tuning.optimistic:
        together = [each for each in request.reductions if each == reduction or request.share(each, reduction)]
        tasks = [request.task(dataset, each, tuning) for each in together]
        ways = [Way(each, tuning, own, own) for each, own in zip(together, tasks, strict=True)]
        yield from _run_ways(request, dataset, ways, True, results, workers)
        return
    places = every_place(tuning)
    fixed = [reduction.chosen(tuning.settings(each)) for each in places]
    ways = [Way(each, None, request.task(dataset, each, None), task) for each in fixed]
    yield from _run_ways(request, dataset, ways, False, results, workers)
    outcomes = [results.outcome(way.task) for way in ways]
    truth = results.test_set(task).truth
    errors = [math.inf if each is None else int((each.named != truth).sum()) for each in outcomes]
    best = errors.index(min(errors))
    for number, record in results.folds(ways[best].task).items():
        results.put_fold(task, number, record._replace(places=places[best]))
    found = outcomes[best]
    assert found is not None
    results.put(task, found, results.seconds(task))


def _run_ways(
    request: CrossValidationRequest,
    dataset: Dataset,
    ways: Sequence[Way],
    together: bool,
    results: EvaluationResults,
    workers: FoldWorkers,
) -> Iterator[tuple[float, str]]:
    """Play the folds that are missing, all ways of a fold at once or one by one, and enter the outcomes."""
    if results.store is not None:
        results.store.add_tasks([TaskRecord(way.task.id, way.task.definition) for way in ways])
    groups = [tuple(range(len(ways)))] if together else [(place,) for place in range(len(ways))]
    units = [unit for group in groups for unit in _units(request, ways, group, results)]
    total = len(groups) * request.protocol.parts
    for done, (unit, folds) in enumerate(workers.run((dataset, request.protocol), units), start=total - len(units) + 1):
        for place, fold in zip(unit.places, folds, strict=True):
            named = np.searchsorted(dataset.classes, fold.labels).astype(np.int64)
            record = FoldRecord(named, fold.problems, fold.problem_rows, fold.places)
            results.put_fold(ways[place].task, unit.number, record)
            results.add_seconds(ways[place].timed, Seconds(fold.fit_seconds, fold.predict_seconds))
        yield done / total, f"{'fold' if together else 'training'} {done} of {total}"
    for way in ways:
        if results.outcome(way.task) is None:
            test_set = results.test_set(way.task)
            fold_of, named = fold_numbers(test_set.split, test_set.truth), np.empty(len(test_set.truth), np.int64)
            for number, record in results.folds(way.task).items():
                named[fold_of == number] = record.named
            results.put(way.task, Outcome(named), results.seconds(way.task))


def _units(
    request: CrossValidationRequest, ways: Sequence[Way], group: tuple[int, ...], results: EvaluationResults
) -> Iterator[Unit]:
    """Yield what is to be trained for a group of ways with the same search."""
    manner = Manner(request.scaling, ways[group[0]].tuning, request.protocol.by_class)
    lacking = [place for place in group if results.outcome(ways[place].task) is None]
    for number in range(request.protocol.parts):
        places = tuple(place for place in lacking if number not in results.folds(ways[place].task))
        if places:
            yield Unit(number, places, tuple(ways[place].reduction for place in places), manner)


def _run_numbered(context: tuple[Dataset, Protocol], unit: Unit) -> tuple[Unit, list[Fold]]:
    """Play the fold of that number; what several reductions train in common is trained once, and counts for each."""
    from pairsim.learn import shared_fits

    dataset, protocol = context
    X, y, test = protocol.rows(dataset, unit.number)
    folds: list[Fold] = []
    with shared_fits() if len(unit.reductions) > 1 else contextlib.nullcontext():
        for reduction in unit.reductions:
            fold = run_fold(reduction, X, y, test, protocol.seed, dataset.name, unit.manner)
            shared = folds[0].fit_seconds if folds else 0.0
            folds.append(fold._replace(fit_seconds=fold.fit_seconds + shared))
    return unit, folds
