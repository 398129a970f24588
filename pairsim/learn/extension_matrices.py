"""Extension matrices that a user gives: read, checked, and made the label kernels that they mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error
from pairsim.learn.solvers.extensions import ClassKernels, LabelKernels, MatrixKernels, extension_gram, matrix_gram

Numbers = NDArray[np.float64]

OWNER, NAME = "SingleBinaryClassifier", "extension"
LARGEST = 1e100  # of an entry of a label kernel: solvers add and multiply them
TINY = 1e-300
DIFFERENT = "different for any two classes"
ROUNDING = 1e-9  # how far below 0 an eigenvalue may be, and how unlike two mirrored entries, as a part of the largest


def read_matrices(extension: Any, count: int) -> tuple[tuple[Numbers, ...], bool]:
    """Return the matrices that a user's extension means, of `count` rows each, and whether it was a single one.

    Examples
    --------
    >>> from pairsim.learn.extension_matrices import read_matrices
    >>> read_matrices([[0], [1]], 2)[0][0].tolist(), [each.shape for each in read_matrices([[[0], [1]]] * 3, 2)[0]]
    ([[0.0], [1.0]], [(2, 1), (2, 1), (2, 1)])
    """
    must_be = f"a matrix of {count} rows, one for each class, or a sequence of such matrices"
    whole = _numbers(extension)
    if whole is not None and whole.ndim == 2:
        parts = [whole]
    elif whole is not None and whole.ndim == 3:
        parts = list(whole)
    elif whole is None and _is_sequence(extension):
        parts = [part for part in map(_numbers, extension) if part is not None and part.ndim == 2]
        if len(parts) != len(extension):
            raise parameter_error(
                OWNER, NAME, must_be, "rows of different lengths, or entries that are not real numbers"
            )
    else:
        got = "entries that are not real numbers" if whole is None else f"an array of shape {whole.shape}"
        raise parameter_error(OWNER, NAME, must_be, got)
    for part in parts:
        if len(part) != count or part.shape[1] == 0:
            raise parameter_error(OWNER, NAME, must_be, f"a matrix of shape {part.shape}")
        if not np.isfinite(part).all():
            raise parameter_error(OWNER, NAME, "made of finite numbers", "nan or infinity among the entries")
    if not parts:
        raise parameter_error(OWNER, NAME, must_be, "no matrix at all")
    return tuple(parts), whole is not None and whole.ndim == 2


def _is_sequence(given: Any) -> bool:
    """Return whether matrices of different widths may be in it."""
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.dtype.hasobject)


def _numbers(given: Any) -> Numbers | None:
    """Return an array of doubles, None where that cannot be had without losing something."""
    try:
        array = np.asarray(given)
        return None if array.dtype.kind not in "biuf" and array.dtype != object else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def read_kernels(extension: Any, copies: int, rho: float, ext_kernel: str, learned: bool) -> Numbers | LabelKernels:
    """Return the label kernel that an extension means, or the kernels of which a weighted sum is wanted.

    A single matrix has one kernel, or where weights are `learned` one per column.
    """
    if isinstance(extension, str):
        if ext_kernel == "precomputed":
            raise parameter_error(OWNER, NAME, "an array where ext_kernel='precomputed'", repr(extension))
        return ClassKernels(copies, rho) if extension == "kernel" else extension_gram(extension, copies, rho)
    given = ext_kernel == "precomputed"
    matrices, single = read_matrices(extension, copies)
    if given:
        _check_kernels(matrices)
    elif len(np.unique(np.hstack(matrices), axis=0)) < copies:
        raise parameter_error(OWNER, NAME, DIFFERENT, "equal rows: their classes cannot be told apart")
    if not single:
        return MatrixKernels(matrices, None if given else rho)
    if not learned:
        return matrices[0].copy() if given else matrix_gram(matrices[0], rho)
    if given:
        raise parameter_error(OWNER, NAME, "a sequence of label kernels where weights are learned", "a single one")
    return MatrixKernels(tuple(matrices[0].T[:, :, None]), rho)


def _check_kernels(matrices: tuple[Numbers, ...]) -> None:
    """Reject label kernels that are none, or that tell two classes not even all together apart."""
    for matrix in matrices:
        _check_kernel(matrix)
    scaled = np.sum([matrix / max(np.abs(matrix).max(), TINY) for matrix in matrices], axis=0)
    apart = scaled.diagonal()[:, None] + scaled.diagonal() - 2.0 * scaled
    np.fill_diagonal(apart, 1.0)
    if (apart <= 0.0).any():
        raise parameter_error(OWNER, NAME, DIFFERENT, "label kernels by which two classes are the same")


def _check_kernel(matrix: Numbers) -> None:
    """Reject a label kernel that is none: not square, not symmetric, or with a negative eigenvalue."""
    if matrix.shape[0] != matrix.shape[1]:
        must_be = "a square matrix, or several, where ext_kernel='precomputed'"
        raise parameter_error(OWNER, NAME, must_be, f"a matrix of shape {matrix.shape}")
    largest = float(np.abs(matrix).max())
    if largest > LARGEST:
        raise parameter_error(
            OWNER, NAME, f"made of numbers of at most {LARGEST:g} where ext_kernel='precomputed'", largest
        )
    if np.abs(matrix - matrix.T).max() > ROUNDING * largest:
        raise parameter_error(OWNER, NAME, "symmetric where ext_kernel='precomputed'", "a matrix that is not")
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -ROUNDING * max(largest, TINY) * len(matrix):
        must_be = "positive semidefinite where ext_kernel='precomputed'"
        raise parameter_error(OWNER, NAME, must_be, f"a matrix with eigenvalue {least:g}")
