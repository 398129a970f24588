"""Reductions by name: the methods that make many classes of two, written as `one-vs-all` or `sbc-kernel:C=10`."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any, NamedTuple

from pairsim.checks import check_instance
from pairsim.datasets.preparing import require_sklearn
from pairsim.errors import parameter_error
from pairsim.evaluation.estimators import REGISTRY as ESTIMATORS
from pairsim.evaluation.estimators import Estimator, keys_of
from pairsim.evaluation.searched import COST, SMALL_COST, WIDE, WIDTH, Searched
from pairsim.evaluation.specs import Setting, Settings, read_settings, split_spec, write_spec, write_value

# parameters of the built-in SVMs, which mean nothing where an estimator is given
IDLE = {"C", "C_scaling", "kernel", "gamma", "degree", "coef0", "tol"}
SIX_POINTS = ([[0.0], [0.5], [1.0], [1.5], [2.0], [2.5]], [0, 0, 1, 1, 2, 2])


ROUGHLY: dict[str, Setting] = {"tol": 1e-2}
FEW_STEPS = ROUGHLY | {"max_iter": 100_000}  # of a solver that may take millions
FEW_ROUNDS = FEW_STEPS | {"mu_tol": 1e-2, "max_rounds": 10}


class ReductionEntry(NamedTuple):
    """A classifier of `pairsim.learn`; `on_binary` when it is built of any binary estimator.

    `searched` are the parameters that a search is for, and `rough` what makes training short while it lasts.
    `decoding` are parameters that change predictions and no training: reductions of one class of `pairs` that differ in
    those alone share what they train. `revised` are parameters with other defaults than in the first version: where
    none of them is given, results are those of version 2.
    """

    name: str
    settings: dict[str, Setting]
    on_binary: bool
    summary: str
    searched: tuple[Searched, ...] = (WIDTH, COST)
    rough: dict[str, Setting] = {}  # noqa: RUF012
    pairs: bool = False
    decoding: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()


def _sbc(extension: str, summary: str, rough: dict[str, Setting], revised: tuple[str, ...] = ()) -> ReductionEntry:
    return ReductionEntry(
        "SingleBinaryClassifier", {"extension": extension}, False, summary, rough=rough, revised=revised
    )


def _pairs(name: str, summary: str, *decoding: str) -> ReductionEntry:
    return ReductionEntry(name, {}, True, summary, rough=ROUGHLY, pairs=True, decoding=decoding)


REDUCTIONS = {
    "one-vs-all": ReductionEntry(
        "OneVsAllClassifier", {}, True, "one binary model per class against the rest", rough=ROUGHLY
    ),
    "all-pairs": _pairs(
        "AllPairsClassifier", "one binary model per pair of classes, by votes; decision=margin", "decision"
    ),
    "dagsvm": _pairs("DAGSVC", "one binary model per pair of classes, by a decision graph", "order"),
    "output-code": ReductionEntry(
        "OutputCodeClassifier", {}, True, "error-correcting output codes; code=, decoding=", rough=ROUGHLY
    ),
    "sbc-single": _sbc("single", "one SVM on class-tagged copies, class number added", FEW_STEPS),
    "sbc-identity": _sbc("identity", "one SVM on class-tagged copies, indicator added", FEW_STEPS),
    "sbc-ecoc": _sbc("ecoc", "one SVM on class-tagged copies, code column added", FEW_STEPS),
    "sbc-kernel": _sbc(
        "kernel",
        "one SVM on class-tagged copies, sum of label kernels; mu_update=",
        FEW_ROUNDS,
        ("learn_mu", "mu_update"),
    ),
    "kessler": ReductionEntry(
        "KesslerSVC", {}, False, "Kessler construction: one SVM on differences of copies", rough=ROUGHLY
    ),
    "vector-svm": ReductionEntry(
        *("VectorSVC", {}, False, "vector-output SVM, one box-constrained problem"),
        searched=(WIDTH, SMALL_COST),
        rough=ROUGHLY | {"max_iter": 100},
    ),
    "vector-perceptron": ReductionEntry(
        "VectorPerceptronClassifier", {}, False, "vector-output perceptron", searched=(WIDTH,)
    ),
    "perceptron": ReductionEntry(
        "MulticlassPerceptronClassifier", {}, False, "multiclass perceptron, one weight vector per class", searched=()
    ),
    "crammer-singer": ReductionEntry(
        "CrammerSingerSVC", {}, False, "multiclass SVM of Crammer and Singer (2001)", rough=ROUGHLY
    ),
    "weston-watkins": ReductionEntry(
        "CrammerSingerSVC",
        {"loss": "weston-watkins"},
        False,
        "multiclass SVM of Weston and Watkins (1999)",
        rough=ROUGHLY,
    ),
    "sdt": ReductionEntry(
        "SequentialDiscriminatingTreeClassifier",
        {},
        False,
        "sequential discriminating tree: SVMs on searched splits",
        rough=ROUGHLY,
    ),
    "hierarchical": ReductionEntry("HierarchicalSVC", {}, False, "tree of SVMs, split by 2-means", rough=ROUGHLY),
    "nested-dichotomies": ReductionEntry(
        "NestedDichotomiesClassifier",
        {},
        True,
        "ensemble of random trees of binary models; n_estimators=, split=",
        searched=(),
    ),
}


@dataclasses.dataclass(frozen=True)
class Reduction:
    """A named reduction with its settings and, where it is built of binary estimators, their kind.

    Examples
    --------
    >>> from pairsim.evaluation import reduction
    >>> reduction("sbc-kernel:C=10").build(seed=0)
    SingleBinaryClassifier(C=10, random_state=0)
    >>> reduction("one-vs-all:C=3").spec
    'one-vs-all:C=3'
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

    def build_roughly(self, seed: int) -> Any:
        """Return the unfitted classifier as a search trains it: no longer than it takes to compare settings."""
        model = self.build(seed)
        given = dict(self.settings)
        return model.set_params(**{key: value for key, value in self._kind.rough.items() if key not in given})

    @property
    def _kind(self) -> ReductionEntry:
        return REDUCTIONS[self.name]

    @property
    def version(self) -> int:
        """The version of the reduction's rules: part of a stored task's name, so that older results stand apart."""
        return version_of(self.spec)

    @property
    def pairs(self) -> tuple[Any, ...] | None:
        """What the one-vs-one models depend on that this reduction trains; None where it trains others."""
        if not self._kind.pairs:
            return None
        own = tuple(sorted((key, write_value(value)) for key, value in self.settings if key not in self._kind.decoding))
        return own, self.base

    @property
    def searched(self) -> tuple[Searched, ...]:
        """The parameters that a search is for: those that mean something here and that the spec leaves open."""
        if self.base is None:
            searched, settings, model = self._kind.searched, self.settings, self.build(0)
        else:
            searched, settings = ESTIMATORS[self.base.name].searched, self.base.settings
            model = self.base.build_binary(0)
        wide = model.get_params(deep=False).get("kernel") in WIDE
        return tuple(each for each in searched if each.key not in dict(settings) and (wide or each.key != WIDTH.key))

    @property
    def open_keys(self) -> set[str]:
        """The parameters that a grid may be for: those that mean something here and that the spec leaves open."""
        own = _keys_of(self._kind) - dict(self.settings).keys()
        if self.base is None:
            return own
        return own - IDLE | (keys_of(self.base.name) - dict(self.base.settings).keys())

    def chosen(self, settings: Settings) -> Reduction:
        """Return the reduction with settings that a search has chosen; those of its estimator go there."""
        inner = set() if self.base is None else keys_of(self.base.name)
        own = (*self.settings, *(pair for pair in settings if pair[0] not in inner))
        if self.base is None:
            return dataclasses.replace(self, settings=own)
        its = (*self.base.settings, *(pair for pair in settings if pair[0] in inner))
        return dataclasses.replace(self, settings=own, base=dataclasses.replace(self.base, settings=its))


def reduction(spec: str, base: Estimator | None = None) -> Reduction:
    """Read a reduction from its spec, `name` or `name:key=value,key=value`, with the keys of its classifier.

    Parameters
    ----------
    spec : str
        Such as "one-vs-all", "output-code:code=dense,decoding=hinge" or "sbc-kernel:C=10,gamma=0.1".
    base : Estimator, optional
        Binary model, for reductions that take any. Default: the classifier's own.
    """
    require_sklearn("reduction")
    if base is not None:
        check_instance("reduction", "base", base, Estimator, "an Estimator, such as estimator('svc-rbf')")
    name, tail = split_spec("reduction", spec, REDUCTIONS)
    kind = REDUCTIONS[name]
    settings = read_settings(f"reduction {name}", tail, _keys_of(kind))
    made = Reduction(name, settings, base if kind.on_binary else None)
    check_trains(made, f"reduction {name}", "options", spec)
    return made


def check_trains(made: Reduction, owner: str, parameter: str, text: str) -> None:
    """Reject settings that cannot be, before the work begins: they are tried on next to nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.build(0).fit(*SIX_POINTS)
    except (ValueError, TypeError) as error:
        raise parameter_error(owner, parameter, "parameters that it takes", f"{text!r} ({error})") from None


def _keys_of(kind: ReductionEntry) -> set[str]:
    """Return the parameters that a spec may set: all but the seed, the threads, the estimator and the name's."""
    return set(_class_of(kind)().get_params(deep=False)) - {"random_state", "estimator", "n_jobs", *kind.settings}


def version_of(spec: str) -> int:
    """Return the version of the rules of a reduction that a spec names.

    Examples
    --------
    >>> version_of("one-vs-all"), version_of("sbc-kernel:C=3"), version_of("sbc-kernel:mu_update=mkl")
    (1, 2, 1)
    """
    name, _, tail = spec.partition(":")
    revised = REDUCTIONS[name].revised if name in REDUCTIONS else ()
    given = {part.partition("=")[0].strip() for part in tail.split(",")}
    return 2 if revised and given.isdisjoint(revised) else 1


def _class_of(kind: ReductionEntry) -> Any:
    from pairsim import learn

    return getattr(learn, kind.name)
