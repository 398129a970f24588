"""The program: its commands, and the one place where errors become one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

import pairsim
from pairsim.cli import (
    bound,
    compare,
    evaluate,
    exact,
    export,
    fit_oracle,
    listing,
    merge,
    plan,
    plot,
    record,
    replay,
    show,
    sweep,
    verify,
    warm,
)
from pairsim.cli.console import note
from pairsim.cli.stops import BAD_INPUT, INTERRUPTED, OUTSIDE_TROUBLE, Stopped
from pairsim.errors import ParameterError

app = typer.Typer(
    name="pairsim",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: half the start-up time, and P[i, j] is not taken for markup
    help="n classes, a binary classifier for each pair, each of them unreliable: which class is it, how likely is "
    "that right, and how many comparisons did it cost?",
    epilog="Example: pairsim sweep --p 0.7 --n 16..512 --plot curve.png",
)
app.command("sweep")(sweep.sweep_command)
app.command("record")(record.record_command)
app.command("evaluate")(evaluate.evaluate_command)
app.command("show")(show.show_command)
app.command("export")(export.export_command)
app.command("merge")(merge.merge_command)
app.command("compare")(compare.compare_command)
app.command("replay")(replay.replay_command)
app.command("verify")(verify.verify_command)
app.command("exact")(exact.exact_command)
app.command("bound")(bound.bound_command)
app.command("plan")(plan.plan_command)
app.command("fit-oracle")(fit_oracle.fit_oracle_command)
app.command("plot")(plot.plot_command)
app.command("decoders")(listing.decoders_command)
app.command("oracles")(listing.oracles_command)
app.command("warm")(warm.warm_command)

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # the disk is to blame, not what was asked for


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pairsim {pairsim.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the program and exit.

    0 when all went well, 2 on bad input (one line on stderr), 1 when something outside went wrong (a full disk, a
    cluster that is gone), 130 on Ctrl-C, 143 on SIGTERM.
    """
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(prog_name="pairsim", standalone_mode=False)
        sys.stdout.flush()
    except (ParameterError, Stopped) as error:
        return _complain(str(error), getattr(error, "code", BAD_INPUT))
    except BrokenPipeError:
        # the reader of a pipe has left (`pairsim ... | head`): nothing to report, and nobody to report it to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        where = f": {error.filename!r}" if error.filename else ""
        return _complain(f"{error.strerror or error}{where}", OUTSIDE_TROUBLE if error.errno in FULL else BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if _is_trouble(error):
            return _complain(str(error), OUTSIDE_TROUBLE)
        # usage errors of typer; their class lives in click or inside typer, depending on typer's version
        describe = getattr(error, "format_message", None)
        if describe is None:
            raise
        return _complain(f"{describe()} Try 'pairsim --help'.")
    if code == INTERRUPTED:
        typer.echo("pairsim: stopped by Ctrl-C; nothing was written.", err=True)
    return code if isinstance(code, int) else 0


def _is_trouble(error: Exception) -> bool:
    """Say whether something outside went wrong; asked only after an error, so that nothing is imported for it."""
    from pairsim.engines import EngineLost
    from pairsim.store import StoreError

    return isinstance(error, EngineLost | StoreError)


def _complain(message: str, code: int = BAD_INPUT) -> int:
    note(message)
    return code
