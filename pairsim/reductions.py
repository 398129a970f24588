"""The classifiers of `pairsim.learn` by the names that `evaluate --reduction` has for them; imports nothing.

With them, the parameters that searches are for: the width of a kernel and the regularisation parameter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

WIDE = ("rbf", "poly", "sigmoid", "laplacian")  # kernels that have a width


class Searched(NamedTuple):
    """A parameter, the first value and the factor of a greedy search, and a grid for those who give none."""

    key: str
    start: float
    factor: float
    grid: tuple[float, ...]


# the papers double the width s of exp(-|x - y|**2 / (2 s**2)), from 1: gamma is 1 / (2 s**2)
WIDTH = Searched("gamma", 0.5, 0.25, (2.0**-7, 2.0**-5, 2.0**-3, 2.0**-1, 2))
COST = Searched("C", 1.0, 2.0, (0.125, 1, 8, 64))
# of the vector SVM, whose dual variables do not exceed 1 with a Gaussian kernel
SMALL_COST = Searched("C", 1.0, 2.0, (0.01, 0.03, 0.1, 0.3, 1))
RIDGE = Searched("alpha", 1.0, 2.0, (0.1, 1, 10, 100))
DECAY = Searched("alpha", 1e-4, 2.0, (1e-5, 1e-4, 1e-3, 1e-2))

ROUGHLY: dict[str, Any] = {"tol": 1e-2}
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
    settings: dict[str, Any]
    on_binary: bool
    summary: str
    searched: tuple[Searched, ...] = (WIDTH, COST)
    rough: dict[str, Any] = {}  # noqa: RUF012
    pairs: bool = False
    decoding: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()


def _sbc(extension: str, summary: str, rough: dict[str, Any], revised: tuple[str, ...] = ()) -> ReductionEntry:
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
