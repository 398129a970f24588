"""Laws about names and champions: no class is special, and a class that beats everyone wins where that is promised."""

from __future__ import annotations

import dataclasses
import random

import naive
import numpy as np
import pytest
from decisions import decide
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from strategies import SEEDS, decoders, every_decoder

from pairsim import Adag, Decoder, Halving, MaxWin, Poll, Quick, Recorded, TopK
from pairsim.decoders import REGISTRY as DECODERS

Row = list[bool]  # a tournament: does the lower class win, pair by pair
N = 6
REPEATS = 4_000  # trials on one tournament: the answers are the same in each, the decoder's own draws are not
FALSE_ALARM = 1e-6  # of one comparison of two histograms; 20 or so are made


def random_row(n: int, rng: random.Random) -> Row:
    return [rng.random() < 0.5 for _ in range(n * (n - 1) // 2)]


def relabel(n: int, row: Row, new_name: list[int]) -> Row:
    """Return the same tournament after class c was renamed to new_name[c]."""
    low_wins = naive.recorded_tournament(n, row)
    old_name = [new_name.index(c) for c in range(n)]
    renamed = []
    for low in range(n):
        for high in range(low + 1, n):
            i, j = old_name[low], old_name[high]
            renamed.append(low_wins(i, j) if i < j else not low_wins(j, i))
    return renamed


def champion_row(n: int, champion: int, rng: random.Random) -> Row:
    """Return a tournament in which `champion` beats everyone and all other answers are coins."""
    pairs = [(low, high) for low in range(n) for high in range(low + 1, n)]
    return [low == champion or (high != champion and rng.random() < 0.5) for low, high in pairs]


# --- relabelling -----------------------------------------------------------------------------------------------------


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.integers(2, 12), st.randoms(use_true_random=False), SEEDS)
def test_max_win_without_a_tie_follows_the_names(n: int, rng: random.Random, seed: int) -> None:
    row, new_name = random_row(n, rng), rng.sample(range(n), n)
    renamed = Recorded([relabel(n, row, new_name)])
    (winner,), _ = decide(Recorded([row]), MaxWin(ties="lose"), 1, seed)
    (renamed_winner,), _ = decide(renamed, MaxWin(ties="lose"), 1, seed)
    assert renamed_winner == (-1 if winner < 0 else new_name[winner])
    if winner >= 0:
        for ties in ("random", "first"):
            assert decide(renamed, MaxWin(ties), 1, seed)[0] == [new_name[winner]]


def histograms_agree(row: Row, decoder: Decoder, new_name: list[int]) -> bool:
    """Compare how often each class (or nobody) is named before and after the renaming, from independent draws."""
    before, _ = decide(Recorded([row] * REPEATS), decoder, REPEATS, seed=1)
    after, _ = decide(Recorded([relabel(N, row, new_name)] * REPEATS), decoder, REPEATS, seed=2)
    back = [c if c < 0 else new_name.index(c) for c in after]
    table = np.array([[winners.count(c) for c in range(-1, N)] for winners in (before, back)])
    rare = table.sum(axis=0) < 40  # chi-square wants at least 20 expected in a cell
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return table.shape[1] == 1 or bool(chi2_contingency(table).pvalue > FALSE_ALARM)


def test_decoders_say_whether_they_read_class_numbers() -> None:
    """In a tie, or in their order; radag's errors and what learned has learned are by class."""
    for decoder in every_decoder(N):
        told = any(getattr(decoder, field.name) in ("first", "given") for field in dataclasses.fields(decoder))
        by_class = any(getattr(decoder, name, None) is not None for name in ("errors", "answers"))
        assert decoder.reads_labels == (told or by_class)


@pytest.mark.parametrize(
    "decoder", [d for d in every_decoder(N) if not d.reads_labels], ids=lambda decoder: decoder.spec
)
def test_relabelling_the_classes_relabels_the_answer(decoder: Decoder) -> None:
    rng = random.Random(20)
    assert histograms_agree(random_row(N, rng), decoder, rng.sample(range(N), N))


@pytest.mark.parametrize(
    "decoder",
    [Poll(2, "first"), TopK(3, 2, "maxwin", "first"), Adag("given"), Halving(1, "first"), Quick("any", "given")],
    ids=repr,
)
def test_relabelling_notices_favourites(decoder: Decoder) -> None:
    """Negative control: decoders that look at class numbers must be told apart by the same comparison."""
    row = random_row(N, random.Random(20))
    assert histograms_agree(row, decoder, list(range(N)))
    assert not histograms_agree(row, decoder, [3, 5, 4, 0, 2, 1])


# --- champions -------------------------------------------------------------------------------------------------------

ALWAYS = {name for name, cls in DECODERS.items() if cls.finds_champions}
UNLESS_CROWDED_OUT = {"halving", "poll", "top-k"}


def test_decoders_say_what_they_promise_a_champion() -> None:
    assert {"adag", "champion", "ddag", "max-win", "quick", "radag"} <= ALWAYS
    assert not ALWAYS & UNLESS_CROWDED_OUT


@pytest.mark.parametrize("decoder_name", sorted(ALWAYS))
def test_a_class_that_beats_everyone_wins(decoder_name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=40)
    @given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), decoders(decoder_name, n))), SEEDS)
    def law(sized: tuple[int, Decoder], seed: int) -> None:
        n, decoder = sized
        if getattr(decoder, "budget", None) is not None:
            decoder = dataclasses.replace(decoder, budget=None)  # type: ignore[call-arg]
        rng = random.Random(seed)
        champions = [rng.randrange(n) for _ in range(30)]
        winners, _ = decide(Recorded([champion_row(n, c, rng) for c in champions]), decoder, len(champions), seed)
        assert winners == champions

    law()


@pytest.mark.parametrize("decoder_name", sorted(UNLESS_CROWDED_OUT))
def test_a_class_that_beats_everyone_wins_unless_it_is_crowded_out(decoder_name: str) -> None:
    """A champion wins each of its l sampled games.

    So it has the highest sampled score there can be, and it is named for certain when at most k classes (one, for
    poll and for the first round of halving) reach that score. When more do, the tie rule decides; poll and halving
    then still name one of them, or nobody.
    """
    named = crowded = 0

    @settings(derandomize=True, deadline=None, max_examples=40)
    @given(st.integers(2, 9).flatmap(lambda n: st.tuples(st.just(n), decoders(decoder_name, n))), SEEDS)
    def law(sized: tuple[int, Decoder], seed: int) -> None:
        nonlocal named, crowded
        n, decoder = sized
        assert isinstance(decoder, Poll | TopK | Halving)
        rng = random.Random(seed)
        champions = [rng.randrange(n) for _ in range(10)]
        rows = [champion_row(n, champion, rng) for champion in champions]
        winners, _ = decide(Recorded(rows), decoder, len(rows), seed)
        for trial, (champion, winner) in enumerate(zip(champions, winners, strict=True)):
            judge = naive.Judge(naive.recorded_tournament(n, rows[trial]))
            scores = naive.sampled_scores(judge, n, naive.draws_of(seed, n, trial), decoder.l)
            full = [c for c in scores if scores[c] == naive.sample_size(decoder.l, n)]
            assert champion in full
            if len(full) <= (decoder.k if isinstance(decoder, TopK) else 1):
                assert winner == champion
                named += 1
            else:
                assert winner in {-1, *full}
                crowded += 1

    law()
    assert min(named, crowded) >= 30, "both sides of the law must be seen"
