"""What is to be cross-validated: every reduction on every data set, by one protocol, checked before any training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pairsim.checks import check_choice, check_instance, check_whole
from pairsim.datasets import Dataset, load
from pairsim.datasets.loading import MOST_SEED
from pairsim.datasets.preparing import SCALINGS
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.estimators import estimator as read_estimator
from pairsim.evaluation.folds import FOLD_SIZES
from pairsim.evaluation.outcomes import RequestedRow
from pairsim.evaluation.protocols import Protocol, make_protocol
from pairsim.evaluation.reductions import Reduction
from pairsim.evaluation.reductions import reduction as read_reduction
from pairsim.evaluation.sides import read_side
from pairsim.evaluation.tasks import Task
from pairsim.evaluation.tuned import Wish, make_wish
from pairsim.evaluation.tuning import NONE, Grid, Tuning
from pairsim.plain_text import printable
from pairsim.stats import check_confidence


class CrossValidationRequest(NamedTuple):
    """What is to be cross-validated, checked; the first reduction is what the others are compared with."""

    datasets: tuple[Dataset, ...]
    reductions: tuple[Reduction, ...]
    protocol: Protocol
    confidence: float
    scaling: str
    wish: Wish

    def task(self, dataset: Dataset, reduction: Reduction, tuning: Tuning | None) -> Task:
        """Return the task of a reduction on a data set."""
        base = reduction.base or Estimator("", ())
        named = (dataset.digest, dataset.split, reduction.spec, base.name, base.settings, None, self.protocol.seed)
        return Task(*named, self.scaling, tuning, reduction.version)

    def share(self, one: Reduction, two: Reduction) -> bool:
        """Say whether two reductions train the same one-vs-one models; what is searched for is not shared."""
        return one.pairs is not None and one.pairs == two.pairs and not (self.wish.tuning(one) or self.wish.tuning(two))

    @property
    def most_units(self) -> int:
        """The most trainings that can go on at a time."""
        grids = (self.wish.tuning(each) for each in self.reductions)
        return self.protocol.parts * max(1 if each is None else each.fixed for each in grids)

    def wanted(self, dataset: Dataset, reduction: Reduction) -> RequestedRow:
        """Return the row of a reduction on a data set."""
        own, first = (self.task(dataset, each, self.wish.tuning(each)) for each in (reduction, self.reductions[0]))
        return RequestedRow(printable(dataset.name), own, first, self.confidence)


def make_cross_validation_request(
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
) -> CrossValidationRequest:
    """Load the data and check everything before any training."""
    seed = check_whole("evaluate", "seed", seed, 0, MOST_SEED)
    protocol = make_protocol(folds, seed, split, fold_size)
    confidence = check_confidence("evaluate", confidence)
    scaling = check_choice("evaluate", "scaling", scaling, SCALINGS)
    base = read_estimator(estimator) if isinstance(estimator, str) else estimator
    if base is not None:
        check_instance("evaluate", "estimator", base, Estimator, "the spec of an estimator, or an estimator")
    data = read_side("data", data, str | Dataset, "names of data sets, such as ['iris'], or data sets")
    must_be = "specs of reductions, such as ['one-vs-all'], or reductions"
    chosen = read_side("reduction", reductions, Reduction, must_be, lambda text: read_reduction(text, base))
    wish = make_wish(tune, grid, inner_folds, patience, chosen)
    loaded = [load(each, target=target, seed=seed) if isinstance(each, str) else each for each in data]
    prepared = tuple(protocol.prepare(each) for each in loaded)
    return CrossValidationRequest(prepared, tuple(chosen), protocol, confidence, scaling, wish)
