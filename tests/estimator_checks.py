"""scikit-learn's own checks of its estimators, as parameters of a test."""

from __future__ import annotations

from typing import Any

import pytest


def every_check(*estimators: Any) -> list[Any]:
    """Return (estimator, check) for each of scikit-learn's checks of each estimator."""
    from sklearn.utils.estimator_checks import estimator_checks_generator

    return [
        pytest.param(checked, check, id=f"{estimator} {getattr(check, 'func', check).__name__}")
        for estimator in estimators
        for checked, check in estimator_checks_generator(estimator)
    ]
