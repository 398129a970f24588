"""The PAC-Bayes bound for a single kernel that the single-binary paper points to, as a calculator."""

from __future__ import annotations

import math

from pairsim.bounds.learning_theory import MOST_EXAMPLES, TheoryBound, positive, risk_of
from pairsim.checks import check_flag, check_number, check_whole
from pairsim.errors import parameter_error


def pac_bayes_bound(
    m: int,
    c: int,
    norm: float,
    *,
    margin_error: float = 0.0,
    difference: float = math.sqrt(2.0),
    delta: float = 0.05,
    deterministic: bool = False,
) -> TheoryBound:
    """Bound the risk of a multiclass linear classifier w with one fixed kernel, by the norm of w.

    With probability 1 - delta, for all w at once, the classifier with the weights s w + Gaussian noise has a risk of at
    most

        e + |w|^2/m + sqrt((D^2 |w|^2 ln(c m / |w|^2) + ln(m / delta)) / (2 (m - 1))),

    e the share of the m examples on which some wrong class is less than 1 below the right one. It depends on the
    number of classes through a logarithm only, which is why footnote 5 of El-Yaniv, Pechyony and Yom-Tov, "Better
    multiclass classification via a margin-optimized single binary problem", prefers it to their Lemma 4.1 where one
    kernel is used. Logarithms are natural.

    How it comes about. Prior N(0, I), posterior N(s w, I) with s = D sqrt(2 ln(c m / |w|^2)), so that the divergence is
    s^2 |w|^2 / 2 = D^2 |w|^2 ln(c m / |w|^2). A class that w puts at least 1 below the right one overtakes it with
    probability at most exp(-s^2 / (2 D^2)) = |w|^2 / (c m), so an example of margin 1 errs with less than |w|^2 / m.
    The rest is the PAC-Bayes theorem.

    Assumes independent examples of one distribution, and a kernel and a scale of w that were not chosen on them. It
    bounds the randomised classifier. Where the largest output of w itself errs, noise that is symmetric errs with at
    least 1/2, so twice the value bounds w itself (`deterministic`).

    Parameters
    ----------
    m, c : int
        Training examples (at least 4) and classes.
    norm : float
        |w|; for the single-binary reductions sqrt(<A*Y, Kx (A*Y) K_M>).
    margin_error : float
        e, in [0, 1].
    difference : float
        D, the largest distance between the features of one example with two class numbers: sqrt(2) for a Gaussian
        kernel and one block of weights per class, sqrt(2 - 2 K_M[r, s]) at most for an extension kernel K_M.
    delta : float
        One minus the confidence.
    deterministic : bool
        Bound the risk of w itself.

    References
    ----------
    D. McAllester, "Generalization bounds and consistency for structured labeling", in G. Bakir and others (eds.),
    Predicting Structured Data, MIT Press, 2007.
    D. McAllester, "Simplified PAC-Bayesian margin bounds", COLT 2003.

    Examples
    --------
    >>> found = pac_bayes_bound(100_000, 10, 10.0)
    >>> round(found.value, 3), found.vacuous
    (0.097, False)
    >>> pac_bayes_bound(150, 3, 10.0).vacuous
    True
    """
    owner = "pac_bayes_bound"
    m, c = check_whole(owner, "m", m, 4, MOST_EXAMPLES), check_whole(owner, "c", c, 2, MOST_EXAMPLES)
    squared, apart = positive(owner, "norm", norm) ** 2, positive(owner, "difference", difference)
    delta = positive(owner, "delta", delta, 1.0)
    error = check_number(owner, "margin_error", margin_error, "a number in [0, 1]")
    if not 0.0 <= error <= 1.0:
        raise parameter_error(owner, "margin_error", "a number in [0, 1]", margin_error)
    twice = 2.0 if check_flag(owner, "deterministic", deterministic) else 1.0
    if not 0.0 < squared < c * m:  # the scale s is a root of a logarithm that must be positive
        terms = {"empirical": error, "smoothing": squared / m, "divergence": math.inf}
        return risk_of(math.inf, terms, ["the norm is out of the range 0 < |w|^2 < c m"])
    divergence = apart**2 * squared * math.log(c * m / squared)
    terms = {
        "empirical": error,
        "smoothing": squared / m,
        "divergence": divergence,
        "complexity": math.sqrt((divergence + math.log(m / delta)) / (2.0 * (m - 1))),
    }
    return risk_of(twice * (error + terms["smoothing"] + terms["complexity"]), terms, [])
