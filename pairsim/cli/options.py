"""Options that several commands share, and how they become oracles and decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.errors import refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairsim.decoders import Decoder
    from pairsim.oracles import Oracle

COMMAND_LINE_ORACLES = ("uniform", "similarity", "matrix")

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
        "--oracle", help="uniform, similarity, matrix or recorded:FILE.npz. By itself: the one whose options are given."
    ),
]
SimilarityOption = Annotated[
    str | None,
    typer.Option(
        "--r", "--similarity", help="Similarities: a csv or npy file, or zipf:1.0, geometric:0.9, uniform-rest:0.3."
    ),
]
MatrixOption = Annotated[str | None, typer.Option("--matrix", help="Chances P[i, j] that i wins: a csv or npy file.")]
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
ConfidenceOption = Annotated[float, typer.Option("--confidence", help="Confidence of the intervals.")]
FormatOption = Annotated[str, typer.Option("--format", help="What to print: table, csv or json.")]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="By itself one a core. The result does not depend on it.")
]


def make_oracles(oracle: str | None, n: str | None, p: str | None, r: str | None, matrix: str | None) -> list[Oracle]:
    """Return the oracles that the options describe, one a point of the grid."""
    from pairsim.oracles import Uniform
    from pairsim.oracles.files import matrix_from, similarity_from
    from pairsim.sweeps.ranges import real_points, whole_points

    if oracle is not None and oracle.startswith("recorded:"):
        return [_recorded(oracle, n, {"p": p, "r": r, "matrix": matrix})]
    kind = oracle or ("matrix" if matrix is not None else "similarity" if r is not None else "uniform")
    if kind not in COMMAND_LINE_ORACLES:
        raise refusal(
            "sweep", "oracle", "one of " + ", ".join(COMMAND_LINE_ORACLES) + ", recorded:FILE.npz", repr(kind)
        )
    takes = {"uniform": ("n", "p"), "similarity": ("n", "r"), "matrix": ("n", "matrix")}[kind]
    for name, value in (("p", p), ("r", r), ("matrix", matrix)):
        if value is not None and name not in takes:
            raise refusal("sweep", name, f"left out with the oracle {kind}", repr(value))
    classes = None if n is None else whole_points("n", n)
    if kind == "uniform":
        if classes is None or p is None:
            missing = "n" if classes is None else "p"
            raise refusal(
                "sweep", missing, f"given, for example --{missing} {'16..512' if missing == 'n' else 0.7}", "nothing"
            )
        return [Uniform(count, chance) for chance in real_points("p", p) for count in classes]
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
