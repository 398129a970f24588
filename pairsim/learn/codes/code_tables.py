"""Output codes: a row per class, a column per binary problem, entries 1, -1 and 0 (the class is left out)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from pairsim.checks import check_whole
from pairsim.errors import parameter_error

Code = NDArray[np.int64]

MOST_EXHAUSTIVE = 5  # classes for which the default code is all 2**(c - 1) - 1 dichotomies: 15 columns
MOST_DICHOTOMIES = 12  # classes of the exhaustive code: 2,047 columns
LEAST_BCH, MOST_BCH = 4, 64  # classes of the codes that are kept with the package
DRAWS = 100
ANY_NUMBER = "'one-vs-all', 'all-pairs', 'dense' or 'sparse'"  # the codes of any number of classes


def one_vs_all_code(count: int) -> Code:
    """Return each class against the rest; of two classes, that is one dichotomy."""
    return 2 * np.eye(count, dtype=np.int64) - 1 if count > 2 else all_pairs_code(count)


def all_pairs_code(count: int) -> Code:
    """Return each class (1) against each higher one (-1), pairs in the order of `numpy.triu_indices(count, 1)`."""
    low, high = np.triu_indices(count, 1)
    code = np.zeros((count, len(low)), np.int64)
    code[low, np.arange(len(low))] = 1
    code[high, np.arange(len(low))] = -1
    return code


def exhaustive_code(count: int) -> Code:
    """Return all dichotomies of `count` classes, one per column, the first class always +1."""
    columns = np.arange(2 ** (count - 1) - 1)
    bits = columns >> np.arange(count - 1)[:, None] & 1
    return np.vstack([np.ones((1, len(columns)), np.int64), 2 * bits - 1])


def bch_code(count: int) -> Code:
    """Return code words of a BCH code, which differ in many places; of up to three classes, all dichotomies."""
    if count < LEAST_BCH:
        return exhaustive_code(count)
    _, columns, *rows = _bch_lines()[count].split()
    bits = [[int(bit) for bit in format(int(row, 16), f"0{columns}b")] for row in rows]
    return 2 * np.array(bits, np.int64) - 1


@functools.cache
def _bch_lines() -> dict[int, str]:
    """Return the line of each number of classes: classes, columns, and the rows in hexadecimal digits."""
    text = resources.files("pairsim.learn").joinpath("data/bch_codes.txt").read_text(encoding="ascii")
    return {int(line.split(maxsplit=1)[0]): line for line in text.splitlines()}


def dense_code(count: int, rng: np.random.RandomState) -> Code:
    """Return 10 log2(count) random dichotomies (or all), of several draws the one with the closest rows far apart."""
    width = math.ceil(10 * math.log2(count))
    if width >= 2 ** (count - 1) - 1:
        return exhaustive_code(count)
    return _best_draw(count, width, lambda columns: 2 * rng.randint(2, size=(count, columns)) - 1)


def sparse_code(count: int, rng: np.random.RandomState) -> Code:
    """Return 15 log2(count) random columns (or all), an entry 0 with probability 1/2, chosen as in `dense_code`."""
    width = math.ceil(15 * math.log2(count))
    if width >= (3**count - 2 ** (count + 1) + 1) // 2:
        every = np.array(list(itertools.product((1, 0, -1), repeat=count)), np.int64).T
        return different_columns(every)
    values = np.array([-1, 0, 0, 1])
    return _best_draw(count, width, lambda columns: values[rng.randint(4, size=(count, columns))])


def default_code(count: int, rng: np.random.RandomState) -> Code:
    """Return every dichotomy of a few classes, or random ones of many."""
    return exhaustive_code(count) if count <= MOST_EXHAUSTIVE else dense_code(count, rng)


def different_columns(code: NDArray[Any]) -> Code:
    """Return the columns with a 1 and a -1 that are not, nor is their complement, there before; their first entry 1."""
    useful = code[:, (code == 1).any(axis=0) & (code == -1).any(axis=0)]
    first = np.take_along_axis(useful, (useful != 0).argmax(axis=0)[None], axis=0)
    signed = useful * first
    _, places = np.unique(signed, axis=1, return_index=True)
    return np.asarray(signed[:, np.sort(places)], np.int64)


def _best_draw(count: int, width: int, draw: Callable[[int], NDArray[Any]]) -> Code:
    """Return, of several draws, the one whose rows that are most alike are least so.

    How alike two rows are is their product: equal places less opposite ones. Columns that say nothing new are drawn
    again, and so is a code with two rows that no column tells apart.
    """
    best, least, drawn = None, math.inf, 0
    while best is None or drawn < DRAWS:
        drawn += 1
        code = different_columns(draw(width))
        while code.shape[1] < width:
            code = different_columns(np.hstack([code, draw(width)]))
        code = code[:, :width]
        table = code.astype(np.float64)  # for a fast product; its entries are integers
        alike, apart = table @ table.T, np.abs(table) @ np.abs(table).T
        np.fill_diagonal(alike, -math.inf)
        if alike.max() < least and (alike < apart).all():
            best, least = code, float(alike.max())
    return best


def make_code(name: str, n: int, random_state: Any = 0) -> Code:
    """Return an output code of n classes by its name.

    Every column has a 1 and a -1, no two are equal or complementary, and any two rows have opposite entries somewhere.
    For two classes every code is the one dichotomy there is.

    Parameters
    ----------
    name : {"one-vs-all", "all-pairs", "exhaustive", "dense", "sparse", "bch"}
        "exhaustive" has all 2**(n - 1) - 1 dichotomies, "dense" 10 log2(n) random ones, "sparse" 15 log2(n) random
        columns with about half their entries 0 (Allwein, Schapire and Singer; all columns where there are not as many),
        "bch" the words of a BCH code with 15, 31 or 63 places, less those that repeat a dichotomy.
    n : int
        Classes; at most 12 for "exhaustive", 64 for "bch".
    random_state : int, RandomState or None
        Of "dense" and "sparse".

    Returns
    -------
    ndarray of int, shape (n, columns)

    Examples
    --------
    >>> from pairsim.learn.codes.code_tables import make_code
    >>> make_code("all-pairs", 3)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]])
    >>> [make_code(name, 10).shape[1] for name in ("one-vs-all", "all-pairs", "exhaustive", "dense", "sparse", "bch")]
    [10, 45, 511, 34, 50, 31]
    """
    n = check_whole("make_code", "n", n, 2)
    return _named_code("make_code", "name", name, n, random_state)


CODES: dict[str, Callable[[int, np.random.RandomState], Code]] = {
    "one-vs-all": lambda count, rng: one_vs_all_code(count),
    "all-pairs": lambda count, rng: all_pairs_code(count),
    "exhaustive": lambda count, rng: exhaustive_code(count),
    "dense": dense_code,
    "sparse": sparse_code,
    "bch": lambda count, rng: bch_code(count),
}


def _named_code(owner: str, parameter: str, name: Any, n: int, random_state: Any) -> Code:
    if not isinstance(name, str) or name not in CODES:
        raise parameter_error(owner, parameter, "one of " + ", ".join(map(repr, CODES)), repr(name))
    most = {"exhaustive": MOST_DICHOTOMIES, "bch": MOST_BCH}.get(name, n)
    if n > most:
        must_be = f"{ANY_NUMBER} for more than {most} classes"
        raise parameter_error(owner, parameter, must_be, f"{name!r} for {n} classes")
    return CODES[name](n, check_random_state(random_state))


def read_code(owner: str, code: str | ArrayLike, n: int, random_state: Any) -> Code:
    """Return the code that an estimator's parameter `code` means, a name or a matrix, when it suits n classes."""
    if isinstance(code, str):
        return _named_code(owner, "code", code, n, random_state)
    must_be = f"an array of {n} different rows of -1, 0 and 1, one for each class"
    try:
        matrix = np.asarray(code)
    except ValueError:
        raise parameter_error(owner, "code", must_be, "rows of different lengths") from None
    shape = f"an array of shape {matrix.shape}"
    if matrix.ndim != 2 or len(matrix) != n or matrix.shape[1] == 0:
        raise parameter_error(owner, "code", must_be, shape)
    if not np.isin(matrix, (-1, 0, 1)).all():
        raise parameter_error(owner, "code", must_be, f"{shape} with other entries")
    if len(np.unique(matrix, axis=0)) < n:
        raise parameter_error(owner, "code", must_be, f"{shape} with equal rows")
    one_sided = ~((matrix == 1).any(axis=0) & (matrix == -1).any(axis=0))
    if one_sided.any():
        got = f"{shape} with {matrix[:, one_sided.argmax()].tolist()} in column {one_sided.argmax()}"
        raise parameter_error(owner, "code", "an array with a 1 and a -1 in every column", got)
    return matrix.astype(np.int64)
