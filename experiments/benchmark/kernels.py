"""Rates of the innermost loops, measured through small kernels of their own."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from experiments.benchmark.timing import best_seconds, cpu_seconds
from pairsim.kernels.bits import (
    LANES,
    SLAB_DIGITS,
    U_LANES,
    aligned_words,
    biased_words,
    fair_words,
    split_digits,
    write_slab_keys,
)
from pairsim.kernels.stream import ZERO, mix_spread, place, spread, stream_key
from pairsim.kernels.vectors import U_WIDTH, load, store

TILE = 256
ROUNDS = 1000


@numba.njit
def _write_keys(stream: np.uint64, words: NDArray[np.uint64], digits: NDArray[np.uint64]) -> None:
    write_slab_keys(stream, 0, words, digits)


def _slab_keys() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the keys of one slab, and room where the kernels have it: at a cache line."""
    words, digits = aligned_words(LANES), aligned_words(SLAB_DIGITS * LANES)
    _write_keys(stream_key(0, 512), words, digits)
    return words, digits


@numba.njit(nogil=True)
def _fill_fair(digits: NDArray[np.uint64], out: NDArray[np.uint64], lanes: np.uint64, rounds: int) -> None:
    for r in range(rounds):
        for k in range(TILE):
            fair_words(place(r, k), digits, out, np.uint64(k) * U_LANES, lanes)


@numba.njit(nogil=True)
def _fill_vectors(digits: NDArray[np.uint64], places: NDArray[np.uint64], out: NDArray[np.uint64], rounds: int) -> None:
    """Do as `_fill_fair` in the form that the tiles are drawn in, which is the fastest known of the generator."""
    for r in range(rounds):
        for k in range(np.uint64(TILE)):
            places[k] = spread(place(r, k))
        for half in range(ZERO, U_LANES, U_WIDTH):
            key = load(digits, half)
            for k in range(np.uint64(TILE)):
                store(out, k * U_LANES + half, mix_spread(places[k] ^ key))


@numba.njit(nogil=True)
def _fill_biased(
    p: float,
    words: NDArray[np.uint64],
    digits: NDArray[np.uint64],
    out: NDArray[np.uint64],
    spare: NDArray[np.uint64],
    lanes: np.uint64,
    rounds: int,
) -> None:
    for r in range(rounds):
        for k in range(TILE):
            top, rest = split_digits(p)
            biased_words(top, rest, place(r, k), words, digits, out, np.uint64(k) * U_LANES, spare, lanes)


def generator_words_per_second() -> float:
    """Return how many 64-bit words the generator alone delivers, in the layout of the slabs."""
    _, digits = _slab_keys()
    out = aligned_words(TILE * LANES)
    seconds = best_seconds(lambda: _fill_fair(digits, out, U_LANES, ROUNDS), 30)
    return ROUNDS * TILE * LANES / seconds


def fastest_words_per_second() -> float:
    """Return how many words the generator alone delivers as vector values, nothing but drawing and writing them."""
    _, digits = _slab_keys()
    places, out = aligned_words(TILE), aligned_words(TILE * LANES)
    seconds = best_seconds(lambda: _fill_vectors(digits, places, out, ROUNDS), 30)
    return ROUNDS * TILE * LANES / seconds


def outcome_bits_per_second(p: float) -> float:
    """Return how many answers of exact probability p are made per CPU second."""
    words, digits = _slab_keys()
    out, spare = np.empty(TILE * LANES, np.uint64), np.empty(LANES, np.uint64)
    seconds = best_seconds(lambda: _fill_biased(p, words, digits, out, spare, U_LANES, ROUNDS), 30, cpu_seconds)
    return ROUNDS * TILE * LANES * 64 / seconds
