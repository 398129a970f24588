"""adag and ddag: closed forms, brackets in the given order, sets of classes in random order."""

from __future__ import annotations

from pairsim.decoders import Adag, Ddag
from pairsim.exact_values import brackets, closed_forms, random_orders
from pairsim.exact_values.providers import EXACT, Solution
from pairsim.exact_values.result import too_large
from pairsim.oracles import PairProbabilities

OVER_SETS = "dynamic programming over sets of classes"


@EXACT.register(Adag)
def solve_adag(probabilities: PairProbabilities, decoder: Adag) -> Solution:
    """Return success and failure of adag."""
    n, p = probabilities.n, probabilities.constant
    if p is not None:
        given = decoder.order == "given"
        pair = closed_forms.win_all(p, (n - 1).bit_length()) if given else closed_forms.adag_random_order(n, p)
        return Solution(*pair, "closed form")
    limit = brackets.MOST_CLASSES if decoder.order == "given" else random_orders.ADAG_CLASSES
    if n > limit:
        raise too_large(decoder.spec, probabilities.label, n, limit)
    if decoder.order == "given":
        return Solution(*brackets.adag_given_order(probabilities), "bracket dynamic programming")
    return Solution(*random_orders.adag_random_order(probabilities.matrix()), OVER_SETS)


@EXACT.register(Ddag)
def solve_ddag(probabilities: PairProbabilities, decoder: Ddag) -> Solution:
    """Return success and failure of ddag."""
    n, p = probabilities.n, probabilities.constant
    if decoder.order == "given":
        pair = brackets.ddag_given_order(probabilities) if p is None else closed_forms.win_all(p, n - 1)
        return Solution(*pair, "closed form")
    if p is not None:
        return Solution(*closed_forms.ddag_random_order(n, p), "closed form")
    if n > random_orders.DDAG_CLASSES:
        raise too_large(decoder.spec, probabilities.label, n, random_orders.DDAG_CLASSES)
    return Solution(*random_orders.ddag_random_order(probabilities.matrix()), OVER_SETS)
