"""Tables of results on disk: csv, json and parquet, always with the same columns, and read back believing nothing."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairsim.errors import ParameterError, parameter_error
from pairsim.input_files import read_input
from pairsim.outputs import check_target, write_whole
from pairsim.plain_text import printable

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]

TABLE_SUFFIXES = (".csv", ".json", ".parquet")
MOST_BYTES = 1 << 28  # of a table: about two million rows
LONGEST_HEADER = 1 << 14  # bytes of a csv file's first line
MOST_ROWS, ROWS_AT_A_TIME = 1 << 22, 1 << 12  # of a parquet file


@dataclasses.dataclass(frozen=True)
class TableKind:
    """One kind of results table: its columns, which of them are text or integers, and what its numbers can be.

    `text_may_lack` are text columns that may be empty; `is_sound` looks at a frame whose columns have their types.
    `later` are columns that earlier versions did not write, one group a version, the oldest group first: nan, or
    empty text, where a table lacks a group and those that came after it.
    """

    columns: tuple[str, ...]
    text: tuple[str, ...]
    whole: tuple[str, ...]
    is_sound: Callable[[pd.DataFrame], bool]
    text_may_lack: tuple[str, ...] = ()
    later: tuple[tuple[str, ...], ...] = ()

    @property
    def headers(self) -> list[list[str]]:
        """The columns of a table of this kind: of this version, and of earlier ones."""
        lacking = [{name for group in self.later[first:] for name in group} for first in range(len(self.later) + 1)]
        return [[name for name in self.columns if name not in each] for each in reversed(lacking)]

    def check_target(self, path: Path) -> None:
        """Reject a results file that could not be written, or is something else than such a table."""
        check_target(path, TABLE_SUFFIXES, "out", self.is_one)
        if path.suffix.lower() == ".parquet":
            require_pyarrow()

    def is_one(self, path: Path) -> bool:
        """Say whether `path` is such a table."""
        try:
            self.read(path)
        except ParameterError:
            return False
        return True

    def to_frame(self, records: Sequence[Record]) -> pd.DataFrame:
        """Return the records as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(records, columns=list(self.columns))

    def csv_text(self, records: Sequence[Record]) -> str:
        """Return the records as csv: shortest numbers that read back exactly, empty where there is no value.

        Text is printable, or `read` would reject the table; JSON has escapes for what is not.
        """
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in without_nan(record).items()} for record in records)
        return text.getvalue()

    def json_text(self, records: Sequence[Record], **more: Sequence[Record]) -> str:
        """Return the records as a JSON list of objects, null where there is no value.

        With `more` it is an object with the list as "rows", and other such lists beside it.
        """
        lists = {name: list(map(without_nan, each)) for name, each in {"rows": records, **more}.items()}
        content = lists if more else lists["rows"]
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def write(self, records: Sequence[Record], path: Path, **more: Sequence[Record]) -> None:
        """Write the records to `path` in the format of its ending; `more` goes to json only."""

        def save(temporary: Path) -> None:
            suffix = path.suffix.lower()
            if suffix == ".csv":
                temporary.write_text(self.csv_text(records), encoding="utf-8")
            elif suffix == ".json":
                temporary.write_text(self.json_text(records, **more), encoding="utf-8")
            else:
                self.to_frame(records).to_parquet(temporary, index=False)

        write_whole(path, save)

    def read(self, path: Path) -> pd.DataFrame:
        """Read such a table (csv, json or parquet); the message of the error does not tell how it was damaged."""
        wrong = parameter_error(
            "plot", "results", "a results table that pairsim wrote (csv, json or parquet)", repr(str(path))
        )
        frame = read_frame(path, self.headers)
        if frame is None or len(frame) == 0:
            raise wrong
        frame = frame.reindex(columns=list(self.columns))
        try:
            kinds = {name: "float64" for name in self.columns if name not in self.text}
            kinds |= dict.fromkeys(self.whole, "int64")
            kinds |= dict.fromkeys(self.text_may_lack, "object")  # one that is empty throughout was read as numbers
            frame = frame.astype(kinds)
            frame = frame.fillna(dict.fromkeys(self.text_may_lack, "")).astype(dict.fromkeys(self.text, "str"))
        except (ValueError, TypeError, OverflowError):
            raise wrong from None
        texts = [text for name in self.text for text in frame[name]]
        if not all(isinstance(text, str) and text.isprintable() for text in texts) or not self.is_sound(frame):
            raise wrong
        return frame


def read_frame(path: Path, headers: Sequence[list[str]]) -> pd.DataFrame | None:
    """Read a table by its ending; None when it is not of that format, or its columns are none of these.

    What the columns are is looked at first: a table of a stranger's may have a hundred thousand of them.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        require_pyarrow()
    if suffix not in TABLE_SUFFIXES:
        return None
    content = read_input("plot", "results", path, "a readable results table", MOST_BYTES)
    readers = {".csv": _read_csv, ".json": _read_json, ".parquet": _read_parquet}
    try:
        return readers[suffix](content, headers)
    except Exception:  # whatever a parser says of a foreign file, it is the same one line to the user
        return None


def _read_csv(content: bytes, headers: Sequence[list[str]]) -> pd.DataFrame | None:
    import pandas as pd

    end = content.find(b"\n", 0, LONGEST_HEADER)
    header = content[:end].decode("utf-8-sig") if end >= 0 else ""
    if next(csv.reader([header]), []) not in headers:
        return None
    frame = pd.read_csv(io.BytesIO(content), keep_default_na=True, encoding="utf-8")
    return frame if list(frame.columns) in headers else None


def _read_json(content: bytes, headers: Sequence[list[str]]) -> pd.DataFrame | None:
    import pandas as pd

    # text that is all brackets and commas becomes twenty times as large when it is read; a results table is not
    if content.count(b",") + content.count(b"[") + content.count(b"{") > 64 + len(content) // 8:
        return None
    found = json.loads(content.decode("utf-8"))
    rows = found["rows"] if isinstance(found, dict) else found
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    columns = list(rows[0]) if rows else headers[0]
    if columns not in headers or not all(list(row) == columns for row in rows):
        return None
    return pd.DataFrame(rows, columns=columns)


def _read_parquet(content: bytes, headers: Sequence[list[str]]) -> pd.DataFrame | None:
    import pyarrow
    from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(content))
    about = file.metadata
    size = sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups))
    if file.schema_arrow.names not in headers or about.num_rows > MOST_ROWS or size > MOST_BYTES:
        return None
    parts, size = [], 0
    for batch in file.iter_batches(batch_size=ROWS_AT_A_TIME):  # a few bytes may repeat a long text many times
        size += batch.nbytes
        if size > MOST_BYTES:
            return None
        parts.append(batch)
    frame: pd.DataFrame | None = pyarrow.Table.from_batches(parts).to_pandas() if parts else None
    return frame


def without_nan(record: Record) -> Record:
    """Return the record with None in place of nan."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in record.items()}


def _cell(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else value


def require_pyarrow() -> None:
    """Reject parquet where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        must_be = "a .csv or .json file while pyarrow is not installed (pip install 'pairsim[parquet]')"
        raise parameter_error("sweep", "out", must_be, "a .parquet file") from None
