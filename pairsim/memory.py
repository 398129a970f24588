"""How much memory this process can still take, and the rejection of what would not fit."""

from __future__ import annotations

import os
from pathlib import Path

from pairsim.errors import parameter_error

UNKNOWN = 1 << 33  # where the system does not tell: 8 GB
CEILING = 1 << 34  # what one parameter may take, however much there is: more is a slip of the pen or a forged file


def free_memory() -> int:
    """Return about how many bytes this process can still take: what is available, and what its limits leave.

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    return max(0, min(_available(), _left_of_limit()))


def check_memory(owner: str, name: str, got: object, needed: int, what: str) -> None:
    """Reject the parameter `name` before memory is taken for it that is not there."""
    most = min(free_memory(), CEILING)
    if needed > most:
        needed = min(needed, 10**18)  # in whose words it is a million terabytes already
        needs = f"it needs about {in_words(needed)}, and at most {in_words(most)} can be taken"
        raise parameter_error(owner, name, f"such that {what} fits in memory: {needs}", got)


def in_words(size: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> in_words(3 << 30), in_words(5000)
    ('3.2 GB', '5.0 kB')
    """
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size / 1e3:.1f} kB"


def _available() -> int:
    """Return the system's own estimate of what can be taken without swapping; elsewhere all memory that there is."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN


def _left_of_limit() -> int:
    """Return what the limit on this process's address space (ulimit -v) leaves."""
    try:
        import resource
    except ImportError:
        return 1 << 62
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return 1 << 62
    used = next((int(line.split()[1]) * 1024 for line in _lines("/proc/self/status") if line.startswith("VmSize:")), 0)
    return int(limit) - used


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
