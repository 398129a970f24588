"""Trained one-vs-one models and Gram matrices that several classifiers use, while a `shared_fits` block lasts."""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Key = tuple[Any, ...]


class SharedFits:
    """What was trained in a `shared_fits` block.

    Attributes
    ----------
    trained : dict
        Fitted attributes of one-vs-one classifiers, by data and parameters of the training.
    gram : tuple or None
        The Gram matrix that was computed last, after its key: one matrix at a time bounds the memory.
    """

    def __init__(self) -> None:
        self.trained: dict[Key, dict[str, Any]] = {}
        self.gram: tuple[Key, NDArray[Any]] | None = None

    def key_of(self, *parts: Any) -> Key | None:
        """Return a key of arrays and parameters by their content; None where they cannot be compared."""
        try:
            return tuple(_digest(part) for part in parts)
        except Exception:  # whatever a user's estimator raises when it is pickled: then it is trained for each
            return None

    def gram_of(self, key: Key | None, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return the Gram matrix of a key: the last one again, or a new one in its place."""
        if key is not None and self.gram is not None and self.gram[0] == key:
            return self.gram[1]
        self.gram = None  # before there is another one
        found = compute()
        if key is not None:
            self.gram = key, found
        return found


_current: contextvars.ContextVar[SharedFits | None] = contextvars.ContextVar("shared_fits", default=None)


def current_fits() -> SharedFits | None:
    """Return the innermost `shared_fits` block, None outside of one."""
    return _current.get()


@contextlib.contextmanager
def shared_fits() -> Iterator[SharedFits]:
    """Train one-vs-one models once for all classifiers that need the same ones, and compute Gram matrices once.

    Inside the block, `fit` of `AllPairsClassifier` and `DAGSVC` reuses the pairs of an earlier one with the same data
    (equal content: it may be another copy, made by a pipeline) and the same parameters of the training; decisions by
    votes, by margins and by a DAG share them. Every kernel classifier reuses the last Gram matrix where kernel,
    parameters, rows and their order are the same. Results are those without the block, to the last bit, unless an
    estimator is given that draws random numbers without a seed: then its first training serves for all.

    What was trained is kept until the block ends: use one per fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import DAGSVC, AllPairsClassifier, shared_fits
    >>> X, y = load_iris(return_X_y=True)
    >>> with shared_fits():
    ...     votes, dag = AllPairsClassifier(C=10).fit(X, y), DAGSVC(C=10).fit(X, y)
    >>> votes.pairs_.model_ is dag.pairs_.model_
    True
    """
    fits = SharedFits()
    token = _current.set(fits)
    try:
        yield fits
    finally:
        _current.reset(token)


def _digest(part: Any) -> Any:
    """Return something that is equal for equal content only."""
    if issparse(part):
        inner = part.tocsr()
        return part.format, inner.shape, *(_digest(array) for array in (inner.data, inner.indices, inner.indptr))
    if isinstance(part, np.ndarray) and part.dtype != object:
        order = part.flags.c_contiguous, part.flags.f_contiguous  # sums may be taken in another order
        return part.dtype.str, part.shape, order, hashlib.blake2b(np.ascontiguousarray(part).data).digest()
    if callable(part) and not hasattr(part, "get_params"):
        return "callable", part  # a kernel: the same one only
    if isinstance(part, dict):
        return tuple((name, _digest(value)) for name, value in sorted(part.items()))
    return type(part).__qualname__, hashlib.blake2b(pickle.dumps(part)).digest()
