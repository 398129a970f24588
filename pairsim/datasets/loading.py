"""`load`: a data set by its name, and where names are looked up."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_number, check_text, check_whole
from pairsim.datasets.csv_files import SUFFIXES, Fault, as_features, as_labels, is_csv, read_csv, stem
from pairsim.datasets.dataset import Dataset
from pairsim.datasets.preparing import require_sklearn
from pairsim.errors import parameter_error, shown

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "PAIRSIM_DATA"  # the environment variable that names a folder of data sets
BUNDLED = {"iris": "load_iris", "wine": "load_wine", "digits": "load_digits", "breast-cancer": "load_breast_cancer"}
OPENML = "openml:"
MOST_SEED = 2**32 - 1  # that scikit-learn takes


def load(name: str, *, target: str | None = None, test_share: float = 0.3, seed: int = 0) -> Dataset:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        One that scikit-learn brings along ("iris", "wine", "digits", "breast-cancer"); a csv file ("mine.csv",
        "mine.csv.gz"); the name of files in the folder that the environment variable PAIRSIM_DATA names (NAME.csv.gz,
        or NAME-train, NAME-test and perhaps NAME-val, last column the labels); or "openml:letter", which is fetched.
    target : str, optional
        Label column of a csv file or an OpenML data set. Default: the last one, or OpenML's own.
    test_share, seed
        A set without a test part of its own is split: about this share of each class is for testing, drawn by the seed.
        A class of one row is for training only.

    Examples
    --------
    >>> from pairsim.datasets import load
    >>> load("digits", test_share=0.5)
    <Dataset digits: 899 + 898 rows, 64 features, 10 classes>
    """
    seed = check_whole("load", "seed", seed, 0, MOST_SEED)
    share = check_number("load", "test_share", test_share, "a number strictly between 0 and 1")
    if not 0.0 < share < 1.0:
        raise parameter_error("load", "test_share", "a number strictly between 0 and 1", test_share)
    must_be = "the name of a data set, such as 'iris', or of a .csv file"
    name = check_text("load", "data", name, must_be)
    if target is not None:
        check_text("load", "target", target, "the name of a column")
    if is_csv(name):
        return split_in_two(stem(Path(name)), *read_csv(Path(name), target), share, seed)
    if name.startswith(OPENML):
        return split_in_two(name, *_fetch(name.removeprefix(OPENML), target), share, seed)
    if target is not None:
        raise parameter_error("load", "target", "omitted for a data set with known labels", shown(target))
    if name in BUNDLED:
        require_sklearn("load")
        from sklearn import datasets

        X, y = getattr(datasets, BUNDLED[name])(return_X_y=True, as_frame=True)
        return split_in_two(name, X, as_labels(y), share, seed)
    return _from_folder(name, share, seed)


def known_names() -> list[str]:
    """Return the names that need neither a path nor the network: those of scikit-learn, then those of the folder.

    Examples
    --------
    >>> from pairsim.datasets import known_names
    >>> known_names()[:4]
    ['iris', 'wine', 'digits', 'breast-cancer']
    """
    folder = os.environ.get(FOLDER)
    found = sorted(Path(folder).glob("*.csv*")) if folder else []
    stems = {stem(path) for path in found if is_csv(path.name)}
    parts = {name.removesuffix(part) for name in stems for part in ("-train", "-val", "-test")}
    whole = {name for name in stems if not name.endswith(("-train", "-val", "-test"))}
    split = {name for name in parts if {f"{name}-train", f"{name}-test"} <= stems}
    return [*BUNDLED, *sorted((whole | split) - set(BUNDLED))]


def _from_folder(name: str, share: float, seed: int) -> Dataset:
    """Return a set of the folder: one file to be split, or the parts that its authors made."""
    if name not in known_names():
        must_be = f"one of {', '.join(known_names())} (a folder of more: ${FOLDER}), a .csv file, or openml:NAME"
        raise parameter_error("load", "data", must_be, shown(name))
    folder = Path(os.environ[FOLDER])
    whole = _find(folder, name)
    if whole is not None:
        return split_in_two(name, *read_csv(whole), share, seed)
    parts = [_find(folder, f"{name}-{part}") for part in ("train", "test", "val")]
    read = [read_csv(path) for path in parts if path is not None]
    labels = [y for _, y in read]
    if len({y.dtype.kind for y in labels}) > 1:  # a part in which all labels happen to be numbers
        labels = [y.astype(np.str_) for y in labels]
    train, test, *held_back = [(X, y) for (X, _), y in zip(read, labels, strict=True)]
    return Dataset(name, *train, *test, "official", *(held_back[0] if held_back else (None, None)))


def _find(folder: Path, name: str) -> Path | None:
    return next((path for suffix in SUFFIXES if (path := folder / (name + suffix)).is_file()), None)


def split_in_two(name: str, X: pd.DataFrame, y: NDArray[Any], share: float, seed: int) -> Dataset:
    """Return a data set of which about `share` of each class is held out, at least one row and not all.

    A class of one row is for training. (`train_test_split` keeps to the shares too, but may leave a small class out.)
    """
    rng = np.random.default_rng(seed)
    rows = np.arange(len(y))
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    held_out = []
    for number, count in enumerate(counts.tolist()):
        if count > 1:
            size = min(max(round(share * count), 1), count - 1)
            held_out.append(rng.permutation(rows[numbers == number])[:size])
    if not held_out:
        raise parameter_error("load", "data", "a set with several rows of a class", f"{name!r}, which has one of each")
    test = np.sort(np.concatenate(held_out))
    train = np.setdiff1d(rows, test)
    parts = (X.iloc[train].reset_index(drop=True), y[train], X.iloc[test].reset_index(drop=True), y[test])
    return Dataset(name, *parts, split=f"stratified {share:g}, seed {seed}")


def _fetch(text: str, target: str | None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Fetch "NAME" or "NAME:VERSION" from OpenML, by scikit-learn's own loader, which keeps what it fetched."""
    require_sklearn("load")
    from sklearn.datasets import fetch_openml

    name, _, version = text.partition(":")
    must_be = "the name of a data set of OpenML, with its version or without: openml:letter, openml:letter:1"
    if not name or not (version.isdecimal() or not version):
        raise parameter_error("load", "data", must_be, repr(OPENML + text))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on every attempt that fails: the last one is told below
            which = int(version) if version else "active"
            found = fetch_openml(name, version=which, target_column=target or "default-target", as_frame=True)
        return as_features(found.data), as_labels(found.target)
    except (OSError, ValueError, LookupError, AttributeError, Fault) as error:
        reason = " ".join(str(error).split())[:120]
        raise parameter_error("load", "data", must_be, f"{OPENML + text!r} ({reason})") from None
