"""Result tables on disk: csv, json and parquet, written whole or not at all, and never over a stranger's file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pairsim.errors import ParameterError, refusal
from pairsim.sweeps.rows import COLUMNS, TEXT_COLUMNS, WHOLE_COLUMNS, Row, to_frame, to_records

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9  # a mean of chances may pass 1 by as much as rounding makes it
TABLE_SUFFIXES = (".csv", ".json", ".parquet")


def check_target(path: Path, suffixes: tuple[str, ...], name: str, is_ours: Callable[[Path], bool]) -> None:
    """Refuse, before any work is done, a file that could not be written or is not ours to replace."""
    if path.suffix.lower() not in suffixes:
        raise refusal("sweep", name, "a file name ending in " + ", ".join(suffixes), repr(str(path)))
    if path.is_dir():
        raise refusal("sweep", name, "a file", f"the directory {str(path)!r}")
    parent = path.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise refusal("sweep", name, "in a directory that exists and can be written", repr(str(path)))
    if path.exists() and (not path.is_file() or not is_ours(path)):
        must_be = "a new file or one that pairsim wrote"
        raise refusal("sweep", name, must_be, f"{str(path)!r}, which exists and is something else")


def check_table_target(path: Path) -> None:
    """Refuse a results file that could not be written."""
    check_target(path, TABLE_SUFFIXES, "out", is_our_table)
    if path.suffix.lower() == ".parquet":
        _require_pyarrow()


def is_our_table(path: Path) -> bool:
    """Say whether `path` is a results table of pairsim."""
    try:
        read_table(path)
    except ParameterError:
        return False
    return True


def write_whole(path: Path, save: Callable[[Path], None]) -> None:
    """Let `save` write a temporary file beside `path`, flush it to disk, then put it in place in one step."""
    handle, name = tempfile.mkstemp(prefix=".pairsim-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        save(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes private files; a result is as readable as any other
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_table(rows: list[Row], path: Path) -> None:
    """Write the rows to `path` in the format of its ending."""

    def save(temporary: Path) -> None:
        suffix = path.suffix.lower()
        if suffix == ".csv":
            temporary.write_text(csv_text(rows), encoding="utf-8")
        elif suffix == ".json":
            temporary.write_text(json_text(rows), encoding="utf-8")
        else:
            to_frame(rows).to_parquet(temporary, index=False)

    write_whole(path, save)


def csv_text(rows: list[Row]) -> str:
    """Return the rows as csv: shortest numbers that read back exactly, empty where there is no value."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(to_records(rows))
    return text.getvalue()


def json_text(rows: list[Row]) -> str:
    """Return the rows as a JSON list of objects, null where there is no value."""
    return json.dumps(to_records(rows), indent=1, allow_nan=False) + "\n"


def read_table(path: Path) -> pd.DataFrame:
    """Read a results table (csv, json or parquet) that pairsim wrote."""
    import pandas as pd

    wrong = refusal("plot", "results", "a results table that pairsim wrote (csv, json or parquet)", repr(str(path)))
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        _require_pyarrow()
    if suffix not in TABLE_SUFFIXES:
        raise wrong
    try:
        if suffix == ".csv":
            frame = pd.read_csv(path, keep_default_na=True, encoding="utf-8")
        elif suffix == ".json":
            frame = pd.DataFrame(json.loads(path.read_text(encoding="utf-8")), columns=None)
        else:
            frame = pd.read_parquet(path)
    except OSError as error:
        got = f"{str(path)!r} ({error.strerror or 'not that format'})"
        raise refusal("plot", "results", "a readable results table", got) from None
    except Exception as error:  # whatever a parser says of a foreign file, it is the same one line to the user
        if isinstance(error, MemoryError):
            raise
        raise wrong from None
    if list(frame.columns) != COLUMNS or len(frame) == 0:
        raise wrong
    try:
        kinds = {name: "float64" for name in COLUMNS if name not in TEXT_COLUMNS}
        frame = frame.astype(kinds | dict.fromkeys(WHOLE_COLUMNS, "int64"))
        frame = frame.astype(dict.fromkeys(TEXT_COLUMNS, "str"))
    except (ValueError, TypeError, OverflowError):
        raise wrong from None
    if not _is_sound(frame):
        raise wrong
    return frame


def _is_sound(frame: pd.DataFrame) -> bool:
    """Say whether the numbers are such as a sweep can give: chances in [0, 1], finite prices, names on one line."""
    chances = frame[["p", "success", "low", "high", "agreement"]]
    always = frame[["success", "low", "high"]]
    prices = frame[["queries", "distinct", "rounds"]]
    texts = [text for name in TEXT_COLUMNS for text in frame[name]]
    return bool(
        all(isinstance(text, str) and text.isprintable() for text in texts)
        and (frame["n"] >= 2).all()
        and (frame["trials"] >= 0).all()
        and ((chances >= -ROUNDING) & (chances <= 1.0 + ROUNDING) | chances.isna()).all(axis=None)
        and always.notna().all(axis=None)
        and ((prices >= 0.0) & (prices < math.inf)).all(axis=None)
    )


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        must_be = "a .csv or .json file while pyarrow is not installed (pip install 'pairsim[parquet]')"
        raise refusal("sweep", "out", must_be, "a .parquet file") from None
