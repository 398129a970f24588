"""Tasks of evaluations: what was predicted how, named by a hash of all that determines the result."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_choice
from pairsim.datasets.preparing import SCALINGS
from pairsim.decoders import Decoder, SupersededError, decoder_of
from pairsim.errors import ParameterError, parameter_error
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.reductions import version_of
from pairsim.evaluation.tuning import Tuning, tuning_of
from pairsim.store import OracleRecord, Store, TaskRecord, task_id, task_kind

KIND = "evaluation"
ONE_VS_ONE = "one-vs-one"
TEST_SET = "labels"  # what the store knows a test by


class TestSet(NamedTuple):
    """What predictions are compared with: the true class of each row, of data and a split that a hash names.

    `n` is the number of classes that the model can tell apart; a row whose label the training part does not have
    counts as an error, whatever is named.
    """

    data: str
    split: str
    n: int
    truth: NDArray[np.int64]

    @property
    def digest(self) -> str:
        """The name of the test set in a store."""
        return task_id(json.dumps({"data": self.data, "split": self.split}, sort_keys=True))

    @property
    def record(self) -> OracleRecord:
        """The test set as the store keeps it."""
        params = json.dumps({"data": self.data, "split": self.split, "n": self.n}, sort_keys=True)
        return OracleRecord(self.digest, TEST_SET, params, {"truth": self.truth})


@dataclasses.dataclass(frozen=True)
class Task:
    """One way to predict the rows of one test set.

    `reduction` is how many classes are made of two: "one-vs-one", whose pairs a decoder asks about, or another one,
    which has no decoder. `settings` are those of the estimator, as plain data; `tuning` is how others are chosen. Names
    of data sets, times and confidence are no part of a task, and what has its default is not part of its name, so that
    tasks of earlier versions keep theirs.
    """

    data: str
    split: str
    reduction: str
    estimator: str
    settings: tuple[tuple[str, Any], ...]
    decoder: Decoder | None
    seed: int
    scaling: str = SCALINGS[0]
    tuning: Tuning | None = None
    version: int = 1

    @functools.cached_property
    def definition(self) -> str:
        """The task as canonical JSON text."""
        later: dict[str, Any] = {} if self.scaling == SCALINGS[0] else {"scaling": self.scaling}
        if self.version != 1:
            later["version"] = self.version
        if self.tuning is not None:
            later["tuning"] = self.tuning.definition()
        return json.dumps(
            {
                "kind": KIND,
                "data": self.data,
                "split": self.split,
                "reduction": self.reduction,
                "estimator": {"name": self.estimator, "settings": dict(self.settings)},
                "decoder": None if self.decoder is None else self.decoder.definition(),
                "seed": self.seed,
                **later,
            },
            sort_keys=True,
        )

    @functools.cached_property
    def id(self) -> str:
        """The task's name."""
        return task_id(self.definition)

    @property
    def estimator_spec(self) -> str:
        """The estimator with its settings, as it is written on the command line."""
        return Estimator(self.estimator, self.settings).spec

    @property
    def exam_digest(self) -> str:
        """The name of the test set in a store."""
        return TestSet(self.data, self.split, 0, np.empty(0, np.int64)).digest


def superseded(reduction: str) -> SupersededError:
    """Build the error for a task that was computed by rules of a reduction that an earlier version had."""
    message = f"{reduction} was computed by rules that an earlier version had; run the evaluation again."
    error = SupersededError(message)
    error.spec = reduction
    return error


def task_of(record: TaskRecord) -> Task:
    """Return the task that a store holds; reject one that this version of pairsim does not write."""
    try:
        if task_kind(record.definition) != KIND:
            raise ValueError
        parts: dict[str, Any] = json.loads(record.definition)
        decoder = None
        if parts["decoder"] is not None:
            decoder = decoder_of(parts["decoder"])
        settings = tuple(dict(parts["estimator"]["settings"]).items())
        texts = (parts["data"], parts["split"], parts["reduction"], parts["estimator"]["name"])
        if not all(isinstance(text, str) and text.isprintable() for text in (*texts, *dict(settings))):
            raise ValueError
        scaling = check_choice("store", "scaling", parts.get("scaling", SCALINGS[0]), SCALINGS)
        version, current = parts.get("version", 1), version_of(parts["reduction"])
        if (version, current) == (1, 2):
            raise superseded(parts["reduction"])
        task = Task(*texts, settings, decoder, int(parts["seed"]), scaling, tuning_of(parts.get("tuning")), current)
        same = task.definition == record.definition
    except SupersededError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, ParameterError):
        same = False
    if not same:
        must_be = "an evaluation that this version of pairsim can read"
        raise parameter_error("store", "task", must_be, f"{record.id} ({record.definition[:200]})")
    return task


def _is_exam(name: str, params: str, shapes: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> bool:
    """Say whether a record's arrays are those of a test set, before they are made."""
    return name == TEST_SET and list(shapes) == ["truth"] and len(shapes["truth"][0]) == 1


def exam_of(store: Store, digest: str) -> TestSet:
    """Return the test set that a store holds, believing nothing."""
    wrong = parameter_error("store", "labels", "as pairsim writes them", digest)
    record = store.oracle(digest, _is_exam)
    try:
        params = json.loads(record.params)
        truth = np.asarray(record.arrays["truth"], np.int64)
        test_set = TestSet(params["data"], params["split"], params["n"], truth)
        good = record.name == TEST_SET and truth.ndim == 1 and truth.size > 0 and truth.min() >= 0 and test_set.n >= 2
        if not good or record.params != test_set.record.params or test_set.digest != digest:
            raise wrong
    except (LookupError, TypeError, ValueError, AttributeError):
        raise wrong from None
    return test_set
