"""How `data/bch_codes.txt` was made: code words with many differences, as output codes for 4 to 64 classes.

The words are those of a primitive narrow-sense BCH code (Bose and Ray-Chaudhuri; Hocquenghem): its generator is the
product of x - a**i over the smallest set of exponents that holds 1 .. 2t and is closed under doubling, so any two words
differ in more than 2t of their 2**q - 1 places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.codes.code_tables import LEAST_BCH, MOST_BCH, different_columns

PRIMITIVE = {4: 0b10011, 5: 0b100101, 6: 0b1000011}  # x**4 + x + 1, x**5 + x**2 + 1, x**6 + x + 1
DRAWS = 2000


def choose_field(n: int) -> tuple[int, int]:
    """Return q and t for n classes: words of 15, 31 or 63 places, of which there are enough."""
    if n <= 5:
        return 4, 2
    return (5, 5) if n <= 11 else (6, 10)


def generator_polynomial(q: int, t: int) -> int:
    """Return the generator of the words of 2**q - 1 places that correct t errors, bit k the coefficient of x**k.

    Examples
    --------
    >>> from pairsim.learn.codes.bch import generator_polynomial
    >>> oct(generator_polynomial(4, 2))
    '0o721'
    """
    order = 2**q - 1
    powers = [1]
    for _ in range(order - 1):
        doubled = powers[-1] << 1
        powers.append(doubled ^ PRIMITIVE[q] if doubled > order else doubled)
    logs = {value: k for k, value in enumerate(powers)}
    exponents = {i * 2**k % order for i in range(1, 2 * t + 1) for k in range(q)}
    coefficients = [1]  # in the field; the product's are 0 and 1
    for exponent in sorted(exponents):
        scaled = [powers[(logs[each] + exponent) % order] if each else 0 for each in coefficients]
        coefficients = [low ^ high for low, high in zip([*scaled, 0], [0, *coefficients], strict=True)]
    return sum(each << k for k, each in enumerate(coefficients))


def draw_words(n: int, q: int, t: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Return n code words, of which none is another one or its complement, one per row, entries -1 and 1."""
    length, generator = 2**q - 1, generator_polynomial(q, t)
    size = length - generator.bit_length() + 1  # bits of a message
    words = np.empty(0, np.uint64)
    while len(words) < n:
        messages = rng.randint(2**size, size=2 * n).astype(np.uint64)
        drawn = np.zeros(2 * n, np.uint64)
        for k in range(size):
            drawn ^= (messages >> np.uint64(k) & np.uint64(1)) * np.uint64(generator << k)
        words = np.append(words, drawn)
        _, first = np.unique(np.minimum(words, words ^ np.uint64(2**length - 1)), return_index=True)
        words = words[np.sort(first)]
    bits = words[:n, None] >> np.arange(length, dtype=np.uint64) & np.uint64(1)
    return 2 * bits.astype(np.int64) - 1


def search_code(n: int) -> NDArray[np.int64]:
    """Return the best of many draws of n code words: the closest rows farthest apart, then the most columns."""
    rng, (q, t) = np.random.RandomState(0), choose_field(n)
    best, most = np.empty((n, 0), np.int64), (-1, 0)
    for _ in range(DRAWS):
        code = different_columns(draw_words(n, q, t, rng))
        products = code.astype(np.float64) @ code.T  # integers
        least = int(code.shape[1] - products[np.triu_indices(n, 1)].max()) // 2
        if (least, code.shape[1]) > most:
            best, most = code, (least, code.shape[1])
    return best


def write_codes() -> str:
    """Return the text of `data/bch_codes.txt`: a line for each number of classes, with columns and rows as hex."""
    lines = []
    for n in range(LEAST_BCH, MOST_BCH + 1):
        code = search_code(n)
        rows = (format(int("".join("1" if each > 0 else "0" for each in row), 2), "x") for row in code)
        lines.append(f"{n} {code.shape[1]} {' '.join(rows)}\n")
    return "".join(lines)
