"""The parts of the experiment on trees: scaling, the best of a grid, the official test part, what is recorded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import make_blobs

from experiments import results_table, tree_errors
from experiments.benchmark import trees


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Put an easy set of four classes in place of all sets."""
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path))
    monkeypatch.setattr(results_table, "FOLDER", tmp_path)
    points, numbers = make_blobs(80, 3, centers=4, cluster_std=0.5, random_state=0)
    table = pd.DataFrame(points, columns=list("abc")).assign(target=numbers)
    for name in ("glass", "satimage-train", "satimage-test"):
        table.sample(frac=1.0, random_state=1).to_csv(tmp_path / f"{name}.csv.gz", index=False)
    monkeypatch.setattr(tree_errors, "SEEDS", 1)
    monkeypatch.setattr(tree_errors, "LINEAR", (1.0, 64.0))
    monkeypatch.setattr(tree_errors, "grid_of_widths", lambda name: [tree_errors.Setting(0.5, 1.0)])
    return tmp_path


def test_features_are_scaled_by_the_training_part():
    train, test = tree_errors.symmetric(np.array([[0.0, 5.0], [4.0, 5.0]]), np.array([[6.0, 5.0]]))
    assert train.tolist() == [[-1.0, -1.0], [1.0, -1.0]]
    assert test.tolist() == [[2.0, -1.0]]


@pytest.mark.parametrize("name", ["glass", "satimage"])
def test_every_method_has_a_row(toy, name):
    for kernel in ("linear", "rbf"):
        tree_errors.measure(name, kernel)
    table = pd.read_csv(toy / "tree_errors.csv").set_index("method")
    assert len(table) == 2 * (len(tree_errors.METHODS) + 1)
    assert table.error.max() <= 5.0
    assert table.loc["linear SDT", "goal"] == pytest.approx(100 - tree_errors.GOALS["linear"][name])
    assert table.loc["linear OVA", "protocol"] != table.loc["linear OVO", "protocol"]  # fewer settings
    behind = table.loc["rbf SDT", "error"] - table.loc["rbf OVO", "error"]
    assert table.loc["rbf SDT less OVO", "error"] == pytest.approx(behind, abs=0.01)


def test_the_best_setting_is_that_of_all_divisions_and_sd_is_over_them(toy, monkeypatch):
    """Three divisions whose errors are known: 0, 4 and 8 rows of 80 with C = 1, and 9 each time with C = 64."""
    divisions = {}

    def errors(cut, settings, found):
        test = len(cut[3])
        number = divisions.setdefault(cut[2].tobytes(), len(divisions)) // 10
        for setting in settings:
            wrong = (0, 4, 8)[number] if setting.C == 1.0 else 9
            for method in tree_errors.METHODS:
                more = wrong + (2 if method == "OVO" else 0)
                found[method].wrong[setting] = found[method].wrong.get(setting, 0.0) + more * test / 80
                found[method].seconds.append(1.0)

    monkeypatch.setattr(tree_errors, "SEEDS", 3)
    monkeypatch.setattr(tree_errors, "try_settings", errors)
    tree_errors.measure("glass", "linear")
    table = pd.read_csv(toy / "tree_errors.csv").set_index("method")
    assert table.loc["linear SDT", ["error", "sd"]].tolist() == [5.0, 5.0]  # 0, 5 and 10 percent
    assert table.loc["linear SDT less OVO", ["error", "sd"]].tolist() == [-2.5, 0.0]
    assert table.loc["linear SDT", "seconds"] == 60.0
    monkeypatch.setattr(tree_errors, "SEEDS", 1)
    divisions.clear()
    tree_errors.measure("glass", "linear")
    again = pd.read_csv(toy / "tree_errors.csv")
    one = again[again.protocol.str.startswith("1 times")]
    assert len(one) == len(again) / 2
    assert one.sd.isna().all()  # not measured: empty, and not 0


def test_predictions_follow_the_setting():
    points, numbers = make_blobs(120, 2, centers=3, cluster_std=1.0, random_state=0)
    found = {}
    for setting in (tree_errors.Setting(0.5, 1.0), tree_errors.Setting(1e-9, 1e-3)):
        labels = tree_errors.predictions(points[::2], numbers[::2], points[1::2], setting)
        assert set(labels) == set(tree_errors.METHODS)
        found[setting] = (labels["SDT"][0] != numbers[1::2]).mean()
    assert min(found.values()) < 0.4 < max(found.values())


def test_two_ways_take_turns():
    calls = []
    times = trees.in_turns(lambda: calls.append("a"), lambda: calls.append("b"), 3)
    assert "".join(calls) == "abababab"
    assert min(times) >= 0.0
