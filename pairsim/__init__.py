"""pairsim: which class is it, how likely is that right, and how many comparisons did it cost?

A Monte-Carlo toolkit for combining unreliable pairwise classifiers. Names are loaded when first used, so that
`import pairsim` and `pairsim --help` cost next to nothing.
"""

from __future__ import annotations

from pairsim.version import VERSION

TYPE_CHECKING = False  # to type checkers it is True; nothing is imported for it, as Ctrl-C is not yet handled here
__version__ = VERSION

_HOMES = {
    "Adag": "decoders",
    "Champion": "decoders",
    "Choice": "session",
    "Cost": "decoders",
    "Ddag": "decoders",
    "Decoder": "decoders",
    "Estimate": "stats",
    "Halving": "decoders",
    "Learned": "decoders",
    "Matrix": "oracles",
    "MaxWin": "decoders",
    "Oracle": "oracles",
    "ParameterError": "errors",
    "Poll": "decoders",
    "Posterior": "decoders",
    "Quick": "decoders",
    "Radag": "decoders",
    "Ranked": "oracles",
    "Recorded": "oracles",
    "Session": "session",
    "Similarity": "oracles",
    "TopK": "decoders",
    "Uniform": "oracles",
    "bound": "bounds",
    "decoder": "decoders",
    "exact": "exact_values",
    "fit_oracles": "fitting",
    "from_model": "models",
    "pick": "session",
    "plan": "planning",
    "separation": "simulation",
    "simulate": "simulation",
    "sweep": "sweeps",
}

__all__ = [
    "Adag",
    "Champion",
    "Choice",
    "Cost",
    "Ddag",
    "Decoder",
    "Estimate",
    "Halving",
    "Learned",
    "Matrix",
    "MaxWin",
    "Oracle",
    "ParameterError",
    "Poll",
    "Posterior",
    "Quick",
    "Radag",
    "Ranked",
    "Recorded",
    "Session",
    "Similarity",
    "TopK",
    "Uniform",
    "__version__",
    "bound",
    "decoder",
    "exact",
    "fit_oracles",
    "from_model",
    "pick",
    "plan",
    "separation",
    "simulate",
    "sweep",
]

if TYPE_CHECKING:
    from pairsim.bounds import bound
    from pairsim.decoders import (
        Adag,
        Champion,
        Cost,
        Ddag,
        Decoder,
        Halving,
        Learned,
        MaxWin,
        Poll,
        Posterior,
        Quick,
        Radag,
        TopK,
        decoder,
    )
    from pairsim.errors import ParameterError
    from pairsim.exact_values import exact
    from pairsim.fitting import fit_oracles
    from pairsim.models import from_model
    from pairsim.oracles import Matrix, Oracle, Ranked, Recorded, Similarity, Uniform
    from pairsim.planning import plan
    from pairsim.session import Choice, Session, pick
    from pairsim.simulation import separation, simulate
    from pairsim.stats import Estimate
    from pairsim.sweeps import sweep


def __getattr__(name: str) -> object:
    if name in _HOMES:
        import importlib

        value = getattr(importlib.import_module(f"pairsim.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if name[:1].isupper():  # a decoder or an oracle that is not listed above: the files of their folders are found
        import importlib

        for package in ("decoders", "oracles"):
            for cls in importlib.import_module(f"pairsim.{package}").REGISTRY.values():
                if cls.__name__ == name:
                    return cls
    raise AttributeError(f"module 'pairsim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
