"""AllPairs: each class against each other by votes or margins, all machines on one Gram matrix."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.learn.binary_reduction import BinaryReduction
from pairsim.learn.codes import all_pairs_code
from pairsim.learn.pairwise import PairwiseClassifier
from pairsim.models import KernelPairs
from pairsim.models.checking import FreeMatrix
from pairsim.models.kernel_functions import CallableKernel, DotKernel, GramColumns, KernelFunction, RbfKernel

DECODERS = {"votes": "max-win:ties=margin", "margin": "weighted-vote"}


class AllPairs(BinaryReduction):
    """One binary classifier a pair of classes; the class with the most votes, or the highest sum of margins, is named.

    It is `PairwiseClassifier` with max-win. Other decoders work on what was trained, too:
    `PairwiseClassifier.from_fitted(model.pairs_.model_, "adag")`.

    Parameters
    ----------
    estimator : classifier, optional
        Trained on each pair. When left out: support vector machines, which share one Gram matrix of 8 * rows**2
        bytes. The parameters of those, below, mean nothing where an estimator is given.
    decision : {"votes", "margin"}
        "votes" names the class that wins the most pairs (the highest sum of margins settles ties, then the order of
        `classes_`), "margin" the one with the highest sum of margins.
    C : float
        The price of errors: the upper limit of a dual variable, as in LIBSVM.
    C_scaling : {"plain", "mean"}
        "mean" divides C by the number of rows of the pair.
    kernel, gamma, degree, coef0
        As in `SingleBinary`.
    tol : float
        By how much optimality may be violated.
    n_jobs : int, optional
        Estimators that are trained at a time.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    pairs_ : PairwiseClassifier
        The trained pairs, with `model_`, `calibrate` and `predict_proba`.
    n_iter_ : ndarray, shape (pairs,)
        Steps of the solver, where no estimator was given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import AllPairs
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AllPairs(C=10).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.pairs_.model_.margins(X[:2]).shape
    (True, (2, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryReduction._binary_constraints,
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

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train a binary classifier for each pair of classes."""
        self._validate_params()
        decoder = DECODERS[self.decision]
        if self.estimator is None:
            X, self.classes_, numbers = self._checked_data(X, y)
            self.pairs_ = PairwiseClassifier.from_fitted(self._train_pairs(X, numbers), decoder)
            return self
        self._check_estimator()
        self.pairs_ = PairwiseClassifier(self.estimator, decoder, n_jobs=self.n_jobs).fit(X, y)
        self.classes_, self.n_features_in_ = self.pairs_.classes_, self.pairs_.n_features_in_
        if hasattr(self.pairs_, "feature_names_in_"):
            self.feature_names_in_ = self.pairs_.feature_names_in_
        return self

    def _train_pairs(self, X: Any, numbers: NDArray[np.int64]) -> KernelPairs:
        """Train the machines of all pairs; their support vectors stand class by class, as in LIBSVM."""
        n = len(self.classes_)
        order, found = self._solve(X, numbers, all_pairs_code(n))
        used = np.flatnonzero((found.beta != 0.0).any(axis=0))
        used = used if len(used) else np.zeros(1, np.int64)
        self.support_ = order[used]
        self.X_fit_ = self.support_ if self._pairwise_input else X[self.support_]
        borders = np.searchsorted(numbers[self.support_], np.arange(n + 1))
        dual = np.zeros((n - 1, len(used)))
        for pair, (low, high) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
            for own, other in ((low, high - 1), (high, low)):  # a class's rivals in order, itself left out
                mine = slice(borders[own], borders[own + 1])
                dual[other, mine] = found.beta[pair, used[mine]]
        check = FreeMatrix("AllPairs", self.n_features_in_)
        return KernelPairs(
            self._kernel_function(), dual, borders, found.bias, self.classes_, check, n_features=self.n_features_in_
        )

    def _kernel_function(self) -> KernelFunction:
        vectors = csr_array(self.X_fit_) if issparse(self.X_fit_) else self.X_fit_
        name = self.kernel if isinstance(self.kernel, str) else ""
        if name == "rbf":
            return RbfKernel(vectors, self.gamma_)
        if name in ("linear", "poly", "sigmoid"):
            return DotKernel(vectors, name, self.gamma_, self.coef0, self.degree)
        if name == "precomputed":
            return GramColumns(self.support_)
        own = clone(self)  # the next training does not change what this one gave away
        own.gamma_ = self.gamma_
        return CallableKernel(own._gram, self.X_fit_, np.arange(len(self.support_)))

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.estimator is not None:
            return X  # the pairs check it
        accept = False if self._pairwise_input else "csr"
        return self._tidy(validate_data(self, X, accept_sparse=accept, dtype=np.float64, order="C", reset=False))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return scores, the named class on top; with two classes one number a row, positive for `classes_[1]`.

        For "margin" they are the sums of margins, for "votes" the share of pairs that a class wins, less than half a
        vote from the sum of margins, and one more for the class that is named.
        """
        X = self._checked_rows(X)
        return self.pairs_.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row."""
        X = self._checked_rows(X)
        return np.asarray(self.pairs_.predict(X))
