"""Calculators of the papers' remaining bounds: tree costs, PAC-Bayes, sparsity and the condition of consistency."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from pairsim.bounds import (
    TheoryBound,
    cutting_plane_cost,
    cutting_plane_steps,
    n_required,
    pac_bayes_bound,
    perceptron_update_bound,
    sbc_consistency,
    sbc_risk_bound,
    sparsity_risk_bound,
    tree_training_cost,
)
from pairsim.errors import ParameterError
from pairsim.learn.trees.cutting_planes import Clustering, convex_step

# costs of trees


def naive_tree_cost(classes: int, split: str) -> float:
    """Return the sum over nodes of the classes that they hold, by recursion."""
    if classes == 1:
        return 0.0
    left = classes // 2 if split == "balanced" else 1
    return classes + naive_tree_cost(left, split) + naive_tree_cost(classes - left, split)


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 100])
def test_tree_costs_are_those_of_the_trees_themselves(classes: int) -> None:
    n = 60 * classes
    found, printed = tree_training_cost(n, classes, unit=0.5), tree_training_cost(n, classes, unit=0.5, printed=True)
    assert found.terms["balanced"] == pytest.approx(0.5 * 60 * naive_tree_cost(classes, "balanced"))
    assert found.terms["caterpillar"] == pytest.approx(0.5 * 60 * naive_tree_cost(classes, "caterpillar"))
    assert found.terms["balanced"] <= found.value + 1e-9 <= printed.value + 2e-9
    assert found.value == math.ceil(math.log2(classes)) * 0.5 * n
    assert printed.value == (math.floor(math.log2(classes) - 1) + 2) * 0.5 * n
    is_power = classes & (classes - 1) == 0
    assert printed.value - found.value == (0.5 * n if is_power else 0.0)  # one level too many


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5), nonzeros=st.integers(1, 9))
def test_a_step_looks_at_every_output_and_every_pair(sizes: list[int], nonzeros: int) -> None:
    labels = [label for label, size in enumerate(sizes) for _ in range(size)]
    pairs = sum(a == b for i, a in enumerate(labels) for b in labels[:i])
    found = cutting_plane_cost(sizes, nonzeros)
    assert found.value == len(labels) * nonzeros + pairs
    assert cutting_plane_cost(sizes, nonzeros, printed=True).value == len(labels) * nonzeros


def test_steps_square_the_norm_and_the_print_does_not() -> None:
    assert cutting_plane_steps(0.5, 0.01, 3.0).value == 4.0  # 2 / epsilon is the larger one
    assert cutting_plane_steps(0.01, 2.0, 3.0).value == pytest.approx(8 * 2 * 9 / 1e-4)
    assert cutting_plane_steps(0.01, 2.0, 3.0, printed=True).value == pytest.approx(8 * 2 * 3 / 1e-4)
    one = cutting_plane_steps(0.01, 2.0, 1.0)
    assert one.value == cutting_plane_steps(0.01, 2.0, 1.0, printed=True).value


def test_cutting_planes_of_the_hinge_take_no_more_steps_than_the_theorem() -> None:
    rng = np.random.default_rng(0)
    rows, penalty = rng.standard_normal((40, 3)), 5.0
    problem = Clustering(rows, np.arange(41), penalty / 40, 1e-9, "corrected")  # classes of one: no pairs
    normal, intercept = rng.standard_normal(3), 0.1
    step = convex_step(problem, normal, intercept, tolerance=1e-3)
    signs = np.where(problem.outputs(normal, intercept) >= 0, 1, -1)
    extended = np.hstack([rows, np.ones((40, 1))])
    norm = float(np.linalg.norm(np.abs(signs[:, None] * extended).sum(0))) / 40  # no plane is longer
    bound = cutting_plane_steps(1e-3 * step.value / penalty, penalty, norm)
    assert len(step.lower_bounds) <= bound.value


# PAC-Bayes


def test_pac_bayes_by_hand_and_its_terms() -> None:
    found = pac_bayes_bound(10_000, 5, 3.0, margin_error=0.02, difference=1.5, delta=0.01)
    divergence = 2.25 * 9 * math.log(50_000 / 9)
    expected = 0.02 + 9e-4 + math.sqrt((divergence + math.log(1e6)) / (2 * 9999))
    assert found.value == pytest.approx(expected)
    assert not found.vacuous
    assert pac_bayes_bound(10_000, 5, 3.0, margin_error=0.02, difference=1.5, delta=0.01, deterministic=True).value == (
        pytest.approx(2 * expected)
    )


def test_noise_of_the_derivation_upsets_a_margin_as_rarely_as_it_says() -> None:
    rng = np.random.default_rng(1)
    m, c, squared = 50, 4, 9.0
    scale = math.sqrt(2.0) * math.sqrt(2 * math.log(c * m / squared))
    outputs = scale * np.array([1.0, 0.0, 0.0, 0.0])  # the right class one above all others
    wrong = (outputs + rng.standard_normal((200_000, c))).argmax(axis=1) != 0  # a distance of sqrt(2) between blocks
    assert 0.0 < wrong.mean() <= squared / m
    assert (0.2 * outputs + rng.standard_normal((200_000, c))).argmax(axis=1).astype(bool).mean() > squared / m


@settings(max_examples=60)
@given(m=st.integers(100, 10**7), norm=st.floats(0.5, 4.0), c=st.integers(2, 1000))
def test_pac_bayes_falls_with_examples_and_rises_with_the_logarithm_of_classes(m: int, norm: float, c: int) -> None:
    here = pac_bayes_bound(m, c, norm).value
    assert pac_bayes_bound(2 * m, c, norm).value < here
    assert here < pac_bayes_bound(m, 2 * c, norm).value
    assert pac_bayes_bound(m, c * c, norm).value < 2 * here  # a logarithm in c
    assert pac_bayes_bound(m, c, 1.1 * norm).value > here


def test_pac_bayes_is_tighter_than_lemma_4_1_and_says_when_it_says_nothing() -> None:
    m, c = 5000, 3
    assert pac_bayes_bound(m, c, 5.0).value < sbc_risk_bound(m, c, 1.0, 1.0, kernels=1, norm=5.0).value
    assert pac_bayes_bound(150, 3, 8.0).vacuous
    beyond = pac_bayes_bound(10, 2, 100.0)
    assert beyond.vacuous
    assert math.isinf(beyond.value)
    assert "out of the range" in beyond.note
    assert n_required(lambda n: pac_bayes_bound(max(n, 4), 3, 2.0)) < 200


# sparsity


@pytest.mark.parametrize(("m", "d"), [(10, 0), (100, 3), (100, 97), (5000, 2500)])
def test_sparsity_by_hand(m: int, d: int) -> None:
    spent = math.log(math.comb(m, d)) + math.log(m) + math.log(20)
    assert sparsity_risk_bound(m, d).value == pytest.approx(spent / (m - d))
    with_errors = 2 / (m - d) + math.sqrt(spent / (2 * (m - d)))
    assert sparsity_risk_bound(m, d, errors=2).value == pytest.approx(with_errors)


def test_sparsity_covers_all_sizes_and_subsets_with_its_confidence() -> None:
    m, delta = 60, 0.05

    def missed(part: float) -> float:
        """Bound the probability that some set of examples passes with a risk above this part of its bound."""
        risks = [min(1.0, part * sparsity_risk_bound(m, d, delta=delta).value) for d in range(m)]
        return sum(math.comb(m, d) * (1.0 - risk) ** (m - d) for d, risk in enumerate(risks))

    assert missed(1.0) <= delta
    assert missed(0.7) > delta  # the negative control


def test_a_perceptron_is_bounded_by_its_updates() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(20):
        X = rng.standard_normal((300, 2))
        X = X[np.abs(X[:, 0]) > 0.3][:200]
        X /= np.linalg.norm(X, axis=1)[:, None] * 1.0
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        w, updated, clean = np.zeros(2), set[int](), False
        while not clean:
            clean = True
            for i in range(len(X)):
                if y[i] * (w @ X[i]) <= 0:
                    w, clean = w + y[i] * X[i], False
                    updated.add(i)
        fresh = rng.standard_normal((4000, 2))
        fresh = fresh[np.abs(fresh[:, 0]) > 0.3]
        risk = float((np.sign(fresh @ w) != np.sign(fresh[:, 0])).mean())
        held += risk <= sparsity_risk_bound(len(X), len(updated)).value
    assert held == 20
    updates = perceptron_update_bound(5.0).value  # 15, at most: so few examples determine the classifier
    assert not sparsity_risk_bound(1000, int(updates)).vacuous
    assert sparsity_risk_bound(20, int(updates)).vacuous


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sparsity_risk_bound(10, 10), "d"),
        (lambda: sparsity_risk_bound(10, 3, errors=8), "errors"),
        (lambda: sparsity_risk_bound(10, 3, delta=1.0), "delta"),
        (lambda: pac_bayes_bound(3, 3, 1.0), "m"),
        (lambda: pac_bayes_bound(10, 3, 0.0), "norm"),
        (lambda: pac_bayes_bound(10, 3, 1.0, margin_error=1.5), "margin_error"),
        (lambda: cutting_plane_cost([], 3), "class_sizes"),
        (lambda: cutting_plane_cost([3, 0], 3), "class_sizes"),
        (lambda: cutting_plane_steps(0.0, 1.0, 1.0), "epsilon"),
        (lambda: tree_training_cost(10, 1), "classes"),
        (lambda: sbc_consistency([[0.5, 0.6]]), "probabilities"),
        (lambda: sbc_consistency([[1.0]]), "probabilities"),
        (lambda: sbc_consistency([[1.5, -0.5]]), "probabilities"),
        (lambda: sbc_consistency([[math.nan, 1.0]]), "probabilities"),
    ],
)
def test_what_cannot_be_used_is_refused(call: object, name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of"):
        call()  # type: ignore[operator]


def test_bounds_are_of_one_kind() -> None:
    for found in (tree_training_cost(9, 3), cutting_plane_steps(1, 1, 1), pac_bayes_bound(99, 3, 1.0)):
        assert isinstance(found, TheoryBound)


# the condition of consistency


def least_loss(labels: np.ndarray, classes: int) -> np.ndarray:
    """Return outputs f that minimise the mean single-binary loss of examples at one point, as a linear program."""
    count = len(labels)
    replicas = [(i, r, 1.0 if labels[i] == r else -1.0) for i in range(count) for r in range(classes)]
    cost = np.concatenate([np.zeros(classes), np.ones(len(replicas))])
    matrix = np.zeros((len(replicas), len(cost)))
    for place, (_, r, sign) in enumerate(replicas):
        matrix[place, r], matrix[place, classes + place] = -sign, -1.0  # 1 - sign f_r <= slack
    limits = [(-5.0, 5.0)] * classes + [(0.0, None)] * len(replicas)
    found: np.ndarray = linprog(cost, A_ub=matrix, b_ub=-np.ones(len(replicas)), bounds=limits).x[:classes]
    return found


def draw(probabilities: list[float], count: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(len(probabilities), size=count, p=probabilities)


def test_minimising_the_loss_finds_the_likeliest_class_where_the_lemma_says_so() -> None:
    rng = np.random.default_rng(0)
    points = [[0.62, 0.2, 0.18], [0.1, 0.7, 0.2], [0.15, 0.2, 0.65]]
    found = sbc_consistency(points)
    assert found.consistent
    assert found.least == 0.62
    for row, expected in zip(points, found.outputs, strict=True):
        outputs = least_loss(draw(row, 200, rng), 3)
        assert outputs == pytest.approx(expected)
        assert outputs.argmax() == np.argmax(row)
        assert np.sort(outputs)[-2] < outputs.max()  # and no other class is as high


def test_it_fails_where_no_class_has_more_than_a_half() -> None:
    rng = np.random.default_rng(1)
    points = [[0.9, 0.05, 0.05], [0.3, 0.4, 0.3]]
    found = sbc_consistency(points)
    assert not found.consistent
    assert found.failing.tolist() == [1]
    outputs = least_loss(draw(points[1], 200, rng), 3)
    assert outputs == pytest.approx([-1.0, -1.0, -1.0])  # all tied: the first class is named, not the likeliest one
    assert outputs.round(9).argmax() != np.argmax(points[1])
    assert least_loss(draw(points[0], 200, rng), 3).argmax() == 0


@settings(max_examples=60)
@given(weights=st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any), min_size=1, max_size=4))
def test_the_outputs_minimise_the_expected_loss(weights: list[list[int]]) -> None:
    rows = np.array([np.array(row) / sum(row) for row in weights])
    found = sbc_consistency(rows)
    assert found.consistent == all(max(row) > sum(row) / 2 for row in weights)
    grid = np.linspace(-2, 2, 81)
    for q, outputs in zip(rows, found.outputs, strict=True):
        for probability, f in zip(q, outputs, strict=True):
            loss = probability * np.maximum(0, 1 - grid) + (1 - probability) * np.maximum(0, 1 + grid)
            assert probability * max(0, 1 - f) + (1 - probability) * max(0, 1 + f) <= loss.min() + 1e-12
