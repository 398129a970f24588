"""On the answers of a real model, the ranked oracle foretells what decoders do, and coin flips do not."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pairsim import Adag, MaxWin, Poll, Recorded, TopK, fit_oracles, from_model

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("PAIRSIM_DATA") or ROOT.parent / "shared" / "data")
LEAVES = FOLDER / "plants100-texture.csv.gz"


@pytest.fixture(scope="module")
def answers() -> Recorded:
    if not LEAVES.exists():
        pytest.skip(f"{LEAVES} is not there")
    svm = pytest.importorskip("sklearn.svm")
    leaves = pd.read_csv(LEAVES)
    X, y = leaves.drop(columns="target").to_numpy(), leaves["target"].to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    even = np.arange(len(y)) % 2 == 0  # rows are ordered by species: half of each
    return from_model(svm.SVC(C=10.0).fit(X[even], y[even])).record(X[~even], y[~even])


def test_ranked_foretells_what_a_trained_model_does(answers: Recorded) -> None:
    fits = fit_oracles(answers, [MaxWin(), Poll("log"), Poll("3log"), TopK(5, "3log"), Adag()], trials=4096)
    assert fits.worst("ranked") < 0.05  # 0.03, and the chance of 799 rows
    assert fits.worst("uniform") > 0.4
    assert fits.traits.circles < 0.1  # nearly transitive: coin flips have 1
    assert fits.best.oracle.name == "ranked"
