"""DAGSVC: one-vs-one SVMs of which a prediction asks n - 1, the first class of a list against the last."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from pairsim.bounds import TheoryBound, tree_risk_bound
from pairsim.errors import parameter_error
from pairsim.learn.pair_reduction import PairReduction


class DAGSVC(PairReduction):
    """Decision directed acyclic graph of one-vs-one SVMs (DAGSVM): n - 1 of the n(n-1)/2 pairs decide about a row.

    The classes stand in a list. The first one is compared with the last, and the loser leaves, until one is left: the
    `ddag` decoder. A class that wins all its pairs is predicted, as by `AllPairsClassifier`; the two can differ where
    there is none. Training is that of `AllPairsClassifier` and can be shared (`DAGSVC.from_fitted`, `shared_fits`). A
    fitted `SVC` is a DAG as well: `DAGSVC.from_fitted(svc)`.

    Parameters
    ----------
    estimator : classifier, optional
        Binary model for each pair. Default: SVMs that share one Gram matrix of 8 * rows**2 bytes, with the parameters
        below, which are ignored where an estimator is given.
    order : {"given", "random"}
        The list: the order of `classes_`, or one that `random_state` draws, the same for every row.
    C : float
        Regularisation parameter: the upper limit of a dual variable, as in LIBSVM.
    C_scaling : {"plain", "mean"}
        "mean" divides C by the number of rows of the pair.
    kernel, gamma, degree, coef0
        As in `SingleBinaryClassifier`.
    tol : float
        Tolerance on the violation of optimality.
    n_jobs : int, optional
        Number of estimators trained at a time. Default: 1.
    random_state : int, RandomState or None
        Seed for a random list. Default: 0.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    pairs_ : PairwiseClassifier
        The trained pairs; `pairs_.predict(X, return_cost=True)` counts queries as well.
    n_iter_ : ndarray, shape (pairs,)
        Steps of the solver, where no estimator was given.
    margins_ : ndarray, shape (pairs,)
        The smallest distance of a training row from each pair's plane, negative where one is on the wrong side; where
        no estimator was given.
    problem_rows_ : ndarray of int64, shape (pairs,)
        The rows that each pair was trained on.

    Notes
    -----
    `predict` asks n - 1 pairs per row. `decision_function` asks all: the fraction of pairs that a class wins, less than
    half a vote from its sum of margins, and one more for the class that the DAG predicts, which is thus the highest.

    References
    ----------
    J. Platt, N. Cristianini, J. Shawe-Taylor, "Large margin DAGs for multiclass classification", 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pairsim.learn import DAGSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DAGSVC(gamma=1e-3).fit(X[:1000], y[:1000])
    >>> labels, cost = model.pairs_.predict(X[1000:], return_cost=True)
    >>> bool((labels == y[1000:]).mean() > 0.94), int(cost.queries.max())
    (True, 9)
    """

    _decoding = ("order", "random_state")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairReduction._binary_constraints,
        "order": [StrOptions({"given", "random"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: str = "given",
        C: float = 1.0,
        C_scaling: str = "plain",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.C = C
        self.C_scaling = C_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _decoder(self) -> str:
        return f"ddag:order={self.order}"

    def risk_bound(self, *, delta: float = 0.05, reading: str = "scale-free") -> TheoryBound:
        """Return the bound on the risk by the pairs' margins on the training rows, as `tree_risk_bound` does.

        The theorem that the bound of a tree follows is about these graphs (Platt, Cristianini and Shawe-Taylor, Theorem
        1); every pair is a node. A margin is the distance of the nearest training row of the two classes from the
        pair's plane; the bound is infinite unless every pair is separated. It holds with probability 1 - `delta`, for
        any order of the list, and in practice it is far above 1, and the result says so. Models that were trained by
        another library, or on an estimator of yours, do not tell their margins.

        Parameters
        ----------
        delta : float
            One minus the confidence.
        reading : {"scale-free", "printed"}
            As in `tree_risk_bound`.
        """
        check_is_fitted(self)
        if not hasattr(self, "margins_"):
            must_be = "called after a fit without an estimator, which knows the margins"
            raise parameter_error(type(self).__name__, "risk_bound", must_be, "pairs without margins")
        margins = np.maximum(self.margins_, 0.0).tolist()
        return tree_risk_bound(self.n_rows_, margins, self.radius_, delta=delta, reading=reading)
