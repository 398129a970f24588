"""Label vectors of the classes: the named ones of the paper, or the user's own, and what can be learned with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pairsim.errors import ParameterError, parameter_error

NAMED = ("indicator", "simplex")
LENGTHS = (1e-30, 1e30)  # of a vector: products with kernel values stay within what numbers hold
SAME = 1e-12  # what rounding does to products of unit vectors
LEAST_WEIGHT = 1e-6  # in a combination that is 0, of weights that are 1 on average; the solver knows them to 1e-10
STRICT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclasses.dataclass(frozen=True, eq=False)
class LabelVectors:
    """The classes' vectors, their inner products, and the one product of different classes if all are unit vectors.

    `other` is nan for vectors that are neither the indicator's nor the simplex's, up to a rotation.
    """

    vectors: NDArray[np.float64]
    products: NDArray[np.float64]
    other: float

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """The classes, cut into groups that have nothing in common: vectors of different groups are orthogonal."""
        count, group = connected_components(csr_array(self.products != 0.0), directed=False)
        return [np.flatnonzero(group == each) for each in range(count)]

    def part(self, classes: NDArray[np.int64]) -> LabelVectors:
        """Return the vectors of some classes only."""
        return LabelVectors(self.vectors[classes], self.products[np.ix_(classes, classes)], self.other)


def named_product(labels: str, count: int) -> float:
    """Return the inner product of the unit labels of two different classes."""
    return 0.0 if labels == "indicator" else -1.0 / (count - 1)


def named_vectors(labels: str, count: int) -> LabelVectors:
    """Return the vectors of equation (5) or (6).

    Examples
    --------
    >>> from pairsim.learn.label_vectors import named_vectors
    >>> named_vectors("simplex", 3).vectors.round(3).tolist()
    [[0.816, -0.408, -0.408], [-0.408, 0.816, -0.408], [-0.408, -0.408, 0.816]]
    """
    own, other = np.eye(count, dtype=bool), named_product(labels, count)
    if labels == "indicator":
        vectors = np.eye(count)
    else:
        vectors = np.where(own, np.sqrt((count - 1) / count), -1.0 / np.sqrt(count * (count - 1)))
    return LabelVectors(vectors, np.where(own, 1.0, other), other)


def label_vectors(owner: str, labels: Any, classes: NDArray[Any]) -> LabelVectors:
    """Return the vectors that `labels` means for these classes; reject those with which a class cannot be learned.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.label_vectors import label_vectors
    >>> label_vectors("VectorSVC", [[2.0, 0.0], [0.0, 1.0]], np.array(["a", "b"])).products.tolist()
    [[4.0, 0.0], [0.0, 1.0]]
    >>> label_vectors("VectorSVC", [[-1.0], [0.5], [1.0]], np.array(["a", "b", "c"]))
    Traceback (most recent call last):
        ...
    pairsim.errors.ParameterError: The 'labels' parameter of VectorSVC must be vectors none of which lies among the \
others: no point has its largest product with such a one, so its class would never be predicted. Got [0.5] for class \
b instead.
    """
    if isinstance(labels, str):
        return named_vectors(labels, len(classes))
    vectors = _own_vectors(owner, labels, classes)
    products = vectors @ vectors.T
    lengths = np.sqrt(products.diagonal())
    products[np.abs(products) <= SAME * np.outer(lengths, lengths)] = 0.0  # orthogonal up to rounding
    for name in NAMED:  # any rotation of the named vectors is the same problem
        named = named_vectors(name, len(classes))
        if np.abs(products - named.products).max() <= SAME:
            return LabelVectors(vectors, named.products, named.other)
    _check_corners(owner, vectors, products, classes)
    return LabelVectors(vectors, (products + products.T) / 2.0, np.nan)


def _own_vectors(owner: str, labels: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the user's vectors as a table, one row per class; reject what is none."""

    def wrong(must_be: str, got: object) -> ParameterError:
        return parameter_error(owner, "labels", must_be, got)

    if isinstance(labels, Mapping):
        missing = [each for each in classes.tolist() if each not in labels]
        if missing:
            raise wrong("a dict with a vector for each class", f"none for {missing}")
        labels = [labels[each] for each in classes.tolist()]
    try:
        vectors = np.array(labels, np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise wrong("'indicator', 'simplex', or a table of numbers with one row per class", labels)
    if len(vectors) != len(classes):
        raise wrong(f"a table with one row per class, {len(classes)} here", f"{len(vectors)} rows")
    if not np.isfinite(vectors).all():
        raise wrong("finite numbers", labels)
    sizes = np.abs(vectors).max(axis=1)
    if not (LENGTHS[0] <= sizes.min() and sizes.max() <= LENGTHS[1]):
        raise wrong("vectors other than 0, with numbers that are at most 1e30 and not all below 1e-30", labels)
    if len(np.unique(vectors, axis=0)) < len(vectors):
        raise wrong("vectors that differ from class to class", labels)
    return vectors


def _check_corners(
    owner: str, vectors: NDArray[np.float64], products: NDArray[np.float64], classes: NDArray[Any]
) -> None:
    """Reject a vector in the convex hull of the others; one that has its largest product with itself is outside."""
    others = np.where(np.eye(len(vectors), dtype=bool), -np.inf, products)
    for t in np.flatnonzero(products.diagonal() <= others.max(axis=1)):
        rest = np.delete(vectors, t, axis=0)
        scale = np.abs(rest).max()
        table, wanted = np.vstack([rest.T / scale, np.ones(len(rest))]), np.append(vectors[t] / scale, 1.0)
        if linprog(np.zeros(len(rest)), A_eq=table, b_eq=wanted, options=STRICT).status == 0:
            raise parameter_error(
                owner,
                "labels",
                "vectors none of which lies among the others: no point has its largest product with such a one, so its "
                "class would never be predicted",
                f"{vectors[t].tolist()} for class {classes[t]}",
            )


def check_bias(owner: str, vectors: NDArray[np.float64]) -> None:
    """Reject label vectors with which a bias leaves a class without support vectors.

    The bias brings the constraint sum_i a_i y_i = 0 to the dual. By Stiemke's lemma either some positive weights of all
    classes' vectors add up to 0, or a vector b has <y_t, b> >= 0 for every class and > 0 for one; then the bias alone
    gives that class its margin, and all its dual variables are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.label_vectors import check_bias
    >>> check_bias("VectorSVC", np.array([[-3.0], [1.0]]))
    >>> check_bias("VectorSVC", np.eye(2))
    Traceback (most recent call last):
        ...
    pairsim.errors.ParameterError: The 'fit_intercept' parameter of VectorSVC must be False with these label vectors: \
no positive weights of theirs add up to 0, so the dual variables of some or all classes could only be 0. Got True \
instead.
    """
    directions = vectors / np.abs(vectors).max(axis=1, keepdims=True)
    count, size = directions.shape
    # maximise z with directions' s = 0, s >= z and a mean of s of 1
    equal = np.block([[directions.T, np.zeros((size, 1))], [np.ones((1, count)), np.zeros((1, 1))]])
    least = np.hstack([-np.eye(count), np.ones((count, 1))])
    found = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=least, b_ub=np.zeros(count), A_eq=equal, b_eq=np.append(np.zeros(size), float(count)),
        bounds=[(0.0, None)] * (count + 1), options=STRICT,
    )  # fmt: skip
    if found.status != 0 or -found.fun < LEAST_WEIGHT:
        raise parameter_error(
            owner,
            "fit_intercept",
            "False with these label vectors: no positive weights of theirs add up to 0, so the dual variables of some "
            "or all classes could only be 0",
            True,
        )
