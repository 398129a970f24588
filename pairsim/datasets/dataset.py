"""A data set: a part to train on, a part to test on, and a hash of all that is in them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.datasets.preparing import as_points, check_frame, is_number, is_text, preprocessor
from pairsim.errors import parameter_error, shown

if TYPE_CHECKING:
    import pandas as pd

Labels = NDArray[Any]


class Numbers(NamedTuple):
    """A data set as models take it: numbers (sparse where the features are words), and labels."""

    X: Any
    y: Labels
    X_test: Any
    y_test: Labels


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Features and labels to train on and to test on.

    Attributes
    ----------
    name : str
        For tables and pictures; no part of `digest`.
    X, X_test : pandas.DataFrame
        The features as they were read: numbers, text in columns that name a choice, or one column `text`; missing
        values are nan. The two parts have the same columns.
    y, y_test : numpy.ndarray
        The labels: integers or text.
    split : str
        How the parts came to be: "official", or for example "stratified 0.3, seed 0".
    X_val, y_val : optional
        A part that the authors of the set held back for choosing settings.

    Examples
    --------
    >>> from pairsim.datasets import load
    >>> wine = load("wine")
    >>> wine, wine.split
    (<Dataset wine: 125 + 53 rows, 13 features, 3 classes>, 'stratified 0.3, seed 0')
    >>> X, y = wine.whole()
    >>> X.shape, len(y)
    ((178, 13), 178)
    >>> wine.numbers().X.shape, bool(abs(wine.numbers().X.mean()) < 1e-12)      # scaled on the training part
    ((125, 13), True)
    """

    name: str
    X: pd.DataFrame
    y: Labels
    X_test: pd.DataFrame
    y_test: Labels
    split: str = "official"
    X_val: pd.DataFrame | None = None
    y_val: Labels | None = None

    def __post_init__(self) -> None:
        for name in ("X", "X_test", "X_val"):
            if name != "X_val" or self.X_val is not None:
                check_frame("Dataset", name, getattr(self, name))
        for name, X in (("y", self.X), ("y_test", self.X_test), ("y_val", self.X_val)):
            y = getattr(self, name)
            if (X is None) != (y is None) or (X is not None and not _are_labels(y, len(X))):
                must_be = "an array of labels, integers or text, one per row"
                raise parameter_error("Dataset", name, must_be, shown(y))
        if len(np.unique(self.y)) < 2:
            raise parameter_error("Dataset", "y", "labels of at least two classes", f"one in {self.name!r}")
        for part in (self.X_test, self.X_val):
            if part is not None and _kinds(part) != _kinds(self.X):
                must_be = "of the same columns as X, numbers where those are numbers"
                raise parameter_error("Dataset", "X_test", must_be, f"others in {self.name!r}")

    @functools.cached_property
    def classes(self) -> Labels:
        """The labels that occur in any part, sorted."""
        return np.unique(self.whole()[1])

    @property
    def is_text(self) -> bool:
        """Whether the one feature is text to be read word by word."""
        return is_text(self.X)

    def whole(self) -> tuple[pd.DataFrame, Labels]:
        """Return all rows with their labels: the training part, the part for choosing settings, the test part."""
        import pandas as pd

        parts = [(self.X, self.y), (self.X_val, self.y_val), (self.X_test, self.y_test)]
        there = [(X, y) for X, y in parts if X is not None and y is not None]
        return pd.concat([X for X, _ in there], ignore_index=True), np.concatenate([y for _, y in there])

    def numbers(self, scaling: str = "standard") -> Numbers:
        """Return the parts as numbers: missing values filled in, numbers scaled, choices one-hot, text by TF-IDF.

        Everything that is learned for that (means, words, choices) is learned from the training part alone.
        """
        steps = preprocessor(self.X, scaling)
        try:
            X = steps.fit_transform(as_points(self.X))
        except ValueError as error:  # such as texts without any word
            must_be = "features that can be made numbers"
            raise parameter_error("load", "data", must_be, f"{self.name!r} ({error})") from None
        return Numbers(X, self.y, steps.transform(as_points(self.X_test)), self.y_test)

    @functools.cached_property
    def digest(self) -> str:
        """A hash of the content of the training and the test part: columns, values and labels, in their order."""
        digest = hashlib.blake2b(digest_size=16)
        for X, y in ((self.X, self.y), (self.X_test, self.y_test)):
            digest.update(f"rows {len(y)} ".encode())
            for name in X.columns:
                digest.update(f"column {len(str(name))} {name} ".encode())
                _add(digest, X[name].to_numpy())
            _add(digest, y)
        return digest.hexdigest()

    def __repr__(self) -> str:
        rows, features = f"{len(self.y)} + {len(self.y_test)} rows", self.X.shape[1]
        return f"<Dataset {self.name}: {rows}, {features} features, {len(self.classes)} classes>"


def _are_labels(y: Any, rows: int) -> bool:
    return isinstance(y, np.ndarray) and y.shape == (rows,) and y.dtype.kind in "biufUSOT"


def _kinds(X: pd.DataFrame) -> list[tuple[Any, bool]]:
    return [(name, is_number(X[name])) for name in X.columns]


def _add(digest: Any, values: NDArray[Any]) -> None:
    """Add a column; text is told from numbers, and where one text ends from where the next begins."""
    if values.dtype.kind in "biuf":
        digest.update(b"numbers " + np.asarray(values, "<f8").tobytes())
        return
    texts = [value.encode() if isinstance(value, str) else b"" for value in values.tolist()]
    lengths = [len(text) if isinstance(value, str) else -1 for text, value in zip(texts, values.tolist(), strict=True)]
    digest.update(b"texts " + np.array(lengths, "<i8").tobytes() + b"".join(texts))
