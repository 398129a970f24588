"""Plain twins of the decoder and the oracle in `my_plugins`, as `naive` has them for pairsim's own."""

from __future__ import annotations

from fractions import Fraction

import naive
from hypothesis import strategies as st
from my_plugins.moody import Moody
from strategies import OracleCase


def hill(judge: naive.Judge, n: int, draw: naive.Draw, order: str, backwards: bool) -> int:
    classes = naive.list_order(n, order, draw)
    holder, *others = reversed(classes) if backwards else classes
    for challenger in others:
        holder = holder if judge.beats(holder, challenger) else challenger
        judge.close_round()
    return holder


def moody_tournament(n: int, p: float, hard: float, seed: int, trial: int) -> naive.LowWins:
    root = naive.stream(seed, n)
    word = naive.fold(naive.fold(root, naive.ANSWERS), trial // 64)
    is_hard = naive.mix(naive.place(0, 0) ^ naive.fold(word, 2**32 + trial % 64)) >> 63 == 0

    def low_wins(low: int, high: int) -> bool:
        probability = (hard if is_hard else p) if low == 0 else 0.5
        return naive.is_below(Fraction(probability), lambda digit: naive.answer_digit(root, trial, low, high, digit))

    return low_wins


def moody_cases(n: int) -> st.SearchStrategy[OracleCase]:
    def build(drawn: tuple[float, float]) -> OracleCase:
        return OracleCase(Moody(n, *drawn), lambda seed, trial: moody_tournament(n, *drawn, seed, trial))

    return st.tuples(st.floats(0, 1), st.floats(0, 1)).map(build)
