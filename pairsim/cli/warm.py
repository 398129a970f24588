"""`pairsim warm`: compile everything now, so that nobody waits later."""

from __future__ import annotations

import typer

from pairsim.cli.console import progress_bar
from pairsim.errors import refusal


def warm_command() -> None:
    """Compile all kernels into the cache, for example when building an image or before going offline.

    Example: pairsim warm
    """
    from pairsim.simulation.warming import cache_directory, warm_kernels

    where = cache_directory()
    if where is None:
        must_be = "a directory that can be written (set PAIRSIM_CACHE_DIR)"
        raise refusal("warm", "cache directory", must_be, "none, so kernels are compiled anew in every process")
    with progress_bar("compiling", 1.0) as advance:
        kernels, seconds = warm_kernels(advance)
    typer.echo(f"{kernels} kernels compiled in {seconds:.1f} s, kept in {where}")
