"""Votes, sums of margins, and what settles a tie between classes with equal votes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_choice, check_classes
from pairsim.coupling.compiled.pairs import count_duels, count_votes, sum_margins
from pairsim.coupling.inputs import MARGIN, chunks, number_table, pair_table
from pairsim.errors import parameter_error

RULES = ("margin", "head-to-head", "first")


def vote_scores(margins: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return how many pairs each class wins: the lower class when the margin is above 0, else the higher.

    Examples
    --------
    >>> vote_scores([[0.5, -1.0, 0.0]], 3)
    array([[1, 0, 2]])
    """
    n = check_classes("vote_scores", n)
    table = pair_table("vote_scores", "margins", margins, n)
    out = np.zeros((len(table), n), np.int64)
    for rows, part in chunks("vote_scores", "margins", table, MARGIN):
        count_votes(part, n, out[rows])
    return out


def weighted_vote(margins: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return each class's sum of signed margins: plus where it is the lower class of the pair, minus where the higher.

    An infinite margin (or one beyond 1e290) counts as a finite one that outweighs all finite margins of its row
    together. So scores are never infinite or nan, and compare by infinite margins first, by finite ones next.

    Examples
    --------
    >>> weighted_vote([[0.5, -1.0, 0.25]], 3)
    array([[-0.5 , -0.25,  0.75]])
    >>> weighted_vote([[float("inf"), 2.0, -1.0]], 3).argmax(axis=1)
    array([0])
    """
    n = check_classes("weighted_vote", n)
    return _sums("weighted_vote", pair_table("weighted_vote", "margins", margins, n), n)


def _sums(owner: str, table: NDArray[Any], n: int) -> NDArray[np.float64]:
    out = np.zeros((len(table), n))
    for rows, part in chunks(owner, "margins", table, MARGIN):
        sum_margins(part, n, out[rows])
    return out


def _duels(owner: str, table: NDArray[Any], n: int, tied: NDArray[np.bool_]) -> NDArray[np.int64]:
    out = np.zeros(tied.shape, np.int64)
    for rows, part in chunks(owner, "margins", table, MARGIN):
        count_duels(part, n, tied[rows], out[rows])
    return out


def break_ties(
    scores: ArrayLike, margins: ArrayLike, n: int, rule: Literal["margin", "head-to-head", "first"] = "margin"
) -> NDArray[np.int64]:
    """Return the class with the highest score in each row, a tie settled by `rule`, then by the lowest number.

    Parameters
    ----------
    scores : array of shape (rows, n)
        Votes or other scores; equal means equal to the last bit.
    margins : array of shape (rows, pairs)
        The margins that the scores came from; "first" looks at their shape only.
    n : int
        Classes.
    rule : {"margin", "head-to-head", "first"}
        "margin": the tied class with the largest sum of margins over all its pairs, as in `weighted_vote`;
        "head-to-head": the tied class with the most votes in pairs of which both classes are tied (for two tied
        classes, the winner of their duel); "first": the lowest number.

    Examples
    --------
    Each of three classes wins once: 0 beats 1 clearly, 1 beats 2 and 2 beats 0 narrowly.

    >>> margins = [[2.0, -0.1, 0.1]]
    >>> votes = vote_scores(margins, 3)
    >>> votes, break_ties(votes, margins, 3, "margin")
    (array([[1, 1, 1]]), array([0]))
    >>> break_ties([[0, 7, 7]], margins, 3, "head-to-head")
    array([1])
    """
    n = check_classes("break_ties", n)
    check_choice("break_ties", "rule", rule, RULES)
    pairs = pair_table("break_ties", "margins", margins, n)
    wanted = f"an array of numbers that are not nan, of shape ({len(pairs)}, {n})"
    table = number_table("break_ties", "scores", scores, n, wanted)
    if len(table) != len(pairs) or np.isnan(table).any():
        raise parameter_error("break_ties", "scores", wanted, f"one of shape {table.shape}")
    tied = table == table.max(axis=1, keepdims=True)
    second: NDArray[Any] = np.zeros(table.shape)
    if rule == "margin":
        second = _sums("break_ties", pairs, n)
    elif rule == "head-to-head":
        second = _duels("break_ties", pairs, n, tied)
    winners: NDArray[np.int64] = np.where(tied, second, -np.inf).argmax(axis=1)
    return winners
