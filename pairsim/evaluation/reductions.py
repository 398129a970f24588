"""Reductions by name: the methods that make many classes of two, written as `one-vs-all` or `sbc-kernel:C=10`."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

from pairsim.checks import check_instance
from pairsim.datasets.preparing import require_sklearn
from pairsim.errors import parameter_error
from pairsim.evaluation.estimators import REGISTRY as ESTIMATORS
from pairsim.evaluation.estimators import Estimator, keys_of
from pairsim.evaluation.specs import Settings, read_settings, split_spec, write_spec, write_value
from pairsim.reductions import REDUCTIONS, WIDE, WIDTH, ReductionEntry, Searched

# parameters of the built-in SVMs, which mean nothing where an estimator is given
IDLE = {"C", "C_scaling", "kernel", "gamma", "degree", "coef0", "tol"}
SIX_POINTS = ([[0.0], [0.5], [1.0], [1.5], [2.0], [2.5]], [0, 0, 1, 1, 2, 2])


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
