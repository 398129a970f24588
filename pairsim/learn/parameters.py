"""Checks of an estimator's parameters at `fit`, where scikit-learn makes them."""

from __future__ import annotations

import numbers
from typing import Any

from pairsim.errors import parameter_error

LARGEST = 1 << 62


def check_params(estimator: Any) -> None:
    """Check the parameters by scikit-learn's constraints, and reject integers that no double or counter could hold."""
    estimator._validate_params()
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, numbers.Integral) and abs(int(value)) > LARGEST:
            raise parameter_error(type(estimator).__name__, name, "a number from -2**62 to 2**62", value)
