"""What a fit gives: the oracles, what they foretell, and how far that is from what happened."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pairsim.errors import refusal
from pairsim.fitting.traits import Traits
from pairsim.oracles import Oracle
from pairsim.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

SHOWN_TRAITS = ("accuracy", "unbeaten", "circles", "winner", "runner_up")


@dataclasses.dataclass(frozen=True)
class ModelFit:
    """A random oracle fitted to recorded answers.

    Attributes
    ----------
    oracle : Oracle
        The fitted oracle.
    traits : Traits
        Of answers that it draws: beside those of the recorded ones, the goodness of the fit.
    predictions : tuple of Estimate
        What it foretells, in the order of the decoders.
    """

    oracle: Oracle
    traits: Traits
    predictions: tuple[Estimate, ...]


@dataclasses.dataclass(frozen=True)
class OracleFits:
    """Random oracles fitted to recorded answers, and each decoder's success: foretold by them, and as it was.

    Attributes
    ----------
    traits : Traits
        Of the recorded answers.
    real : tuple of Estimate
        Each decoder on the recorded answers, with its interval over the rows.
    models : tuple of ModelFit
    """

    traits: Traits
    real: tuple[Estimate, ...]
    models: tuple[ModelFit, ...]

    def __getitem__(self, name: str) -> ModelFit:
        """Return the fit of the oracle of that name."""
        for model in self.models:
            if model.oracle.name == name:
                return model
        known = ", ".join(model.oracle.name for model in self.models)
        raise refusal("OracleFits", "name", f"one of {known}", repr(name))

    def distances(self, name: str) -> dict[str, float]:
        """Return, for each decoder, how much higher its foretold success is than its real one."""
        pairs = zip(self.real, self[name].predictions, strict=True)
        return {real.decoder: foretold.success - real.success for real, foretold in pairs}

    def worst(self, name: str) -> float:
        """Return the largest distance, over the decoders, of what the oracle foretells from what happened."""
        return max(abs(distance) for distance in self.distances(name).values())

    @property
    def best(self) -> ModelFit:
        """The fit whose largest distance is the smallest."""
        return min(self.models, key=lambda model: self.worst(model.oracle.name))

    def to_records(self) -> list[dict[str, Any]]:
        """Return one row a decoder: its real success and interval, then each oracle's prediction and distance."""
        rows = []
        for place, real in enumerate(self.real):
            row: dict[str, Any] = {"decoder": real.decoder, "rows": real.trials, "real": real.success}
            row |= {"low": real.low, "high": real.high}
            for model in self.models:
                foretold = model.predictions[place].success
                row |= {model.oracle.name: foretold, f"{model.oracle.name}_distance": foretold - real.success}
            rows.append(row)
        return rows

    def trait_records(self) -> list[dict[str, Any]]:
        """Return one row a trait: its value in the recorded answers and in answers of each fitted oracle."""
        return [
            {"trait": trait.replace("_", " "), "real": getattr(self.traits, trait)}
            | {model.oracle.name: getattr(model.traits, trait) for model in self.models}
            for trait in SHOWN_TRAITS
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return `to_records` as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.to_records())
