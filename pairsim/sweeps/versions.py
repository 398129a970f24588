"""What a worker must share with the sweep that it works for, or its results could differ without anybody noticing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from pairsim.simulation import STREAM_VERSION
from pairsim.simulation.conditional import DIGITS_VERSION
from pairsim.version import VERSION

PLAYING = ("kernels", "decoders", "oracles", "simulation")  # the packages whose code makes the numbers of a block


class Versions(NamedTuple):
    """Versions of the package, of the random stream and of the digits, and a hash of the sources that play blocks.

    Those of numba, NumPy and Python are no part of it, as they are none of a task's name in a store.

    Examples
    --------
    >>> here = Versions("0.2.0", 3, 2, "5d41402abc4b")
    >>> here.against(here)
    ''
    >>> here.against(here._replace(digits=1))
    'this worker has pairsim 0.2.0 (digits 2), the sweep has pairsim 0.2.0 (digits 1)'
    """

    pairsim: str
    stream: int
    digits: int
    sources: str

    def against(self, sweep: Versions) -> str:
        """Say how a worker of these versions differs from a sweep; nothing when it does not."""
        if self == sweep:
            return ""
        differ = [name for name in self._fields[1:] if getattr(self, name) != getattr(sweep, name)]
        return f"this worker has {self._described(differ)}, the sweep has {sweep._described(differ)}"

    def _described(self, names: list[str]) -> str:
        details = ", ".join(f"{name} {getattr(self, name)}" for name in names)
        return f"pairsim {self.pairsim}" + (f" ({details})" if details else "")

    def to_text(self) -> str:
        """Return all but the stream as one string; a worker of pairsim 0.2 or older takes it for another version."""
        return f"{self.pairsim}; digits {self.digits}; sources {self.sources}"

    @classmethod
    def from_text(cls, text: str, stream: int) -> Versions:
        """Read what `to_text` wrote; older sweeps send their version only.

        Examples
        --------
        >>> Versions.from_text("0.2.0", 3)
        Versions(pairsim='0.2.0', stream=3, digits=0, sources='unknown')
        """
        version, *more = str(text).split("; ")
        told = dict(part.partition(" ")[::2] for part in more)
        digits = told.get("digits", "")
        return cls(version, stream, int(digits) if digits.isdecimal() else 0, told.get("sources", "unknown"))


def _hash_sources() -> str:
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for name in PLAYING:
        for path in sorted((package / name).rglob("*.py")):
            source = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + source + b"\0")
    return digest.hexdigest()[:12]


# read when the code is loaded: an edit while a sweep runs must not be taken for what the sweep runs
OURS = Versions(VERSION, STREAM_VERSION, DIGITS_VERSION, _hash_sources())
