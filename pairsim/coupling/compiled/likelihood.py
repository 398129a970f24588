"""Kernels of the likelihood fit: sweeps over p, then Newton's steps on log p.

`weights` is symmetric with a zero diagonal, `games` its row sums.
"""

from __future__ import annotations

import numpy as np

from pairsim.coupling.compiled.linear import solve_positive
from pairsim.kernels.jit import jit

NEWTON_STEPS = 100  # nearly certain probabilities need some thirty; rounding may keep a tiny tol out of reach for ever
SMALLEST_P = 1e-290  # sweeps stay above it, so that sums and quotients of two p's are ordinary numbers


@jit
def fitted_wins_over_p(weights, p, i, terms):
    """Return the sum over j of n_ij / (p_i + p_j): the fitted wins of class i, divided by p_i."""
    n = p.size
    for j in range(n):
        terms[j] = weights[i, j] / (p[i] + p[j])
    # four sums side by side: additions wait for each other, and the compiler must not reorder them
    a = b = c = d = 0.0
    whole = n - n % 4
    for j in range(0, whole, 4):
        a += terms[j]
        b += terms[j + 1]
        c += terms[j + 2]
        d += terms[j + 3]
    for j in range(whole, n):
        a += terms[j]
    return (a + b) + (c + d)


@jit
def sweep_classes(wins, weights, games, p, terms):
    """Refit each p_i in turn to its wins, then normalise; return the largest gap in wins met, as a share of games."""
    gap = 0.0
    for i in range(p.size):
        rate = fitted_wins_over_p(weights, p, i, terms)
        gap = max(gap, abs(wins[i] - p[i] * rate) / games[i])
        p[i] = max(wins[i] / rate, SMALLEST_P)
    total = p.sum()
    for i in range(p.size):
        p[i] /= total
    return gap


@jit
def set_slope_and_curvature(wins, weights, logs, slope, curvature):
    """Set the gradient and the Hessian (upper triangle of a graph Laplacian) of the divergence in log p."""
    n = logs.size
    slope[:] = -wins
    for i in range(n):
        curvature[i, i] = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            gap = logs[i] - logs[j]
            small = np.exp(-abs(gap))
            upper = 1.0 / (1.0 + small)
            lower = small * upper
            slope[i] += weights[i, j] * (upper if gap > 0.0 else lower)
            slope[j] += weights[i, j] * (lower if gap > 0.0 else upper)
            bend = weights[i, j] * upper * lower
            curvature[i, i] += bend
            curvature[j, j] += bend
            curvature[i, j] = -bend


@jit
def newton_direction(slope, curvature):
    """Return the step to the minimum of the quadratic model that leaves the last class where it is."""
    direction = -slope
    direction[-1] = 0.0
    solve_positive(curvature, direction[:-1])  # log p is determined up to a constant
    return direction


@jit
def largest_gap(slope, games):
    """Return the largest difference of expected and fitted wins, as a share of games."""
    gap = 0.0
    for i in range(slope.size):
        gap = max(gap, abs(slope[i]) / games[i])
    return gap


@jit
def is_far_enough(share, spread, slope, direction):
    """Whether to accept a step of this share of Newton's, `slope` being the gradient where it ends.

    The divergence is convex: where its slope along the line is not yet positive, it is lower. Short steps need no such
    test: it is generalised self-concordant (Sun and Tran-Dinh 2019), and log(1 + spread) / spread is short enough.
    """
    if spread < 0.5 or share * spread <= np.log1p(spread):
        return True
    along = 0.0
    for i in range(slope.size):
        along += slope[i] * direction[i]
    return along <= 0.0


@jit
def finish_row(wins, weights, games, tol, logs):
    """Minimise the divergence over log p by damped Newton steps, from `logs`, in place; return the steps taken."""
    n = logs.size
    slope = np.empty(n)
    curvature = np.empty((n, n))
    tried = logs.copy()
    set_slope_and_curvature(wins, weights, logs, slope, curvature)
    for step in range(NEWTON_STEPS):
        if largest_gap(slope, games) <= tol:
            return step
        direction = newton_direction(slope, curvature)
        spread = direction.max() - direction.min()
        if (
            not spread < 1e300
        ):  # nan included: probabilities beyond what doubles can tell apart; logs is the best so far
            return step
        share = 2.0
        accepted = False
        while not accepted:
            share *= 0.5
            for i in range(n):
                tried[i] = logs[i] + share * direction[i]
            set_slope_and_curvature(wins, weights, tried, slope, curvature)
            accepted = is_far_enough(share, spread, slope, direction)
        logs[:] = tried
    return NEWTON_STEPS


@jit
def fit_row(wins, weights, games, tol, max_iter, terms, p):
    """Set p to the fit: sweeps first, Newton's method if they leave it unsettled."""
    n = p.size
    for i in range(n):
        p[i] = wins[i] / (games[i] - wins[i])  # odds of an average game: in the right order from the start
    p /= p.sum()
    for _ in range(max_iter):
        if sweep_classes(wins, weights, games, p, terms) <= tol:
            return
    logs = np.log(p)
    finish_row(wins, weights, games, tol, logs)
    highest = logs.max()
    for i in range(n):
        p[i] = np.exp(logs[i] - highest)
    p /= p.sum()


@jit
def fit_rows(wins, weights, tol, max_iter, out):
    """Fit each row of out to its row of wins."""
    games = weights.sum(axis=1)
    terms = np.empty(games.size)
    for row in range(wins.shape[0]):
        fit_row(wins[row], weights, games, tol, max_iter, terms, out[row])
