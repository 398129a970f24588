"""What an exact answer is, and the error where there is none."""

from __future__ import annotations

import dataclasses

from pairsim.errors import ParameterError, parameter_error


@dataclasses.dataclass(frozen=True)
class Exact:
    """The exact success probability of one decoder on one oracle, and its cost.

    Attributes
    ----------
    decoder : str
        The decoder's spec.
    success, failure : float
        Probabilities that the true class is named, and that it is not. Each is computed on its own (but for top-k), so
        that a tiny failure keeps its digits where 1 - success would have lost them.
    queries, rounds : float
        Expected queries and rounds.
    distinct : float or None
        Expected number of different pairs asked; None for a top-k that may leave out a pair.
    how : str
        The way to the figure in a few words, such as "closed form".
    method : str
        Always "exact".
    low, high : float or None
        On recorded rows: the interval of the success on other rows of the kind, at the confidence that was asked for.
        None where the value is that of the oracle itself.

    Examples
    --------
    >>> from pairsim.decoders import Ddag
    >>> from pairsim.exact_values import exact
    >>> from pairsim.oracles import Uniform
    >>> answer = exact(Uniform(16, 0.9), Ddag())
    >>> round(answer.success, 6), answer.queries, answer.how
    (0.459554, 15.0, 'closed form')
    """

    decoder: str
    success: float
    failure: float
    queries: float
    rounds: float
    distinct: float | None
    how: str
    method: str = "exact"
    low: float | None = None
    high: float | None = None


class ExactUnavailable(ParameterError):  # noqa: N818 - it is the value that is unavailable, no error of the user's
    """There is no exact value for this oracle and decoder; the message says up to where there is, and what else to use.

    Examples
    --------
    >>> from pairsim.decoders import MaxWin
    >>> from pairsim.exact_values import exact
    >>> from pairsim.oracles import Uniform
    >>> exact(Uniform(512, 0.9), MaxWin())
    Traceback (most recent call last):
        ...
    pairsim.exact_values.result.ExactUnavailable: The 'n' parameter of exact must be at most 21 for an exact value of \
max-win on uniform (beyond it: simulate, bound). Got 512 instead.
    """


def unavailable(name: str, must_be: str, got: object) -> ExactUnavailable:
    """Build the error in the grammar of all others."""
    error = ExactUnavailable(str(parameter_error("exact", name, must_be, got)))
    error.owner = "exact"
    return error


def too_large(spec: str, label: str, n: int, limit: int) -> ExactUnavailable:
    """Build the error for more classes than an exact value can be worked out for; `limit` < 2 means for any number."""
    if limit < 2:
        must_be = f"cheaper than {spec}, which has no exact value on {label} at any n (use simulate or bound)"
        return unavailable("decoder", must_be, f"n = {n}")
    return unavailable("n", f"at most {limit} for an exact value of {spec} on {label} (beyond it: simulate, bound)", n)
