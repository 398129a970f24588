"""AllPairsClassifier: each class against each other by votes or margins, all SVMs on one Gram matrix."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from pairsim.learn.pair_reduction import PairReduction

DECODERS = {"votes": "max-win:ties=margin", "margin": "weighted-vote"}


class AllPairsClassifier(PairReduction):
    """One-vs-one reduction: one binary classifier per pair of classes; the most votes or margins win.

    It is `PairwiseClassifier` with max-win. Other decoders work on what was trained, too:
    `PairwiseClassifier.from_fitted(model.pairs_.model_, "adag")`.

    Parameters
    ----------
    estimator : classifier, optional
        Binary model for each pair. Default: SVMs that share one Gram matrix of 8 * rows**2 bytes, with the parameters
        below, which are ignored where an estimator is given.
    decision : {"votes", "margin"}
        "votes" predicts the class that wins the most pairs (the highest sum of margins settles ties, then the order of
        `classes_`), "margin" the one with the highest sum of margins.
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

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    pairs_ : PairwiseClassifier
        The trained pairs, with `model_`, `calibrate` and `predict_proba`.
    n_iter_ : ndarray, shape (pairs,)
        Steps of the solver, where no estimator was given.
    margins_ : ndarray, shape (pairs,)
        The smallest distance of a training row from each pair's plane, negative where one is on the wrong side; where
        no estimator was given.
    problem_rows_ : ndarray of int64, shape (pairs,)
        The rows that each pair was trained on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import AllPairsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AllPairsClassifier(C=10).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.pairs_.model_.margins(X[:2]).shape
    (True, (2, 3))
    """

    _decoding = ("decision",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairReduction._binary_constraints,
        "decision": [StrOptions({"votes", "margin"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        decision: str = "votes",
        *,
        C: float = 1.0,
        C_scaling: str = "plain",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.decision = decision
        self.C = C
        self.C_scaling = C_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs

    @property
    def _decoder(self) -> str:
        return DECODERS[self.decision]
