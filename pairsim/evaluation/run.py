"""`evaluate`: train on real data, decode, and say how often each decoder is right and what it costs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pairsim.checks import check_whole
from pairsim.datasets import Dataset, load
from pairsim.datasets.loading import MOST_SEED
from pairsim.decoders import PAPER_SPECS, Decoder, MaxWin
from pairsim.decoders import decoder as read_decoder
from pairsim.errors import refusal
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.estimators import estimator as read_estimator
from pairsim.evaluation.outcomes import Ledger, Seconds, Wanted
from pairsim.evaluation.rows import EVALUATION_TABLE, Comparison, Row, compare, make_row
from pairsim.evaluation.tasks import ONE_VS_ONE, Exam, Task
from pairsim.evaluation.training import knowing_errors, predict, train
from pairsim.stats import check_confidence
from pairsim.store import Store
from pairsim.sweeps.requests import this_run

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[float, str], None]


class Evaluation(NamedTuple):
    """What came out: one row a data set, estimator and decoder, and every two rows of a data set side by side."""

    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        return EVALUATION_TABLE.to_frame([row._asdict() for row in self.rows])


class Order(NamedTuple):
    """What is to be evaluated, checked; the reference is the max-win that every decoder is compared with."""

    datasets: tuple[Dataset, ...]
    estimators: tuple[Estimator, ...]
    decoders: tuple[Decoder, ...]
    reference: Decoder
    seed: int
    confidence: float

    def wanted(self, dataset: Dataset, estimator: Estimator) -> list[Wanted]:
        """Return the rows of one data set and estimator."""
        reference = self.task(dataset, estimator, self.reference)
        return [
            Wanted(dataset.name, self.task(dataset, estimator, decoder), reference, self.confidence)
            for decoder in self.decoders
        ]

    def task(self, dataset: Dataset, estimator: Estimator, decoder: Decoder) -> Task:
        """Return the task of a decoder."""
        return Task(dataset.digest, dataset.split, ONE_VS_ONE, estimator.name, estimator.settings, decoder, self.seed)


def make_order(
    data: Sequence[str | Dataset],
    estimators: Sequence[str | Estimator],
    decoders: Sequence[str | Decoder],
    *,
    seed: int = 0,
    confidence: float = 0.95,
    test_share: float = 0.3,
    target: str | None = None,
) -> Order:
    """Load the data and check everything before any training."""
    seed = check_whole("evaluate", "seed", seed, 0, MOST_SEED)
    confidence = check_confidence("evaluate", confidence)
    chosen = [read_decoder(each) if isinstance(each, str) else each for each in decoders]
    trained = [read_estimator(each) if isinstance(each, str) else each for each in estimators]
    for name, values in (("data", data), ("estimator", trained), ("decoder", chosen)):
        if not values:
            raise refusal("evaluate", name, "at least one", "none")
        repeated = [each for place, each in enumerate(values) if each in values[:place]]
        if repeated:
            raise refusal("evaluate", name, "given once each", f"{getattr(repeated[0], 'spec', repeated[0])!r} twice")
    for decoder in chosen:
        if getattr(decoder, "ties", None) == "lose":
            raise refusal("evaluate", "decoder", "one that always names a class (ties not 'lose')", decoder.spec)
    datasets = [
        load(each, target=target, test_share=test_share, seed=seed) if isinstance(each, str) else each for each in data
    ]
    for dataset in datasets:
        for decoder in chosen:
            decoder.kernel(len(np.unique(dataset.y)))  # does the decoder fit the number of classes?
    reference = next((each for each in chosen if isinstance(each, MaxWin)), MaxWin())
    return Order(tuple(datasets), tuple(trained), tuple(chosen), reference, seed, confidence)


def evaluate(
    data: Sequence[str | Dataset],
    estimators: Sequence[str | Estimator] = ("linear-svc",),
    decoders: Sequence[str | Decoder] = PAPER_SPECS,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    test_share: float = 0.3,
    target: str | None = None,
    store: Path | str | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Train every estimator on every data set and predict its test part with every decoder.

    Parameters
    ----------
    data : sequence of str or Dataset
        Names as `pairsim.datasets.load` takes them, or data sets.
    estimators : sequence of str or Estimator
        Such as "linear-svc" or "svc-rbf:C=10"; trained on each pair of classes.
    decoders : sequence of str or Decoder
        Such as "max-win", "adag"; those whose ties name somebody.
    seed : int
        Of the split, of the training and of the decoders' own draws.
    confidence : float
        Of the intervals of the accuracy.
    test_share, target
        As in `pairsim.datasets.load`.
    store : path, optional
        A results store: what it has is not computed again, and a model of which it has all is not trained.
    progress : callable, optional
        Called with the share of the work that is done by now and what is done next.

    Returns
    -------
    Evaluation
        With `frame` (one row a data set, estimator and decoder) and `comparisons` (McNemar's exact test for every two).

    Examples
    --------
    >>> from pairsim.evaluation import evaluate
    >>> found = evaluate(["wine"], ["svc-rbf"], ["max-win:ties=first", "adag:order=given"])
    >>> found.frame[["data", "decoder", "rows", "queries"]]
       data             decoder  rows  queries
    0  wine  max-win:ties=first    53      3.0
    1  wine    adag:order=given    53      2.0
    """
    order = make_order(
        data, estimators, decoders, seed=seed, confidence=confidence, test_share=test_share, target=target
    )
    with contextlib.ExitStack() as stack:
        opened = None if store is None else stack.enter_context(Store.create_or_open(Path(store)))
        return run_order(order, opened, progress or (lambda done, label: None))


def run_order(
    order: Order,
    store: Store | None,
    progress: Progress,
    tell: Callable[[str], None] = lambda message: None,
    command: str | None = None,
) -> Evaluation:
    """Compute what the store lacks, and return the rows that were asked for; `command` is what asked for them."""
    ledger = Ledger(store)
    if store is not None:
        from sklearn import __version__ as version

        store.add_run(this_run(command, {"scikit-learn": version}))
    for dataset in order.datasets:
        truth = np.searchsorted(dataset.classes, dataset.y_test).astype(np.int64)
        ledger.add_exam(Exam(dataset.digest, dataset.split, len(np.unique(dataset.y)), truth))
    models = [(dataset, estimator) for dataset in order.datasets for estimator in order.estimators]
    wanted = [row for model in models for row in order.wanted(*model)]
    ledger.want(wanted)
    for place, (dataset, estimator) in enumerate(models):
        for done, label in compute(order, dataset, estimator, ledger, tell):
            progress((place + done) / len(models), label)
    rows = (make_row(each, ledger) for each in wanted)
    return Evaluation(tuple(row for row in rows if row is not None), tuple(compare(wanted, ledger)))


def compute(
    order: Order, dataset: Dataset, estimator: Estimator, ledger: Ledger, tell: Callable[[str], None]
) -> Iterator[tuple[float, str]]:
    """Train one model, unless the ledger has all of its decoders, and predict with those that it lacks.

    Yields the share of this work that is done, and what comes next.
    """
    decoders = list(dict.fromkeys((*order.decoders, order.reference)))
    missing = [decoder for decoder in decoders if ledger.outcome(order.task(dataset, estimator, decoder)) is None]
    name = f"{dataset.name}, {estimator.spec}"
    if not missing:
        yield 1.0, f"{name}: stored"
        return
    yield 0.0, f"{name}: training"
    numbers = dataset.numbers()
    trained = train(estimator, numbers, order.seed, dataset.name)
    if trained.unconverged:
        tell(f"{name}: {trained.unconverged} of {trained.model.pairs} pairs were not trained to the end (max_iter=...)")
    for place, decoder in enumerate(missing):
        yield (1.0 + place / len(missing)) / 2.0, f"{name}: {decoder.spec}"
        player, learning = knowing_errors(decoder, trained, numbers)
        outcome, seconds = predict(trained.model, player, numbers.X_test, dataset.classes, order.seed)
        ledger.put(order.task(dataset, estimator, decoder), outcome, Seconds(trained.seconds + learning, seconds))
    yield 1.0, name
