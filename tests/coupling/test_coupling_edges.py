"""`pairsim.coupling` at its edges: certain and infinite values, many rows, rejections, LIBSVM, no compiler."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import coupling_twins as twins
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairsim
from pairsim import coupling
from pairsim.coupling import inputs
from pairsim.coupling.compiled.likelihood import finish_row
from pairsim.coupling.compiled.linear import solve_positive
from pairsim.errors import ParameterError

COUPLINGS = ["hastie_tibshirani", "wu_lin_weng", "pkpd"]
OF_PROBABILITIES = [*COUPLINGS, "non_dominance"]
OF_MARGINS = ["vote_scores", "weighted_vote"]
INF = math.inf
law = settings(derandomize=True, deadline=None, max_examples=60)

# What LIBSVM (through scikit-learn 1.9) gave for two points of a four-class problem: margins, sigmoids, probabilities.
A = [
    -0.9386882228158951,
    -1.0277486244408611,
    -1.3854390596230461,
    -1.6129050755318077,
    -0.87493287023706,
    -1.552615494680227,
]
B = [
    0.18769955192588747,
    -0.05819909327009353,
    0.13183347787038568,
    -0.14005552925637477,
    -0.01706278267369475,
    0.05661745414340909,
]
MARGINS = [
    [
        1.029644646256864,
        0.8312580723797482,
        1.1204696053947205,
        0.39661063825483894,
        1.0611509995168469,
        0.3920202140447696,
    ],
    [
        0.7982470210011987,
        -1.172138771560096,
        0.517587032477156,
        -1.589394807404547,
        -0.6209980479277157,
        1.4608053957007203,
    ],
]
LIBSVM = [
    [0.48320866781725885, 0.25050545041368205, 0.1608032524274424, 0.10548262934161688],
    [0.18805111517866505, 0.06946452881154952, 0.6550974373653101, 0.08738691864447537],
]


def test_libsvm_stops_early_and_the_exact_solution_is_near() -> None:
    r = coupling.probabilities_of(MARGINS, A, B)
    stopped = [twins.wu_and_others(row, 4, 0.005 / 4, 100) for row in r]
    np.testing.assert_allclose(stopped, LIBSVM, atol=1e-12)
    exact = coupling.wu_lin_weng(r, 4)
    assert 1e-6 < np.abs(exact - LIBSVM).max() < 0.005
    assert np.abs(coupling.pkpd(r, 4) - LIBSVM).max() > 0.005  # negative control: another method is not as near


def test_libsvm_live() -> None:
    svm = pytest.importorskip("sklearn.svm")
    rng = np.random.default_rng(5)
    labels = np.arange(150) % 5
    points = rng.normal(size=(150, 2)) + 1.5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 2]])[labels]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # scikit-learn is about to drop these probabilities
        model = svm.SVC(probability=True, random_state=0, decision_function_shape="ovo").fit(points, labels)
        theirs = model.predict_proba(points)
        r = coupling.probabilities_of(model.decision_function(points), model.probA_, model.probB_)
    np.testing.assert_allclose([twins.wu_and_others(row, 5, 0.005 / 5, 100) for row in r], theirs, atol=1e-9)
    assert np.abs(coupling.wu_lin_weng(r, 5) - theirs).max() < 0.01


@pytest.mark.parametrize("name", COUPLINGS)
@law
@given(data=st.data(), n=st.integers(3, 8))
def test_certain_probabilities_are_relabelled_too(name: str, data: st.DataObject, n: int) -> None:
    pairs = n * (n - 1) // 2
    row = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 0.5, 0.25]), min_size=pairs, max_size=pairs)))
    order = data.draw(st.permutations(range(n)))
    couple = getattr(coupling, name)
    found, other = couple(row[None], n)[0], couple(twins.relabelled(row, n, order, probabilities=True)[None], n)[0]
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(other, found[order], atol=1e-7)


@pytest.mark.parametrize("name", COUPLINGS)
@pytest.mark.parametrize("n", [3, 26, 100])
def test_a_certain_order_has_a_certain_winner(name: str, n: int) -> None:
    found = getattr(coupling, name)(np.ones((1, n * (n - 1) // 2)), n)[0]
    assert found[0] > 0.9999
    assert abs(found.sum() - 1) < 1e-12


@pytest.mark.parametrize("name", COUPLINGS)
def test_a_certain_cycle_has_no_winner(name: str) -> None:
    np.testing.assert_allclose(getattr(coupling, name)([[1.0, 0.0, 1.0]], 3), [[1 / 3] * 3], atol=1e-9)


def test_nearly_certain_likelihood_fits_are_fits() -> None:
    """Sweeps alone need thousands here; what Newton's method leaves must solve the equations of the fit."""
    n, rng = 26, np.random.default_rng(3)
    low, high = np.triu_indices(n, 1)
    strength = rng.normal(scale=10.0, size=(20, n))
    r = coupling.probabilities_of(strength[:, low] - strength[:, high] + rng.normal(scale=5.0, size=(20, low.size)))
    clipped = np.clip(r, 2.0**-24, 1 - 2.0**-24)
    wins = [np.array(twins.square(row, n)).sum(axis=1) for row in clipped]

    def gap(p: Any, won: Any) -> float:
        both = p[:, None] + p[None, :]
        fitted = np.divide(p[:, None], both, out=np.zeros((n, n)), where=both > 0).sum(axis=1) - 0.5
        return float(np.abs(fitted - won).max() / (n - 1))

    found = coupling.hastie_tibshirani(r, n)
    assert max(map(gap, found, wins)) < 1e-11
    assert gap(np.full(n, 1 / n), wins[0]) > 1e-2  # negative control


@pytest.mark.parametrize("n", [3, 10, 100])
def test_newton_needs_few_steps_for_a_certain_order(n: int) -> None:
    weights = np.ones((n, n)) - np.eye(n)
    r = np.triu(np.full((n, n), 1 - 2.0**-24), 1) + np.tril(np.full((n, n), 2.0**-24), -1)
    logs = np.zeros(n)
    assert finish_row(r.sum(axis=1), weights, weights.sum(axis=1), 1e-12, logs) <= 40
    # Upsets expected across a cut after k classes, k (n - k) of probability 2**-24, fall to the two classes at the cut.
    k = np.arange(1, n)
    np.testing.assert_allclose(-np.diff(logs), 24 * math.log(2) - np.log(k * (n - k)), atol=1e-3)


def test_infinite_margins_outweigh_and_cancel() -> None:
    margins = [[INF, -INF, INF, 0.5, -3.0, 7.0], [INF, 1e308, -1e200, 0.0, 2.0, -INF]]
    scores = coupling.weighted_vote(margins, 4)
    assert np.isfinite(scores).all()
    # infinite margins won less lost are 1, -1, 1, -1 in the first row, its finite sums 0, -2.5, 6.5, -4
    assert np.argsort(-scores[0]).tolist() == [2, 0, 1, 3]
    assert scores[1].argmax() == 0
    assert coupling.vote_scores(margins, 4).tolist() == [[2, 1, 2, 1], [2, 1, 1, 2]]
    r = coupling.probabilities_of([[INF, -INF, 1e308, 3.0]], A=[-1.0, -1.0, -10.0, 0.0], B=[0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(r, [[1.0, 0.0, 1.0, 1 / (1 + math.e)]])
    assert coupling.probabilities_of([[INF]], A=0.0).tolist() == [[0.5]]
    assert 0.0 < coupling.probabilities_of([[-700.0]])[0, 0] < 1e-300


def test_unnormalised_confidences_are_normalised() -> None:
    found = coupling.non_dominance([[0.2, 0.0, 0.9]], 3, against=[[0.6, 0.0, 0.1]])
    np.testing.assert_allclose(found, coupling.non_dominance([[0.25, 0.5, 0.9]], 3))
    assert np.abs(found - coupling.non_dominance([[0.2, 0.0, 0.9]], 3)).max() > 0.1


def every_result(rows: Any, n: int) -> dict[str, Any]:
    """Return what each function makes of rows of numbers in (0, 1), which are margins too."""
    found = {name: getattr(coupling, name)(rows, n) for name in [*OF_PROBABILITIES, *OF_MARGINS]}
    found["probabilities_of"] = coupling.probabilities_of(rows)
    found["non_dominance of both"] = coupling.non_dominance(rows, n, against=np.asarray(rows)[::-1])
    for rule in ("margin", "head-to-head", "first"):
        found[rule] = coupling.break_ties(np.round(coupling.pkpd(rows, n), 1), np.asarray(rows) - 0.5, n, rule)
    return found


def test_rows_do_not_know_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).random((23, 10))
    whole = every_result(rows, 5)
    monkeypatch.setattr(inputs, "CHUNK", 30)
    for name, chunked in every_result(rows, 5).items():
        assert (chunked == whole[name]).all(), name
        assert len(chunked) == 23
    strided = every_result(np.asfortranarray(np.repeat(rows, 2, axis=1))[:, ::2], 5)
    assert all((strided[name] == whole[name]).all() for name in whole)
    none = every_result(np.zeros((0, 10)), 5)
    assert all(len(found) == 0 for found in none.values())


def peak_of(work: Callable[[], object]) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_rows() -> None:
    n = 256
    margins = np.random.default_rng(2).integers(-9, 10, size=(300, n * (n - 1) // 2), dtype=np.int8)
    whole = peak_of(lambda: margins.astype(np.float64))
    assert whole > 75e6  # the measure sees what a copy of all rows as doubles costs
    for name in OF_MARGINS:
        assert peak_of(lambda name=name: getattr(coupling, name)(margins, n)) < 45e6, name  # type: ignore[misc]
    probabilities = (margins > 0).view(np.int8)
    for name in ("pkpd", "non_dominance"):
        assert peak_of(lambda name=name: getattr(coupling, name)(probabilities, n)) < 45e6, name  # type: ignore[misc]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 30, 67])
def test_the_solver_solves(n: int) -> None:
    rng = np.random.default_rng(n)
    factor = rng.normal(size=(n, n))
    matrix, vector = factor @ factor.T + np.eye(n), rng.normal(size=n)
    found = vector.copy()
    solve_positive(np.triu(matrix) + np.tril(np.full((n, n), np.nan), -1), found)  # the lower triangle is not read
    np.testing.assert_allclose(matrix @ found, vector, atol=1e-9)


@pytest.mark.parametrize("name", [*OF_PROBABILITIES, *OF_MARGINS])
@pytest.mark.parametrize(
    ("values", "n"),
    [
        ([[0.5, 0.5]], 3),
        ([0.5], 2),
        ([[[0.5]]], 2),
        ([["a"]], 2),
        ([[0.5], [0.5, 0.5]], 2),
        ([[1j]], 2),
        ([[math.nan]], 2),
        ([[0.5]], 1),
        ([[0.5]], 2.0),
        ([[None]], 2),
    ],
)
def test_refusals_of_tables(name: str, values: Any, n: Any) -> None:
    with pytest.raises(ParameterError, match=rf"parameter of {name} must be .* Got .* instead\.$"):
        getattr(coupling, name)(values, n)


@pytest.mark.parametrize("name", OF_PROBABILITIES)
@pytest.mark.parametrize("probability", [-0.1, 1.1, INF])
def test_refusals_of_probabilities(name: str, probability: float) -> None:
    with pytest.raises(ParameterError, match="'r' parameter"):
        getattr(coupling, name)([[0.5, probability, 0.5]], 3)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: coupling.hastie_tibshirani([[0.5]], 2, tol=0.0), "tol"),
        (lambda: coupling.hastie_tibshirani([[0.5]], 2, tol="x"), "tol"),  # type: ignore[arg-type]
        (lambda: coupling.hastie_tibshirani([[0.5]], 2, max_iter=-1), "max_iter"),
        (lambda: coupling.hastie_tibshirani([[0.5]], 2, weights=[0.0]), "weights"),
        (lambda: coupling.hastie_tibshirani([[0.5]], 2, weights=[1.0, 2.0]), "weights"),
        (lambda: coupling.hastie_tibshirani([[0.5] * 3], 3, weights=[1.0, 1e-13, 1.0]), "weights"),
        (lambda: coupling.hastie_tibshirani([[0.5] * 3], 3, weights=[1.0, INF, 1.0]), "weights"),
        (lambda: coupling.hastie_tibshirani([[0.5] * 3], 3, weights=["a", "b", "c"]), "weights"),
        (lambda: coupling.hastie_tibshirani([[0.5]], 2, clip=0.0), "clip"),
        (lambda: coupling.pkpd([[0.5]], 2, clip=0.5), "clip"),
        (lambda: coupling.pkpd([[0.5]], 2, clip=math.nan), "clip"),
        (lambda: coupling.non_dominance([[0.5]], 2, against=[[0.5], [0.5]]), "against"),
        (lambda: coupling.non_dominance([[0.5]], 2, against=[[1.5]]), "against"),
        (lambda: coupling.probabilities_of([0.5]), "margins"),
        (lambda: coupling.probabilities_of([[math.nan]]), "margins"),
        (lambda: coupling.probabilities_of([[0.5]], A=[1.0, 2.0]), "A"),
        (lambda: coupling.probabilities_of([[0.5]], B=INF), "B"),
        (lambda: coupling.probabilities_of([[0.5]], B="x"), "B"),
        (lambda: coupling.break_ties([[1, 1]], [[0.5]], 2, "random"), "rule"),  # type: ignore[arg-type]
        (lambda: coupling.break_ties([[1, 1], [0, 1]], [[0.5]], 2), "scores"),
        (lambda: coupling.break_ties([[1, math.nan]], [[0.5]], 2), "scores"),
        (lambda: coupling.break_ties([[1, 1]], [[0.5, 0.5]], 2, "first"), "margins"),
        (lambda: coupling.break_ties([[1, 1]], [[math.nan]], 2, "margin"), "margins"),
        (lambda: coupling.break_ties([[1, 1]], [[math.nan]], 2, "head-to-head"), "margins"),
    ],
)
def test_refusals_of_options(call: Any, parameter: str) -> None:
    owner = next(name for name in call.__code__.co_names if name in coupling.__all__)
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of {owner} must be"):
        call()


def some_results() -> dict[str, Any]:
    rows = np.random.default_rng(4).random((3, 15)) ** 3
    return {name: np.asarray(found).tolist() for name, found in every_result(rows, 6).items()}


def test_the_compiler_changes_nothing(tmp_path: Path) -> None:
    script = "import json, test_coupling_edges as here; print(json.dumps(here.some_results()))"
    homes = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(pairsim.__file__).parents[1])]
    changes = {"NUMBA_DISABLE_JIT": "1", "PAIRSIM_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(homes)}
    command = [sys.executable, "-W", "error", "-c", script]
    ran = subprocess.run(command, env=os.environ | changes, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    plain, compiled = json.loads(ran.stdout), some_results()
    assert plain.keys() == compiled.keys()
    for name in compiled:
        np.testing.assert_allclose(plain[name], compiled[name], atol=1e-12, err_msg=name)
