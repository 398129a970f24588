"""Reductions compared on whole data sets: every row is predicted once, by a model that has not seen it."""

from __future__ import annotations

import contextlib
import functools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_whole
from pairsim.datasets import Dataset, load
from pairsim.datasets.loading import MOST_SEED
from pairsim.datasets.preparing import as_points, preprocessor
from pairsim.errors import refusal
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.estimators import estimator as read_estimator
from pairsim.evaluation.outcomes import Ledger, Outcome, Seconds, Wanted
from pairsim.evaluation.reductions import SIX_POINTS, Reduction
from pairsim.evaluation.reductions import reduction as read_reduction
from pairsim.evaluation.rows import compare, make_row
from pairsim.evaluation.run import Evaluation, Progress
from pairsim.evaluation.tasks import Exam, Task
from pairsim.stats import check_confidence
from pairsim.store import Store
from pairsim.sweeps.requests import this_run

if TYPE_CHECKING:
    import pandas as pd


class FoldOrder(NamedTuple):
    """What is to be cross-validated, checked; the first reduction is what the others are compared with."""

    datasets: tuple[Dataset, ...]
    reductions: tuple[Reduction, ...]
    folds: int
    seed: int
    confidence: float

    def task(self, dataset: Dataset, reduction: Reduction) -> Task:
        """Return the task of a reduction on a whole data set."""
        base = reduction.base or Estimator("", ())
        return Task(dataset.digest, dataset.split, reduction.spec, base.name, base.settings, None, self.seed)


def make_fold_order(
    data: Sequence[str | Dataset],
    reductions: Sequence[str | Reduction],
    *,
    estimator: str | Estimator | None = None,
    folds: int = 10,
    seed: int = 0,
    confidence: float = 0.95,
    target: str | None = None,
) -> FoldOrder:
    """Load the data and check everything before any training."""
    seed = check_whole("evaluate", "seed", seed, 0, MOST_SEED)
    folds = check_whole("evaluate", "folds", folds, 2)
    confidence = check_confidence("evaluate", confidence)
    base = read_estimator(estimator) if isinstance(estimator, str) else estimator
    chosen = [read_reduction(each, base) if isinstance(each, str) else each for each in reductions]
    for name, values in (("data", data), ("reduction", chosen)):
        if not values:
            raise refusal("evaluate", name, "at least one", "none")
        repeated = [each for place, each in enumerate(values) if each in values[:place]]
        if repeated:
            raise refusal("evaluate", name, "given once each", f"{getattr(repeated[0], 'spec', repeated[0])!r} twice")
    sets = [whole_set(load(each, target=target) if isinstance(each, str) else each, folds, seed) for each in data]
    for dataset in sets:
        if len(dataset.y) < folds:
            raise refusal("evaluate", "folds", f"at most the rows of {dataset.name}, {len(dataset.y)}", folds)
    return FoldOrder(tuple(sets), tuple(chosen), folds, seed, confidence)


def whole_set(dataset: Dataset, folds: int, seed: int) -> Dataset:
    """Return a data set with all its rows in one part, to be cut into folds."""
    X, y = dataset.whole()
    return Dataset(dataset.name, X, y, X.iloc[:0], y[:0], split=f"{folds} folds, seed {seed}")


def deal_folds(y: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row: classes are dealt out one after the other, so that every fold has its share.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(deal_folds(np.array([0] * 6 + [1] * 3), 3, seed=0)).tolist()
    [3, 3, 3]
    """
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold = np.empty(len(y), np.int64)
    fold[by_class] = np.arange(len(y)) % folds
    return fold


class Fold(NamedTuple):
    """What one fold gave: its rows, the label that was named for each, and the processor time."""

    rows: NDArray[np.int64]
    labels: NDArray[Any]
    fit_seconds: float
    predict_seconds: float


def play_fold(
    reduction: Reduction, X: pd.DataFrame, y: NDArray[Any], test: NDArray[np.bool_], seed: int, name: str
) -> Fold:
    """Train on the rows outside of a fold and predict those in it; scaling is learned outside of it, too."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            steps = preprocessor(X[~test])
            train, held_out = steps.fit_transform(as_points(X[~test])), steps.transform(as_points(X[test]))
            _load_kernels(reduction)
            start = time.process_time()
            model = reduction.build(seed).fit(train, y[~test])
        except (ValueError, TypeError) as error:
            must_be = "one that can be trained on this data set"
            raise refusal("evaluate", "reduction", must_be, f"{reduction.spec} on {name} ({error})") from None
        trained = time.process_time()
        labels = model.predict(held_out)
        done = time.process_time()
    return Fold(np.flatnonzero(test), np.asarray(labels), trained - start, done - trained)


@functools.cache
def _load_kernels(reduction: Reduction) -> None:
    """Train on next to nothing, once in a process: what is loaded or compiled on the way is no part of the time."""
    X, y = SIX_POINTS
    reduction.build(0).fit(X, y).predict(X)


def evaluate_reductions(
    data: Sequence[str | Dataset],
    reductions: Sequence[str | Reduction],
    *,
    estimator: str | Estimator | None = None,
    folds: int = 10,
    seed: int = 0,
    confidence: float = 0.95,
    target: str | None = None,
    store: Path | str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Cross-validate several roads from two classes to many on several data sets.

    Parameters
    ----------
    data : sequence of str or Dataset
        Names as `pairsim.datasets.load` takes them, or data sets; all rows of a set are used.
    reductions : sequence of str or Reduction
        Such as "one-vs-all", "sbc-kernel:C=10"; the others are compared with the first.
    estimator : str or Estimator, optional
        What binary problems are trained with where a reduction takes any, such as "svc-rbf:C=10".
    folds, seed : int
        How the rows are cut; the seed is also that of the training.
    confidence : float
        Of the intervals of the accuracy.
    target
        As in `pairsim.datasets.load`.
    store : path, optional
        A results store: what it has is not computed again.
    jobs : int
        Folds that are worked on at a time, each in a process of its own.
    progress : callable, optional
        Called with the share of the work that is done by now and what is done next.

    Examples
    --------
    >>> from pairsim.evaluation import evaluate_reductions
    >>> found = evaluate_reductions(["wine"], ["vector-svm", "perceptron"], folds=3)
    >>> found.frame[["data", "reduction", "rows", "problems"]]
       data   reduction  rows  problems
    0  wine  vector-svm   178       1.0
    1  wine  perceptron   178       1.0
    """
    order = make_fold_order(
        data, reductions, estimator=estimator, folds=folds, seed=seed, confidence=confidence, target=target
    )
    jobs = check_whole("evaluate", "jobs", jobs, 1)
    with contextlib.ExitStack() as stack:
        opened = None if store is None else stack.enter_context(Store.create_or_open(Path(store)))
        return run_fold_order(order, opened, jobs, progress or (lambda done, label: None))


def run_fold_order(
    order: FoldOrder, store: Store | None, jobs: int, progress: Progress, command: str | None = None
) -> Evaluation:
    """Compute what the store lacks, and return the rows that were asked for; `command` is what asked for them."""
    ledger = Ledger(store)
    if store is not None:
        from sklearn import __version__ as version

        store.add_run(this_run(command, {"scikit-learn": version}))
    work = []
    for dataset in order.datasets:
        classes, truth = np.unique(dataset.y, return_inverse=True)
        ledger.add_exam(Exam(dataset.digest, dataset.split, len(classes), truth.astype(np.int64)))
        work += [(dataset, reduction) for reduction in order.reductions]
    wanted = [
        Wanted(dataset.name, order.task(dataset, each), order.task(dataset, order.reductions[0]), order.confidence)
        for dataset, each in work
    ]
    ledger.want(wanted)
    for place, (dataset, reduction) in enumerate(work):
        name = f"{dataset.name}, {reduction.spec}"
        task = order.task(dataset, reduction)
        progress(place / len(work), f"{name}: training" if ledger.outcome(task) is None else f"{name}: stored")
        if ledger.outcome(task) is None:
            named, seconds = np.empty(len(dataset.y), np.int64), [0.0, 0.0]
            for done, fold in enumerate(_play_folds(order, dataset, reduction, jobs), start=1):
                named[fold.rows] = np.searchsorted(np.unique(dataset.y), fold.labels)
                seconds[0] += fold.fit_seconds
                seconds[1] += fold.predict_seconds
                progress((place + done / order.folds) / len(work), f"{name}: fold {done} of {order.folds}")
            ledger.put(task, Outcome(named), Seconds(*seconds))
    rows = (make_row(each, ledger) for each in wanted)
    return Evaluation(tuple(row for row in rows if row is not None), tuple(compare(wanted, ledger)))


def _play_folds(order: FoldOrder, dataset: Dataset, reduction: Reduction, jobs: int) -> Iterator[Fold]:
    """Yield what each fold gave, as it comes in."""
    fold = deal_folds(dataset.y, order.folds, order.seed)
    parts: list[tuple[Any, ...]] = [
        (reduction, dataset.X, dataset.y, fold == k, order.seed, dataset.name) for k in range(order.folds)
    ]
    if jobs == 1:
        yield from (play_fold(*part) for part in parts)
        return
    from joblib import Parallel, delayed

    task: Callable[..., Any] = delayed(play_fold)
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(task(*part) for part in parts)
