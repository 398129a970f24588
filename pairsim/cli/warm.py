"""`pairsim warm`: compile all kernels ahead of time."""

from __future__ import annotations

from typing import Annotated

import typer

from pairsim.cli.console import note, progress_bar, say
from pairsim.errors import parameter_error


def warm_command(
    clear: Annotated[bool, typer.Option("--clear", help="Remove the compiled kernels of all versions.")] = False,
) -> None:
    """Compile all kernels into the cache.

    For example when building an image, or before going offline.

    Example: pairsim warm

    To remove them, for example those of earlier versions:

    Example: pairsim warm --clear
    """
    if clear:
        _clear()
        return
    from pairsim.simulation.warm_up import warm_kernels, writable_cache

    where = writable_cache()
    if where is None:
        must_be = "a directory that can be written (set PAIRSIM_CACHE_DIR)"
        raise parameter_error("warm", "cache directory", must_be, "none, so kernels are compiled anew in every process")
    with progress_bar("compiling", 1.0) as advance:
        kernels, seconds = warm_kernels(advance)
    say(f"{kernels} kernels compiled in {seconds:.1f} s, kept in {where}")


def _clear() -> None:
    from pairsim.simulation.warm_up import clear_caches

    cleared = clear_caches()
    for path in cleared.left:
        note(f"{str(path)!r} was kept: it belongs to another user, or holds a file that pairsim did not write")
    if cleared.caches:
        number = "1 kernel cache" if cleared.caches == 1 else f"{cleared.caches} kernel caches"
        where = ", ".join(map(str, cleared.roots))
        say(f"removed {number} ({cleared.size / 1e6:.1f} MB) from {where}")
    else:
        say("no kernel cache to remove")
