"""Options that several commands share, and how they become oracles and decoders."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.errors import refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairsim.decoders import Decoder
    from pairsim.oracles import Oracle

COMMAND_LINE_ORACLES = ("uniform", "similarity", "matrix", "ranked")

ClassesOption = Annotated[
    str | None,
    typer.Option(
        "--n", help="Numbers of classes: 16, a list 16,24,100, a doubling range 16..512, or steps 16..128:16."
    ),
]
ChanceOption = Annotated[
    str | None,
    typer.Option(
        "--p", help="Chance that a pair with the true class is answered right: 0.7, 0.7,0.9 or 0.5..0.95:0.05."
    ),
]
OracleOption = Annotated[
    str | None,
    typer.Option(
        "--oracle",
        help="uniform, similarity, matrix, ranked or recorded:FILE.npz. By itself: the one whose options are given.",
    ),
]
SimilarityOption = Annotated[
    str | None,
    typer.Option(
        "--r", "--similarity", help="Similarities: a csv or npy file, or zipf:1.0, geometric:0.9, uniform-rest:0.3."
    ),
]
MatrixOption = Annotated[str | None, typer.Option("--matrix", help="Chances P[i, j] that i wins: a csv or npy file.")]
OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order", help="How far ranked orders the wrong classes, 0 (coins) to 1 (strictly); 0.95 by itself. As --p."
    ),
]
DifficultyOption = Annotated[
    str | None,
    typer.Option(
        "--difficulty", help="How far ranked trials differ in difficulty, 0 (not at all) to 1; 0.6 by itself. As --p."
    ),
]
DecoderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decoder",
        help="A decoder spec, repeatable: max-win, poll:l=5log, top-k:k=5,l=3log,final=rescore, adag:order=given ... "
        "By itself: max-win, poll at log n, 3 log n and 5 log n, adag, ddag.",
    ),
]
PlanDecoderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decoder", help="Look at this decoder only, as it is; repeatable. By itself: at all, over their settings."
    ),
]
TrialsOption = Annotated[
    int | None, typer.Option("--trials", help="Tournaments a point: 10000 by itself, or every recorded row.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Equal seeds give equal results.")]
TiesOption = Annotated[
    str | None, typer.Option("--ties", help="random, lose or first, for every decoder whose scores can tie.")
]
MethodOption = Annotated[
    str,
    typer.Option("--method", help="auto (fastest that is right), simulated, conditional or exact."),
]
TargetOption = Annotated[
    str | None, typer.Option("--target", help="The column of labels in a csv file; the last one by itself.")
]
TestShareOption = Annotated[
    float, typer.Option("--test-share", help="Share of each class to test on, where a data set has no test part.")
]
DATA_HELP = (
    "iris, wine, digits, breast-cancer, a .csv or .csv.gz file, the name of files in the folder $PAIRSIM_DATA, or "
    "openml:NAME."
)
ESTIMATOR_HELP = (
    "linear-svc, svc-linear, svc-rbf, svc-poly, nu-svc, perceptron, logistic, ridge, sgd or tree, with settings of "
    "scikit-learn: svc-rbf:C=10,gamma=0.1."
)
REDUCTION_HELP = (
    "one-vs-all, all-pairs, output-code, sbc-single, sbc-identity, sbc-ecoc, sbc-kernel, vector-svm, "
    "vector-perceptron, perceptron or crammer-singer, with settings: sbc-kernel:C=10."
)
ConfidenceOption = Annotated[float, typer.Option("--confidence", help="Confidence of the intervals.")]
FormatOption = Annotated[str, typer.Option("--format", help="What to print: table, csv or json.")]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="By itself one a core. The result does not depend on it.")
]


def make_oracles(
    oracle: str | None,
    n: str | None,
    p: str | None,
    r: str | None,
    matrix: str | None,
    order: str | None = None,
    difficulty: str | None = None,
) -> list[Oracle]:
    """Return the oracles that the options describe, one a point of the grid."""
    from pairsim.oracles.files import matrix_from, similarity_from
    from pairsim.sweeps.ranges import whole_points

    given = {"p": p, "r": r, "matrix": matrix, "order": order, "difficulty": difficulty}
    if oracle is not None and oracle.startswith("recorded:"):
        return [_recorded(oracle, n, given)]
    kind = oracle or _kind_of(given)
    if kind not in COMMAND_LINE_ORACLES:
        raise refusal(
            "sweep", "oracle", "one of " + ", ".join(COMMAND_LINE_ORACLES) + ", recorded:FILE.npz", repr(kind)
        )
    takes = {"uniform": ("p",), "similarity": ("r",), "matrix": ("matrix",), "ranked": ("p", "order", "difficulty")}
    for name, value in given.items():
        if value is not None and name not in takes[kind]:
            raise refusal("sweep", name, f"left out with the oracle {kind}", repr(value))
    classes = None if n is None else whole_points("n", n)
    if kind in ("uniform", "ranked"):
        if classes is None or p is None:
            missing = "n" if classes is None else "p"
            raise refusal(
                "sweep", missing, f"given, for example --{missing} {'16..512' if missing == 'n' else 0.7}", "nothing"
            )
        return _grid(kind, classes, p, order, difficulty)
    made: list[Oracle]
    if kind == "similarity":
        if r is None:
            raise refusal("sweep", "r", "a file or a profile such as zipf:1.0", "nothing")
        made = [similarity_from(r, count) for count in (classes or [None])]  # type: ignore[list-item]
    else:
        if matrix is None:
            raise refusal("sweep", "matrix", "a csv or npy file", "nothing")
        made = [matrix_from(matrix)]
    if classes is not None and [each.n for each in made] != classes:
        raise refusal("sweep", "n", f"left out, or {made[0].n} as in the file", repr(n))
    return made


def _kind_of(given: dict[str, str | None]) -> str:
    """Return the oracle that the given options belong to."""
    for name, kind in (("matrix", "matrix"), ("r", "similarity"), ("order", "ranked"), ("difficulty", "ranked")):
        if given[name] is not None:
            return kind
    return "uniform"


def _grid(kind: str, classes: list[int], p: str, order: str | None, difficulty: str | None) -> list[Oracle]:
    """Return uniform or ranked oracles, one a point; n varies fastest."""
    from pairsim.oracles import Ranked, Uniform
    from pairsim.oracles.ranked import TYPICAL_DIFFICULTY, TYPICAL_ORDER
    from pairsim.sweeps.ranges import real_points

    chances = real_points("p", p)
    if kind == "uniform":
        return [Uniform(count, chance) for chance in chances for count in classes]
    orders = [TYPICAL_ORDER] if order is None else real_points("order", order)
    difficulties = [TYPICAL_DIFFICULTY] if difficulty is None else real_points("difficulty", difficulty)
    shapes = itertools.product(difficulties, orders, chances, classes)
    return [Ranked(count, chance, shape, hard) for hard, shape, chance, count in shapes]


def _recorded(text: str, n: str | None, others: dict[str, str | None]) -> Oracle:
    from pairsim.oracles import Recorded

    for name, value in others.items():
        if value is not None:
            raise refusal("sweep", name, "left out with recorded answers", repr(value))
    found = Recorded.load(text.removeprefix("recorded:"))
    if n is not None and n.strip() != str(found.n):
        raise refusal("sweep", "n", f"left out, or {found.n} as in the file", repr(n))
    return found


def make_decoders(specs: Sequence[str] | None, ties: str | None) -> list[Decoder]:
    """Return the decoders that the specs describe; the paper's set when there are none."""
    from pairsim.decoders import PAPER_SPECS, decoder

    check_ties(ties)
    decoders = [decoder(spec, ties=ties) for spec in specs or PAPER_SPECS]
    repeated = [each.spec for place, each in enumerate(decoders) if each in decoders[:place]]
    if repeated:
        raise refusal("sweep", "decoder", "given once each", f"{repeated[0]!r} twice")
    return decoders


def check_ties(ties: str | None) -> None:
    """Refuse a tie rule that there is not."""
    from pairsim.decoders.base import TIES

    if ties is not None and ties not in TIES:
        raise refusal("sweep", "ties", "one of " + ", ".join(TIES), repr(ties))


def check_format(text: str) -> str:
    """Return `text` when it is a format that can be printed."""
    if text not in ("table", "csv", "json"):
        raise refusal("sweep", "format", "one of table, csv, json", repr(text))
    return text
