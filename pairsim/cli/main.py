"""The program: its commands, and the one place where errors become one line and an exit code."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Callable
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
    separation,
    show,
    sweep,
    verify,
    warm,
)
from pairsim.cli.console import note, print_for_programs, say
from pairsim.cli.exits import BAD_INPUT, INTERRUPTED, OUTSIDE_TROUBLE, TERMINATED, Stopped
from pairsim.cli.running import message_of, running_command, start_command
from pairsim.cli.signals import Terminated
from pairsim.cli.streams import BROKEN_PIPE, StdoutLost, discard, flush_stdout, open_streams
from pairsim.errors import ParameterError

app = typer.Typer(
    name="pairsim",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: half the start-up time, and P[i, j] is not taken for markup
    help="Simulate, bound and plan decisions from noisy pairwise classifiers.",
    epilog="Example: pairsim sweep --p 0.7 --n 16..512 --plot curve.png",
)
COMMANDS: dict[str, Callable[..., None]] = {
    "sweep": sweep.sweep_command,
    "record": record.record_command,
    "evaluate": evaluate.evaluate_command,
    "show": show.show_command,
    "export": export.export_command,
    "merge": merge.merge_command,
    "compare": compare.compare_command,
    "replay": replay.replay_command,
    "verify": verify.verify_command,
    "exact": exact.exact_command,
    "bound": bound.bound_command,
    "separation": separation.separation_command,
    "plan": plan.plan_command,
    "fit-oracle": fit_oracle.fit_oracle_command,
    "plot": plot.plot_command,
    "decoders": listing.decoders_command,
    "oracles": listing.oracles_command,
    "warm": warm.warm_command,
}
for _name, _function in COMMANDS.items():
    # the first line of the docstring in full: typer would shorten it to fit one line of a narrow terminal
    app.command(_name, short_help=(_function.__doc__ or "").partition("\n")[0])(_function)

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # the disk is to blame, not what was asked for


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"pairsim {pairsim.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print_for_programs(context.get_help() + "\n")
    else:
        start_command(context.invoked_subcommand)


def run() -> None:
    """Run the program and exit.

    0 when all went well, 2 on bad input (one line on stderr), 1 when something outside went wrong (a full disk, a
    cluster that is gone), 130 on Ctrl-C, 141 when the reader of a pipe has left, 143 on SIGTERM.
    """
    start_command("pairsim")
    open_streams()
    streams = sys.stdout, sys.stderr
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        code = _run()
    sys.stdout, sys.stderr = streams  # typer replaces them when a pipe breaks
    try:
        flush_stdout()
    except StdoutLost as lost:
        code = code or _without_stdout(lost)
        discard(sys.stdout)  # also after another error: what is left in it would make the interpreter end with 120
    sys.exit(code)


def _run() -> int:  # noqa: PLR0911 - one return for each way to end
    try:
        code = app(prog_name="pairsim", standalone_mode=False)
    except ParameterError as error:
        return _complain(message_of(error))
    except Stopped as error:
        return _complain(str(error), error.code)
    except StdoutLost as lost:
        return _without_stdout(lost)
    except OSError as error:
        where = f": {error.filename!r}" if error.filename else ""
        return _complain(f"{error.strerror or error}{where}", OUTSIDE_TROUBLE if error.errno in FULL else BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort, Terminated, SystemError) as error:
        return _stopped(error)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer was printing help
            return _without_stdout(StdoutLost(end.__context__))
        raise
    except MemoryError:
        return _complain("not enough memory: use fewer classes or trials, or smaller files")
    except Exception as error:
        if _is_trouble(error):
            return _complain(str(error), OUTSIDE_TROUBLE)
        # usage errors of typer; their class lives in click or inside typer, depending on typer's version
        describe = getattr(error, "format_message", None)
        if describe is None:
            raise
        code = _complain(f"{_sentence(describe())} Try '{_path_of_command()} --help'.")
    return code if isinstance(code, int) else 0


def _stopped(error: BaseException) -> int:
    """Say by which signal the program was stopped; it is a SystemError's cause where it came inside a kernel."""
    if isinstance(error, SystemError) and not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
        raise error
    if isinstance(error, Terminated):
        return _complain("stopped by SIGTERM; nothing was written.", TERMINATED)
    return _complain("stopped by Ctrl-C; nothing was written.", INTERRUPTED)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Show what a library warns of as a note: it may quote labels and names from files."""
    note(f"warning: {message}")


def _without_stdout(lost: StdoutLost) -> int:
    """Return the exit code for a stdout that cannot be written: a reader who has left needs no message."""
    discard(sys.stdout)
    return BROKEN_PIPE if lost.is_broken_pipe else _complain(str(lost), OUTSIDE_TROUBLE)


def _sentence(text: str) -> str:
    """Return the text with an end: typer gives its messages none, or one."""
    return text if text.endswith((".", "!", "?")) else text + "."


def _path_of_command() -> str:
    command = running_command()
    return f"pairsim {command}" if command in COMMANDS else "pairsim"


def _is_trouble(error: Exception) -> bool:
    """Say whether something outside went wrong; asked only after an error, so that nothing is imported for it."""
    from pairsim.engines import EngineLost
    from pairsim.store import StoreError

    return isinstance(error, EngineLost | StoreError)


def _complain(message: str, code: int = BAD_INPUT) -> int:
    note(message)
    return code
