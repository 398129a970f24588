"""Tables in real terminals of 60 to 200 columns: keys are whole, every number can be read, nothing sticks out."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminals import Shown, read_table, run_in_terminal, widest

from pairsim import Recorded, Uniform
from pairsim.cli import console, figures
from pairsim.cli.layout import GAP, Column, fit, fold
from pairsim.cli.main import COMMANDS as ALL_COMMANDS
from pairsim.cli.records import print_records

WIDTHS = (60, 80, 120, 200)
LONG = ("top-k:k=20,l=3log,final=rescore", "top-k:k=20,l=3log,final=maxwin,ties=first")
SPECS = [word for spec in ("max-win", *LONG, "radag", "adag") for word in ("--decoder", spec)]
GRID = ["sweep", "--p", "0.7,0.95", "--n", "24,128", "--trials", "64", *SPECS, "--quiet"]
EVALUATED = "top-k:k=2,l=3log,final=maxwin,ties=first"
EVALUATE = ["evaluate", "--data", "iris", "--estimator", "svc-rbf:C=10,gamma=0.1", "--decoder", "max-win", "--quiet"]
EVALUATE += ["--decoder", EVALUATED]
FOLDS = ["evaluate", "--data", "iris", "--data", "wine", "--reduction", "one-vs-all", "--reduction", "sbc-kernel:C=10"]
FOLDS += ["--folds", "2", "--jobs", "1", "--quiet"]
# each prints one table that is read back and compared with what the same command has for programs
TABLES = {
    "sweep": GRID,
    "sweep of the paper": ["sweep", "--p", "0.7", "--n", "16..64", "--trials", "500", "--quiet"],
    "sweep of one point": ["sweep", "--p", "0.7", "--n", "24", "--trials", "64", "--quiet", "--decoder", LONG[1]],
    "sweep with a rule": ["sweep", "--p", "0.9", "--n", "8..16", "--max-failures", "30", *SPECS[:2], "--quiet"],
    "sweep of similarities": ["sweep", "--r", "zipf:1", "--n", "24..48", "--trials", "64", "--quiet", *SPECS],
    "dry run": [*GRID, "--dry-run"],
    "show": ["show", "a.db"],
    "show a table": ["show", "a.csv"],
    "show tasks": ["show", "a.db", "--tasks"],
    "show tasks of an evaluation": ["show", "e.db", "--tasks"],
    "compare": ["compare", "a.db", *LONG],
    "compare tables": ["compare", "a.csv", *LONG],
    "compare an evaluation": ["compare", "e.db", "max-win", EVALUATED],
    "exact": ["exact", "--n", "16..64", "--p", "0.9,0.99999"],
    "exact of one": ["exact", "--n", "1000000", "--p", "0.9", "--decoder", "adag"],
    "exact of recorded rows": ["exact", "--oracle", "recorded:a.npz"],
    "bound": ["bound", "--n", "16,512", "--p", "0.9"],
    "bound a sample": ["bound", "--n", "16,512", "--p", "0.9", "--failure", "1/n"],
    "bound of theorems": ["bound", "--n", "16,512", "--p", "0.9", "--alpha", "1.5"],
    "bound of targets": ["bound", "--n", "16,512", "--p", "0.9", "--target", "0.4,0.6"],
    "bound of budgets": ["bound", "--n", "16,512", "--p", "0.9", "--queries", "16..256"],
    "separation": ["separation", "--n", "16,32", "--p", "0.9", "--alpha", "1.2,1.8", "--trials", "500"],
    "plan": ["plan", "--n", "24", "--p", "0.95", "--target", "0.9", *SPECS[:6]],
}
FIT = ["fit-oracle", "a.npz", "--trials", "1000", "--decoder", "max-win", "--decoder", "poll:l=2,ties=first"]
OTHERS = {
    "fit-oracle": FIT,
    "help": [],
    "decoders": ["decoders"],
    "oracles": ["oracles"],
    "verify": ["verify", "a.db", "--blocks", "1", "--seed", "1"],
    "show an evaluation": ["show", "e.db"],
    "show reductions": ["show", "r.db"],
    "evaluate": [*EVALUATE, "--store", "e.db"],  # trained once, and printed from the store at every width
    "evaluate reductions": [*FOLDS, "--store", "r.db"],
}
TEXT = {"oracle", "decoder", "task", "data", "method", "state", "how", "first", "second", "estimator", "split"}
TEXT |= {"theorem", "says"}
SHARED = {"oracle": "{}", "n": "n = {}", "p": "p = {}", "decoder": "{}", "first": "{}", "second": "{}", "data": "{}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results of every kind, made by the commands themselves."""
    path = tmp_path_factory.mktemp("results")
    Recorded.of(Uniform(6, 0.8), 200).save(path / "a.npz")
    making = [[*GRID, "--store", "a.db", "--out", "a.csv"], [*EVALUATE, "--store", "e.db"], [*FOLDS, "--store", "r.db"]]
    made = run_in_terminal([(80, words) for words in making], path)
    assert [each.code for each in made] == [0, 0, 0]
    return path


@pytest.fixture(scope="module")
def all_printed(folder: Path) -> dict[tuple[int, str], Shown]:
    """What every command prints in terminals of every width; with width 0, what it has for programs."""
    commands = {(width, name): words for width in WIDTHS for name, words in (TABLES | OTHERS).items()}
    commands |= {(0, name): [*words, "--format", "json"] for name, words in (TABLES | {"fit-oracle": FIT}).items()}
    done = run_in_terminal([(width or 80, words) for (width, _), words in commands.items()], folder)
    return dict(zip(commands, done, strict=True))


@pytest.fixture(params=WIDTHS)
def printed(request: pytest.FixtureRequest, all_printed: dict[tuple[int, str], Shown]) -> tuple[int, dict[str, Shown]]:
    """What every command printed in a terminal of one width."""
    return request.param, {name: shown for (width, name), shown in all_printed.items() if width == request.param}


@pytest.fixture
def for_programs(all_printed: dict[tuple[int, str], Shown]) -> dict[str, list[dict[str, object]]]:
    """The same as json, all digits."""
    return {name: json.loads("\n".join(shown.out)) for (width, name), shown in all_printed.items() if width == 0}


def test_nothing_is_cut_and_nothing_sticks_out(printed: tuple[int, dict[str, Shown]]) -> None:
    width, shown = printed
    for name, each in shown.items():
        assert each.code == 0, (name, each.err)
        assert widest(each.out) <= width, name
        assert "…" not in "\n".join(each.out), name
        assert "Traceback" not in each.err


@pytest.mark.parametrize("name", TABLES)
def test_a_table_says_what_programs_get(
    printed: tuple[int, dict[str, Shown]], for_programs: dict[str, list[dict[str, object]]], name: str
) -> None:
    """Every key of every row is there, in the table or below it, and every number is the right one."""
    width, shown = printed
    table = read_table(shown[name].out, TEXT)
    records = for_programs[name]
    assert len(table.rows) == len(records)
    extra = {"interval", "±"}
    assert set(table.header) <= set(records[0]) | extra
    for row, record in zip(table.rows, records, strict=True):
        for key, form in SHARED.items():
            if record.get(key) in (None, "") or key in row:
                continue
            assert form.format(_key(record[key])) in table.below or key == "oracle" == name, (key, name)
        for head, cell in row.items():
            if head not in extra:
                assert _says(cell, record, head), (name, head, cell, record)
    left_out = _missing(set(records[0]), table, records)
    assert all(f"{column}" in table.below for column in left_out), left_out
    if width == 200:
        assert "not shown" not in table.below


def _key(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _missing(columns: set[str], table: object, records: list[dict[str, object]]) -> set[str]:
    """Return the columns that hold something and are neither in the table nor joined to an interval."""
    joined = {"low", "high", "agreement_low", "agreement_high"} | {"task", "task_id"}
    varied = {name for name in columns if len({repr(record[name]) for record in records} - {"None"}) > 1}
    return varied - set(table.header) - joined


def _says(cell: str, record: dict[str, object], head: str) -> bool:
    """Say whether a cell shows the value, rounded to what its interval knows or to six digits."""
    value = record[head]
    if value is None:
        return cell == ""
    if isinstance(value, str):
        return cell == value or (head == "task" and len(cell) >= 12 and value.startswith(cell))
    if head == "trials" and record.get("method") == "exact":
        return cell == ""
    shown = float(cell.partition(" ±")[0].replace(",", ""))
    if head in ("queries", "distinct", "distinct_95", "most", "at_once", "mean_floor", "budget_floor", "rounds"):
        return abs(shown - value) <= 0.0501
    slack = 5.01e-6 * abs(value)
    if head in ("success", "difference", "accuracy", "observed") and record.get("low") is not None:
        slack = max(slack, 0.06 * (record["high"] - record["low"]) / 2.0)
    if head in ("agreement", "mcnemar"):
        slack = max(5.01e-3 * abs(value), 1e-4)
    if head == "agreement" and record.get("agreement_low") is not None:
        slack = max(slack, 0.06 * (record["agreement_high"] - record["agreement_low"]) / 2.0)
    is_one = head != "difference" and value != 1.0 and shown == 1.0
    return abs(shown - value) <= slack and not is_one


def test_fit_oracle_prints_every_number_once(
    printed: tuple[int, dict[str, Shown]], for_programs: dict[str, list[dict[str, object]]]
) -> None:
    """Two rows per decoder: observed and predicted success, then the distances with their intervals."""
    _, shown = printed
    lines = [line.split() for line in shown["fit-oracle"].out]
    for record in for_programs["fit-oracle"]:
        first, second = (line[1:] for line in lines if line[1:] and record["decoder"].startswith(line[0]))
        models = ("uniform", "similarity", "ranked")
        reach = max(record["high"] - record["observed"], record["observed"] - record["low"])
        assert first == [f"{record['observed']:.3f}", f"±{reach:.3f}", *(f"{record[name]:.3f}" for name in models)]
        assert second[::2] == [f"{record[f'{name}_distance']:+.3f}" for name in models]
        for name, cell in zip(models, second[1::2], strict=True):
            off = record[f"{name}_distance"]
            reach = max(record[f"{name}_distance_high"] - off, off - record[f"{name}_distance_low"])
            assert cell == f"±{reach:.3f}"


def test_the_main_command_at_80_columns(printed: tuple[int, dict[str, Shown]]) -> None:
    """n, decoder, success, interval and queries are there in full at 60 columns and more, p is below."""
    _, shown = printed
    table = read_table(shown["sweep of the paper"].out, TEXT)
    assert {"n", "decoder", "success", "queries"} <= set(table.header)
    assert {"interval", "±"} & set(table.header)
    assert "p = 0.7" in table.below
    assert {row["decoder"] for row in table.rows} == {
        "max-win",
        "poll:l=log",
        "poll:l=3log",
        "poll:l=5log",
        "adag",
        "ddag",
    }


def test_a_pipe_has_every_column_and_one_line_a_row(pairsim_command, folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "40")
    out = pairsim_command("show", "a.db").out
    table = read_table(out.splitlines(), TEXT)
    wanted = ["n", "p", "decoder", "method", "success", "interval", "queries", "distinct", "rounds", "agreement"]
    assert [name for name in table.header if name != "trials"] == wanted
    assert "not shown" not in out
    for spec in LONG:
        assert sum(spec in line.split() for line in out.splitlines() if "pairsim sweep" not in line) == 4
    for words in (["exact", "--n", "16", "--p", "0.9"], ["bound", "--n", "16", "--p", "0.9"], ["decoders"]):
        assert "not shown" not in pairsim_command(*words).out
    assert all(len(line.split()) > 3 for line in pairsim_command("decoders").out.splitlines())


def test_only_what_is_exact_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    """An interval that is too narrow for the digits shown is an interval all the same."""
    row = {"decoder": "adag", "method": "exact", "success": 0.25, "low": 0.25, "high": 0.25}
    narrow = {"method": "conditional", "low": 0.25 - 1e-12, "high": 0.25 + 1e-12}
    unknown = {"method": "simulated", "low": math.nan, "high": math.nan}
    print_records([row, row | narrow, row | unknown, row | {"success": math.nan} | unknown])
    exact, known, single, nothing = capsys.readouterr().out.splitlines()[2:6]
    assert exact.split() == ["adag", "exact", "0.25", "exact"]
    assert known.split() == ["adag", "conditional", "0.250000", "0.250000", "..", "0.250000"]
    assert single.split() == ["adag", "simulated", "0.25"]
    assert nothing.split() == ["adag", "simulated"]


def at_width(width: int, records: list[dict[str, object]], monkeypatch, capsys) -> list[str]:
    """Return the lines of a table that is printed in a terminal of this width."""
    monkeypatch.setattr(console, "terminal_width", lambda: width)
    print_records(records)
    return capsys.readouterr().out.splitlines()


METHODS = [("certified", "conditional"), ("simulated", "conditional")]


@pytest.mark.parametrize(("first", "second"), METHODS)
@pytest.mark.parametrize("width", [40, *WIDTHS])
def test_rows_of_one_decoder_are_told_apart(width: int, first: str, second: str, monkeypatch, capsys) -> None:
    """A plan has a decoder proven and estimated, a store the same point by two methods: what differs names the rows."""
    row = {"decoder": LONG[0], "queries": 104.0, "rounds": 1.0, "success": 0.52, "low": 0.5, "high": 0.54}
    shown = at_width(width, [row | {"method": first}, row | {"method": second}], monkeypatch, capsys)
    assert widest(shown) <= width
    assert sum(first in line for line in shown) == sum(second in line for line in shown) == 1
    others = at_width(40, [row | {"method": first}, row | {"method": second, "decoder": "adag"}], monkeypatch, capsys)
    assert "not shown" in " ".join(others)  # where the decoders do, it is left out for lack of room
    assert not any(second in line for line in others)


def test_points_that_are_close_to_each_other_are_told_apart(monkeypatch, capsys) -> None:
    rows = [{"n": 8, "p": p, "decoder": "adag", "success": 0.5} for p in (0.1234567, 0.1234568, 0.7, None)]
    shown = at_width(60, rows, monkeypatch, capsys)
    assert sum("0.1234567 " in line for line in shown) == sum("0.1234568 " in line for line in shown) == 1
    assert sum("0.7 " in line for line in shown) == 1


def test_help_has_whole_sentences(printed: tuple[int, dict[str, Shown]]) -> None:
    """Every command has a summary that is one sentence; from 80 columns on, on one line."""
    width, shown = printed
    lines = shown["help"].out
    assert lines[0].startswith("Usage: pairsim")
    listed = lines[lines.index("Commands:") + 1 :]
    assert not any("..." in line for line in listed if "Example" not in line)
    if width >= 80:
        summaries = {line.split()[0]: line.split(maxsplit=1)[1] for line in listed if line and "Example" not in line}
        assert set(summaries) == set(ALL_COMMANDS)
        assert all(text[0].isupper() and text.endswith(".") and text.count(". ") == 0 for text in summaries.values())


TEXTS = st.text(st.sampled_from("abc,:=_ 日"), min_size=1, max_size=30).map(str.strip).filter(bool)


@given(
    st.lists(TEXTS, min_size=1, max_size=4), st.integers(20, 120), st.lists(st.integers(0, 3), min_size=1, max_size=6)
)
def test_keys_are_always_there_and_the_rest_fits(specs: list[str], width: int, ranks: list[int]) -> None:
    key = Column("decoder", specs, is_key=True, is_text=True)
    figures_ = [Column(f"figure_{k}", ["0.1234"] * len(specs), rank=rank) for k, rank in enumerate(ranks)]
    found = fit([key, *figures_], width)
    assert found.columns[0] is key
    assert sum(found.widths) + GAP * (len(found.widths) - 1) <= width
    names = [column.name for column in found.columns]
    assert sorted([*names, *found.left_out]) == sorted(["decoder", *(column.name for column in figures_)])
    for spec in specs:
        lines = fold(spec, found.widths[0]).split("\n")
        assert max(map(len, lines)) <= found.widths[0]
        assert "".join(lines).replace(" ", "") == spec.replace(" ", "")


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_rounding_keeps_what_the_interval_knows(one: float, two: float, three: float) -> None:
    low, value, high = sorted((one, two, three))
    texts = figures.estimated(value, low, high)
    for text, exact in zip(texts, (value, low, high), strict=True):
        shown = float(text)
        assert abs(shown - exact) <= max(0.05 * (high - low) / 2.0, 1e-5 * exact) * (1 + 1e-9)
        assert (shown == 1.0) <= (exact == 1.0 or math.isclose(exact, 1.0, rel_tol=1e-16))
        assert (shown == 0.0) <= (exact == 0.0)
