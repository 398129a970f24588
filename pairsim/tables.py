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

from pairsim.errors import ParameterError, refusal
from pairsim.outputs import check_target, write_whole

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]

TABLE_SUFFIXES = (".csv", ".json", ".parquet")


@dataclasses.dataclass(frozen=True)
class TableKind:
    """One kind of results table: its columns, which of them are text or whole numbers, and what its numbers can be.

    `text_may_lack` are text columns that may be empty; `is_sound` looks at a frame whose columns have their types.
    """

    columns: tuple[str, ...]
    text: tuple[str, ...]
    whole: tuple[str, ...]
    is_sound: Callable[[pd.DataFrame], bool]
    text_may_lack: tuple[str, ...] = ()

    def check_target(self, path: Path) -> None:
        """Refuse a results file that could not be written, or is something else than such a table."""
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
        """Return the records as csv: shortest numbers that read back exactly, empty where there is no value."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(without_nan, records))
        return text.getvalue()

    def json_text(self, records: Sequence[Record], **more: Any) -> str:
        """Return the records as a JSON list of objects, null where there is no value.

        With `more` it is an object with the list as "rows", and the rest beside it.
        """
        rows = list(map(without_nan, records))
        content = {"rows": rows, **more} if more else rows
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def write(self, records: Sequence[Record], path: Path, **more: Any) -> None:
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
        wrong = refusal("plot", "results", "a results table that pairsim wrote (csv, json or parquet)", repr(str(path)))
        frame = read_frame(path)
        if frame is None or list(frame.columns) != list(self.columns) or len(frame) == 0:
            raise wrong
        try:
            kinds = {name: "float64" for name in self.columns if name not in self.text}
            frame = frame.astype(kinds | dict.fromkeys(self.whole, "int64"))
            frame = frame.fillna(dict.fromkeys(self.text_may_lack, "")).astype(dict.fromkeys(self.text, "str"))
        except (ValueError, TypeError, OverflowError):
            raise wrong from None
        texts = [text for name in self.text for text in frame[name]]
        if not all(isinstance(text, str) and text.isprintable() for text in texts) or not self.is_sound(frame):
            raise wrong
        return frame


def read_frame(path: Path) -> pd.DataFrame | None:
    """Read a file by its ending, whatever its columns; None when it is not of that format."""
    import pandas as pd

    suffix = path.suffix.lower()
    if suffix == ".parquet":
        require_pyarrow()
    try:
        if suffix == ".csv":
            return pd.read_csv(path, keep_default_na=True, encoding="utf-8")
        if suffix == ".json":
            content = json.loads(path.read_text(encoding="utf-8"))
            return pd.DataFrame(content["rows"] if isinstance(content, dict) else content, columns=None)
        if suffix == ".parquet":
            return pd.read_parquet(path)
    except OSError as error:
        got = f"{str(path)!r} ({error.strerror or 'not that format'})"
        raise refusal("plot", "results", "a readable results table", got) from None
    except Exception as error:  # whatever a parser says of a foreign file, it is the same one line to the user
        if isinstance(error, MemoryError):
            raise
    return None


def without_nan(record: Record) -> Record:
    """Return the record with None in place of nan."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in record.items()}


def require_pyarrow() -> None:
    """Refuse parquet where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        must_be = "a .csv or .json file while pyarrow is not installed (pip install 'pairsim[parquet]')"
        raise refusal("sweep", "out", must_be, "a .parquet file") from None
