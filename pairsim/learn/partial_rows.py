"""What `partial_fit` is given, checked as scikit-learn's own online learners check it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data


def checked_part(
    model: Any, X: Any, y: Any, classes: Any, *, first: bool
) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
    """Return the rows, all classes in order, and the number of each row's class."""
    known = _all_classes(model, classes, first)
    X, y = validate_data(model, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
    check_classification_targets(y)
    strange = np.setdiff1d(y, known)
    if len(strange):
        raise ValueError(f"The target label(s) {strange} in y do not exist in the initial classes {known}")
    return X, known, np.searchsorted(known, y).astype(np.int64)


def _all_classes(model: Any, classes: Any, first: bool) -> NDArray[Any]:
    if classes is None:
        if first:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return np.asarray(model.classes_)
    given = column_or_1d(classes)
    assert_all_finite(given, input_name="classes")
    check_classification_targets(given)
    known = np.unique(given)
    if not first and not np.array_equal(known, model.classes_):
        raise ValueError(
            f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {model.classes_!r}"
        )
    if len(known) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(known)} class")
    return known
