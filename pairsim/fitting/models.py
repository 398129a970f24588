"""The fits: each random oracle that is most like recorded answers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln, log_ndtr, logsumexp, ndtr, ndtri

from pairsim.coupling import hastie_tibshirani
from pairsim.fitting.traits import Traits, check_recorded, traits_of
from pairsim.oracles import Ranked, Recorded, Similarity, Uniform

# The ease of a trial is summed out on a fixed grid: a smooth integrand that has died away at both ends loses nothing
EASE = np.linspace(-8.0, 8.0, 1601)
LOG_WEIGHTS = -0.5 * EASE**2 - logsumexp(-0.5 * EASE**2)
MOST_DIFFICULT = 0.99  # beyond it the grid is too coarse for the binomial distribution of a trial
FARTHEST_LEVEL = 8.0


def fit_uniform(recorded: Recorded | Traits) -> Uniform:
    """Fit uniform-p by maximum likelihood: p is the share of pairs with the true class that are answered right.

    Examples
    --------
    >>> from pairsim import Recorded, Uniform
    >>> from pairsim.fitting import fit_uniform
    >>> round(fit_uniform(Recorded.of(Uniform(12, 0.8), 2000)).p, 2)
    0.8
    """
    traits = _traits("fit_uniform", recorded)
    return Uniform(traits.n, traits.accuracy)


def fit_similarity(recorded: Recorded | Traits) -> Similarity:
    """Fit the similarities r by maximum likelihood: class 0 is the true class, class k the k-th best of the others.

    In every row the wrong classes are put in the order of their wins over each other; r is then the Bradley-Terry fit
    (`pairsim.coupling.hastie_tibshirani`) to how often place a beats place b. Half an answer is added to pairs that
    always went one way, or their similarities would drift apart without end. Should another class than the true one
    come out most similar, both are given its similarity.

    Examples
    --------
    >>> from pairsim import Ranked, Recorded
    >>> from pairsim.fitting import fit_similarity
    >>> r = fit_similarity(Recorded.of(Ranked(5, 0.9, 0.8), 2000)).r
    >>> sorted(r, reverse=True) == list(r)
    True
    """
    traits = _traits("fit_similarity", recorded)
    probabilities = traits.beats[np.triu_indices(traits.n, 1)] / traits.rows
    r = hastie_tibshirani(probabilities[None, :], traits.n, clip=min(0.25, max(1e-12, 0.5 / traits.rows)))[0]
    r[0] = r.max()
    return Similarity(r / r.sum(), label="similarity:fitted")


def fit_ranked(recorded: Recorded | Traits) -> Ranked:
    """Fit the ranked oracle: order from circles, p and difficulty from the losses of the true class.

    Three wrong classes go round in a circle with probability 1/4 - 3 asin(order / 2) / (2 pi), which is solved for the
    order. Given the ease of a trial the true class's losses are binomial, whatever the order; p and difficulty maximise
    the likelihood of the losses of all rows.

    Examples
    --------
    >>> from pairsim import Ranked, Recorded
    >>> from pairsim.fitting import fit_ranked
    >>> found = fit_ranked(Recorded.of(Ranked(20, 0.9, 0.8, 0.5), 2000))
    >>> round(found.p, 1), round(found.order, 1), round(found.difficulty, 1)
    (0.9, 0.8, 0.5)
    """
    traits = _traits("fit_ranked", recorded)
    p, difficulty = _fit_losses(traits.losses)
    return Ranked(traits.n, p, order_of_circles(traits.circles), difficulty)


def order_of_circles(circles: float) -> float:
    """Return the order under which circles are so frequent, 1 being as frequent as among coin flips."""
    return min(1.0, 2.0 * math.sin(math.pi / 6.0 * (1.0 - min(1.0, circles))))


def level_likelihood(losses: NDArray[np.int64], level: float, difficulty: float) -> float:
    """Return the log-likelihood of losses, losses[k] rows having k, under a ranked oracle with p = Phi(level)."""
    games = len(losses) - 1
    seen = np.flatnonzero(losses)
    at = (level + math.sqrt(difficulty) * EASE) / math.sqrt(1.0 - difficulty)
    ways = gammaln(games + 1) - gammaln(seen + 1) - gammaln(games - seen + 1)
    terms = seen[:, None] * log_ndtr(-at) + (games - seen)[:, None] * log_ndtr(at) + LOG_WEIGHTS
    top = terms.max(axis=1)
    return float(losses[seen] @ (ways + top + np.log(np.exp(terms - top[:, None]).sum(axis=1))))


def _fit_losses(losses: NDArray[np.int64]) -> tuple[float, float]:
    """Return the p and difficulty under which these losses are most likely."""
    games = len(losses) - 1
    accuracy = 1.0 - float(losses @ np.arange(games + 1)) / (losses.sum() * games)
    if accuracy in (0.0, 1.0):  # nothing differs between trials
        return accuracy, 0.0
    found = minimize(
        lambda x: -level_likelihood(losses, x[0], x[1]),
        x0=(float(ndtri(accuracy)), 0.5),
        method="Nelder-Mead",
        bounds=((-FARTHEST_LEVEL, FARTHEST_LEVEL), (0.0, MOST_DIFFICULT)),
        options={"xatol": 1e-5, "fatol": 1e-6, "maxiter": 2000},
    )
    return float(ndtr(found.x[0])), float(found.x[1])


def _traits(owner: str, recorded: Recorded | Traits) -> Traits:
    return recorded if isinstance(recorded, Traits) else traits_of(check_recorded(owner, recorded))
