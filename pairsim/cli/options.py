"""Options that several commands share, and how they become oracles and decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli.running import refused, running_command
from pairsim.reductions import REDUCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairsim.decoders import Decoder

ClassesOption = Annotated[
    str | None,
    typer.Option("--n", help="Number of classes: 16, a list 16,24,100, a doubling range 16..512, or steps 16..128:16."),
]
ProbabilityOption = Annotated[
    str | None,
    typer.Option("--p", help="Probability that a pair with the true class is correct: 0.7, 0.7,0.9 or 0.5..0.95:0.05."),
]
OracleOption = Annotated[
    str | None,
    typer.Option(
        "--oracle",
        help="uniform, similarity, matrix, ranked, recorded:FILE.npz or my.module:MyOracle, each also with options: "
        "ranked:order=0.5. Default: inferred from the other options.",
    ),
]
SimilarityOption = Annotated[
    str | None,
    typer.Option(
        "--r", "--similarity", help="Similarities: a csv or npy file, or zipf:1.0, geometric:0.9, uniform-rest:0.3."
    ),
]
MatrixOption = Annotated[str | None, typer.Option("--matrix", help="Win probabilities P[i, j]: a csv or npy file.")]
OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order",
        help="ranked: transitivity of the wrong classes, 0 (coin flips) to 1 (a strict order). Accepts lists and "
        "ranges. Default: 0.95.",
    ),
]
DifficultyOption = Annotated[
    str | None,
    typer.Option(
        "--difficulty",
        help="ranked: variation in difficulty between trials, 0 (none) to 1. Accepts lists and ranges. Default: 0.6.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=POINTS",
        help="An oracle option without a flag of its own, repeatable. Accepts lists and ranges.",
    ),
]
LoadOption = Annotated[
    list[str] | None,
    typer.Option("--load", metavar="MODULE", help="Import a module with your own decoders or oracles; repeatable."),
]
DecoderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decoder",
        metavar="SPEC",
        help="A decoder spec, repeatable: max-win, poll:l=5log, top-k:k=5,l=3log,final=rescore, adag:order=given, or a "
        "class of your own, my.module:MyDecoder:key=value. "
        "Default: max-win, poll at log n, 3 log n and 5 log n, adag, ddag.",
    ),
]
PlanDecoderOption = Annotated[
    list[str] | None,
    typer.Option("--decoder", metavar="SPEC", help="Consider only this decoder; repeatable. Default: search all."),
]
TrialsOption = Annotated[
    int | None, typer.Option("--trials", help="Trials per point. Default: 10000, or every recorded row.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Random seed; equal seeds give equal results.")]
TiesOption = Annotated[
    str | None, typer.Option("--ties", help="Tie rule of every decoder whose scores can tie: random, lose or first.")
]
MethodOption = Annotated[
    str,
    typer.Option("--method", help="auto (exact, else conditional, else simulated), simulated, conditional or exact."),
]
TargetOption = Annotated[
    str | None, typer.Option("--target", help="Label column of a csv file. Default: the last column.")
]
TestShareOption = Annotated[
    float, typer.Option("--test-share", help="Test fraction per class, where a data set has no test part.")
]
DATA_HELP = (
    "iris, wine, digits, breast-cancer, a .csv or .csv.gz file, the name of files in the folder $PAIRSIM_DATA, or "
    "openml:NAME."
)
ESTIMATOR_HELP = (
    "linear-svc, svc-linear, svc-rbf, svc-poly, nu-svc, perceptron, logistic, ridge, sgd or tree, with parameters "
    "of scikit-learn: svc-rbf:C=10,gamma=0.1."
)
REDUCTION_HELP = " or ".join(", ".join(REDUCTIONS).rsplit(", ", 1)) + ", with parameters: sbc-kernel:C=10."
ConfidenceOption = Annotated[float, typer.Option("--confidence", help="Confidence level of the intervals.")]
FormatOption = Annotated[str, typer.Option("--format", help="Output format: table, csv or json.")]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="Number of threads; results do not depend on it. Default: one per core.")
]


def load_modules(modules: Sequence[str] | None) -> None:
    """Import the modules that `--load` names."""
    from pairsim.specs import load

    for module in modules or ():
        load(running_command(), module)


def make_decoders(specs: Sequence[str] | None, ties: str | None) -> list[Decoder]:
    """Return the decoders that the specs describe; the paper's set when there are none."""
    from pairsim.decoders import PAPER_SPECS

    check_ties(ties)
    decoders = [read_decoder(spec, ties) for spec in specs or PAPER_SPECS]
    repeated = [each.spec for place, each in enumerate(decoders) if each in decoders[:place]]
    if repeated:
        raise refused("decoder", "given once each", f"{repeated[0]!r} twice")
    return decoders


def read_decoder(spec: str, ties: str | None = None) -> Decoder:
    """Return the decoder that a spec describes; the module of a user's class is imported, since it was typed here."""
    from pairsim.decoders import REGISTRY, decoder
    from pairsim.specs import load_spec

    load_spec("decoder", spec, REGISTRY)
    return decoder(spec, ties=ties)


def check_ties(ties: str | None) -> None:
    """Reject a tie rule that there is not."""
    from pairsim.decoders.base import TIES

    if ties is not None and ties not in TIES:
        raise refused("ties", "one of " + ", ".join(TIES), repr(ties))


def check_format(text: str) -> str:
    """Return `text` when it is a format that can be printed."""
    if text not in ("table", "csv", "json"):
        raise refused("format", "one of table, csv, json", repr(text))
    return text
