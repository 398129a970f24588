"""What a fit gives: the oracles, their predictions, and how far these are from what was observed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pairsim.errors import parameter_error
from pairsim.fitting.folds import Judged
from pairsim.fitting.observed import Observed
from pairsim.fitting.parameters import Parameter
from pairsim.fitting.traits import Traits
from pairsim.oracles import Oracle

if TYPE_CHECKING:
    import pandas as pd

SHOWN_TRAITS = ("accuracy", "unbeaten", "circles", "winner", "runner_up")


@dataclasses.dataclass(frozen=True)
class ModelFit:
    """A random oracle fitted to recorded answers.

    Attributes
    ----------
    oracle : Oracle
        Fitted to all rows.
    parameters : tuple of Parameter
        Its parameters with their intervals: p of uniform; p, order and difficulty of ranked; r of similarity, class by
        class. A difficulty may be "not identified".
    traits : Traits
        Of answers that it draws: beside those of the recorded ones, the goodness of the fit.
    predictions : tuple of Judged
        Cross-fitted predictions and their distances from the observed success, in the order of the decoders.
    """

    oracle: Oracle
    parameters: tuple[Parameter, ...]
    traits: Traits
    predictions: tuple[Judged, ...]

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name.

        Examples
        --------
        >>> from pairsim import MaxWin, Ranked, Recorded, fit_oracles
        >>> fits = fit_oracles(Recorded.of(Ranked(8, 0.995), 60), [MaxWin()], trials=1000)
        >>> fits["ranked"].parameter("difficulty").note
        'not identified'
        """
        for each in self.parameters:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self.parameters)
        raise parameter_error("ModelFit", "name", f"one of {known}", repr(name))


@dataclasses.dataclass(frozen=True)
class OracleFits:
    """Random oracles fitted to recorded answers, and each decoder's success: predicted by them, and observed.

    Attributes
    ----------
    traits : Traits
        Of the recorded answers.
    observed : tuple of Observed
        Each decoder on the recorded answers, with its interval over the rows.
    models : tuple of ModelFit
    folds : int
        Number of parts into which the rows were cut: a model is judged on each by a fit to the others.
    confidence : float
        Confidence level of all intervals.
    """

    traits: Traits
    observed: tuple[Observed, ...]
    models: tuple[ModelFit, ...]
    folds: int
    confidence: float

    def __getitem__(self, name: str) -> ModelFit:
        """Return the fit of the oracle of that name."""
        for model in self.models:
            if model.oracle.name == name:
                return model
        known = ", ".join(model.oracle.name for model in self.models)
        raise parameter_error("OracleFits", "name", f"one of {known}", repr(name))

    def distances(self, name: str) -> dict[str, float]:
        """Return, for each decoder, how much higher its predicted success is than the observed one."""
        return {each.decoder: each.distance for each in self[name].predictions}

    def worst(self, name: str) -> float:
        """Return the largest distance, over the decoders, of predicted from observed success."""
        return max(abs(distance) for distance in self.distances(name).values())

    @property
    def best(self) -> ModelFit:
        """The fit whose largest distance is the smallest."""
        return min(self.models, key=lambda model: self.worst(model.oracle.name))

    @property
    def notes(self) -> list[str]:
        """What must be known of the fitted parameters, one sentence each."""
        said = {
            "not identified": "{} of {} is not identified by these rows (interval {:.2f} .. {:.2f})",
            "may be 0": "{} of {} cannot be distinguished from 0 (interval {:.2f} .. {:.2f})",
        }
        return [
            said[each.note].format(each.name, model.oracle.name, each.low, each.high)
            for model in self.models
            for each in model.parameters
            if each.note
        ]

    def to_records(self) -> list[dict[str, Any]]:
        """Return one row per decoder: observed success and interval, then each oracle's prediction and distance.

        `draws` is the number of draws per row, None where the observed success is exact in each row.
        """
        rows = []
        for place, seen in enumerate(self.observed):
            row: dict[str, Any] = {"decoder": seen.decoder, "rows": seen.rows, "draws": seen.draws or None}
            row |= {"observed": seen.success, "low": seen.low, "high": seen.high}
            for model in self.models:
                name, judged = model.oracle.name, model.predictions[place]
                row |= {name: judged.success, f"{name}_distance": judged.distance}
                row |= {f"{name}_distance_low": judged.low, f"{name}_distance_high": judged.high}
            rows.append(row)
        return rows

    def parameter_records(self) -> list[dict[str, Any]]:
        """Return one row per parameter of each fitted oracle: its value, interval and note."""
        return [
            {"oracle": model.oracle.name, "parameter": each.name, "value": each.value}
            | {"low": each.low, "high": each.high, "note": each.note}
            for model in self.models
            for each in model.parameters
        ]

    def trait_records(self) -> list[dict[str, Any]]:
        """Return one row per trait: its value in the recorded answers and in answers of each fitted oracle."""
        return [
            {"trait": trait.replace("_", " "), "observed": getattr(self.traits, trait)}
            | {model.oracle.name: getattr(model.traits, trait) for model in self.models}
            for trait in SHOWN_TRAITS
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return `to_records` as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.to_records())
