"""From one-vs-one outputs to classes: decoders that use margins and pairwise probabilities, not only who won.

A row is a data point; its columns are the pairs in the order of `numpy.triu_indices(n, 1)`: (0, 1), (0, 2), ...,
(n-2, n-1). A margin above 0, or a probability r_ij = P(i | i or j) above 1/2, speaks for the lower class of the pair.
All functions are plain arrays in, arrays out; rows do not influence each other, and are taken in chunks, so memory
stays bounded beside what is given and returned.

==================  ==================  =========================================================================
function            gives               what it uses
==================  ==================  =========================================================================
vote_scores         votes               the signs of the margins
weighted_vote       scores              the margins, summed
break_ties          one class per row     scores, and margins or duels among the tied
probabilities_of    r                   margins, by Platt's logistic link
hastie_tibshirani   p, sums to 1        r: closest in Kullback-Leibler divergence (the Bradley-Terry fit)
wu_lin_weng         p, sums to 1        r: closest in a quadratic form; what LIBSVM does
pkpd                p, sums to 1        r: a closed form
non_dominance       scores in [0, 1]    r: how little a class loses to its worst opponent
==================  ==================  =========================================================================

The three couplings return p itself when r_ij = p_i / (p_i + p_j) for some p. They differ when r is inconsistent, as it
is when it comes from trained models.

Examples
--------
Class 2 is clearly beaten; 0 beats 1 narrowly:

>>> import numpy as np
>>> margins = np.array([[0.2, 1.5, 0.8]])
>>> vote_scores(margins, 3)
array([[2, 1, 0]])
>>> r = probabilities_of(margins)
>>> wu_lin_weng(r, 3).round(3)
array([[0.487, 0.378, 0.135]])
>>> hastie_tibshirani(r, 3).round(3)
array([[0.502, 0.36 , 0.138]])
"""

from __future__ import annotations

from pairsim.coupling.closed_forms import non_dominance, pkpd
from pairsim.coupling.least_squares import wu_lin_weng
from pairsim.coupling.likelihood import hastie_tibshirani
from pairsim.coupling.links import probabilities_of
from pairsim.coupling.votes import break_ties, vote_scores, weighted_vote

__all__ = [
    "break_ties",
    "hastie_tibshirani",
    "non_dominance",
    "pkpd",
    "probabilities_of",
    "vote_scores",
    "weighted_vote",
    "wu_lin_weng",
]
