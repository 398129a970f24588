"""Models that 0.2.0 pickled do not load; the error says what became of their class."""

from __future__ import annotations

import importlib
import pickle

import pytest

pytest.importorskip("sklearn")

from pairsim import learn
from pairsim.learn.renamed import RENAMED


@pytest.mark.parametrize("module", RENAMED)
def test_a_renamed_class_is_explained_in_one_line(module):
    before, now = RENAMED[module]
    assert now in learn.__all__
    assert not hasattr(learn, before)
    with pytest.raises(ImportError, match=rf"^{before} is called {now} since .* fit them again$"):
        pickle.loads(f"cpairsim.learn.{module}\n{before}\n.".encode())
    with pytest.raises(ImportError, match=f"{before} is called {now}"):
        getattr(importlib.import_module(f"pairsim.learn.{module}"), before)


def test_other_names_are_missing_as_anywhere():
    assert not hasattr(importlib.import_module("pairsim.learn.one_vs_all"), "OneVsNone")
    with pytest.raises(AttributeError, match="OneVsNone"):
        pickle.loads(b"cpairsim.learn.one_vs_all\nOneVsNone\n.")
