"""Csv files as features and labels: checked, so that whatever is wrong is one clear line."""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error
from pairsim.input_files import MOST_BYTES, read_input

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".csv.gz")
MISSING = ["", "NA", "NaN", "nan", "?"]  # in features; a class may be called so, unless all others are numbers
LONGEST_LABEL = 200
MOST_COLUMNS = 20_000  # pandas takes time by the column, whatever is in it
LARGEST = 1e100  # squares of larger numbers are soon beyond what a double holds


def is_csv(name: str) -> bool:
    """Say whether a name is that of a csv file, compressed or not."""
    return name.lower().endswith(SUFFIXES)


def stem(path: Path) -> str:
    """Return the file's name without its ending."""
    return path.name.removesuffix(".gz").removesuffix(".csv")


class Fault(Exception):  # noqa: N818
    """What is wrong with a file."""


def read_csv(path: Path, target: str | None = None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Read features and labels; the labels are the column `target`, the last one when that is left out."""
    must_be = "a csv file with a header, columns of features and one of labels"
    content = read_input("load", "data", path, must_be)
    try:
        if path.suffix == ".gz":
            content = _inflate(content)
        header = _read_header(content)
        place = _find_target(header, target)
        return _read_columns(content, header, place)
    except (OSError, EOFError, ValueError, MemoryError, csv.Error, zlib.error, Fault) as error:
        reason = str(error) if isinstance(error, Fault) else getattr(error, "strerror", None) or "not a csv file"
        raise parameter_error("load", "data", must_be, f"{str(path)!r} ({reason})") from None


def _inflate(content: bytes) -> bytes:
    """Return what a gzip file holds, up to a limit: a few bytes may be gigabytes of the same letter."""
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise Fault(f"more than {MOST_BYTES:,} bytes when it is inflated")
    return text


def _read_header(content: bytes) -> list[str]:
    with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="") as text:
        header = next(csv.reader(text), [])
    if len(header) > MOST_COLUMNS:
        raise Fault(f"{len(header):,} columns, more than {MOST_COLUMNS:,}")
    if len(header) < 2:
        raise Fault("it needs at least two columns")
    if len(set(header)) < len(header):
        raise Fault("two columns have the same name")
    if all(_is_number(name) for name in header[:-1]):
        raise Fault("its first line holds numbers, not the names of the columns")
    return header


def _find_target(header: list[str], target: str | None) -> int:
    if target is None:
        return len(header) - 1
    if target not in header:
        raise Fault(f"no column is called {target!r}")
    return header.index(target)


def _read_columns(content: bytes, header: list[str], place: int) -> tuple[pd.DataFrame, NDArray[Any]]:
    import pandas as pd

    labels = header[place]
    missing = {name: [""] if name == labels else MISSING for name in header}
    frame = pd.read_csv(
        io.BytesIO(content),
        encoding="utf-8-sig",
        keep_default_na=False,
        na_values=missing,
        index_col=False,
        low_memory=False,
    )
    if list(frame.columns) != header:
        raise Fault("some lines are longer than the header")
    if not len(frame):
        raise Fault("it has no rows")
    return as_features(frame.drop(columns=labels)), as_labels(frame[labels])


def as_features(X: pd.DataFrame) -> pd.DataFrame:
    """Return columns of numbers that can be worked with, and of text with nan where there is nothing."""
    X = X.copy()
    for name in X.columns:
        if X[name].dtype.kind == "f" and (np.abs(X[name].to_numpy()) > LARGEST).any():
            raise Fault(f"column {name!r} holds infinity, or numbers beyond {LARGEST:g}")
        if X[name].dtype.kind not in "biuf":
            X[name] = X[name].astype("str").where(X[name].notna(), np.nan)
    return X


def as_labels(column: pd.Series) -> NDArray[Any]:
    """Return a column as labels, integers or text, of at least two classes."""
    lacking = np.flatnonzero(column.isna().to_numpy())
    if lacking.size:
        raise Fault(f"row {lacking[0] + 1} has no label")
    values = column.to_numpy()
    if values.dtype.kind == "f":
        if not (np.isfinite(values).all() and (values == np.floor(values)).all() and np.abs(values).max() < 2**53):
            raise Fault(f"labels of {str(column.name)!r} are numbers with a fraction, not classes")
        values = values.astype(np.int64)
    if values.dtype.kind not in "iu":
        values = np.array([str(value) for value in values.tolist()])
        unnamed = np.isin(values, MISSING)
        if unnamed.any() and all(_is_number(label) for label in set(values[~unnamed].tolist())):
            raise Fault(f"row {np.flatnonzero(unnamed)[0] + 1} has no label")
        if values.dtype.itemsize > 4 * LONGEST_LABEL:
            raise Fault(f"a label of {str(column.name)!r} is longer than {LONGEST_LABEL} letters")
    if len(np.unique(values)) < 2:
        raise Fault(f"labels of {str(column.name)!r} are all the same")
    return values


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False
