"""The one error that bad input raises, and the grammar of its message."""

from __future__ import annotations

from pairsim.plain_text import printable


class ParameterError(ValueError):
    """A parameter cannot be used; the message names it, says what it must be and what it got.

    Attributes
    ----------
    owner : str
        The function, class or command that the parameter belongs to; empty where the message has another form.

    Examples
    --------
    >>> from pairsim import Uniform
    >>> Uniform(4, 1.5)
    Traceback (most recent call last):
        ...
    pairsim.errors.ParameterError: The 'p' parameter of Uniform must be a number in [0, 1]. Got 1.5 instead.
    """

    owner: str = ""


def shown(value: object) -> str:
    """Return `value` as an error shows it; something that cannot be written out is named by its type.

    Examples
    --------
    >>> shown("x"), shown(10**5000)
    ("'x'", 'something of type int')
    """
    try:
        return repr(value)
    except Exception:  # a number of too many digits, or a class whose repr fails: that is not what is wrong here
        return f"something of type {type(value).__name__}"


def parameter_error(owner: str, name: str, must_be: str, got: object) -> ParameterError:
    """Build the error for parameter `name` of `owner`; long values are shortened to one line.

    What was got may come from a file, so the message holds nothing that would do something to a terminal.
    """
    try:
        text = " ".join(str(got).split())
    except Exception:
        text = shown(got)
    if len(text) > 200:
        text = text[:197] + "..."
    error = ParameterError(printable(f"The {name!r} parameter of {owner} must be {must_be}. Got {text} instead."))
    error.owner = owner
    return error


def with_owner(error: ParameterError, owner: str) -> str:
    """Return the message of a rejection as if the parameter belonged to `owner`.

    Examples
    --------
    >>> with_owner(parameter_error("sweep", "n", "given", "nothing"), "plan")
    "The 'n' parameter of plan must be given. Got nothing instead."
    """
    return str(error).replace(f" parameter of {error.owner} must be ", f" parameter of {owner} must be ", 1)
