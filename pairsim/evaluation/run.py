"""`evaluate`: train on real data, decode, and say how often each decoder is right and what it costs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pairsim.checks import check_callable, check_choice, check_whole
from pairsim.datasets import Dataset, load
from pairsim.datasets.loading import MOST_SEED
from pairsim.datasets.preparing import SCALINGS
from pairsim.decoders import PAPER_SPECS, Decoder, MaxWin
from pairsim.decoders import decoder as read_decoder
from pairsim.errors import parameter_error
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.estimators import estimator as read_estimator
from pairsim.evaluation.outcomes import EvaluationResults, RequestedRow, Seconds
from pairsim.evaluation.protocols import check_official, check_split
from pairsim.evaluation.rows import EVALUATION_TABLE, Comparison, Row, compare, make_row
from pairsim.evaluation.sides import read_side
from pairsim.evaluation.tasks import ONE_VS_ONE, Task, TestSet
from pairsim.evaluation.training import knowing_errors, predict, train
from pairsim.input_files import as_path
from pairsim.plain_text import printable
from pairsim.stats import check_confidence
from pairsim.store import Store
from pairsim.sweeps.requests import this_run

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[float, str], None]
PROGRESS_MUST_BE = "a callable that takes a share of the work and a text"
STORE_MUST_BE = "the path of a results store"


class Evaluation(NamedTuple):
    """Results: one row per data set, estimator and decoder, and every two rows of a data set side by side."""

    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        return EVALUATION_TABLE.to_frame([row._asdict() for row in self.rows])


class EvaluationRequest(NamedTuple):
    """What is to be evaluated, checked; the reference is the max-win that every decoder is compared with."""

    datasets: tuple[Dataset, ...]
    estimators: tuple[Estimator, ...]
    decoders: tuple[Decoder, ...]
    reference: Decoder
    seed: int
    confidence: float
    scaling: str = SCALINGS[0]

    def wanted(self, dataset: Dataset, estimator: Estimator) -> list[RequestedRow]:
        """Return the rows of one data set and estimator."""
        reference = self.task(dataset, estimator, self.reference)
        return [
            RequestedRow(printable(dataset.name), self.task(dataset, estimator, decoder), reference, self.confidence)
            for decoder in self.decoders
        ]

    def task(self, dataset: Dataset, estimator: Estimator, decoder: Decoder) -> Task:
        """Return the task of a decoder."""
        model = (ONE_VS_ONE, estimator.name, estimator.settings)
        return Task(dataset.digest, dataset.split, *model, decoder, self.seed, self.scaling)


def make_evaluation_request(
    data: Sequence[str | Dataset],
    estimators: Sequence[str | Estimator],
    decoders: Sequence[str | Decoder],
    *,
    seed: int = 0,
    confidence: float = 0.95,
    test_share: float = 0.3,
    target: str | None = None,
    scaling: str = SCALINGS[0],
    split: str | None = None,
) -> EvaluationRequest:
    """Load the data and check everything before any training."""
    seed = check_whole("evaluate", "seed", seed, 0, MOST_SEED)
    confidence = check_confidence("evaluate", confidence)
    scaling = check_choice("evaluate", "scaling", scaling, SCALINGS)
    official = check_split(split)
    listed = read_side("data", data, str | Dataset, "names of data sets, such as ['iris'], or data sets")
    chosen = read_side("decoder", decoders, Decoder, "specs of decoders, such as ['adag'], or decoders", read_decoder)
    must_be = "specs of estimators, such as ['linear-svc'], or estimators"
    trained = read_side("estimator", estimators, Estimator, must_be, read_estimator)
    for decoder in chosen:
        if getattr(decoder, "ties", None) == "lose":
            raise parameter_error(
                "evaluate", "decoder", "one that always names a class (ties not 'lose')", decoder.spec
            )
    datasets = [
        load(each, target=target, test_share=test_share, seed=seed) if isinstance(each, str) else each
        for each in listed
    ]
    for dataset in datasets:
        if official:
            check_official(dataset)
        for decoder in chosen:
            decoder.kernel(len(np.unique(dataset.y)))  # does the decoder fit the number of classes?
    reference = next((each for each in chosen if each.reference), MaxWin())
    return EvaluationRequest(tuple(datasets), tuple(trained), tuple(chosen), reference, seed, confidence, scaling)


def evaluate(
    data: Sequence[str | Dataset],
    estimators: Sequence[str | Estimator] = ("linear-svc",),
    decoders: Sequence[str | Decoder] = PAPER_SPECS,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    test_share: float = 0.3,
    target: str | None = None,
    scaling: str = SCALINGS[0],
    split: str | None = None,
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
        Such as "max-win", "adag"; not those with ties="lose".
    seed : int
        Seed for the split, the training and the decoders' random choices.
    confidence : float
        Confidence level of the accuracy intervals.
    test_share, target
        As in `pairsim.datasets.load`.
    scaling : {"standard", "minmax", "symmetric", "none"}
        As in `pairsim.datasets.preprocessor`; fitted on the training part.
    split : {"official"}, optional
        Reject data sets without a test part of their own, which would be split.
    store : path, optional
        A results store; finished results and trained models in it are reused.
    progress : callable, optional
        Called with the share of the work that is done by now and what is done next.

    Returns
    -------
    Evaluation
        With `frame` (a row per data set, estimator and decoder) and `comparisons` (McNemar's exact test for every two).

    Examples
    --------
    >>> from pairsim.evaluation import evaluate
    >>> found = evaluate(["wine"], ["svc-rbf"], ["max-win:ties=first", "adag:order=given"])
    >>> found.frame[["data", "decoder", "rows", "queries"]]
       data             decoder  rows  queries
    0  wine  max-win:ties=first    53      3.0
    1  wine    adag:order=given    53      2.0
    """
    check_callable("evaluate", "progress", progress, PROGRESS_MUST_BE)
    path = None if store is None else as_path("evaluate", "store", store, STORE_MUST_BE)
    request = make_evaluation_request(
        data,
        estimators,
        decoders,
        seed=seed,
        confidence=confidence,
        test_share=test_share,
        target=target,
        scaling=scaling,
        split=split,
    )
    with contextlib.ExitStack() as stack:
        opened = None if path is None else stack.enter_context(Store.create_or_open(path))
        return run_evaluation_request(request, opened, progress or (lambda done, label: None))


def run_evaluation_request(
    request: EvaluationRequest,
    store: Store | None,
    progress: Progress,
    tell: Callable[[str], None] = lambda message: None,
    command: str | None = None,
) -> Evaluation:
    """Compute what the store lacks, and return the rows that were asked for; `command` is what asked for them."""
    results = EvaluationResults(store)
    if store is not None:
        from sklearn import __version__ as version

        store.add_run(this_run(command, {"scikit-learn": version}))
    for dataset in request.datasets:
        truth = np.searchsorted(dataset.classes, dataset.y_test).astype(np.int64)
        results.add_test_set(TestSet(dataset.digest, dataset.split, len(np.unique(dataset.y)), truth))
    models = [(dataset, estimator) for dataset in request.datasets for estimator in request.estimators]
    wanted = [row for model in models for row in request.wanted(*model)]
    results.want(wanted)
    for place, (dataset, estimator) in enumerate(models):
        for done, label in compute(request, dataset, estimator, results, tell):
            progress((place + done) / len(models), label)
    rows = (make_row(each, results) for each in wanted)
    return Evaluation(tuple(row for row in rows if row is not None), tuple(compare(wanted, results)))


def compute(
    request: EvaluationRequest,
    dataset: Dataset,
    estimator: Estimator,
    results: EvaluationResults,
    tell: Callable[[str], None],
) -> Iterator[tuple[float, str]]:
    """Train one model, unless all of its decoders are done, and predict with those that are missing.

    Yields the share of this work that is done, and what comes next.
    """
    decoders = list(dict.fromkeys((*request.decoders, request.reference)))
    missing = [decoder for decoder in decoders if results.outcome(request.task(dataset, estimator, decoder)) is None]
    name = f"{dataset.name}, {estimator.spec}"
    if not missing:
        yield 1.0, f"{name}: stored"
        return
    yield 0.0, f"{name}: training"
    numbers = dataset.numbers(request.scaling)
    trained = train(estimator, numbers, request.seed, dataset.name)
    if trained.unconverged:
        tell(f"{name}: {trained.unconverged} of {trained.model.pairs} pairs were not trained to the end (max_iter=...)")
    for place, decoder in enumerate(missing):
        yield (1.0 + place / len(missing)) / 2.0, f"{name}: {decoder.spec}"
        player, learning = knowing_errors(decoder, trained, numbers)
        outcome, seconds = predict(trained.model, player, numbers.X_test, dataset.classes, request.seed)
        results.put(request.task(dataset, estimator, decoder), outcome, Seconds(trained.seconds + learning, seconds))
    yield 1.0, name
