"""What a new estimator must have, and where: one line per place that is still missing."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from completeness import ROOT, home_of

from pairsim import learn
from pairsim.reductions import REDUCTIONS

WITH_ANY_DECODER = "PairwiseClassifier"  # `evaluate --decoder` has it: no reduction of its own
SIZES = "tests/evaluation/test_problem_sizes.py"
LABELS = np.repeat(["a", "b", "c"], 8)
ROWS = np.random.default_rng(0).normal(size=(24, 2)) + np.repeat([[6.0, 0.0], [-3.0, 5.0], [-3.0, -5.0]], 8, axis=0)


def estimators() -> dict[str, type]:
    """Return the classifiers that the files of `pairsim.learn` define, but for bases of others and private ones."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    found: dict[str, type] = {}
    for info in pkgutil.walk_packages(learn.__path__, "pairsim.learn."):
        for name, each in vars(importlib.import_module(info.name)).items():
            is_own = isinstance(each, type) and each.__module__ == info.name and not name.startswith("_")
            if is_own and issubclass(each, BaseEstimator) and issubclass(each, ClassifierMixin):
                found[name] = each
    own = list(found.values())
    bases = {base for each in own for base in each.__mro__[1:]}
    return {name: each for name, each in found.items() if each not in bases or name in learn.__all__}


def missing_of_estimator(cls: type) -> list[str]:
    """Return what is missing of an estimator: the file, and what to write there."""
    return [*_missing_facts(cls), *_missing_entries(cls), *_missing_behaviour(cls)]


def _missing_facts(cls: type) -> Iterator[str]:
    home, name, text = home_of(cls), cls.__name__, cls.__doc__ or ""
    if not name.endswith(("Classifier", "SVC")):
        yield f"{home}: a name that ends as scikit-learn's do, in Classifier or SVC"
    if ">>>" not in text:
        yield f"{home}: a runnable example in the docstring of {name}"
    try:
        parameters = cls().get_params(deep=False)  # type: ignore[attr-defined]
    except TypeError as error:
        yield f"{home}: a default for every parameter ({error})"
        return
    for parameter in parameters:
        if not re.search(rf"^    (\w+, )*{parameter}(, \w+)*( : .*)?$", text, re.MULTILINE):
            yield f"{home}: `{parameter}` under Parameters in the docstring of {name}"


def _missing_entries(cls: type) -> Iterator[str]:
    name = cls.__name__
    if name not in learn.__all__ or getattr(learn, name, None) is not cls:
        yield f"pairsim/learn/__init__.py: an import of {name}, and its name in __all__"
    reductions = [key for key, entry in REDUCTIONS.items() if entry.name == name]
    if not reductions and name != WITH_ANY_DECODER:
        yield f"pairsim/reductions.py: a row in REDUCTIONS, for `evaluate --reduction` ({name})"
    tests = [path.read_text() for path in (ROOT / "tests" / "learn").glob("test_*.py")]
    if not any("from estimator_checks import" in text and re.search(rf"\b{name}\b", text) for text in tests):
        yield f"tests/learn: a test file that runs every_check({name}()) of tests/estimator_checks.py"
    for file in ("README.md", "CHANGELOG.md"):
        if not re.search(rf"\b{name}\b", (ROOT / file).read_text()):
            yield f"{file}: a line about {name}"


def _missing_behaviour(cls: type) -> Iterator[str]:
    """Yield what keeps a small fit from working; what is raised is missing, too."""
    home, name = home_of(cls), cls.__name__
    try:
        model: Any = cls()
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        model.fit(ROWS, LABELS)
        if model.predict(ROWS).tolist() != pickle.loads(pickle.dumps(model)).predict(ROWS).tolist():
            yield f"{home}: a fitted {name} that pickles"
        for attribute in ("classes_", "n_features_in_", "problem_rows_"):
            if not hasattr(model, attribute):
                yield f"{home}: `fit` of {name} sets `{attribute}`"
        if not hasattr(model, "score") or model.score(ROWS, LABELS) < 0.9:
            yield f"{home}: a {name} that learns three classes that lie far apart"
    except Exception as error:
        yield f"{home}: (a fit of 24 rows) {type(error).__name__}: {error}"
