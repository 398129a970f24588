"""fit_oracles(recorded): every random oracle fitted to the answers, and what each foretells of the decoders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pairsim.decoders import Decoder, decoder
from pairsim.errors import refusal
from pairsim.fitting.models import fit_ranked, fit_similarity, fit_uniform
from pairsim.fitting.result import ModelFit, OracleFits
from pairsim.fitting.traits import Traits, check_recorded, traits_of
from pairsim.oracles import Oracle, Recorded
from pairsim.simulation import check_seed, check_threads, check_trials, simulate
from pairsim.stats import check_confidence

FITTED_SPECS = (
    "max-win",
    "poll:l=log",
    "poll:l=3log",
    "poll:l=5log",
    "top-k:k=5,l=3log",
    "halving:l=3log",
    "adag",
    "ddag",
)
FITS: dict[str, Callable[[Traits], Oracle]] = {
    "uniform": fit_uniform,
    "similarity": fit_similarity,
    "ranked": fit_ranked,
}
TRAIT_ROWS = 1024  # drawn of each fitted oracle to see its traits
STEPS = 2 + 2 * len(FITS)


def fitted_specs(n: int) -> list[str]:
    """Return the decoders that are looked at by themselves: top-k only where there are more than its candidates."""
    return [spec for spec in FITTED_SPECS if n > 5 or not spec.startswith("top-k")]


def fit_oracles(
    recorded: Recorded,
    decoders: Sequence[Decoder] | None = None,
    *,
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> OracleFits:
    """Fit uniform, similarity and ranked to recorded answers, and compare what they foretell with what happened.

    Parameters
    ----------
    recorded : Recorded
        The answers of a model on data points with known classes, as from `from_model(model).record(X, y)`.
    decoders : sequence of Decoder, optional
        By itself: max-win, poll at log n, 3 log n and 5 log n, top-k, halving, adag and ddag; top-k where there are
        more than 5 classes.
    trials : int, optional
        Tournaments drawn of each fitted oracle: 10,000 when left out.
    seed, threads
        Of the simulations.
    confidence : float
        Of the intervals of the real success over the rows.
    progress : callable, optional
        Called with the name of each step before it begins; there are 8.

    Returns
    -------
    OracleFits

    Examples
    --------
    >>> from pairsim import MaxWin, Poll, Ranked, Recorded, fit_oracles
    >>> fits = fit_oracles(Recorded.of(Ranked(16, 0.95), 500), [MaxWin(), Poll("log")], trials=2000)
    >>> fits.best.oracle.name
    'ranked'
    >>> fits.worst("ranked") < 0.05 < 0.2 < fits.worst("uniform")
    True
    """
    check_recorded("fit_oracles", recorded)
    if decoders is None:
        decoders = [decoder(spec) for spec in fitted_specs(recorded.n)]
    if not decoders or not all(isinstance(each, Decoder) for each in decoders):
        raise refusal("fit_oracles", "decoders", "decoders such as [MaxWin(), Poll()]", repr(decoders))
    seed, threads = check_seed("fit_oracles", seed), check_threads("fit_oracles", threads)
    confidence = check_confidence("fit_oracles", confidence)
    tell = progress or (lambda step: None)
    tell("traits of the answers")
    traits = traits_of(recorded)
    tell("decoders on the answers")
    real = simulate(recorded, decoders, seed=seed, confidence=confidence, threads=threads)
    models = []
    for name, fit in FITS.items():
        tell(f"fit of {name}")
        oracle = fit(traits)
        tell(f"decoders on {name}")
        count = check_trials("fit_oracles", trials, oracle)
        foretold = simulate(oracle, decoders, count, seed, confidence, threads=threads)
        drawn = traits_of(Recorded.of(oracle, min(TRAIT_ROWS, recorded.rows), seed))
        models.append(ModelFit(oracle, drawn, tuple(foretold)))
    return OracleFits(traits, tuple(real), tuple(models))
