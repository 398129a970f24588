"""Reductions by name: the roads from two classes to many, written as `one-vs-all` or `sbc-kernel:C=10`."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from pairsim.datasets.preparing import require_sklearn
from pairsim.errors import ParameterError, refusal
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.specs import Setting, Settings, read_settings, split_spec, write_spec

SIX_POINTS = ([[0.0], [0.5], [1.0], [1.5], [2.0], [2.5]], [0, 0, 1, 1, 2, 2])


class Problems(NamedTuple):
    """How many binary problems a reduction trains on, and how many rows one of them has on average."""

    number: float
    rows: float


def _one(n: int, rows: int, settings: dict[str, Setting]) -> Problems:
    return Problems(1, rows)


def _one_vs_all(n: int, rows: int, settings: dict[str, Setting]) -> Problems:
    return Problems(n, rows)


def _all_pairs(n: int, rows: int, settings: dict[str, Setting]) -> Problems:
    return Problems(n * (n - 1) / 2, 2 * rows / n)


def _replicas(n: int, rows: int, settings: dict[str, Setting]) -> Problems:
    return Problems(1, n * rows)


def _columns(n: int, rows: int, settings: dict[str, Setting]) -> Problems:
    from pairsim.learn.codes import make_code

    code = make_code(str(settings.get("code", "bch")), n)
    return Problems(code.shape[1], rows * float((code != 0).mean()))


def _column_replicas(n: int, rows: int, settings: dict[str, Setting]) -> Problems:
    return Problems(1, _columns(n, rows, settings).number * rows)


class Kind(NamedTuple):
    """A classifier of `pairsim.learn`; `on_binary` when it is built of any binary estimator."""

    name: str
    settings: dict[str, Setting]
    on_binary: bool
    problems: Callable[[int, int, dict[str, Setting]], Problems]
    summary: str


REDUCTIONS = {
    "one-vs-all": Kind("OneVsAll", {}, True, _one_vs_all, "each class against the rest"),
    "all-pairs": Kind("AllPairs", {}, True, _all_pairs, "each class against each other, by votes"),
    "output-code": Kind("OutputCode", {}, True, _columns, "a code word a class; code=, decoding="),
    "sbc-single": Kind("SingleBinary", {"extension": "single"}, False, _replicas, "one machine, class number added"),
    "sbc-identity": Kind("SingleBinary", {"extension": "identity"}, False, _replicas, "one machine, indicator added"),
    "sbc-ecoc": Kind("SingleBinary", {"extension": "ecoc"}, False, _column_replicas, "one machine, code column added"),
    "sbc-kernel": Kind("SingleBinary", {"extension": "kernel"}, False, _replicas, "one machine, learned class kernel"),
    "vector-svm": Kind("VectorSVM", {}, False, _one, "vector output, one box-constrained problem"),
    "vector-perceptron": Kind("VectorPerceptron", {}, False, _one, "vector output, by mistakes"),
    "perceptron": Kind("MulticlassPerceptron", {}, False, _one, "one weight vector a class, by mistakes"),
    "crammer-singer": Kind("CrammerSinger", {}, False, _one, "one weight vector a class, largest margin"),
}


@dataclasses.dataclass(frozen=True)
class Reduction:
    """A named reduction with its settings and, where it is built of binary estimators, their kind.

    Examples
    --------
    >>> from pairsim.evaluation import reduction
    >>> reduction("sbc-kernel:C=10").build(seed=0)
    SingleBinary(C=10, random_state=0)
    >>> reduction("one-vs-all").spec, reduction("one-vs-all").problems(n=10, rows=500)
    ('one-vs-all', Problems(number=10, rows=500))
    """

    name: str
    settings: Settings = ()
    base: Estimator | None = None

    @property
    def spec(self) -> str:
        """The reduction as it is written on the command line."""
        return write_spec(self.name, self.settings)

    def build(self, seed: int) -> Any:
        """Return the unfitted classifier."""
        kind = REDUCTIONS[self.name]
        model = _class_of(kind)(**kind.settings | dict(self.settings))
        if kind.on_binary and self.base is not None:
            model.set_params(estimator=self.base.build_binary(seed))
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return model

    def problems(self, n: int, rows: int) -> Problems:
        """Return number and size of the binary problems for n classes and so many rows."""
        return REDUCTIONS[self.name].problems(n, rows, dict(self.settings))


def reduction(spec: str, base: Estimator | None = None) -> Reduction:
    """Read a reduction from its spec, `name` or `name:key=value,key=value`, with the keys of its classifier.

    Parameters
    ----------
    spec : str
        Such as "one-vs-all", "output-code:code=dense,decoding=hinge" or "sbc-kernel:C=10,gamma=0.1".
    base : Estimator, optional
        What is trained on binary problems where the reduction takes any; the classifier's own choice when left out.
    """
    require_sklearn("reduction")
    name, tail = split_spec("reduction", spec, REDUCTIONS)
    kind = REDUCTIONS[name]
    keys = set(_class_of(kind)().get_params(deep=False)) - {"random_state", "estimator", "n_jobs", *kind.settings}
    made = Reduction(name, read_settings(f"reduction {name}", tail, keys), base if kind.on_binary else None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.build(0).fit(*SIX_POINTS)  # so that a setting that cannot be is refused before the work begins
    except (ValueError, TypeError) as error:
        must_be = "settings that it takes"
        raise refusal(f"reduction {name}", "options", must_be, f"{spec!r} ({error})") from None
    return made


def problems_of(spec: str, n: int, rows: int) -> Problems:
    """Return number and size of the binary problems of a reduction that a file names; nan where it is not known."""
    name, _, tail = spec.partition(":")
    if name not in REDUCTIONS:
        return Problems(float("nan"), float("nan"))
    keys = {part.partition("=")[0] for part in tail.split(",")}
    try:
        return Reduction(name, read_settings("reduction", tail, keys)).problems(n, rows)
    except (ParameterError, ValueError):
        return Problems(float("nan"), float("nan"))


def _class_of(kind: Kind) -> Any:
    from pairsim import learn

    return getattr(learn, kind.name)
