"""Sample sizes: a number, or a multiple of log2 n."""

from __future__ import annotations

import functools
import math
import re

from pairsim.checks import check_whole
from pairsim.errors import parameter_error

MOST = (1 << 31) - 1
_LOG = re.compile(r"(\d+(?:\.\d*)?|\.\d+)?log", re.ASCII)


def check_sample_size(owner: str, l: int | str) -> int | str:
    """Return `l` in its one written form: an int of at least 1, or text such as '5log'.

    Examples
    --------
    >>> check_sample_size("Poll", "12"), check_sample_size("Poll", "3log")
    (12, '3log')
    >>> check_sample_size("Poll", "1.0log")
    'log'
    """
    must_be = "an integer of at least 1, or a positive multiple of log2 n such as '5log'"
    if isinstance(l, str):
        text = l.strip()
        if re.fullmatch(r"\d+", text, re.ASCII):
            return check_sample_size(owner, int(text))
        found = _LOG.fullmatch(text)
        factor = float(found[1] or 1.0) if found else 0.0
        if factor <= 0.0 or factor > 1e6:
            raise parameter_error(owner, "l", must_be, repr(l))
        return ("" if factor == 1.0 else repr(factor).removesuffix(".0")) + "log"
    return check_whole(owner, "l", check_whole(owner, "l", l, 1, None, must_be), 1, MOST, f"at most {MOST:,}")


def growing_sizes(n: int) -> list[int]:
    """Return sample sizes that grow by about a half, up to where a poll asks as much as max-win.

    Examples
    --------
    >>> growing_sizes(16)
    [1, 2, 3, 4, 6, 9]
    """
    sizes = [1]
    while sizes[-1] * 2 < n:
        sizes.append(max(sizes[-1] + 1, sizes[-1] * 3 // 2))
    return sizes


@functools.lru_cache(maxsize=1024)
def sample_size(l: int | str, n: int) -> int:
    """Return the number of opponents that each of n classes asks.

    Examples
    --------
    >>> sample_size("5log", 512), sample_size("3log", 100), sample_size(7, 512)
    (45, 20, 7)
    """
    if isinstance(l, int):
        return l
    found = _LOG.fullmatch(l)
    factor = float(found[1] or 1.0) if found else 1.0
    # log2 of a power of two is exact in the C library; the nudge keeps 2.2 * log2(32) = 11.000000000000002 at 11
    return max(1, math.ceil(factor * math.log2(n) * (1.0 - 1e-14)))
