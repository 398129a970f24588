"""Where there is no exact value: one line that says so, up to where there is one, and what to use instead."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import pairsim
from pairsim import (
    Adag,
    Ddag,
    Decoder,
    Matrix,
    MaxWin,
    Oracle,
    ParameterError,
    Poll,
    Recorded,
    Similarity,
    TopK,
    Uniform,
)
from pairsim.exact_values import Exact, ExactUnavailable, exact
from pairsim.exact_values.budget import BUDGET, largest_affordable
from pairsim.exact_values.scores import max_win_work, poll_work
from pairsim.exact_values.top_k import top_k_work

ZIPF = Similarity.profile("zipf:1.0", 300)
REFUSED: list[tuple[Oracle, Decoder, int]] = [
    (Uniform(512, 0.9), MaxWin(), 21),
    (Uniform(10**9, 0.9), Poll(), 19),
    (Uniform(64, 0.9), TopK(), 9),
    (ZIPF, MaxWin(), 12),
    (ZIPF, Poll(), 11),
    (ZIPF, TopK(), 7),
    (ZIPF, Ddag(), 23),
    (ZIPF, Adag(), 21),
    (Similarity.profile("zipf:1.0", 60_001), Adag("given"), 60_000),
]


def refusal_of(oracle: Oracle, decoder: Decoder) -> str:
    with pytest.raises(ExactUnavailable) as caught:
        exact(oracle, decoder)
    return str(caught.value)


@pytest.mark.parametrize(
    ("oracle", "decoder", "limit"), REFUSED, ids=lambda v: v.spec if isinstance(v, Decoder) else ""
)
def test_refusal_says_where_exact_values_end(oracle: Oracle, decoder: Decoder, limit: int) -> None:
    assert refusal_of(oracle, decoder) == (
        f"The 'n' parameter of exact must be at most {limit} for an exact value of {decoder.spec} on {oracle.label} "
        f"(beyond it: simulate, bound). Got {oracle.n} instead."
    )


def test_refusals_are_parameter_errors() -> None:
    assert issubclass(ExactUnavailable, ParameterError)
    assert issubclass(ExactUnavailable, ValueError)


def test_limits_are_where_the_work_passes_the_budget() -> None:
    works: list[Callable[[int], float]] = [
        lambda n: max_win_work(n, "random", True),
        lambda n: max_win_work(n, "lose", False),
        lambda n: poll_work(n, Poll(10, "first"), True),
        lambda n: poll_work(n, Poll("log"), False),
        lambda n: top_k_work(n, TopK(2, 5, "maxwin"), True),
        lambda n: top_k_work(n, TopK(2, 5, "rescore", "lose"), False),
    ]
    for work in works:
        limit = largest_affordable(work)
        assert work(limit) <= BUDGET < work(limit + 1)
        assert [work(n) for n in range(2, limit + 3)] == sorted(work(n) for n in range(2, limit + 3))


def test_more_samples_mean_fewer_classes() -> None:
    limits = [
        int(re.findall(r"at most (\d+)", refusal_of(Uniform(64, 0.9), Poll(l)))[0]) for l in (1, 10, 100, 1000, 10_000)
    ]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] > limits[-1] >= 2


def test_a_poll_that_samples_too_much_has_no_limit_to_offer() -> None:
    message = refusal_of(Uniform(4, 0.9), Poll(10**7))
    assert message == (
        "The 'decoder' parameter of exact must be cheaper than poll:l=10000000, which has no exact value on uniform at "
        "any n (use simulate or bound). Got n = 4 instead."
    )


def test_recorded_answers_are_replayed_instead() -> None:
    message = refusal_of(Recorded.of(Uniform(4, 0.9), 10), TopK(2, 1))
    assert "use simulate, which replays every row" in message


@dataclasses.dataclass(frozen=True)
class WeakMaxWin(MaxWin):
    """A decoder that is derived from one with an exact value, and need not share it."""

    name: ClassVar[str] = "weak-max-win"


class TwistedUniform(Uniform):
    """An oracle that is derived from one with an exact value, and does not share it: its true class is another."""

    def truth(self, first: int, count: int) -> NDArray[np.int64]:
        return np.ones(count, np.int64)


def test_unknown_kinds_are_refused() -> None:
    assert "use simulate" in refusal_of(Uniform(4, 0.9), WeakMaxWin())
    assert "use simulate" in refusal_of(TwistedUniform(4, 0.9), MaxWin())


@pytest.mark.parametrize(("oracle", "decoder"), [("uniform", MaxWin()), (Uniform(4, 0.9), "max-win")])
def test_wrong_types_are_parameter_errors(oracle: object, decoder: object) -> None:
    with pytest.raises(ParameterError, match="parameter of exact must be") as caught:
        exact(oracle, decoder)  # type: ignore[arg-type]
    assert not isinstance(caught.value, ExactUnavailable)


def test_too_many_candidates_are_the_decoders_own_error() -> None:
    with pytest.raises(ParameterError, match="'k' parameter of TopK") as caught:
        exact(Uniform(4, 0.9), TopK(5))
    assert not isinstance(caught.value, ExactUnavailable)


def test_the_answer_is_a_frozen_record() -> None:
    answer = exact(Uniform(16, 0.9), MaxWin())
    assert (answer.decoder, answer.method, answer.queries, answer.distinct, answer.rounds) == (
        *("max-win", "exact"),
        *(120.0, 120.0, 1.0),
    )
    assert [field.name for field in dataclasses.fields(Exact)] == [
        *("decoder", "success", "failure", "queries", "rounds", "distinct", "how", "method", "low", "high"),
    ]
    assert (answer.low, answer.high) == (None, None)  # there is an interval where rows were recorded only
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.success = 1.0  # type: ignore[misc]


def some_values() -> list[list[float]]:
    oracles = [Uniform(5, 0.8), Matrix(Similarity([0.4, 0.3, 0.2, 0.1]).matrix())]
    decoders = [MaxWin(), Poll(3), TopK(2, 2), TopK(2, 2, "maxwin", "lose"), Ddag(), Adag(), Adag("given")]
    answers = [exact(oracle, decoder) for oracle in oracles for decoder in decoders]
    return [[answer.success, answer.failure, answer.queries, answer.rounds] for answer in answers]


def test_values_do_not_depend_on_the_compiler(tmp_path: Path) -> None:
    script = "import json, test_exact_values_refusals as here\nprint(json.dumps(here.some_values()))"
    homes = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(pairsim.__file__).parents[1])]
    env = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PAIRSIM_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(homes),
    }
    command = [sys.executable, "-W", "ignore:overflow encountered:RuntimeWarning", "-c", script]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, "")
    for interpreted, compiled in zip(json.loads(ran.stdout), some_values(), strict=True):
        assert interpreted == pytest.approx(compiled, rel=1e-14)
