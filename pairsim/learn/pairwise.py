"""PairwiseClassifier: one binary estimator a pair, and any decoder to predict with."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.multiclass import OneVsOneClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from pairsim.decoders import Decoder
from pairsim.decoders import decoder as read_decoder
from pairsim.errors import refusal
from pairsim.learn.prediction import RowCosts, name_classes
from pairsim.models import PairModel, from_model

MOST_SEED = 2**31 - 1


class PairwiseClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One-vs-one classification that asks only for the pairs its decoder wants.

    Parameters
    ----------
    estimator : classifier, optional
        Trained on each pair of classes; `LinearSVC()` when left out.
    decoder : str or Decoder
        How to predict: "adag" asks n - 1 pairs a row, "champion" finds the max-win winner with few more, "max-win" asks
        all. Any decoder of pairsim whose ties name somebody.
    n_jobs : int, optional
        Of the training.
    random_state : int, RandomState or None
        Of the decoder's own draws (the order of an adag, fair draws among the tied), which are the same for every row.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    model_ : PairModel
        The trained pairs, with `margins`, `answers` and `record`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import SVC
    >>> from pairsim.learn import PairwiseClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> fast = PairwiseClassifier.from_fitted(SVC().fit(X[:1000], y[:1000]), decoder="adag:order=given")
    >>> labels, cost = fast.predict(X[1000:], return_cost=True)
    >>> bool((labels == y[1000:]).mean() > 0.9), int(cost.queries.max())
    (True, 9)
    """

    def __init__(
        self,
        estimator: Any = None,
        decoder: str | Decoder = "adag",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.decoder = decoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train one estimator for each pair of classes."""
        from sklearn.svm import LinearSVC

        decoder = self._read_decoder()
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], ensure_all_finite=False)
        check_classification_targets(y)
        base = LinearSVC() if self.estimator is None else clone(self.estimator)
        trained = OneVsOneClassifier(base, n_jobs=self.n_jobs).fit(X, y)
        self._take(from_model(trained), decoder)
        return self

    @classmethod
    def from_fitted(cls, model: Any, decoder: str | Decoder = "adag", random_state: Any = None) -> Self:
        """Wrap a model that is fitted already: whatever `pairsim.from_model` takes."""
        wrapped = cls(estimator=None if isinstance(model, PairModel) else model, decoder=decoder)
        wrapped.random_state = random_state
        form = from_model(model)
        wrapped._take(form, wrapped._read_decoder())
        if form.n_features is not None:
            wrapped.n_features_in_ = form.n_features
        names = getattr(model, "feature_names_in_", None)
        if names is not None:
            wrapped.feature_names_in_ = names
        return wrapped

    def _take(self, model: PairModel, decoder: Decoder) -> None:
        decoder.kernel(model.n)  # does the decoder fit the number of classes?
        self.model_ = model
        self.classes_ = model.classes_
        self.seed_ = 0
        if self.random_state is not None:
            self.seed_ = int(check_random_state(self.random_state).randint(MOST_SEED))

    def _read_decoder(self) -> Decoder:
        if isinstance(self.decoder, Decoder):
            return self.decoder
        if isinstance(self.decoder, str):
            return read_decoder(self.decoder)
        raise refusal("PairwiseClassifier", "decoder", "a decoder or a spec such as 'adag'", repr(self.decoder))

    def predict(self, X: Any, return_cost: bool = False) -> Any:
        """Return the label of each row, and with `return_cost` also what each decision cost.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (rows, features)
        return_cost : bool
            Whether to return (labels, costs), costs with `queries`, `distinct` and `rounds`, one number a row each.
        """
        winners, costs = self._name(X)
        labels = self.classes_[winners]
        return (labels, costs) if return_cost else labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return scores: the share of pairs that each class wins, summed margins between equals, the named one on top.

        It asks all pairs. With two classes it is one number a row, positive for `classes_[1]`.
        """
        winners, _ = self._name(X)
        margins = self.model_.margins(self._checked(X))
        if self.model_.n == 2:
            return np.where(winners == 1, np.abs(margins[:, 0]), -np.abs(margins[:, 0]))
        return _scores(margins, self.model_.n, winners)

    def _name(self, X: Any) -> tuple[NDArray[np.int64], RowCosts]:
        check_is_fitted(self)
        return name_classes(self.model_, self._read_decoder(), self._checked(X), self.seed_)

    def _checked(self, X: Any) -> Any:
        if not hasattr(self, "n_features_in_") or (not hasattr(self, "feature_names_in_") and self.model_.takes(X)):
            return (
                X  # a wrapped model that takes any checks for itself; and for one row, checks cost more than the rest
            )
        return validate_data(
            self, X, accept_sparse=["csr", "csc"], ensure_all_finite=False, reset=False, skip_check_array=False
        )

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            inner = self.estimator.__sklearn_tags__().input_tags
            tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
            tags.input_tags.allow_nan = inner.allow_nan
        return tags


def _scores(margins: NDArray[np.float64], n: int, winners: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return votes / (n - 1), plus less than half a vote from the summed margins, plus one for the named class."""
    low, high = np.triu_indices(n, 1)
    votes, sums = np.zeros((2, len(margins), n))
    lower = margins > 0.0
    for k in range(len(low)):
        votes[:, low[k]] += lower[:, k]
        votes[:, high[k]] += ~lower[:, k]
        sums[:, low[k]] += margins[:, k]
        sums[:, high[k]] -= margins[:, k]
    scores = (votes + sums / (3.0 * (np.abs(sums) + 1.0))) / (n - 1)
    scores[np.arange(len(scores)), winners] += 1.0
    return np.asarray(scores)
