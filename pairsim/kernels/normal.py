"""Normal numbers: the distribution function and its inverse."""

from __future__ import annotations

import math

from pairsim.kernels.jit import bare_inner

ROOT_HALF = math.sqrt(0.5)

# Numerators and denominators of Wichura's three rational functions, highest power first
MIDDLE_ABOVE = (
    *(2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457),
    *(13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
)
MIDDLE_BELOW = (
    *(5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867),
    *(5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)
TAIL_ABOVE = (
    *(7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258),
    *(3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
)
TAIL_BELOW = (
    *(1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459),
    *(0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)
FAR_ABOVE = (
    *(2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093),
    *(0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
)
FAR_BELOW = (
    *(2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4),
    *(0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)


@bare_inner
def normal_probability(x):
    """Return the probability that a standard normal number is below x; exactly 1/2 at 0, 0 and 1 at the infinities."""
    return 0.5 * math.erfc(-x * ROOT_HALF)


@bare_inner
def _polynomial(c, x):
    return ((((((c[0] * x + c[1]) * x + c[2]) * x + c[3]) * x + c[4]) * x + c[5]) * x + c[6]) * x + c[7]


@bare_inner
def normal_quantile(u):
    """Return the x below which a standard normal number is with probability u, 0 < u < 1 (relative error about 1e-15).

    M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37, 1988.
    """
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * _polynomial(MIDDLE_ABOVE, r) / _polynomial(MIDDLE_BELOW, r)
    r = math.sqrt(-math.log(min(u, 1.0 - u)))
    if r <= 5.0:
        x = _polynomial(TAIL_ABOVE, r - 1.6) / _polynomial(TAIL_BELOW, r - 1.6)
    else:
        x = _polynomial(FAR_ABOVE, r - 5.0) / _polynomial(FAR_BELOW, r - 5.0)
    return -x if q < 0.0 else x
