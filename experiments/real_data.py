"""Real data sets for experiments: csv.gz files from a folder beside the project, as arrays ready for a linear model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray


class Split(NamedTuple):
    """A data set in two parts; X is scaled numbers, or TF-IDF of texts (sparse)."""

    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


def data_folder() -> Path:
    """Return where the data sets lie: `PAIRSIM_DATA`, else ../shared/data beside the project."""
    chosen = os.environ.get("PAIRSIM_DATA")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[2] / "shared" / "data"


def load_split(name: str, seed: int = 0) -> Split:
    """Load a data set: its own -train and -test files, or one file that is cut in half, stratified."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    folder = data_folder()
    if (folder / f"{name}-train.csv.gz").exists():
        train, test = (pd.read_csv(folder / f"{name}-{part}.csv.gz") for part in ("train", "test"))
    else:
        whole = pd.read_csv(folder / f"{name}.csv.gz")
        train, test = train_test_split(whole, test_size=0.5, stratify=whole["target"], random_state=seed)
    texts = "text" in train.columns
    prepare = TfidfVectorizer(sublinear_tf=True) if texts else StandardScaler()
    columns: Any = "text" if texts else [name for name in train.columns if name != "target"]
    parts = [part[columns].astype(str) if texts else part[columns].to_numpy(np.float64) for part in (train, test)]
    return Split(
        prepare.fit_transform(parts[0]),
        train["target"].to_numpy(),
        prepare.transform(parts[1]),
        test["target"].to_numpy(),
    )
