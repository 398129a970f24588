"""Every decoder on models of real data: accuracy, agreement with max-win, queries, rounds and time.

    PAIRSIM_DATA=folder python -m experiments.real_decoders [--store real.db] [--out experiments/results/...csv]

The folder holds letter, plants100-texture, hwu64 and clinc150 as csv files (see `pairsim.datasets.load`). The settings
of the estimators are plain ones, not tuned. With --store, what was computed once is not computed again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pairsim.decoders import PAPER_SPECS
from pairsim.evaluation import EVALUATION_TABLE, Row, evaluate

RESULTS = Path(__file__).resolve().parent / "results"
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


def evaluate_all(names: list[str], store: Path | None) -> list[Row]:
    """Evaluate the decoders on the models of these data sets, telling on stderr how far it is."""
    rows: list[Row] = []
    for name in names:
        found = evaluate(
            [name],
            MODELS.get(name, ("linear-svc",)),
            [*PAPER_SPECS, *MORE_SPECS],
            store=store,
            progress=lambda done, label: print(f"{done:4.0%} {label}", file=sys.stderr),
        )
        rows += found.rows
    return rows


def main() -> None:
    """Read the command line, evaluate and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(MODELS), help="names of data sets")
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=RESULTS / "decoders_on_real_data.csv")
    chosen = parser.parse_args()
    EVALUATION_TABLE.check_target(chosen.out)
    EVALUATION_TABLE.write([row._asdict() for row in evaluate_all(chosen.data, chosen.store)], chosen.out)
    print(f"wrote {chosen.out}")


if __name__ == "__main__":
    main()
