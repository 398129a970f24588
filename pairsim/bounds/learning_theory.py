"""Three bounds of learning theory that the papers behind this package state, as calculators.

They bound what training does, not what a decoder does, and on data sets of ordinary size the first two say nothing
(their value exceeds 1). So each result carries `vacuous` and a line that says so.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

from pairsim.checks import check_choice, check_list, check_number, check_whole
from pairsim.errors import parameter_error, shown

READINGS = ("scale-free", "printed")
RISK_AT = "a callable from a number of examples to a TheoryBound"
MOST_EXAMPLES = 1 << 100


@dataclasses.dataclass(frozen=True)
class TheoryBound:
    """The value of a bound, the terms it is made of, and whether it says anything.

    Attributes
    ----------
    value : float
        The bound itself: on a risk, or on a number of updates.
    vacuous : bool
        True where the value is no smaller than what holds anyway.
    terms : mapping of str to float
        The parts of the formula, by name.
    note : str
        One line that says why it is vacuous or what was clamped; empty otherwise.
    """

    value: float
    vacuous: bool
    terms: Mapping[str, float]
    note: str = ""


def positive(owner: str, name: str, value: object, most: float = math.inf) -> float:
    """Return `value` as a float strictly between 0 and `most`."""
    must_be = "a positive number" if math.isinf(most) else f"a number in (0, {most:g})"
    number = check_number(owner, name, value, must_be)
    if not 0.0 < number < most:
        raise parameter_error(owner, name, must_be, shown(value))
    return number


def sbc_risk_bound(
    m: int,
    c: int,
    gamma: float,
    radius: float,
    *,
    kernels: int | None = None,
    delta: float = 0.05,
    margin_error: float = 0.0,
    norm: float = 1.0,
) -> TheoryBound:
    """Bound the multiclass risk after a single-binary-classifier reduction with a learned kernel: Lemma 4.1.

    With probability 1 - delta the risk is at most c e + c sqrt(Q), e the share of the m drawn replicas with margin
    below gamma and

        Q = 8/m (2 + 256 R/g^2 ln(g e m / (8 sqrt R)) ln(128 m R / g^2) - ln delta + k ln(128 e m^3 R / (g^2 k))).

    The lemma holds for weights of norm at most 1 while the classifier is defined without a norm, so the margin used
    is g = gamma / norm. The first logarithm is negative when g e m < 8 sqrt R; it is then taken as 0, as a covering
    number is not below 1, and the note says so. Logarithms are natural. (El-Yaniv, Pechyony and Yom-Tov, "Better
    multiclass classification via a margin-optimized single binary problem", section 4.1; the printed margin error
    lacks the bars that make its set a number.)

    Parameters
    ----------
    m, c : int
        Training examples and classes.
    gamma, radius : float
        The margin, and R, the bound on the sum of the kernel weights (every kernel is at most 1).
    kernels : int, optional
        k, the number of base kernels. Default: c.
    delta : float
        One minus the confidence.
    margin_error : float
        e, in [0, 1].
    norm : float
        The norm of the weight vector that gamma was measured with.

    Examples
    --------
    >>> found = sbc_risk_bound(5000, 3, 1.0, 5000**0.5)
    >>> round(found.value), found.vacuous
    (156, True)
    """
    owner = "sbc_risk_bound"
    m, c = check_whole(owner, "m", m, 1, MOST_EXAMPLES), check_whole(owner, "c", c, 2, MOST_EXAMPLES)
    k = check_whole(owner, "kernels", c if kernels is None else kernels, 1, MOST_EXAMPLES)
    margin = positive(owner, "gamma", gamma) / positive(owner, "norm", norm)
    radius, delta = positive(owner, "radius", radius), positive(owner, "delta", delta, 1.0)
    error = check_number(owner, "margin_error", margin_error, "a number in [0, 1]")
    if not 0.0 <= error <= 1.0:
        raise parameter_error(owner, "margin_error", "a number in [0, 1]", margin_error)
    ratio = radius / margin**2
    cover = math.log(margin * math.e * m / (8.0 * math.sqrt(radius)))
    size = max(0.0, math.log(128.0 * m * ratio))
    terms = {
        "margin": 256.0 * ratio * max(0.0, cover) * size,
        "confidence": -math.log(delta),
        "kernels": k * max(0.0, math.log(128.0 * math.e * m**3 * ratio / k)),
        "empirical": c * error,
    }
    terms["complexity"] = c * math.sqrt(8.0 / m * (2.0 + terms["margin"] + terms["confidence"] + terms["kernels"]))
    notes = ["the first logarithm is negative and was taken as 0"] if cover < 0.0 else []
    return risk_of(terms["empirical"] + terms["complexity"], terms, notes)


def tree_risk_bound(
    n: int, margins: Sequence[float], radius: float, *, delta: float = 0.05, reading: str = "scale-free"
) -> TheoryBound:
    """Bound the risk of a decision tree whose every node separates the n training examples: Theorem 3.

    With probability 1 - delta the risk is below

        130/n (R^2 D ln(4 e n) ln(4 n) + ln(2 (2n)^K / delta)),   D = the sum over the K nodes of 1 / margin^2.

    Read "printed", R^2 multiplies both terms, as in Liu and others, "Towards optimal discriminating order for
    multiclass classification", section IV-B: then the value changes when the data are merely rescaled, so "scale-free"
    is the default. The printed
    exponent, one less than the number of classes, is the number of nodes of a tree; K is used, which is right for
    graphs too. A margin is the distance |w x + b| / |w| from the nearest example (the print leaves out |w|); where a
    node does not separate, its margin is 0 and the bound is infinite.

    Parameters
    ----------
    n : int
        Training examples.
    margins : sequence of float
        One a node, at least 0.
    radius : float
        R, of a ball that holds the data.
    delta : float
        One minus the confidence.
    reading : {"scale-free", "printed"}
        Where R^2 belongs.

    Examples
    --------
    >>> tree_risk_bound(150, [0.5, 0.5], 1.0).note
    'vacuous: a risk is at most 1 and this bound is 341'
    """
    owner = "tree_risk_bound"
    n, radius = check_whole(owner, "n", n, 1, MOST_EXAMPLES), positive(owner, "radius", radius)
    delta = positive(owner, "delta", delta, 1.0)
    check_choice(owner, "reading", reading, READINGS)
    listed = check_list(owner, "margins", margins, "at least one number, none below 0")
    sizes = [check_number(owner, "margins", margin, "numbers of at least 0") for margin in listed]
    if not sizes or not all(size >= 0.0 for size in sizes):
        raise parameter_error(owner, "margins", "at least one number, none below 0", margins)
    spread = sum(1.0 / size**2 if size**2 > 0.0 else math.inf for size in sizes)
    terms = {
        "margin": radius**2 * spread * math.log(4.0 * math.e * n) * math.log(4.0 * n),
        "count": math.log(2.0 / delta) + len(sizes) * math.log(2.0 * n),
    }
    if reading == "printed":
        terms["count"] *= radius**2
    notes = ["a node does not separate its examples"] if math.isinf(spread) else []
    return risk_of(130.0 / n * (terms["margin"] + terms["count"]), terms, notes)


def perceptron_update_bound(
    norm_squared: float,
    *,
    step: float = 1.0,
    margin: float = 1.0,
    largest: float = 1.0,
    presentations: int | None = None,
) -> TheoryBound:
    """Bound the updates of the vector perceptron before it halts: Theorem 1, for any step and margin.

    If W* has <y_i, W* phi_i> >= 1 for all i and |y_i| |phi_i| <= 1, then updates W += s y_i phi_i' made while
    <y_i, W phi_i> < lambda number at most (1 + 2 lambda / s) |W*|^2: each adds at most s^2 + 2 s lambda to |W|^2 and
    at least s to <W, W*>. At s = lambda = 1 this is 3 |W*|^2, as in Szedmak and Shawe-Taylor, "Multiclass learning at
    one-class complexity", Theorem 1, which is right as printed. It bounds updates only: at halt every example has
    y-margin lambda, which does not make the largest output that of the right class.

    Parameters
    ----------
    norm_squared : float
        |W*|^2 in the Frobenius norm; infinite where no W* exists.
    step, margin : float
        s and lambda, positive.
    largest : float
        The largest |y_i| |phi_i|; the theorem needs it to be at most 1.
    presentations : int, optional
        Epochs times examples: an update bound at or above it is vacuous.

    Examples
    --------
    >>> perceptron_update_bound(20.0).value
    60.0
    """
    owner = "perceptron_update_bound"
    squared = check_number(owner, "norm_squared", norm_squared, "a positive number")
    if not squared > 0.0:
        raise parameter_error(owner, "norm_squared", "a positive number", norm_squared)
    step, margin = positive(owner, "step", step), positive(owner, "margin", margin)
    largest = check_number(owner, "largest", largest, "at most 1, as the theorem needs")
    if not 0.0 <= largest <= 1.0 + 1e-9:  # unit vectors, normalised in floating point
        raise parameter_error(owner, "largest", "at most 1, as the theorem needs", largest)
    factor = 1.0 + 2.0 * margin / step
    value = factor * squared
    terms = {"factor": factor, "norm_squared": squared}
    if math.isinf(value):
        return TheoryBound(value, True, terms, "vacuous: no weights reach the margin, so nothing is bounded")
    if presentations is not None and value >= check_whole(owner, "presentations", presentations, 1):
        note = f"vacuous: {presentations} examples were shown and the bound is {value:.3g} updates"
        return TheoryBound(value, True, terms, note)
    return TheoryBound(value, False, terms)


def risk_of(value: float, terms: Mapping[str, float], notes: list[str]) -> TheoryBound:
    """Return a bound on a risk, which says nothing unless it is below 1."""
    vacuous = not value < 1.0
    if vacuous:
        notes = [f"vacuous: a risk is at most 1 and this bound is {value:.3g}", *notes]
    return TheoryBound(value, vacuous, terms, "; ".join(notes))


def n_required(risk_at: Callable[[int], TheoryBound], target: float = 1.0) -> int:
    """Return the number of examples from which a risk bound is below `target`.

    Parameters
    ----------
    risk_at : callable
        From a number of examples to the bound, for instance a lambda around `sbc_risk_bound`; its margin and radius
        may depend on the number.
    target : float
        What the bound is to fall below.

    Examples
    --------
    >>> n_required(lambda n: tree_risk_bound(n, [1.0, 1.0], 1.0))
    44603
    """
    target = positive("n_required", "target", target)
    if not callable(risk_at):
        raise parameter_error("n_required", "risk_at", RISK_AT, shown(risk_at))
    enough = 1
    while not _value_at(risk_at, enough) < target:
        enough *= 2
        if enough > MOST_EXAMPLES:
            raise parameter_error("n_required", "risk_at", f"a bound that falls below {target:g}", "one that does not")
    short = enough // 2
    while enough - short > 1:
        middle = (enough + short) // 2
        if _value_at(risk_at, middle) < target:
            enough = middle
        else:
            short = middle
    return enough


def _value_at(risk_at: Callable[[int], TheoryBound], examples: int) -> float:
    """Return the value of a bound for so many examples; what the callable itself raises is the caller's own."""
    risk = risk_at(examples)
    if not isinstance(risk, TheoryBound):
        raise parameter_error("n_required", "risk_at", RISK_AT, f"one that returns {shown(risk)}")
    return risk.value
