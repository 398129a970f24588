"""The sparsity bound that turns few updates of a perceptron into a bound on its risk, as a calculator."""

from __future__ import annotations

import math

from pairsim.bounds.learning_theory import MOST_EXAMPLES, TheoryBound, positive, risk_of
from pairsim.checks import check_whole


def sparsity_risk_bound(m: int, d: int, *, errors: int = 0, delta: float = 0.05) -> TheoryBound:
    """Bound the risk of a classifier that d of the m training examples determine: the fewer, the better.

    With probability 1 - delta, a classifier that training on d of the examples alone would give again, and that errs on
    none of the others, has a risk of at most

        (ln C(m, d) + ln m + ln(1 / delta)) / (m - d),

    and one that errs on k of the others at most k/(m - d) + sqrt((ln C(m, d) + ln m + ln(1 / delta)) / (2 (m - d))).
    (For a fixed set the others are a test set: a risk r survives it with (1 - r)^(m - d); the sum over all C(m, d) sets
    of each of the m sizes d = 0 .. m - 1 gives delta.) Logarithms are natural.

    For a perceptron d is the number of examples with an update, at most the updates that `perceptron_update_bound`
    allows: this is how Szedmak and Shawe-Taylor, "Multiclass learning at one-class complexity", turn their Theorem 1
    into a bound on the risk. Assumes independent examples, and that examples without an update do not matter: passes in
    a fixed order until nothing changes, no averaging. Errors are those of classification. A perceptron that halts has
    y-margins, which do not make the largest output that of the right class: count its errors.

    Parameters
    ----------
    m, d : int
        Training examples, and those that determine the classifier: 0 <= d < m.
    errors : int
        k, errors on the other m - d examples.
    delta : float
        One minus the confidence.

    References
    ----------
    T. Graepel, R. Herbrich and J. Shawe-Taylor, "Generalisation error bounds for sparse linear classifiers", COLT 2000.
    N. Littlestone and M. Warmuth, "Relating data compression and learnability", 1986.

    Examples
    --------
    >>> round(sparsity_risk_bound(1000, 30).value, 3), sparsity_risk_bound(1000, 600).vacuous
    (0.146, True)
    """
    owner = "sparsity_risk_bound"
    m = check_whole(owner, "m", m, 1, MOST_EXAMPLES)
    d = check_whole(owner, "d", d, 0, m - 1)
    errors = check_whole(owner, "errors", errors, 0, m - d)
    delta = positive(owner, "delta", delta, 1.0)
    rest = m - d
    terms = {
        "subsets": _log_choices(m, d),
        "sizes": math.log(m),
        "confidence": -math.log(delta),
        "empirical": errors / rest,
    }
    spent = terms["subsets"] + terms["sizes"] + terms["confidence"]
    if errors == 0:
        return risk_of(spent / rest, terms, [])
    return risk_of(errors / rest + math.sqrt(spent / (2.0 * rest)), terms, [])


def _log_choices(m: int, d: int) -> float:
    """Return ln C(m, d), also for numbers at which the difference of two logarithms of gamma would have no digits."""
    few = min(d, m - d)
    if few <= 1000:
        return sum(math.log((m - k) / (few - k)) for k in range(few))
    return math.lgamma(m + 1.0) - math.lgamma(d + 1.0) - math.lgamma(m - d + 1.0)
