"""Every public function, given values of the wrong kind one parameter at a time: a result, or the one usual error."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_calls import WHOLE, WRONG, Call, public_calls

import pairsim
from pairsim import (
    ParameterError,
    bounds,
    coupling,
    datasets,
    evaluation,
    exact_values,
    fitting,
    learn,
    models,
    plots,
    replay,
    store,
)
from pairsim.engines import EngineLost
from pairsim.errors import shown
from pairsim.store import StoreError

ALLOWED = (ParameterError, StoreError, EngineLost)  # the last two: the files and hosts that a text may name
ESTIMATORS = [name for name in learn.__all__ if hasattr(getattr(learn, name), "fit")]


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder of its own, where a text that is taken for a file's name does no harm."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield tmp_path


def outcome_of(call: Call, name: str, value: Any) -> str:
    """Return what is wrong with how a call ends, or nothing."""
    try:
        result = call.function(**{**call.arguments, name: value})
    except ALLOWED as error:
        return f"two lines: {error}" if "\n" in str(error) else ""
    except Exception as error:  # the defect that is looked for
        return f"{call.name}({name}={shown(value)[:60]}): {type(error).__name__}: {error}"
    if hasattr(result, "close"):
        result.close()
    return ""


def test_wrong_values_are_refused_in_the_usual_way(in_a_folder: Path) -> None:
    calls = public_calls(in_a_folder)
    for call in calls:
        if call.name != "Recorded.save":  # which writes a new file, once
            assert hasattr(call.function(**call.arguments), "__class__")  # the arguments are good
    wrong = [outcome_of(call, name, value) for call in calls for name, value in call.tries()]
    assert len(wrong) > 5000
    assert [each for each in wrong if each] == []


def test_all_public_names_are_tried(tmp_path: Path) -> None:
    calls = public_calls(tmp_path)
    tried = {call.function for call in calls}
    # what is made of results only, and what has no parameters of its own
    results = {"Cost", "Estimate", "Decoder", "Oracle", "ParameterError"}
    missing = [
        name
        for name in pairsim.__all__
        if name not in results and callable(getattr(pairsim, name)) and getattr(pairsim, name) not in tried
    ]
    assert missing == []
    for call in calls:
        if inspect.isfunction(call.function) and call.function.__name__ != "<lambda>":
            given = set(inspect.signature(call.function).parameters) - set(call.arguments)
            assert given <= {"marker_kwargs", "line_kwargs", "confidence", "calls"}, call.name


SUBPACKAGES = (bounds, coupling, datasets, evaluation, exact_values, fitting, learn, models, plots, replay, store)
# those without parameters; those that take what `make_..._request` returns; those that are tried within another call
NOT_TRIED = {"known_names", "shared_fits", "is_writing", "run_evaluation_request", "run_cross_validation_request"}
NOT_TRIED |= {"evaluate", "evaluate_reductions"}


def test_all_functions_of_subpackages_are_tried(tmp_path: Path) -> None:
    tried = {call.function for call in public_calls(tmp_path)}
    functions = {
        f"{package.__name__}.{name}": getattr(package, name)
        for package in SUBPACKAGES
        for name in package.__all__
        if inspect.isfunction(getattr(package, name))
    }
    missing = {name for name, function in functions.items() if function not in tried}
    assert {name.rpartition(".")[2] for name in missing} == NOT_TRIED


def test_the_search_finds_a_function_that_does_not_check() -> None:
    def careless(n: Any) -> Any:
        return n + 1

    found = [outcome_of(Call("careless", careless, {"n": 1}), "n", value) for value in (2, "x", None)]
    assert [bool(each) for each in found] == [False, True, True]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_refuse_wrong_parameters_at_fit(name: str, in_a_folder: Path) -> None:
    cls = getattr(learn, name)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 4)
    X = rng.normal(size=(12, 2)) + 4.0 * y[:, None]
    found = []
    for parameter in cls().get_params(deep=False):
        for value in WRONG:
            if callable(value) or (parameter == "n_jobs" and any(value is whole for whole in WHOLE)):
                continue  # a callable kernel's errors are its own; and no processes are started here
            try:
                cls(**{parameter: value}).fit(X, y)
            except ValueError:  # ParameterError and scikit-learn's own are among them
                pass
            except Exception as error:
                found.append(f"{parameter}={shown(value)[:40]}: {type(error).__name__}: {error}")
    assert found == []


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: pairsim.decoder(5),
        lambda: pairsim.plan("x", 0.9),
        lambda: pairsim.sweep([pairsim.Uniform(4, 0.7)], [pairsim.MaxWin()], store=1),
    ],
)
def test_an_error_names_the_parameter(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"^The '\w+' parameter of \w+ must be .*\. Got .* instead\.$"):
        wrong()
