"""Errata that follow from the printed tables alone, and that every erratum's proof is there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from experiments import printed, tree_errors
from experiments.catalogue import catalogue
from experiments.errata import ERRATA
from pairsim.evaluation.ranks import average_ranks

ROOT = Path(__file__).resolve().parents[2]
CELLS = np.array(list(printed.SBC_TABLE_2.values()), dtype=float)
FOUND = average_ranks(CELLS, printed.SBC_METHODS, printed.SBC_LEVEL)


def whole_rows(errors: tuple[float, ...], count: int) -> int:
    """Return how many errors are a whole number of `count` rows, to the digits that are printed."""
    wrong = np.round(np.array(errors) * count / 100.0)
    halves = [0.5 * 10.0 ** -len(str(float(each)).partition(".")[2]) for each in errors]
    return int((np.abs(100.0 * wrong / count - errors) < np.array(halves) + 1e-5).sum())


def test_cells_of_sbc_are_whole_rows_of_ten_equal_folds():
    for name, rows in printed.SBC_ROWS.items():
        assert whole_rows(printed.SBC_TABLE_2[name], rows // 10 * 10) == len(printed.SBC_METHODS), name
    uneven = {name: rows for name, rows in printed.SBC_ROWS.items() if rows % 10}
    fit = sum(whole_rows(printed.SBC_TABLE_2[name], rows) for name, rows in uneven.items() if name != "page-blocks")
    assert fit <= 10  # of 42 with all rows: the remainder was left out
    for three_classes in (628, 629, 634, 647):  # vehicle without one of its four
        assert whole_rows(printed.SBC_TABLE_2["vehicle"], three_classes // 10 * 10) < len(printed.SBC_METHODS)


def test_printed_ranks_of_sbc_belong_to_eleven_rows():
    assert np.abs(FOUND.ranks - printed.SBC_RANKS).max() > 0.1
    sums = np.round(2 * 11 * np.array(printed.SBC_RANKS)) / 2  # ranks are whole or halves
    assert sums.sum() == 11 * 28
    missing = sums - 10 * FOUND.ranks
    assert missing == pytest.approx([5, 6, 2, 4, 7, 3, 1])


def test_kernel_differs_from_three_methods():
    apart = FOUND.ranks[:-1] - FOUND.ranks[-1] > FOUND.control_difference
    assert [name for name, far in zip(printed.SBC_METHODS, apart, strict=False) if far] == ["AP", "ECOC", "SINGLE"]


def test_columns_of_sbc_are_equal_in_the_last_rows():
    ova, ecoc, sbc_ecoc, single = (
        CELLS[:, printed.SBC_METHODS.index(name)] for name in ("OVA", "ECOC", "SBC-ECOC", "SINGLE")
    )
    assert (ova == sbc_ecoc)[-5:].all()
    assert (ecoc == single)[-5:].all()
    assert not (ova == sbc_ecoc)[:5].any()
    assert not (ecoc == single)[:5].any()


def test_tables_of_vosvm_disagree_on_glass_alone():
    pairs = {name: count * (count - 1) // 2 for name, count in printed.VECTOR_CLASSES.items()}
    wrong = [name for name, (all_pairs, _) in printed.VECTOR_COUNTS.items() if pairs[name] != all_pairs]
    assert wrong == ["glass"]
    assert printed.VECTOR_COUNTS["glass"] == (15, 6)  # of six classes


def test_sdt_is_the_lowest_on_vowel_where_it_is_in_bold():
    *others, own = tree_errors.PAPER["vowel", "rbf"]
    assert own < min(others)
    lowest = [case for case, row in tree_errors.PAPER.items() if row[-1] == min(row)]
    assert lowest == [("vowel", "rbf")]


@pytest.mark.parametrize("each", ERRATA, ids=lambda each: each.proof.rpartition("::")[2][:60])
def test_every_erratum_has_a_proof_that_is_there(each):
    if each.proof.startswith("script "):
        assert each.proof.removeprefix("script ") in {one.name for one in catalogue()}
        return
    path, _, test = each.proof.partition("::")
    assert re.search(rf"^def {test}\(", (ROOT / path).read_text(), re.MULTILINE), each.proof
