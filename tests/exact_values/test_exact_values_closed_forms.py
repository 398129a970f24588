"""The closed forms of ddag and adag: to the last digits at any size, and equal to the dynamic programmes."""

from __future__ import annotations

import decimal
import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labels import told_apart

from pairsim import Adag, Ddag, Matrix, Similarity, Uniform
from pairsim.exact_values import brackets, closed_forms, exact, random_orders

CLOSE = 4e-15  # relative
SIZES = (2, 3, 4, 5, 7, 16, 17, 1000, 2**20, 2**20 + 1, 10**9)
PROBABILITIES = (
    *(2.0**-1000, 1e-9, 0.1, 0.25, 0.5, 0.7, 0.9, 0.99),
    *(1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 2.0**-52, math.nextafter(1, 0)),
)


def power(p: Decimal, games: int) -> Decimal:
    result: Decimal = (games * p.ln()).exp() if games > 10_000 else p**games
    return result


def ddag_success(n: int, p: Decimal) -> Decimal:
    """Return (p + p^2 + ... + p^(n-1) + p^(n-1)) / n."""
    last = power(p, n - 1)
    return (p * (1 - last) / (1 - p) + last) / n


def adag_success(n: int, p: Decimal) -> Decimal:
    """Average p^games over the places: L = ceil(log2 n) games, or one fewer, as the bracket has n leaves."""
    games = (n - 1).bit_length()
    short = 2**games - n
    total: Decimal = (n - short) * power(p, games) + short * power(p, games - 1)
    return total / n


FORMS = {"ddag": (Ddag(), ddag_success), "adag": (Adag(), adag_success)}


def is_close(found: float, wanted: Decimal) -> bool:
    return math.isclose(found, float(wanted), rel_tol=CLOSE, abs_tol=1e-300)


def keeps_its_digits(name: str, n: int, p: float) -> bool:
    decoder, form = FORMS[name]
    with decimal.localcontext(prec=120):
        success = form(n, Decimal(p))
        found = exact(Uniform(n, p), decoder)
        return is_close(found.success, success) and is_close(found.failure, 1 - success)


@pytest.mark.parametrize("name", sorted(FORMS))
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("p", PROBABILITIES)
def test_closed_forms_keep_their_digits(name: str, n: int, p: float) -> None:
    assert keeps_its_digits(name, n, p)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.sampled_from(sorted(FORMS)),
    st.one_of(st.integers(2, 100), st.integers(2, 10**9)),
    st.one_of(st.floats(1e-300, 1, exclude_max=True), st.floats(0, 40).map(lambda x: 1 - 2.0**-x / 3)),
)
def test_closed_forms_keep_their_digits_anywhere(name: str, n: int, p: float) -> None:
    assert keeps_its_digits(name, n, p)


def test_the_plain_formula_would_lose_them() -> None:
    """Negative control: the printed form, evaluated as it stands, fails the same comparison."""
    n, p = 1000, 1 - 2.0**-40
    error = 1 - p
    plain = ((1 - error) / error + (1 - error) ** (n - 1) - (1 - error) ** n / error) / n
    with decimal.localcontext(prec=120):
        success = ddag_success(n, Decimal(p))
        assert not is_close(1 - plain, 1 - success)
        assert not is_close(exact(Uniform(n, p), Ddag()).failure, success)


@pytest.mark.parametrize("decoder", [Ddag(), Adag(), Ddag("given"), Adag("given")], ids=lambda decoder: decoder.spec)
@pytest.mark.parametrize("n", [2, 3, 10**9])
def test_certain_answers(decoder: Ddag | Adag, n: int) -> None:
    right = exact(Uniform(n, 1.0), decoder)
    wrong = exact(Uniform(n, 0.0), decoder)
    assert (right.success, right.failure) == (1.0, 0.0)
    assert (wrong.success, wrong.failure) == (0.0, 1.0)
    assert (right.queries, right.distinct, right.rounds) == (n - 1, n - 1, decoder.cost(n).rounds)


@pytest.mark.parametrize("n", range(2, 15))
@pytest.mark.parametrize("p", [0.0, 0.3, 0.9, 1 - 2.0**-40, 1.0])
def test_dynamic_programmes_meet_the_closed_forms(n: int, p: float) -> None:
    oracle = Uniform(n, p)
    probabilities = oracle.matrix()
    # the true class plays its own games only: what the others answer among themselves does not matter
    probabilities[1:, 1:] = np.triu(np.random.default_rng(n).random((n - 1, n - 1)), 1)
    probabilities[1:, 1:] += np.tril(1 - probabilities[1:, 1:].T, -1)
    games = (n - 1).bit_length()
    pairs = [
        (random_orders.ddag_random_order(probabilities), closed_forms.ddag_random_order(n, p)),
        (random_orders.adag_random_order(probabilities), closed_forms.adag_random_order(n, p)),
        (brackets.ddag_given_order(Matrix(probabilities).probabilities()), closed_forms.win_all(p, n - 1)),
        (brackets.adag_given_order(Matrix(probabilities).probabilities()), closed_forms.win_all(p, games)),
    ]
    for found, wanted in pairs:
        assert found == pytest.approx(wanted, rel=2e-14, abs=1e-300)


def test_dynamic_programmes_tell_places_apart() -> None:
    """Negative control: with unequal probabilities the closed form of their mean is wrong."""
    probabilities = Uniform(6, 0.9).matrix()
    probabilities[0, 1], probabilities[1, 0] = 0.5, 0.5
    mean = probabilities[0, 1:].mean()
    assert random_orders.ddag_random_order(probabilities)[0] != pytest.approx(
        closed_forms.ddag_random_order(6, mean)[0]
    )
    assert random_orders.adag_random_order(probabilities)[0] != pytest.approx(
        closed_forms.adag_random_order(6, mean)[0]
    )


def test_a_constant_row_has_the_closed_form_under_any_name() -> None:
    similar = Similarity.profile("uniform-rest:0.25", 5000)
    p = float(similar.r[0] / (similar.r[0] + similar.r[1]))
    for decoder in (Ddag(), Adag(), Ddag("given"), Adag("given")):
        found = exact(similar, decoder)
        assert found == exact(told_apart(Uniform(5000, p), decoder), decoder)
        assert found.how == "closed form"
    for kind in (Ddag, Adag):  # by the numbers of a uniform oracle, any order is a random one
        assert exact(Uniform(5000, p), kind("given")).success == exact(similar, kind()).success


def test_large_brackets() -> None:
    """2,000 classes in given order: both probabilities add up, and equal ones give the power of the rounds."""
    oracle = Matrix(Similarity.profile("zipf:1.0", 2000).matrix())
    found = exact(oracle, Adag("given"))
    assert found.how == "bracket dynamic programming"
    assert found.success + found.failure == pytest.approx(1.0, rel=1e-13)
    assert brackets.adag_given_order(Uniform(2000, 0.9).probabilities()) == pytest.approx(
        closed_forms.win_all(0.9, 11), rel=1e-13
    )
    ddag = exact(oracle, Ddag("given"))
    assert ddag.success == pytest.approx(math.prod(oracle.matrix()[0, 1:].tolist()), rel=1e-13)


def test_random_orders_do_not_look_at_class_numbers() -> None:
    probabilities = Similarity.profile("zipf:1.0", 8).matrix()
    for solve in (random_orders.ddag_random_order, random_orders.adag_random_order):
        found = {round(solve(probabilities[np.ix_(order, order)])[0], 13) for order in relabellings(8)}
        assert len(found) == 1


def relabellings(n: int) -> list[list[int]]:
    """Return some orders of the classes with class 0 in its place."""
    rest = list(range(1, n))
    return [[0, *order] for order in itertools.islice(itertools.permutations(rest), 0, 5040, 997)]
