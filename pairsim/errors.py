"""The one error that bad input raises, and the grammar of its message."""

from __future__ import annotations


class ParameterError(ValueError):
    """A parameter cannot be used; the message names it, says what it must be and what it got.

    Examples
    --------
    >>> from pairsim import Uniform
    >>> Uniform(4, 1.5)
    Traceback (most recent call last):
        ...
    pairsim.errors.ParameterError: The 'p' parameter of Uniform must be a number in [0, 1]. Got 1.5 instead.
    """


def refusal(owner: str, name: str, must_be: str, got: object) -> ParameterError:
    """Build the error for parameter `name` of `owner`; long values are shortened to one line."""
    shown = " ".join(str(got).split())
    if len(shown) > 200:
        shown = shown[:197] + "..."
    return ParameterError(f"The {name!r} parameter of {owner} must be {must_be}. Got {shown} instead.")
