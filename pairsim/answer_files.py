"""Files of recorded answers: one bit a pair, and the true class of each row."""

from __future__ import annotations

import io
import tokenize
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairsim.archives import DAMAGED as ARCHIVE_DAMAGED
from pairsim.archives import claimed_array, open_archive, read_array
from pairsim.input_files import MOST_BYTES
from pairsim.memory import check_memory

FORMAT = "pairsim recorded answers 1"
DAMAGED = (*ARCHIVE_DAMAGED, SyntaxError, tokenize.TokenError)  # the last two of numpy's reader of headers
MOST_MEMBERS = 16
LONGEST_FORMAT = 4096  # bytes of the array that says what the file is


def read_answers(file: BinaryIO) -> tuple[int, NDArray[Any], NDArray[Any]]:
    """Read number of classes, packed answers and true classes; ValueError unless their sizes agree and are bounded."""
    archive = open_archive(file, MOST_MEMBERS)
    with archive.open("format.npy") as member:
        content = member.read(LONGEST_FORMAT + 1)
    if len(content) > LONGEST_FORMAT or str(np.load(io.BytesIO(content), allow_pickle=False)) != FORMAT:
        raise ValueError
    if claimed_array(archive, "n.npy")[0] != ():
        raise ValueError
    n = int(read_array(archive, "n.npy"))
    (rows, width), _, kind = claimed_array(archive, "bits.npy")
    labels, _, label_kind = claimed_array(archive, "truth.npy")
    agree = width == (n * (n - 1) // 2 + 7) // 8 and labels == (rows,) and label_kind.kind in "iu"
    if n < 2 or not agree or kind != np.uint8 or rows * max(8, width) > MOST_BYTES:
        raise ValueError
    check_memory("load", "path", f"a file of {rows:,} rows", 3 * rows * (width + 8), "what it holds")
    return n, read_array(archive, "bits.npy"), read_array(archive, "truth.npy")
