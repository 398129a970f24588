"""The laws of `pairsim.coupling`: twins, symmetry, recovery of p, optimality, order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import coupling_twins as twins
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from pairsim.coupling import (
    break_ties,
    hastie_tibshirani,
    non_dominance,
    pkpd,
    probabilities_of,
    vote_scores,
    weighted_vote,
    wu_lin_weng,
)
from pairsim.coupling.compiled.likelihood import sweep_classes

Floats = NDArray[np.float64]
Coupling = Callable[..., Floats]
COUPLINGS: list[Coupling] = [hastie_tibshirani, wu_lin_weng, pkpd]
every_coupling = pytest.mark.parametrize("couple", COUPLINGS, ids=lambda f: f.__name__)
law = settings(derandomize=True, deadline=None, max_examples=60)
INSIDE = st.floats(0.02, 0.98)
ANY_PROBABILITY = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 2.0**-24, 5e-324, 1 - 2.0**-53]))
MARGINS = st.one_of(st.integers(-2, 2).map(float), st.floats(-50, 50))


def rows_of(entries: st.SearchStrategy[float], least: int = 2, most: int = 7) -> st.SearchStrategy[tuple[int, Floats]]:
    """Draw a number of classes and one row over their pairs."""

    def row(n: int) -> st.SearchStrategy[tuple[int, Floats]]:
        pairs = n * (n - 1) // 2
        return st.lists(entries, min_size=pairs, max_size=pairs).map(lambda found: (n, np.array(found)))

    return st.integers(least, most).flatmap(row)


def pair_probabilities(p: Floats) -> Floats:
    low, high = np.triu_indices(p.size, 1)
    return p[low] / (p[low] + p[high])


@law
@given(rows_of(MARGINS), st.sampled_from(["margin", "head-to-head", "first"]))
def test_votes_sums_and_ties_equal_their_twins(case: tuple[int, Floats], rule: Any) -> None:
    n, row = case
    votes = vote_scores(row[None], n)
    assert votes[0].tolist() == twins.votes(row, n)
    assert votes.sum() == row.size
    np.testing.assert_allclose(weighted_vote(row[None], n)[0], twins.margin_sums(row, n), atol=1e-12)
    eighths = np.round(row * 8) / 8  # sums of eighths have no rounding, so the two agree on what is a tie
    votes = vote_scores(eighths[None], n)
    assert break_ties(votes, eighths[None], n, rule)[0] == twins.settle(votes[0].tolist(), eighths.tolist(), n, rule)


def test_tie_rules_differ() -> None:
    """Negative control: on one tournament the three rules name three classes."""
    # 1, 2 and 3 tie with two votes each; 1 beats 2, 2 beats 3, 3 beats 1; 0 loses to all; 3's margins are the largest
    margins = np.array([[-1.0, -1.0, -9.0, 1.0, -1.0, 1.0]])
    votes = vote_scores(margins, 4)
    assert votes.tolist() == [[0, 2, 2, 2]]
    assert break_ties(votes, margins, 4, "first").tolist() == [1]
    assert break_ties(votes, margins, 4, "margin").tolist() == [3]
    assert break_ties([[5, 0, 5, 5]], margins, 4, "head-to-head").tolist() == [2]
    assert break_ties([[5, 0, 5, 5]], margins, 4, "first").tolist() == [0]


@law
@given(rows_of(INSIDE))
def test_closed_forms_equal_their_twins(case: tuple[int, Floats]) -> None:
    n, row = case
    np.testing.assert_allclose(pkpd(row[None], n)[0], twins.price_and_others(row, n), atol=1e-12)
    np.testing.assert_allclose(non_dominance(row[None], n)[0], twins.non_dominance(row, n), atol=1e-12)


@settings(law, max_examples=30)
@given(rows_of(st.floats(0.1, 0.9), most=5), st.data())
def test_likelihood_fit_equals_the_papers_sweeps(case: tuple[int, Floats], data: st.DataObject) -> None:
    n, row = case
    unequal = st.lists(st.floats(0.5, 2.0), min_size=row.size, max_size=row.size)
    weights = data.draw(st.one_of(st.none(), unequal))
    slow = twins.hastie_and_tibshirani(row, n, weights or [1.0] * row.size, 1500)
    for max_iter in (0, 20, 5000):  # Newton's method alone, both, sweeps alone
        found = hastie_tibshirani(row[None], n, weights=weights, max_iter=max_iter)[0]
        np.testing.assert_allclose(found, slow, atol=1e-9)


@settings(law, max_examples=30)
@given(rows_of(st.floats(0.05, 0.95), most=5))
def test_quadratic_fit_equals_the_papers_iteration(case: tuple[int, Floats]) -> None:
    n, row = case
    np.testing.assert_allclose(wu_lin_weng(row[None], n)[0], twins.wu_and_others(row, n, 1e-14, 3000), atol=1e-9)


@every_coupling
@law
@given(case=rows_of(ANY_PROBABILITY))
def test_couplings_are_distributions(couple: Coupling, case: tuple[int, Floats]) -> None:
    n, row = case
    found = couple(row[None], n)
    assert found.shape == (1, n)
    assert ((found >= 0) & (found <= 1)).all()
    assert abs(found.sum() - 1) < 1e-12


@pytest.mark.parametrize("couple", [*COUPLINGS, non_dominance], ids=lambda f: f.__name__)
@law
@given(case=rows_of(INSIDE), data=st.data())
def test_relabelled_classes_keep_their_probabilities(
    couple: Coupling, case: tuple[int, Floats], data: st.DataObject
) -> None:
    n, row = case
    order = data.draw(st.permutations(range(n)))
    other = twins.relabelled(row, n, order, probabilities=True)
    np.testing.assert_allclose(couple(other[None], n)[0], couple(row[None], n)[0][order], atol=1e-8)


@law
@given(rows_of(st.floats(-9, 9).filter(bool)), st.data())
def test_relabelled_classes_keep_their_scores(case: tuple[int, Floats], data: st.DataObject) -> None:
    n, row = case
    order = data.draw(st.permutations(range(n)))
    other = twins.relabelled(row, n, order, probabilities=False)
    assert (vote_scores(other[None], n)[0] == vote_scores(row[None], n)[0][order]).all()
    np.testing.assert_allclose(weighted_vote(other[None], n)[0], weighted_vote(row[None], n)[0][order], atol=1e-12)
    mirrored = probabilities_of(other[None])[0]
    np.testing.assert_allclose(
        mirrored, twins.relabelled(probabilities_of(row[None])[0], n, order, probabilities=True), atol=1e-15
    )


@every_coupling
@law
@given(shares=st.lists(st.floats(1e-3, 1.0), min_size=2, max_size=12))
def test_true_probabilities_give_back_p(couple: Coupling, shares: list[float]) -> None:
    p = np.array(shares) / sum(shares)
    np.testing.assert_allclose(couple(pair_probabilities(p)[None], p.size)[0], p, atol=1e-8)


@every_coupling
@law
@given(r=ANY_PROBABILITY)
def test_two_classes_need_no_coupling(couple: Coupling, r: float) -> None:
    np.testing.assert_allclose(couple([[r]], 2), [[r, 1 - r]], atol=1e-15)


def test_couplings_differ_where_no_p_explains_r() -> None:
    """Negative control: recovery and equality with twins would not survive one method in another's place."""
    row = [[0.9, 0.4, 0.7]]
    found = [couple(row, 3)[0] for couple in COUPLINGS]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(found[a] - found[b]).max() > 1e-3


@settings(law, max_examples=25)
@given(rows_of(INSIDE, most=5))
def test_quadratic_fit_is_the_minimum(case: tuple[int, Floats]) -> None:
    n, row = case
    found = wu_lin_weng(row[None], n)[0]
    least = twins.quadratic(row, n, found)
    searched = minimize(
        lambda p: twins.quadratic(row, n, p),
        np.full(n, 1 / n),
        method="SLSQP",
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert least <= searched.fun + 1e-9
    np.testing.assert_allclose(found, searched.x, atol=1e-4)
    moved = found + 0.01 * (np.arange(n) == 0) - 0.01 * (np.arange(n) == 1)
    assert twins.quadratic(row, n, moved) > least  # negative control: not every p is as good


def sweep_once(row: Floats, n: int, p: Floats) -> float:
    weights = np.ones((n, n)) - np.eye(n)
    wins = np.array(twins.square(row, n)).sum(axis=1)
    return float(sweep_classes(wins, weights, weights.sum(axis=1), p, np.empty(n)))


@law
@given(rows_of(INSIDE))
def test_a_sweep_is_the_papers_sweep(case: tuple[int, Floats]) -> None:
    n, row = case
    p = np.full(n, 1 / n)
    for sweeps in (1, 2, 3):
        sweep_once(row, n, p)
        np.testing.assert_allclose(p, twins.hastie_and_tibshirani(row, n, [1.0] * row.size, sweeps), atol=1e-12)


@law
@given(rows_of(INSIDE, least=3), st.lists(st.floats(0.01, 1.0), min_size=7, max_size=7))
def test_each_sweep_lowers_the_divergence(case: tuple[int, Floats], start: list[float]) -> None:
    n, row = case
    p = np.array(start[:n]) / sum(start[:n])
    weights = np.ones(row.size)
    before = twins.divergence(row, weights, p)
    for _ in range(12):
        gap = sweep_once(row, n, p)
        after = twins.divergence(row, weights, p)
        assert after <= before + 1e-13
        if gap > 1e-5:
            assert after < before
        before = after
    assert twins.divergence(row, weights, hastie_tibshirani(row[None], n)[0]) <= before + 1e-13


def test_a_sweep_the_wrong_way_round_raises_the_divergence() -> None:
    """Negative control: the divergence of the laws above notices a step away from the fit."""
    row, p = np.array([0.8, 0.3, 0.6]), np.full(3, 1 / 3)
    better = p.copy()
    sweep_once(row, 3, better)
    worse = p * p / better
    weights = np.ones(3)
    assert twins.divergence(row, weights, worse / worse.sum()) > twins.divergence(row, weights, p)
    assert twins.divergence(row, weights, better) < twins.divergence(row, weights, p)


@law
@given(rows_of(INSIDE, least=3))
def test_likelihood_fit_is_ordered_as_the_sums(case: tuple[int, Floats]) -> None:
    n, row = case
    sums = np.array(twins.square(row, n)).sum(axis=1)
    order = np.argsort(sums)
    assume(np.diff(sums[order]).min() > 1e-6)  # closer than that, both orders are within tol
    assert (np.diff(hastie_tibshirani(row[None], n)[0][order]) > 0).all()


def made_dominant(row: Floats, n: int) -> Floats:
    """Return the row with class 0 at least as good as class 1 against everybody, and not beaten by it."""
    r = row.copy()
    zero, one = slice(1, n - 1), slice(n - 1, 2 * n - 3)  # pairs (0, s) and (1, s) for s = 2, 3, ...
    r[0] = max(row[0], 1 - row[0])
    r[zero], r[one] = np.maximum(row[zero], row[one]), np.minimum(row[zero], row[one])
    return r


@pytest.mark.parametrize("couple", [hastie_tibshirani, pkpd, non_dominance], ids=lambda f: f.__name__)
@law
@given(case=rows_of(INSIDE, least=3))
def test_a_dominating_class_is_not_placed_lower(couple: Coupling, case: tuple[int, Floats]) -> None:
    n, row = case
    found = couple(made_dominant(row, n)[None], n)[0]
    assert found[0] >= found[1] - 1e-9


def test_the_quadratic_fit_may_place_it_lower() -> None:
    """The known exception, which is also the negative control of the law above."""
    row = np.array([0.505, 1.0, 0.014, 0.642, 0.01, 0.721])
    assert (made_dominant(row, 4) == row).all()
    found = wu_lin_weng(row[None], 4)[0]
    assert found[0] < found[1] - 0.005


@law
@given(rows_of(ANY_PROBABILITY))
def test_unbeaten_classes_have_non_dominance_one(case: tuple[int, Floats]) -> None:
    n, row = case
    scores = non_dominance(row[None], n)[0]
    assert ((scores >= 0) & (scores <= 1)).all()
    r = np.array(twins.square(row, n)) + np.eye(n)
    assert ((scores == 1) == (r.min(axis=1) >= 0.5)).all()
