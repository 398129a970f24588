"""The POLL paper's Lemma 1 and Theorems 2 and 3 for a separation alpha, printed and corrected, as rows of a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pairsim.cli.running import refused

if TYPE_CHECKING:
    from pairsim.oracles import Oracle


def theorem_rows(oracle: Oracle, alpha: float, c: float) -> list[dict[str, Any]]:
    """Return what each theorem says of alpha-separated tournaments with n classes, and of how often they are so."""
    from pairsim.bounds import lemma_1, paper_sample_size, theorem_3

    def lemma(printed: bool) -> int:
        slope, start = lemma_1(alpha, c, printed=printed)
        return math.ceil(slope * math.log2(oracle.n - 1) + start)

    if oracle.n < 3:  # Lemma 1 needs two rivals, so that log n1 is positive
        raise refused("n", "at least 3 with --alpha", oracle.n)
    sizes = [paper_sample_size(oracle.n, alpha, c, printed=printed) for printed in (False, True)]
    rows: list[tuple[str, str, float, float]] = [
        ("Lemma 1", "l, one rival", lemma(False), lemma(True)),
        ("Theorem 2", "l, any rival", sizes[0], sizes[1]),
    ]
    p = oracle.p
    if oracle.label == "uniform" and p is not None and p > 0.5:
        failures, separations = (1.0, 1.0), (math.nan, math.nan)  # of 2p or more it promises nothing
        if alpha < 2.0 * p:
            epsilon = (2.0 * p - alpha) / (2.0 * p + alpha)
            sides = theorem_3(oracle.n, p, epsilon), theorem_3(oracle.n, p, epsilon, printed=True)
            failures = sides[0].failure, sides[1].failure
            separations = sides[0].separation, sides[1].separation
        rows += [
            ("Theorem 3", "failure", *failures),
            ("Theorem 3", "separation", *separations),
        ]
    return [
        {
            "oracle": oracle.label,
            "n": oracle.n,
            "p": math.nan if p is None else p,
            "alpha": alpha,
            "theorem": theorem,
            "says": says,
            "corrected": float(corrected),
            "printed": float(printed),
        }
        for theorem, says, corrected, printed in rows
    ]
