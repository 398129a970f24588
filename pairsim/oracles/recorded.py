"""recorded: answers that were given once, kept one bit per pair, with the true class of every data point."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.answer_files import DAMAGED, FORMAT, read_answers
from pairsim.checks import as_array, check_classes, check_whole
from pairsim.errors import parameter_error, shown
from pairsim.input_files import as_path, open_input
from pairsim.kernels.driver import record_trials
from pairsim.kernels.protocol import define_oracle
from pairsim.kernels.stream import stream_key
from pairsim.memory import check_memory
from pairsim.oracles.base import Arrays, Oracle, Shapes
from pairsim.oracles.options import Option, one_text
from pairsim.oracles.uniform import Uniform
from pairsim.outputs import check_target, write_new


class RecordedKernel(NamedTuple):
    """Compiled form of `Recorded`: row t holds the answers of trial t, bit k % 8 of byte k // 8 is pair k."""

    bits: np.ndarray  # uint8[rows, bytes]
    n: int


def _low_wins(oracle, trial, i, j):
    k = (2 * oracle.n - i - 1) * i // 2 + j - i - 1
    return (oracle.bits[trial.position[0], k >> 3] >> np.uint8(k & 7)) & np.uint8(1) == np.uint8(1)


define_oracle(RecordedKernel, low_wins=_low_wins)


class Recorded(Oracle):
    """Recorded answers, one row per data point; trial t replays row t.

    Parameters
    ----------
    answers : array_like of bool, shape (rows, n(n-1)/2)
        answers[t, k] says whether the lower class wins pair k in row t; the pairs are in the order
        (0,1) (0,2) ... (0,n-1) (1,2) ..., that of `numpy.triu_indices(n, 1)`.
    truth : array_like of int, shape (rows,), optional
        True class of each row. Default: class 0.

    Examples
    --------
    >>> from pairsim import MaxWin, Recorded, simulate
    >>> rows = [[True, True, False], [False, False, True]]   # pairs (0,1) (0,2) (1,2)
    >>> simulate(Recorded(rows, truth=[0, 1]), MaxWin()).success
    1.0
    """

    name: ClassVar[str] = "recorded"
    summary: ClassVar[str] = (
        "recorded answers of a model, one row per trial (recorded:FILE.npz, written by pairsim record)"
    )
    options: ClassVar[tuple[Option, ...]] = (Option("file", one_text, help="recorded:FILE.npz"),)
    positional: ClassVar[str] = "file"
    needs_n: ClassVar[bool] = False

    def __init__(self, answers: ArrayLike, truth: ArrayLike | None = None) -> None:
        given = as_array("Recorded", "answers", answers, "booleans in rows, one per pair")
        if given.ndim != 2 or given.size == 0:
            raise parameter_error(
                "Recorded", "answers", "of shape (rows, pairs) with at least one row", f"shape {given.shape}"
            )
        if given.dtype != np.bool_ and not (given.dtype.kind in "iu" and np.isin(given, (0, 1)).all()):
            raise parameter_error("Recorded", "answers", "booleans, or integers 0 and 1", f"dtype {given.dtype}")
        n = (1 + math.isqrt(1 + 8 * given.shape[1])) // 2
        if n * (n - 1) // 2 != given.shape[1]:
            raise parameter_error("Recorded", "answers", "n(n-1)/2 wide for a whole n", f"{given.shape[1]} columns")
        self._keep(n, np.packbits(given.astype(np.bool_), axis=1, bitorder="little"), truth)

    def _keep(self, n: int, bits: NDArray[np.uint8], truth: ArrayLike | None) -> None:
        """Keep answers that are packed already, and check the true classes."""
        self.n = check_classes("Recorded", n)
        self.bits = bits
        self.bits.setflags(write=False)
        rows = len(bits)
        must_be = f"{rows} integers, one per row, from 0 to {self.n - 1}"
        labels = np.zeros(rows, np.int64) if truth is None else as_array("Recorded", "truth", truth, must_be)
        if labels.shape != (rows,) or labels.dtype.kind not in "iu":
            raise parameter_error("Recorded", "truth", must_be, f"{labels.dtype} of shape {labels.shape}")
        if labels.min() < 0 or labels.max() >= self.n:
            raise parameter_error("Recorded", "truth", must_be, f"values from {labels.min()} to {labels.max()}")
        self._truth = labels.astype(np.int64)
        self._truth.setflags(write=False)
        self._seal()

    @classmethod
    def from_bits(cls, n: int, bits: NDArray[np.uint8], truth: ArrayLike | None = None) -> Recorded:
        """Make the oracle of answers that are packed, eight to a byte, as `bits` has them: no larger copy is made.

        Examples
        --------
        >>> from pairsim import Recorded
        >>> rows = Recorded([[True, True, False], [False, False, True]], truth=[0, 1])
        >>> Recorded.from_bits(3, rows.bits, [0, 1]) == rows
        True
        """
        n = check_classes("Recorded", n)
        pairs = n * (n - 1) // 2
        width = (pairs + 7) // 8
        must_be = f"bytes in rows, {width} a row for {n} classes"
        given = as_array("Recorded", "bits", bits, must_be)
        if given.dtype != np.uint8 or given.ndim != 2 or given.shape[1] != width or len(given) == 0:
            raise parameter_error("Recorded", "bits", must_be, f"{given.dtype} of shape {given.shape}")
        own = np.array(given, order="C")
        own[:, -1] &= np.uint8(0xFF >> (8 * width - pairs))  # what stands behind the last pair is no answer
        made = cls.__new__(cls)
        made._keep(n, own, truth)
        return made

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
        if not isinstance(oracle, Oracle):
            raise parameter_error("Recorded.of", "oracle", "an oracle such as Uniform(16, 0.9)", shown(oracle))
        trials = check_whole("Recorded.of", "trials", trials, 1, oracle.rows)
        seed = check_whole("Recorded.of", "seed", seed, 0, (1 << 64) - 1)
        pairs = oracle.n * (oracle.n - 1) // 2
        check_memory("Recorded.of", "trials", trials, 2 * trials * pairs, f"a byte for each of {pairs:,} pairs a trial")
        answers = np.empty((trials, pairs), np.bool_)
        record_trials(oracle.kernel(), oracle.n, stream_key(seed, oracle.n), 0, answers)
        return cls(answers, oracle.truth(0, trials))

    def save(self, path: Path | str) -> None:
        """Write the answers, one bit per pair, and the true classes to a new .npz file, atomically; see `load`.

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
        target = as_path("save", "path", path, "a file name ending in .npz")
        check_target(target, (".npz",), "path", None, "save")

        def write(temporary: Path) -> None:
            kind, n = np.array(FORMAT), np.array(self.n)
            np.savez_compressed(temporary, format=kind, n=n, bits=self.bits, truth=self._truth)

        try:
            write_new(target, write)
        except FileExistsError:  # since it was looked for
            raise parameter_error("save", "path", "a new file", f"{str(target)!r}, which exists") from None

    @classmethod
    def load(cls, path: Path | str) -> Recorded:
        """Read answers that `save` wrote; nothing in the file is ever executed, and nothing is made for a claim of it.

        The file may hold up to 2**30 bytes of answers, eight answers to a byte.
        """
        must_be = "a file of recorded answers that pairsim wrote"
        with open_input("load", "path", path, must_be) as file:
            try:
                n, bits, truth = read_answers(file)
                return cls.from_bits(n, bits, truth)
            except DAMAGED:  # a ParameterError of from_bits is one of them: the file is to blame, not the caller
                raise parameter_error("load", "path", must_be, repr(str(path))) from None

    @classmethod
    def make(cls, n: int | None, **values: Any) -> Recorded:
        return cls.load(values["file"])

    @classmethod
    def example(cls, n: int) -> Recorded:
        return cls.of(Uniform(n, 0.8), 24)

    def to_plain(self) -> tuple[dict[str, Any], Arrays]:
        return {"n": self.n}, {"bits": self.bits, "truth": self._truth}

    @classmethod
    def from_plain(cls, params: dict[str, Any], arrays: Arrays) -> Recorded:
        return Recorded.from_bits(int(params["n"]), arrays["bits"], arrays["truth"])

    @classmethod
    def arrays_fit(cls, n: int, shapes: Shapes) -> bool:
        rows = shapes["truth"][0] if "truth" in shapes else ()
        width = (n * (n - 1) // 2 + 7) // 8
        wanted = {"bits": ((*rows, width), np.dtype(np.uint8)), "truth": (rows, np.dtype(np.int64))}
        return len(rows) <= 1 and shapes == wanted

    @property
    def recording(self) -> Recorded:
        return self

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
