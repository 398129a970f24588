"""The verdict: every claim of the five papers beside what we found, from the csv files: experiments/README.md.

    python -m experiments.verdict [--results DIR] [--out experiments/README.md]

Nothing is measured here. Figures in the columns `ours` are read from the tables, verdicts follow from a stated rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments import claims_poll, claims_sbc, claims_trees, claims_vectors, frame, printed
from experiments.errata import ERRATA
from experiments.judging import RULE, Claim, MissingTableError, Tables, cells_by, within

CLAIMS = (*claims_poll.CLAIMS, *claims_sbc.CLAIMS, *claims_vectors.CLAIMS, *claims_trees.CLAIMS)
README = Path(__file__).resolve().parent / "README.md"
PAPERS = {
    "SBC": "El-Yaniv, Pechyony, Yom-Tov: Better multiclass classification via a margin-optimized single binary problem",
    "POLL": "Bunrupunthunad, Fakcharoenphol, Rakthanmanon: POLL (2003)",
    "voSVM": "Szedmak, Shawe-Taylor: Multiclass learning at one-class complexity",
    "notes": "Keshet: Multiclass classification (lecture notes, 2014)",
    "SDT": "Liu and others: Towards optimal discriminating order for multiclass classification (2011)",
}
INTERVALS = """Intervals are 95%. Of errors on real data: where several divisions into folds were run, the interval is
where one more run would fall (that is what a printed figure is; Student's t, at least one row to each side), so that
the spread over seeds shows and not the best one; where one run was made, the exact binomial interval of its rows. Two
errors count as different only where these intervals do not meet, which is cautious: the runs share their folds. Of
simulations: exact binomial, or of the mean of conditional probabilities."""


def judged(claims: Sequence[Claim], tables: Tables) -> Iterator[tuple[str, ...]]:
    """Yield a row of text for each claim."""
    for each in claims:
        script = f"`{each.script}`" if each.script != "-" else "-"
        start = each.paper, each.where, each.claim, each.printed
        if each.judge is None:
            why = each.why if isinstance(each.why, str) else each.why(tables)
            kind = "cannot be tested here" if why.startswith("cannot") else "not yet measured"
            yield *start, why.partition(": ")[2] or why, "-", f"**{kind}**", script
            continue
        try:
            found = each.judge(tables)
        except MissingTableError as missing:
            yield *start, f"no table {missing}", "-", "**not yet measured**", script
            continue
        yield *start, found.ours, "/".join(map(str, found.counts)), f"**{found.verdict}**", script


def as_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def cell(row: Any) -> str:
    """Return a printed error beside ours; bold where it is in our interval."""
    if row is None:
        return "-"
    said = "" if pd.isna(row.paper) else f"{row.paper:g} / "
    text = f"{said}{row.error:.1f} ({max(0.0, row.low):.1f}-{row.high:.1f})"
    return f"**{text}**" if within(row.paper, row.low, row.high) else text


def error_tables(tables: Tables) -> Iterator[str]:
    """Yield the papers' tables of errors with ours beside them."""
    for title, name, methods in (
        ("SBC, table 2", "sbc_errors", printed.SBC_METHODS),
        ("voSVM, table 4", "vector_errors", ("voSVM", "perceptron", "SVM all-vs-all", "SVM one-vs-all")),
        ("SDT, table II, linear kernel", "tree_errors", ("OVA", "OVO", "DAG", "HierSVM samples", "SDT")),
        ("SDT, table II, RBF kernel", "tree_errors", ("OVA", "OVO", "DAG", "HierSVM samples", "SDT")),
    ):
        rows = tables(name)
        if name == "tree_errors":
            kernel = "linear" if "linear" in title else "rbf"
            rows = rows[rows.method.str.startswith(kernel)]
            rows = rows.assign(method=rows.method.str.partition(" ")[2])
        if name == "vector_errors":
            rows = rows[~rows.method.str.contains("simplex")]
            rows = rows.assign(method=rows.method.str.replace(r"( indicator)? (z|raw)$", "", regex=True))
        by = {method: cells_by(rows[rows.method == method]) for method in methods}
        sets = [
            key
            for key in dict.fromkeys((*printed.SBC_TABLE_2, *rows["set"]))
            if any(key in part for part in by.values())
        ]
        body = [[key, *(cell(part.get(key)) for part in by.values())] for key in sets]
        yield f"### {title}\n\n{as_table(['set', *methods], body)}\n"


def document(tables: Tables) -> str:
    """Return the whole text."""
    head = ("paper", "where", "claim", "printed", "ours", "yes/no/open", "verdict", "script")
    claims = list(judged(CLAIMS, tables))
    beyond = list(judged(claims_poll.BEYOND, tables))
    tally = Counter(row[6].strip("*") for row in claims)
    said = ", ".join(f"{verdict} {count}" for verdict, count in tally.most_common())
    proofs = [
        (each.paper, each.where, each.wrong, each.right, f"`{each.proof.removeprefix('script ')}`") for each in ERRATA
    ]
    papers = "\n".join(f"- **{name}**: {title}" for name, title in PAPERS.items())
    return f"""# Are the papers right?

Written by `python -m experiments.verdict` from the tables in `results/`; `python -m experiments list` has the scripts
that make those, what each needs and how long it takes.

{len(claims)} claims: {said}.

{papers}

## How to read it

{RULE}

{INTERVALS}

The rules on what is *close* or *not much* are ours and stand in the claim. Verdicts are about what is printed, under
the protocol that each script describes; where ours is a reduced one, the column `protocol` of its csv says so. Our own
misses stand in the same rows: a cell that we did not reproduce may be our protocol's fault as well as the paper's.

## Claims

{as_table(head, claims)}

## What the papers do not ask

{as_table(head, beyond)}

## Printed errors beside ours

In percent: printed / ours (interval). Bold: the printed figure lies in our interval; "-": we have not measured it.

{"".join(f"{each}{chr(10)}" for each in error_tables(tables))}## Errata

{as_table(("paper", "where", "printed", "right", "proved by"), proofs)}

## Columns of the tables

`paper` holds a figure as it is printed (as an error in percent, so 100 less an accuracy), `source` where; `goal` what
we wanted before we measured, set with some slack above a first trial; `met` whether the error is at most that. `sd`
is over `runs`, of which each tested `rows` rows. `versions` says what a row was measured with; rows without it are
older than the column.
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Read the tables and write the text."""
    parser = frame.parser(__doc__)
    parser.add_argument("--out", type=Path, default=None, help="default: experiments/README.md")
    chosen = parser.parse_args(argv)
    results = chosen.results or frame.RESULTS
    out = chosen.out or (frame.QUICK / "README.md" if chosen.quick else README)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(document(Tables(results)), encoding="utf-8")
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
