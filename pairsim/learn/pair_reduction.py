"""Base of classifiers on one-vs-one models: trained once, by whatever decoder they predict."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.errors import parameter_error
from pairsim.learn.binary_reduction import BinaryReduction
from pairsim.learn.codes.code_tables import all_pairs_code
from pairsim.learn.fit_sharing import current_fits
from pairsim.learn.pairwise import MOST_SEED, PairwiseClassifier
from pairsim.learn.parameters import check_params
from pairsim.models import KernelPairs, LinearPairs
from pairsim.models.checking import FreeMatrix
from pairsim.models.kernel_functions import CallableKernel, DotKernel, GramColumns, KernelFunction, RbfKernel
from pairsim.models.sklearn_svc import MOST_HYPERPLANE_NUMBERS, collapse

TRAINED = (
    *("classes_", "n_features_in_", "feature_names_in_", "gamma_", "support_", "X_fit_"),
    *("n_iter_", "pairs_", "problem_rows_", "margins_", "radius_", "n_rows_"),
)


class PairReduction(BinaryReduction):
    """Base of classifiers that train each pair of classes and differ in their decoder only.

    `_decoding` lists the parameters that say how to predict: all others are those of the training.
    """

    _decoding: tuple[str, ...]
    pairs_: PairwiseClassifier
    margins_: NDArray[np.float64]
    radius_: float
    n_rows_: int
    random_state: Any = 0  # of a reduction without such a parameter, which draws nothing

    @property
    def _decoder(self) -> str:
        """The decoder's spec."""
        raise NotImplementedError

    @classmethod
    def from_fitted(cls, model: Any, **decoding: Any) -> Self:
        """Return a fitted classifier of this kind on one-vs-one models that are trained already.

        Parameters
        ----------
        model : fitted classifier
            An `AllPairsClassifier` or a `DAGSVC`, the trained pairs of which are shared and not copied; or whatever
            `pairsim.from_model` takes, such as `SVC`.
        **decoding
            The parameters of this kind that say how to predict; no other can be changed without a training.
        """
        wrong = sorted(set(decoding) - set(cls._decoding))
        if wrong:
            must_be = "omitted or one of " + ", ".join(map(repr, cls._decoding))
            raise parameter_error(f"{cls.__name__}.from_fitted", wrong[0], must_be, "a parameter of the training")
        own = cls()
        given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        names = set(own.get_params(deep=False)) - set(cls._decoding)
        own.set_params(**{name: value for name, value in given.items() if name in names}, **decoding)
        if isinstance(model, PairReduction):
            check_is_fitted(model)
            check_params(own)
            own._adopt(dict(vars(model)))
            return own
        own.pairs_ = PairwiseClassifier.from_fitted(model, own._decoder, own.random_state)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(own.pairs_, name):
                setattr(own, name, getattr(own.pairs_, name))
        return own

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train a binary classifier for each pair of classes."""
        check_params(self)
        fits = current_fits()
        key = None if fits is None else fits.key_of(X, y, self._training())
        for name in ("margins_", "radius_"):  # of an earlier training; that of an estimator does not tell them
            self.__dict__.pop(name, None)
        if fits is not None and key in fits.trained:
            self._adopt(fits.trained[key])
            return self
        if self.estimator is None:
            X, self.classes_, numbers = self._checked_data(X, y)
            self.pairs_ = PairwiseClassifier.from_fitted(
                self._train_pairs(X, numbers), self._decoder, self.random_state
            )
            self._count_rows(np.bincount(numbers))
        else:
            self._check_estimator()
            pairs = PairwiseClassifier(
                self.estimator, self._decoder, n_jobs=self.n_jobs, random_state=self.random_state
            )
            self.pairs_ = pairs.fit(X, y)
            self.classes_, self.n_features_in_ = pairs.classes_, pairs.n_features_in_
            if hasattr(pairs, "feature_names_in_"):
                self.feature_names_in_ = pairs.feature_names_in_
            self._count_rows(np.unique(np.asarray(y), return_counts=True)[1])
        if fits is not None and key is not None:
            fits.trained[key] = {name: vars(self)[name] for name in TRAINED if name in vars(self)}
        return self

    def _count_rows(self, sizes: NDArray[np.int64]) -> None:
        """Note how many rows each pair was trained on, given those of each class."""
        low, high = np.triu_indices(len(sizes), 1)
        self.problem_rows_, self.n_rows_ = (sizes[low] + sizes[high]).astype(np.int64), int(sizes.sum())

    def _training(self) -> dict[str, Any]:
        """Return the parameters on which the trained pairs depend."""
        left_out = {*self._decoding, "n_jobs", "random_state"}
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in left_out}
        return given if self.estimator is None else {"estimator": self.estimator}

    def _adopt(self, trained: dict[str, Any]) -> None:
        """Take over what another one has trained; its pairs are the same objects, with this one's decoder."""
        for name in TRAINED:
            if name in trained:
                setattr(self, name, trained[name])
        self.pairs_ = copy.copy(trained["pairs_"]).set_params(decoder=self._decoder, random_state=self.random_state)
        self.pairs_.seed_ = int(check_random_state(self.random_state).randint(MOST_SEED))

    def _train_pairs(self, X: Any, numbers: NDArray[np.int64]) -> KernelPairs | LinearPairs:
        """Train the SVMs of all pairs; their support vectors stand class by class, as in LIBSVM."""
        n = len(self.classes_)
        order, found = self._solve(X, numbers, all_pairs_code(n))
        self.margins_, self.radius_ = found.margins, found.radius
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
        check = FreeMatrix(type(self).__name__, self.n_features_in_)
        few = len(found.bias) <= max(len(used), MOST_HYPERPLANE_NUMBERS // self.n_features_in_)
        if self.kernel == "linear" and few and not issparse(self.X_fit_):
            return LinearPairs(collapse(dual, borders, self.X_fit_), found.bias, self.classes_, check=check)
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
        if self.estimator is not None or not hasattr(self, "X_fit_"):
            return X  # the pairs of an estimator, or of another library, check it
        accept = False if self._pairwise_input else "csr"
        return self._tidy(validate_data(self, X, accept_sparse=accept, dtype=np.float64, order="C", reset=False))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return one score per class, highest for the predicted one; with two classes one number per row."""
        X = self._checked_rows(X)
        return self.pairs_.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row."""
        X = self._checked_rows(X)
        return np.asarray(self.pairs_.predict(X))
