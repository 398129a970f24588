"""Which command is running, so that errors name what the user typed and not a function that it shares."""

from __future__ import annotations

import contextvars

from pairsim.errors import ParameterError, parameter_error, with_owner

_command = contextvars.ContextVar("command", default="pairsim")

# Functions of the library that commands call with their options. Other owners of a parameter (Uniform, top-k, an
# estimator) are things that the user named, and stay.
FUNCTIONS = frozenset(
    {
        *("bound", "compare", "evaluate", "exact", "export", "fit-oracle", "merge", "plan", "plot", "record", "replay"),
        *("separation", "show", "sweep", "verify", "warm"),
        *(
            "average_ranks",
            "binomial_interval",
            "bounded_interval",
            "certified_sample_size",
            "fit_oracles",
            "from_model",
            "least_mean_queries",
            "least_queries",
            "most_success",
        ),
        *(
            "load",
            "merge_stores",
            "oracle",
            "lemma_1",
            "paper_sample_size",
            "read",
            "read_libsvm",
            "read_skops",
            "run_units",
        ),
        *("above", "simulate", "replay_trial", "to_text"),
    }
)


def start_command(name: str) -> None:
    """Remember the command that runs from here on."""
    _command.set(name)


def running_command() -> str:
    """Return the name of the command that runs."""
    return _command.get()


def refused(name: str, must_be: str, got: object) -> ParameterError:
    """Build the error for a parameter of the command that runs."""
    return parameter_error(running_command(), name, must_be, got)


def message_of(error: ParameterError) -> str:
    """Return the message of an error; where it names a function that the command has called, name the command."""
    return with_owner(error, running_command()) if error.owner in FUNCTIONS else str(error)
