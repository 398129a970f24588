"""`read_libsvm`: model files in LIBSVM's text format, read by a parser of our own.

A header of lines "keyword values", the line "SV", then a line a support vector: its nr_class - 1 coefficients and its
features as index:value, with indices from 1 that rise (Chang and Lin, "LIBSVM: a library for support vector machines",
and the README of LIBSVM). The counts in the header are only compared with what is there: nothing is allocated for them.
"""

from __future__ import annotations

import array
import math
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pairsim.errors import parameter_error
from pairsim.input_files import open_input
from pairsim.models.base import PairModel
from pairsim.models.libsvm_form import Header, Vectors, build_model

KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
NEEDED = {"polynomial": ("degree", "gamma", "coef0"), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}
WORDS = ("svm_type", "kernel_type")
WHOLE = ("degree", "nr_class", "total_sv", "label", "nr_sv")
REAL = ("gamma", "coef0", "rho", "probA", "probB", "prob_density_marks")
SINGLE = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv")
LARGEST = (1 << 31) - 1  # LIBSVM's numbers are C ints
LONGEST_FIRST, LONGEST = 1 << 10, 1 << 26  # bytes of a line; other kinds of files mostly show in the first

Lines = Iterator[tuple[int, str]]


class Fault(Exception):  # noqa: N818
    """What is wrong with a file, and where."""


def read_libsvm(path: Path | str) -> PairModel:
    """Read a classifier that LIBSVM saved (`svm-train`, `svm_save_model`), svm_type c_svc or nu_svc.

    Parameters
    ----------
    path : path
        A text file in LIBSVM's model format. Nothing in it is ever executed.

    Returns
    -------
    PairModel
        `classes_` are the labels in the order of the file: LIBSVM's own, by first appearance in the training data,
        where scikit-learn sorts them. Column k of X is feature k + 1 of the file. X may have any number of columns
        (`n_features` is None): features that the file does not mention are 0 in its vectors, and those that X does
        not have are 0 in X. For a precomputed kernel, column k is the kernel with training point k + 1.

    Examples
    --------
    >>> import tempfile
    >>> from pairsim.models import read_libsvm
    >>> lines = "svm_type c_svc|kernel_type linear|nr_class 2|total_sv 2|rho 0.5|label 7 3|nr_sv 1 1|SV|1 1:1|-1 2:1|"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/two.model"
    ...     with open(path, "w") as file:
    ...         _ = file.write(lines.replace("|", chr(10)))
    ...     model = read_libsvm(path)
    >>> model.classes_.tolist(), model.margins([[2.0, 0.0], [0.0, 0.0]]).tolist()
    ([7, 3], [[1.5], [-0.5]])
    """
    must_be = "a text model file of LIBSVM, of type c_svc or nu_svc"
    with open_input("read_libsvm", "path", path, must_be) as file:
        try:
            lines = list_lines(file)
            header = read_header(lines)
            return build_model(header, read_vectors(lines, header))
        except (OSError, ValueError, MemoryError, Fault) as error:
            reason = str(error) if isinstance(error, Fault) else getattr(error, "strerror", None) or "unreadable"
            raise parameter_error("read_libsvm", "path", must_be, f"{str(path)!r} ({reason})") from None


def list_lines(file: BinaryIO) -> Lines:
    """Yield the lines with their numbers; a file that is not such text ends here, before much of it is read."""
    number, limit = 1, LONGEST_FIRST
    while line := file.readline(limit):
        if len(line) == limit:
            raise Fault(f"line {number} is too long")
        try:
            yield number, line.decode("ascii").strip()
        except UnicodeDecodeError:
            raise Fault(f"line {number} is not plain text") from None
        number, limit = number + 1, LONGEST


def read_header(lines: Lines) -> Header:
    """Read up to the line "SV"."""
    found: dict[str, list[str]] = {}
    for number, line in lines:
        keyword, *values = line.split() or [""]
        if keyword == "SV" and not values:
            return check_header(found)
        if keyword not in (*WORDS, *WHOLE, *REAL):
            raise Fault(f"line {number}: unknown keyword {keyword[:40]!r}")
        if keyword in found:
            raise Fault(f"line {number}: {keyword} stands twice")
        found[keyword] = values
    raise Fault("there is no line SV")


def check_header(found: dict[str, list[str]]) -> Header:
    """Return the header when its parts are there and agree with each other."""
    kernel = " ".join(found.get("kernel_type", ()))
    for keyword in (*SINGLE[:2], "nr_class", "total_sv", "rho", "label", "nr_sv", *NEEDED.get(kernel, ())):
        if keyword not in found:
            raise Fault(f"{keyword} is missing")
    for keyword in SINGLE:
        if keyword in found and len(found[keyword]) != 1:
            raise Fault(f"{keyword} has {len(found[keyword])} values, not one")
    if found["svm_type"][0] not in ("c_svc", "nu_svc"):
        raise Fault(f"svm_type {found['svm_type'][0][:40]}")
    if kernel not in KERNELS:
        raise Fault(f"kernel_type {kernel[:40]}")
    whole = {word: [whole_number(word, text) for text in found[word]] for word in WHOLE if word in found}
    real = {word: [real_number(word, text) for text in found[word]] for word in REAL if word in found}
    header = Header(
        kernel=kernel,
        degree=whole.get("degree", [0])[0],
        gamma=real.get("gamma", [0.0])[0],
        coef0=real.get("coef0", [0.0])[0],
        labels=whole["label"],
        intercept=[-value for value in real["rho"]],
        counts=whole["nr_sv"],
    )
    check_counts(header, whole["nr_class"][0], whole["total_sv"][0])
    return header


def check_counts(header: Header, nr_class: int, total: int) -> None:
    """Compare the numbers that the header names with those that it lists."""
    if nr_class < 2:
        raise Fault(f"nr_class {nr_class}, not at least 2")
    wanted = {"label": nr_class, "nr_sv": nr_class, "rho": nr_class * (nr_class - 1) // 2}
    listed = {"label": len(header.labels), "nr_sv": len(header.counts), "rho": len(header.intercept)}
    for keyword, number in wanted.items():
        if listed[keyword] != number:
            raise Fault(f"{keyword} has {listed[keyword]} values, not {number} for {nr_class} classes")
    if len(set(header.labels)) != nr_class:
        raise Fault("a label stands twice")
    if min(header.counts) < 0 or sum(header.counts) != total:
        raise Fault(f"nr_sv adds up to {sum(header.counts)}, total_sv is {total}")
    if header.degree < 0:
        raise Fault(f"degree {header.degree}")


def read_vectors(lines: Lines, header: Header) -> Vectors:
    """Read the support vectors, as many as the header names."""
    total, width = sum(header.counts), len(header.labels) - 1
    coefficients, values = array.array("d"), array.array("d")
    indices, starts = array.array("q"), array.array("q", [0])
    for number, line in lines:
        if not line:
            continue
        tokens = line.split()
        if len(starts) > total:
            raise Fault(f"line {number}: more than {total} support vectors")
        if len(tokens) < width:
            raise Fault(f"line {number}: fewer than {width} coefficients")
        coefficients.extend(real_number(f"line {number}: coefficient", token) for token in tokens[:width])
        read_features(number, tokens[width:], header.kernel == "precomputed", indices, values)
        starts.append(len(indices))
    if len(starts) - 1 != total:
        raise Fault(f"{len(starts) - 1} support vectors, not {total}")
    return Vectors(
        np.array(coefficients, np.float64).reshape(total, width).T,
        np.array(starts, np.int64),
        np.array(indices, np.int64),
        np.array(values, np.float64),
    )


def read_features(
    number: int, tokens: list[str], precomputed: bool, indices: array.array[int], values: array.array[float]
) -> None:
    """Read "index:value ..." of one line; a precomputed kernel has "0:number of the training point" instead."""
    least, last = (0, -1) if precomputed else (1, 0)
    if precomputed and len(tokens) != 1:
        raise Fault(f"line {number}: not one training point")
    for token in tokens:
        index_text, colon, text = token.partition(":")
        if not colon:
            raise Fault(f"line {number}: {token[:40]!r} is not index:value")
        index = whole_number(f"line {number}: index", index_text)
        if index <= last or index < least or (precomputed and index != 0):
            raise Fault(f"line {number}: index {index} is out of order")
        value = real_number(f"line {number}: value", text)
        if precomputed and not (value.is_integer() and 1 <= value <= LARGEST):
            raise Fault(f"line {number}: no training point {text[:40]}")
        indices.append(index)
        values.append(value)
        last = index


def whole_number(what: str, text: str) -> int:
    """Return a C int."""
    try:
        number = int(text) if "_" not in text else LARGEST + 1
    except ValueError:
        number = LARGEST + 1
    if abs(number) > LARGEST:
        raise Fault(f"{what} {text[:40]!r}")
    return number


def real_number(what: str, text: str) -> float:
    """Return a finite number."""
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Fault(f"{what} {text[:40]!r}")
    return number
