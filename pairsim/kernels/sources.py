"""The version of the kernels: a hash of the sources that hold or use them, and of the compiler."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import llvmlite
import numba
import numpy

PACKAGE = Path(__file__).resolve().parent.parent
COMPILED = {"kernels", "decoders", "oracles", "compiled"}  # folders that are hashed whole; else what imports kernels


@functools.cache
def source_digest() -> str:
    """Return the hash as this process first found it; it names the cache directory."""
    return hash_sources()


def hash_sources() -> str:
    """Hash the package's sources and the compiler's versions as they are now."""
    digest = hashlib.sha256()
    for version in (numba.__version__, llvmlite.__version__, numpy.__version__, platform.python_version()):
        digest.update(version.encode() + b"\0")
    for name, source in _read_sources():
        if COMPILED.intersection(name.split("/")[:-1]) or b"pairsim.kernels" in source:
            digest.update(name.encode() + b"\0" + source + b"\0")
    return digest.hexdigest()[:20]


def _read_sources() -> Iterator[tuple[str, bytes]]:
    """Yield every source file of the package, in order; plain strings, for every process waits for it."""
    root = str(PACKAGE)
    paths = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        if not folder.endswith("__pycache__")
        for name in names
        if name.endswith(".py")
    ]
    for path in sorted(paths):
        with open(path, "rb", buffering=0) as file:
            yield path[len(root) + 1 :].replace(os.sep, "/"), file.read()
