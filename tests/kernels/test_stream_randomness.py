"""What the stream gives looks random: lanes, pairs, words, seeds and draws, each check with a broken control.

Each check takes many counts that would be binomial if the bits were independent and fair, and compares the most
surprising with the union bound over all of them: an alarm comes with a probability of at most FALSE_ALARM, whatever the
dependence between the counts. The seeds are fixed, so a check that passes once passes always.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

import naive
import numpy as np
import pytest
from scipy.stats import binom

from pairsim import Recorded, Uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]  # [word, lane, pair]: 64 trials a word, all pairs of 8 classes

FALSE_ALARM = 1e-6
N, N_WORDS, LANES = 8, 400, 64
PAIRS = list(itertools.combinations(range(N), 2))


def looks_binomial(counts: object, trials: int, probability: float = 0.5) -> bool:
    """Say whether no count is too far out, on either side, to be binomial (Bonferroni over all counts)."""
    flat = np.asarray(counts).ravel()
    tails = np.minimum(binom.cdf(flat, trials, probability), binom.sf(flat - 1, trials, probability))
    return bool(2 * flat.size * tails.min() > FALSE_ALARM)


def agreements(columns: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return, for each two columns, in how many rows they agree."""
    signs = 2 * columns.astype(np.int64) - 1
    above = np.triu_indices(columns.shape[1], 1)
    agreeing: NDArray[np.int64] = (len(columns) + signs.T @ signs)[above] // 2
    return agreeing


def check_fair(bits: Bits) -> bool:
    return looks_binomial(bits.sum(axis=0), N_WORDS) and looks_binomial(bits.sum(axis=(0, 1)), N_WORDS * LANES)


def check_lanes(bits: Bits) -> bool:
    by_lane = bits.transpose(0, 2, 1).reshape(-1, LANES)
    return looks_binomial(agreements(by_lane), len(by_lane))


def check_pairs(bits: Bits) -> bool:
    by_pair = bits.reshape(-1, len(PAIRS))
    return looks_binomial(agreements(by_pair), len(by_pair))


def check_words(bits: Bits) -> bool:
    return all(looks_binomial((bits[lag:] == bits[:-lag]).sum(axis=0), N_WORDS - lag) for lag in (1, 2, 64))


def check_triples(bits: Bits) -> bool:
    """The parity of the three answers among three classes is a coin: pairs can be independent two by two and fail."""
    odd = []
    for a, b, c in itertools.combinations(range(N), 3):
        ab, bc, ac = (bits[:, :, PAIRS.index(pair)] for pair in ((a, b), (b, c), (a, c)))
        odd.append((ab ^ bc ^ ac).sum())
    return looks_binomial(odd, N_WORDS * LANES)


CHECKS: dict[str, Callable[[Bits], bool]] = {
    "fair": check_fair,
    "lanes": check_lanes,
    "pairs": check_pairs,
    "words": check_words,
    "triples": check_triples,
}


def fair_bits(seed: int, n: int = N) -> Bits:
    answers = Recorded.of(Uniform(n, 0.5), N_WORDS * LANES, seed).answers()
    return answers.reshape(N_WORDS, LANES, -1)


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_answers_look_random(name: str, seed: int) -> None:
    assert CHECKS[name](fair_bits(seed))


def unmixed_bits() -> Bits:
    """Return the bits of a generator that forgets the last scramble: the Weyl position xor the digit's key."""
    root = naive.stream(0, N)
    bits = np.empty((N_WORDS, LANES, len(PAIRS)), np.bool_)
    for word in range(N_WORDS):
        key = naive.fold(naive.fold(naive.fold(root, naive.ANSWERS), word), 0)
        for pair, (low, high) in enumerate(PAIRS):
            value = naive.place(low, high) ^ key
            bits[word, :, pair] = [value >> lane & 1 for lane in range(LANES)]
    return bits


def broken_bits(name: str) -> Bits:
    """Return bits with just the fault that check `name` is there to find."""
    if name == "pairs":
        return unmixed_bits()
    bits = fair_bits(0).copy()
    if name == "fair":
        bits[:, 17, 3] |= fair_bits(1)[:, 17, 3]  # one pair in one lane wins three times out of four
    elif name == "lanes":
        bits[:, 5] = bits[:, 37]
    elif name == "words":
        bits[1::2] = bits[0:-1:2]
    elif name == "triples":
        bits[:, :, PAIRS.index((0, 2))] = bits[:, :, PAIRS.index((0, 1))] ^ bits[:, :, PAIRS.index((1, 2))]
    return bits


@pytest.mark.parametrize("name", CHECKS)
def test_broken_generators_are_noticed(name: str) -> None:
    """Negative control of each check."""
    assert not CHECKS[name](broken_bits(name))


def test_triples_see_what_pairs_do_not() -> None:
    assert check_pairs(broken_bits("triples"))


def test_seeds_and_sizes_are_unrelated() -> None:
    first = fair_bits(7)
    for other in (fair_bits(8), fair_bits(7 + 2**32), fair_bits(7, N + 1)[:, :, : N - 1], fair_bits(7, 2 * N)):
        shared = min(first.shape[2], other.shape[2], N - 1)  # the pairs of class 0 come first in every size
        assert looks_binomial((first[:, :, :shared] == other[:, :, :shared]).sum(axis=(0, 1)), N_WORDS * LANES)
    assert not looks_binomial((first == fair_bits(7)).sum(axis=(0, 1)), N_WORDS * LANES)


@pytest.mark.parametrize("p", [0.9, 0.7, 1 / 3, 2.0**-7, 0.501])
def test_probabilities_are_met(p: float) -> None:
    wins = Recorded.of(Uniform(N, p), 50_000, 4).answers()[:, : N - 1].sum(axis=0)
    assert looks_binomial(wins, 50_000, p)
    assert not looks_binomial(wins, 50_000, p + 0.02)


def test_digits_of_one_answer_are_unrelated() -> None:
    root = naive.stream(3, 4)
    digits = np.array([[naive.answer_digit(root, t, 1, 3, d) for d in range(12)] for t in range(4000)], np.bool_)
    assert looks_binomial(digits.sum(axis=0), 4000)
    assert looks_binomial(agreements(digits), 4000)


# --- the decoders' own draws -----------------------------------------------------------------------------------------


def test_draws_look_uniform_and_unrelated() -> None:
    root, trials, bound = naive.stream(6, 12), 6000, 7
    places = [(0, 0), (0, 1), (1, 0), (11, 3), (naive.WINNER_DRAW, 0), (naive.CUT_DRAW, 5)]
    draws = np.array([[naive.draw_below(root, t, a, b, bound) for a, b in places] for t in range(trials)])
    assert looks_binomial([(draws == value).sum(axis=0) for value in range(bound)], trials, 1 / bound)
    same = [(draws[:, a] == draws[:, b]).sum() for a, b in itertools.combinations(range(len(places)), 2)]
    assert looks_binomial(same, trials, 1 / bound)
    assert looks_binomial((draws[1:] == draws[:-1]).sum(axis=0), trials - 1, 1 / bound)
    answers = Recorded.of(Uniform(12, 0.5), trials, 6).answers()[:, :11]
    odd = [((draws[:, a, None] < 3) & answers).sum(axis=0) for a in range(len(places))]
    assert looks_binomial(odd, trials, 3 / bound / 2)


def orders(shuffle: Callable[[naive.Draw], list[int]], trials: int) -> list[int]:
    found = Counter(tuple(shuffle(naive.draws_of(2, 4, trial))) for trial in range(trials))
    return [found[order] for order in itertools.permutations(range(4))]


def swap_with_anyone(draw: naive.Draw) -> list[int]:
    """Shuffle with the classic mistake: each place is swapped with any place, which favours some orders."""
    classes = list(range(4))
    for c in range(3, 0, -1):
        other = draw(c, 0, 4)
        classes[c], classes[other] = classes[other], classes[c]
    return classes


def test_random_orders_are_equally_likely() -> None:
    assert looks_binomial(orders(lambda draw: naive.list_order(4, "random", draw), 12_000), 12_000, 1 / 24)
    assert not looks_binomial(orders(swap_with_anyone, 12_000), 12_000, 1 / 24)
