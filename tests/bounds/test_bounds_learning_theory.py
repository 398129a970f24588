"""The learning-theory calculators: published figures, readings, vacuity and what they need."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pairsim.bounds import n_required, perceptron_update_bound, sbc_risk_bound, tree_risk_bound
from pairsim.errors import ParameterError


@pytest.mark.parametrize(("m", "plain", "best"), [(135, 224, 71.6), (5000, 156, 19.2), (10**6, 66, 2.1)])
def test_sbc_bound_at_known_points(m: int, plain: float, best: float) -> None:
    found = sbc_risk_bound(m, 3, 1.0, math.sqrt(m))
    assert math.isclose(found.value, plain, rel_tol=0.01)
    assert found.vacuous
    assert found.note.startswith("vacuous: ")
    assert math.isclose(sbc_risk_bound(m, 3, m**0.25, math.sqrt(m)).value, best, rel_tol=0.01)


def test_sbc_terms_add_up_and_the_norm_divides_the_margin() -> None:
    found = sbc_risk_bound(10**9, 4, 2.0, 3.0, kernels=2, delta=0.01, margin_error=0.1, norm=4.0)
    inner = 2.0 + found.terms["margin"] + found.terms["confidence"] + found.terms["kernels"]
    assert math.isclose(found.value, 0.4 + 4 * math.sqrt(8 / 10**9 * inner))
    assert found.value == sbc_risk_bound(10**9, 4, 0.5, 3.0, kernels=2, delta=0.01, margin_error=0.1).value
    assert not found.vacuous
    assert found.note == ""


def test_sbc_negative_logarithm_is_clamped_and_said() -> None:
    found = sbc_risk_bound(2, 3, 0.01, 100.0)
    assert found.terms["margin"] == 0.0
    assert "taken as 0" in found.note


def test_tree_readings_differ_by_scale_alone() -> None:
    plain = tree_risk_bound(1000, [0.1, 0.2], 1.0)
    scaled = tree_risk_bound(1000, [0.3, 0.6], 3.0)
    printed = tree_risk_bound(1000, [0.3, 0.6], 3.0, reading="printed")
    assert math.isclose(plain.value, scaled.value)
    assert math.isclose(printed.value - scaled.value, 130 / 1000 * 8 * scaled.terms["count"])
    assert plain.value == tree_risk_bound(1000, [0.1, 0.2], 1.0, reading="printed").value


def test_tree_formula_and_inseparable_nodes() -> None:
    n, delta = 500, 0.1
    count = math.log(2 * (2 * n) ** 3 / delta)
    value = 130 / n * (3 / 0.25 * math.log(4 * math.e * n) * math.log(4 * n) + count)
    assert math.isclose(tree_risk_bound(n, [0.5] * 3, 1.0, delta=delta).value, value)
    found = tree_risk_bound(n, [0.5, 0.0], 1.0)
    assert math.isinf(found.value)
    assert found.vacuous
    assert "does not separate" in found.note


def test_examples_required_are_a_border() -> None:
    cases = [
        (lambda n: tree_risk_bound(n, [1.0] * 2, 1.0), 4.5e4),
        (lambda n: tree_risk_bound(n, [0.1] * 2, 1.0), 8.3e6),
        (lambda n: tree_risk_bound(n, [1.0] * 10, 1.0), 2.9e5),
        (lambda m: sbc_risk_bound(m, 3, 1.0, 1.0), 5.6e6),
        (lambda m: sbc_risk_bound(m, 3, 1.0, math.sqrt(m)), 6.6e14),
    ]
    for risk_at, published in cases:
        enough = n_required(risk_at)
        assert math.isclose(enough, published, rel_tol=0.05)
        assert not risk_at(enough).vacuous
        assert risk_at(enough - 1).vacuous
    assert n_required(cases[0][0], 0.5) > n_required(cases[0][0])


def test_examples_required_of_a_hopeless_bound_are_refused() -> None:
    with pytest.raises(ParameterError, match="falls below 1"):
        n_required(lambda n: tree_risk_bound(n, [0.0], 1.0))


def run_perceptron(inputs: np.ndarray, labels: np.ndarray, step: float, margin: float) -> int:
    """Return the number of updates of the vector perceptron before it halts."""
    weights = np.zeros((labels.shape[1], inputs.shape[1]))
    updates = 0
    while True:
        before = updates
        for x, y in zip(inputs, labels, strict=True):
            if y @ weights @ x < margin:
                weights += step * np.outer(y, x)
                updates += 1
        if updates == before:
            return updates


@pytest.mark.parametrize(("step", "margin"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.2), (3.0, 0.01)])
def test_perceptron_halts_within_its_bound(step: float, margin: float) -> None:
    rng = np.random.default_rng(11)
    truth = rng.normal(size=(3, 4))
    inputs = rng.normal(size=(60, 4))
    labels = np.eye(3)[(inputs @ truth.T).argmax(axis=1)]
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    values = np.einsum("ij,jk,ik->i", labels, truth, inputs)
    kept = values > 0.3
    witness = truth / values[kept].min()  # reaches margin 1 on all that is kept
    updates = run_perceptron(inputs[kept], labels[kept], step, margin)
    found = perceptron_update_bound(float((witness**2).sum()), step=step, margin=margin)
    assert 0 < updates <= found.value
    assert updates > found.value / 2000  # negative control: a bound of the wrong order would be refuted


def test_perceptron_bound_is_the_papers_at_its_own_setting() -> None:
    assert perceptron_update_bound(7.0).value == 21.0
    assert perceptron_update_bound(7.0, step=2.0, margin=3.0).value == 28.0


def test_perceptron_vacuity() -> None:
    assert perceptron_update_bound(math.inf).vacuous
    assert perceptron_update_bound(10.0, presentations=30).vacuous
    assert not perceptron_update_bound(10.0, presentations=31).vacuous


@pytest.mark.parametrize(
    "call",
    [
        lambda: sbc_risk_bound(0, 3, 1.0, 1.0),
        lambda: sbc_risk_bound(10, 3, 0.0, 1.0),
        lambda: sbc_risk_bound(10, 3, 1.0, 1.0, margin_error=1.5),
        lambda: sbc_risk_bound(10, 3, 1.0, 1.0, delta=1.0),
        lambda: tree_risk_bound(10, [], 1.0),
        lambda: tree_risk_bound(10, [-1.0], 1.0),
        lambda: tree_risk_bound(10, [1.0], 1.0, reading="loose"),
        lambda: perceptron_update_bound(0.0),
        lambda: perceptron_update_bound(1.0, largest=1.1),
        lambda: perceptron_update_bound(1.0, step=math.nan),
    ],
)
def test_unmet_assumptions_are_refused(call: object) -> None:
    with pytest.raises(ParameterError, match=r"^The '\w+' parameter of \w+ must be .* instead\.$"):
        call()  # type: ignore[operator]
