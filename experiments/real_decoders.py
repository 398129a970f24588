"""Every decoder on models of real data: accuracy, agreement with max-win, queries, rounds and time.

    PAIRSIM_DATA=folder python -m experiments.real_decoders [--store real.db] [--out experiments/results/...csv]

The folder holds letter, plants100-texture, hwu64 and clinc150 as csv files (see `pairsim.datasets.load`). The settings
of the estimators are plain ones, not tuned. With --store, what was computed once is not computed again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from experiments import frame
from pairsim.decoders import PAPER_SPECS
from pairsim.evaluation import EVALUATION_TABLE, Row, evaluate

MODELS = {
    "letter": ("linear-svc", "svc-rbf:C=10"),
    "plants100-texture": ("linear-svc", "svc-rbf:C=10"),
    "hwu64": ("linear-svc", "svc-rbf:C=10"),
    "clinc150": ("linear-svc", "svc-rbf:C=10"),
}
MORE_SPECS = (
    *("quick", "champion", "halving", "top-k:k=5,l=3log,final=rescore", "top-k:k=5,l=3log,final=maxwin"),
    *("adag:order=given", "radag"),  # radag chooses whom adag, in the given order, takes as they come
)


def evaluate_all(names: list[str], store: Path | None, models: int | None = None) -> list[Row]:
    """Evaluate the decoders on the models of these data sets, telling on stderr how far it is."""
    rows: list[Row] = []
    for name in names:
        found = evaluate(
            [name],
            MODELS.get(name, ("linear-svc",))[:models],
            [*PAPER_SPECS, *MORE_SPECS],
            store=store,
            progress=lambda done, label: print(f"{done:4.0%} {label}", file=sys.stderr),
        )
        rows += found.rows
    return rows


def main() -> None:
    """Read the command line, evaluate and write the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("--data", nargs="+", default=None, help="names of data sets")
    parser.add_argument("--store", type=Path, default=None, help="keeps what was computed, to resume")
    parser.add_argument("--out", type=Path, default=None)
    chosen = frame.parse(parser)
    names = chosen.data or (["plants100-texture"] if chosen.quick else list(MODELS))
    frame.need(names)
    out = chosen.out or chosen.results / "decoders_on_real_data.csv"
    out.parent.mkdir(parents=True, exist_ok=True)
    EVALUATION_TABLE.check_target(out)
    rows = evaluate_all(names, chosen.store, 1 if chosen.quick else None)
    EVALUATION_TABLE.write([row._asdict() for row in rows], out)
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
