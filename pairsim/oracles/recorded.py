"""recorded: answers that were given once, kept one bit a pair, with the true class of every data point."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes
from pairsim.errors import refusal
from pairsim.kernels.drive import record_trials
from pairsim.kernels.protocol import ORACLES, OracleFunctions
from pairsim.kernels.stream import stream_key
from pairsim.oracles.base import Oracle
from pairsim.outputs import check_target, write_new

FORMAT = "pairsim recorded answers 1"

# what zipfile, zlib and numpy raise on files that are damaged or something else
DAMAGED = (
    *(ValueError, TypeError, LookupError, AttributeError, EOFError, SyntaxError, OverflowError, MemoryError),
    *(OSError, RuntimeError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


class RecordedKernel(NamedTuple):
    """Compiled form of `Recorded`: row t holds the answers of trial t, bit k % 8 of byte k // 8 is pair k."""

    bits: np.ndarray  # uint8[rows, bytes]
    n: int


def _low_wins(oracle, trial, i, j):
    k = (2 * oracle.n - i - 1) * i // 2 + j - i - 1
    return (oracle.bits[trial.position[0], k >> 3] >> np.uint8(k & 7)) & np.uint8(1) == np.uint8(1)


ORACLES[RecordedKernel] = OracleFunctions(_low_wins, None)


class Recorded(Oracle):
    """Answers that an oracle gave before, one row a data point; trial t replays row t.

    Parameters
    ----------
    answers : array_like of bool, shape (rows, n(n-1)/2)
        answers[t, k] says whether the lower class wins pair k in row t; the pairs are in the order
        (0,1) (0,2) ... (0,n-1) (1,2) ..., that of `numpy.triu_indices(n, 1)`.
    truth : array_like of int, shape (rows,), optional
        True class of each row; class 0 when left out.

    Examples
    --------
    >>> from pairsim import MaxWin, Recorded, simulate
    >>> rows = [[True, True, False], [False, False, True]]   # pairs (0,1) (0,2) (1,2)
    >>> simulate(Recorded(rows, truth=[0, 1]), MaxWin()).success
    1.0
    """

    name: ClassVar[str] = "recorded"
    summary: ClassVar[str] = (
        "answers that were given before, replayed row by row (recorded:FILE.npz, written by pairsim record)"
    )

    def __init__(self, answers: ArrayLike, truth: ArrayLike | None = None) -> None:
        given = np.asarray(answers)
        if given.ndim != 2 or given.size == 0:
            raise refusal("Recorded", "answers", "of shape (rows, pairs) with at least one row", f"shape {given.shape}")
        if given.dtype != np.bool_ and not (given.dtype.kind in "iu" and np.isin(given, (0, 1)).all()):
            raise refusal("Recorded", "answers", "booleans, or whole numbers 0 and 1", f"dtype {given.dtype}")
        n = (1 + int(np.sqrt(1 + 8 * given.shape[1]))) // 2
        if n * (n - 1) // 2 != given.shape[1]:
            raise refusal("Recorded", "answers", "n(n-1)/2 wide for a whole n", f"{given.shape[1]} columns")
        self.n = check_classes("Recorded", n)
        self.bits = np.packbits(given.astype(np.bool_), axis=1, bitorder="little")
        self.bits.setflags(write=False)
        labels = np.zeros(given.shape[0], np.int64) if truth is None else np.asarray(truth)
        must_be = f"{given.shape[0]} whole numbers, one a row, from 0 to {self.n - 1}"
        if labels.shape != (given.shape[0],) or labels.dtype.kind not in "iu":
            raise refusal("Recorded", "truth", must_be, f"{labels.dtype} of shape {labels.shape}")
        if labels.min() < 0 or labels.max() >= self.n:
            raise refusal("Recorded", "truth", must_be, f"values from {labels.min()} to {labels.max()}")
        self._truth = labels.astype(np.int64)
        self._truth.setflags(write=False)
        self._seal()

    @classmethod
    def of(cls, oracle: Oracle, trials: int, seed: int = 0) -> Recorded:
        """Record the first `trials` tournaments that `oracle` gives under `seed`.

        Examples
        --------
        >>> from pairsim import MaxWin, Recorded, Uniform, simulate
        >>> live = Uniform(8, 0.8)
        >>> replayed = simulate(Recorded.of(live, 500), MaxWin())
        >>> replayed.success == simulate(live, MaxWin(), 500, method="simulated").success
        True
        """
        answers = np.empty((trials, oracle.n * (oracle.n - 1) // 2), np.bool_)
        record_trials(oracle.kernel(), oracle.n, stream_key(seed, oracle.n), 0, answers)
        return cls(answers, oracle.truth(0, trials))

    def save(self, path: Path | str) -> None:
        """Write the answers, one bit a pair, and the true classes to a new .npz file, whole or not at all; see `load`.

        Examples
        --------
        >>> import tempfile
        >>> from pairsim import Recorded, Uniform
        >>> recorded = Recorded.of(Uniform(6, 0.8), 50)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     recorded.save(f"{folder}/answers.npz")
        ...     Recorded.load(f"{folder}/answers.npz") == recorded
        True
        """
        target = Path(path)
        check_target(target, (".npz",), "path", None, "save")

        def write(temporary: Path) -> None:
            kind, n = np.array(FORMAT), np.array(self.n)
            np.savez_compressed(temporary, format=kind, n=n, bits=self.bits, truth=self._truth)

        try:
            write_new(target, write)
        except FileExistsError:  # since it was looked for
            raise refusal("save", "path", "a new file", f"{str(target)!r}, which exists") from None

    @classmethod
    def load(cls, path: Path | str) -> Recorded:
        """Read answers that `save` wrote; nothing in the file is ever executed."""
        must_be = "a file of recorded answers that pairsim wrote"
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise refusal("load", "path", must_be, f"{str(path)!r} ({error.strerror or 'unreadable'})") from None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                if str(stored["format"]) != FORMAT:
                    raise ValueError
                n, bits, truth = int(stored["n"]), stored["bits"], stored["truth"]
            pairs = n * (n - 1) // 2
            if bits.dtype != np.uint8 or bits.ndim != 2 or n < 2 or bits.shape[1] != (pairs + 7) // 8:
                raise ValueError
            return cls(np.unpackbits(bits, axis=1, count=pairs, bitorder="little").astype(np.bool_), truth)
        except DAMAGED:
            raise refusal("load", "path", must_be, repr(str(path))) from None

    @property
    def label(self) -> str:
        return f"recorded:{self.rows}-rows"

    @property
    def rows(self) -> int:
        return int(self.bits.shape[0])

    def truth(self, first: int, count: int) -> NDArray[np.int64]:
        return self._truth[first : first + count]

    def answers(self) -> NDArray[np.bool_]:
        """Return the answers unpacked, shape (rows, n(n-1)/2)."""
        return np.unpackbits(self.bits, axis=1, count=self.n * (self.n - 1) // 2, bitorder="little").astype(np.bool_)

    def kernel(self) -> RecordedKernel:
        return RecordedKernel(self.bits, self.n)

    def _identity(self) -> tuple[object, ...]:
        return (self.n, self.bits.tobytes(), self._truth.tobytes())

    def __repr__(self) -> str:
        return f"Recorded({self.answers().tolist()}, truth={self._truth.tolist()})"
