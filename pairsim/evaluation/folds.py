"""Folds of a cross-validation, and what can be said of rows that they predicted.

Every two models of a cross-validation share most of their training rows, and all rows of a fold share one model, so
rows are not independent: an interval or a test that takes them for such claims too much, and no estimate of the
variance without bias exists (Bengio and Grandvalet 2004). What is estimated is the expected accuracy of the procedure
when it is trained on as many rows as outside of a fold, over training sets and over rows. The interval and the test
are those of Nadeau and Bengio (2003): Student's t on the values of the folds, whose variance is multiplied by
1/folds + (rows in a fold) / (rows outside) in place of 1/folds. Folds that happen to have equal values would make it
claim certainty, so it never claims more than if rows were independent. It held in simulations of stable and unstable
procedures with 2 to 10 folds, but is no theorem: of two or three models that happen to be alike nobody learns how
different they could have been.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import as_array, check_whole
from pairsim.datasets.loading import MOST_SEED
from pairsim.errors import parameter_error, shown
from pairsim.stats import binomial_interval

SPLIT = re.compile(r"([0-9]{1,18}) folds(?: of ([0-9]{1,18}) from ([0-9]{1,18}) rows)?, seed ([0-9]{1,18})")
OFFICIAL = "official"  # the split that the authors of a data set made
FOLD_SIZES = ("even", "floor")


def name_split(folds: int, seed: int, rows: int | None = None) -> str:
    """Return how rows are cut into folds, in words that `folds_of` reads.

    With `rows`, all folds have floor(rows / folds) of them, and the remainder is left out.

    Examples
    --------
    >>> name_split(10, 0), name_split(10, 0, rows=178)
    ('10 folds, seed 0', '10 folds of 17 from 178 rows, seed 0')
    """
    of = "" if rows is None else f" of {rows // folds} from {rows} rows"
    return f"{folds} folds{of}, seed {seed}"


def deal_folds(y: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row: classes are dealt out one after the other, so that every fold has its share.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(deal_folds(np.array([0] * 6 + [1] * 3), 3, seed=0)).tolist()
    [3, 3, 3]
    """
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold = np.empty(len(y), np.int64)
    fold[by_class] = np.arange(len(y)) % folds
    return fold


def deal_equal_folds(rows: int, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row, drawn without a look at the classes; -1 of those that are left out.

    Every fold has floor(rows / folds) rows, as in El-Yaniv, Pechyony and Yom-Tov's experiments.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(1 + deal_equal_folds(11, 3, seed=0)).tolist()
    [2, 3, 3, 3]
    """
    size = rows // folds
    kept = np.random.default_rng(seed).permutation(rows)[: folds * size]
    fold = np.full(rows, -1)
    fold[kept] = np.arange(folds * size) // size
    return fold


def deal_random_folds(rows: int, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row, drawn without a look at the classes; sizes differ by one at most.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(deal_random_folds(11, 3, seed=0)).tolist()
    [4, 4, 3]
    """
    fold = np.empty(rows, np.int64)
    for number, part in enumerate(np.array_split(np.random.default_rng(seed).permutation(rows), folds)):
        fold[part] = number
    return fold


def folds_of(split: str, truth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the fold of each row from what a task says of its split; labels and their numbers sort alike.

    Rows that a split leaves out are not among those of `truth`.

    Examples
    --------
    >>> import numpy as np
    >>> folds_of("3 folds, seed 0", np.array([0, 0, 0, 1, 1, 1])).tolist()
    [1, 2, 0, 0, 2, 1]
    """
    read = SPLIT.fullmatch(split)
    if read is not None and 2 <= int(read[1]) <= len(truth) and int(read[4]) <= MOST_SEED:
        folds, seed = int(read[1]), int(read[4])
        if read[2] is None:
            return deal_folds(truth, folds, seed)
        size, rows = int(read[2]), int(read[3])
        if size == rows // folds and size * folds == len(truth):
            fold = deal_equal_folds(rows, folds, seed)
            return fold[fold >= 0]
    must_be = f"a number of folds from 2 to the {len(truth)} rows and a seed, as '10 folds, seed 0'"
    raise parameter_error("store", "split", must_be, repr(split[:200]))


def corrected_error(values: ArrayLike, fold: NDArray[np.int64]) -> tuple[float, int]:
    """Return the standard error of the mean of the rows' values, and its degrees of freedom (Nadeau and Bengio).

    Parameters
    ----------
    values : array_like, shape (rows,)
        Such as 1 for a row that was predicted right and 0 for another, or the difference of two of those.
    fold : array, shape (rows,)
        The fold of each row; all numbers from 0 occur.

    Examples
    --------
    >>> import numpy as np
    >>> error, freedom = corrected_error([1, 1, 0, 1, 0, 1], np.array([0, 0, 1, 1, 2, 2]))
    >>> round(error, 4), freedom        # folds 1, 1/2, 1/2: a variance of 1/12, times 1/3 + 1/2
    (0.2635, 2)
    """
    numbers = np.asarray(values, np.float64)
    sizes = np.bincount(fold)
    folds = len(sizes)
    means = np.bincount(fold, weights=numbers) / sizes
    # folds differ by one row at most; with its weight each counts as it does in the mean over the rows
    variance = float((sizes * (means - numbers.mean()) ** 2).sum()) / float(sizes.mean()) / (folds - 1)
    return math.sqrt(variance * (1.0 / folds + 1.0 / (folds - 1))), folds - 1


def fold_interval(hits: NDArray[np.bool_], fold: NDArray[np.int64], confidence: float) -> tuple[float, float]:
    """Return the interval of the expected share of hits: the corrected t, never narrower than for independent rows.

    Examples
    --------
    >>> import numpy as np
    >>> fold = np.arange(90) % 3
    >>> low, high = fold_interval(fold < 2, fold, 0.95)     # two folds without an error, one without a hit
    >>> low, high
    (0.0, 1.0)
    >>> fold_interval(fold >= 0, fold, 0.95) == binomial_interval(90, 90, 0.95)
    True
    """
    from scipy.special import stdtrit

    hits = _check_rows("fold_interval", "hits", hits)
    fold = _check_folds("fold_interval", fold, len(hits))
    low, high = binomial_interval(int(hits.sum()), len(hits), confidence)
    error, freedom = corrected_error(hits, fold)
    reach = error * float(stdtrit(freedom, (1.0 + confidence) / 2.0))
    share = float(hits.mean())
    return max(0.0, min(low, share - reach)), min(1.0, max(high, share + reach))


def corrected_t(first: NDArray[np.bool_], second: NDArray[np.bool_], fold: NDArray[np.int64]) -> float:
    """Return the two-sided p-value of the corrected t-test: do two procedures have the same expected accuracy?

    `first` and `second` say of each row whether it was predicted right. The value is never smaller than that of
    McNemar's exact test, which takes the rows for independent.

    Examples
    --------
    >>> import numpy as np
    >>> fold = np.arange(30) % 10
    >>> better, worse = np.arange(30) < 27, np.arange(30) < 17
    >>> corrected_t(better, worse, fold) == mcnemar(10, 0)      # one row more in every fold: t is infinite
    True
    """
    from scipy.special import stdtr

    first = _check_rows("corrected_t", "first", first)
    second = _check_rows("corrected_t", "second", second, len(first))
    fold = _check_folds("corrected_t", fold, len(first))
    by_rows = mcnemar(int((first & ~second).sum()), int((second & ~first).sum()))
    gap = first.astype(np.float64) - second
    mean, (error, freedom) = abs(float(gap.mean())), corrected_error(gap, fold)
    if mean == 0.0:
        return 1.0
    return max(by_rows, 2.0 * float(stdtr(freedom, -mean / error))) if error > 0.0 else by_rows


def _check_rows(owner: str, name: str, values: Any, rows: int | None = None) -> NDArray[np.bool_]:
    """Return what is said of each row, when it is true or false."""
    must_be = "an array of True and False, one per row" + ("" if rows is None else f" ({rows} rows)")
    array = as_array(owner, name, values, must_be)
    if array.dtype != np.bool_ or array.ndim != 1 or array.size == 0 or rows not in (None, len(array)):
        raise parameter_error(owner, name, must_be, shown(values))
    return array


def _check_folds(owner: str, fold: Any, rows: int) -> NDArray[np.int64]:
    """Return the fold of each row, when these are two or more numbered from 0 without a gap."""
    must_be = f"the fold of each of the {rows} rows, numbered from 0, two folds or more and each with a row"
    array = as_array(owner, "fold", fold, must_be)
    whole = array.shape == (rows,) and np.issubdtype(array.dtype, np.integer)
    if not whole or array.min() != 0 or not 0 < array.max() < rows or not np.bincount(array.astype(np.int64)).all():
        raise parameter_error(owner, "fold", must_be, shown(fold))
    return array.astype(np.int64, copy=False)


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the two-sided p-value of McNemar's exact test: are the rows that only one got right split evenly?

    Examples
    --------
    >>> mcnemar(0, 0), round(mcnemar(1, 9), 6)
    (1.0, 0.021484)
    """
    from scipy.stats import binomtest

    first_only = check_whole("mcnemar", "first_only", first_only, 0, 1 << 53)
    total = first_only + check_whole("mcnemar", "second_only", second_only, 0, 1 << 53)
    return float(binomtest(first_only, total).pvalue) if total else 1.0
