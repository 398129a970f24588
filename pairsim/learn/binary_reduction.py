"""Base of classifiers made of binary ones: of any estimator, or of support vector machines on one Gram matrix."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from pairsim.errors import parameter_error
from pairsim.learn.codes.code_tables import Code
from pairsim.learn.gram import KernelClassifier
from pairsim.learn.solvers.column_dual import ColumnSolutions, solve_columns


class BinaryReduction(KernelClassifier):
    """Base of classifiers with `estimator`, the parameters of a kernel SVM where that is None, and `n_jobs`."""

    estimator: Any
    C: float
    C_scaling: str
    tol: float
    n_jobs: int | None
    n_iter_: NDArray[np.int64]
    problem_rows_: NDArray[np.int64]

    _binary_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **KernelClassifier._kernel_constraints,
        "estimator": [HasMethods(["fit"]), None],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "C_scaling": [StrOptions({"plain", "mean"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [Integral, None],
    }

    @property
    def _pairwise_input(self) -> bool:
        if self.estimator is None:
            return super()._pairwise_input
        return bool(self.__sklearn_tags__().input_tags.pairwise)

    def _check_estimator(self) -> None:
        """Reject an estimator that says nothing but who it is."""
        if not any(hasattr(self.estimator, each) for each in ("decision_function", "predict_proba")):
            must_be = "one with decision_function or predict_proba"
            raise parameter_error(type(self).__name__, "estimator", must_be, repr(self.estimator))

    def _solve(self, X: Any, numbers: NDArray[np.int64], code: Code) -> tuple[NDArray[np.int64], ColumnSolutions]:
        """Return the solutions of all columns' SVMs, and which row of X each of their variables is of."""
        order = np.arange(len(numbers))
        if (code == 0).any():  # rows that a SVM leaves out should stand side by side
            order = np.argsort(numbers, kind="stable")
        gram = self._gram_of_rows(X, order if (code == 0).any() else None)
        signs = code[numbers[order]].T.astype(np.float64)
        rows = np.count_nonzero(signs, axis=1) if self.C_scaling == "mean" else np.ones(len(signs))
        found = solve_columns(gram, signs, self.C / rows, self.tol)
        if found.violation >= self.tol:
            warnings.warn("Solver terminated early: raise tol or scale the data.", ConvergenceWarning, stacklevel=4)
        self.n_iter_ = found.steps
        return order, found

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: what the estimator, or the kernel, can do."""
        tags = super(KernelClassifier, self).__sklearn_tags__()
        if self.estimator is None:
            tags.input_tags.pairwise = super()._pairwise_input
            tags.input_tags.sparse = not tags.input_tags.pairwise
        elif hasattr(self.estimator, "__sklearn_tags__"):
            inner = self.estimator.__sklearn_tags__().input_tags
            tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
            tags.input_tags.allow_nan = inner.allow_nan
        return tags
