"""Losses of pairs of rows of one class, for the clustering that splits the classes of a tree's node in two."""

from __future__ import annotations

from pairsim.kernels.jit import bare_jit


@bare_jit
def pair_losses(f, g, bounds, corrected, gradient):
    """Add the gradient in f of the sum of (h_ij)_+ over i < j of one class to `gradient`; return the sum.

    Class c has the rows bounds[c] to bounds[c + 1]. h_ij is -f_i f_j with its concave part made linear at g: with
    u = g_i + g_j it is ((f_i - u)^2 + (f_j - u)^2 - u^2) / 2 where `corrected`, else (f_i^2 + f_j^2 - g_i f_j - g_j f_i
    + g_i g_j) / 2.
    """
    total = 0.0
    for c in range(bounds.size - 1):
        for i in range(bounds[c], bounds[c + 1]):
            pull = 0.0
            for j in range(i + 1, bounds[c + 1]):
                if corrected:
                    at_i = at_j = g[i] + g[j]
                    loss = 0.5 * ((f[i] - at_i) ** 2 + (f[j] - at_i) ** 2 - at_i**2)
                else:
                    at_i, at_j = 0.5 * g[j], 0.5 * g[i]
                    loss = 0.5 * (f[i] ** 2 + f[j] ** 2 - g[i] * f[j] - g[j] * f[i] + g[i] * g[j])
                if loss > 0.0:
                    total += loss
                    pull += f[i] - at_i
                    gradient[j] += f[j] - at_j
            gradient[i] += pull
    return total
