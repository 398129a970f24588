"""PairwiseClassifier: one binary estimator per pair, and any decoder to predict with."""

from __future__ import annotations

import functools
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, check_random_state, validate_data

from pairsim.checks import check_choice, check_whole
from pairsim.decoders import Decoder
from pairsim.decoders import decoder as read_decoder
from pairsim.errors import parameter_error, shown
from pairsim.learn.one_vs_one.calibration import Evidence, gather, gather_left_out
from pairsim.learn.one_vs_one.margin_decoders import (
    COUPLINGS,
    MARGIN_DECODERS,
    Link,
    MarginDecoder,
    class_scores,
    name_by_margins,
    put_on_top,
    score_all,
)
from pairsim.learn.one_vs_one.prediction import RowCosts, name_classes
from pairsim.learn.one_vs_one.support import support_errors
from pairsim.learn.perceptrons import fit_perceptrons
from pairsim.models import PairModel, from_model

MOST_SEED = 2**31 - 1
FOLDS = 5  # where the decoder needs probabilities and nobody says otherwise


class PairwiseClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One-vs-one classification that evaluates only the pairs its decoder queries.

    Parameters
    ----------
    estimator : classifier, optional
        Binary model for each pair of classes. Default: `LinearSVC()`. A `Perceptron` is trained by `fit_perceptrons`.
    decoder : str or Decoder
        How to predict: "adag" queries n - 1 pairs per row, "champion" finds max-win's winner with few more, "max-win"
        queries all. Any decoder of pairsim whose ties predict a class, or one that uses the margins of all pairs:
        "wu-lin-weng", "hastie-tibshirani" and "pkpd" predict the most probable class, "non-dominance" the one
        that is least dominated, "weighted-vote" the one with the highest sum of margins, "max-win:ties=margin" and
        "max-win:ties=head-to-head" settle ties of votes so (`pairsim.coupling`). "radag" uses `pair_errors_`.
    coupling : {"wu-lin-weng", "hastie-tibshirani", "pkpd"}
        How `predict_proba` couples pairwise probabilities, unless the decoder is a coupling itself.
    calibration : "auto", int or None
        Folds of a cross-validation in which the margins' worth as probabilities (`link_`) and the errors of the pairs
        (`pair_errors_`) are found on rows that were left out of the training. "auto" is 5 for decoders that take
        probabilities, None for the others: a margin m is then a probability of 1 / (1 + exp(-m)), whatever its scale.
    n_jobs : int, optional
        Number of parallel jobs for training.
    random_state : int, RandomState or None
        Seed for the folds and the decoder's random choices (the order of an adag, tie breaks), which are the same for
        every row. None draws one.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    model_ : PairModel
        The trained pairs, with `margins`, `answers` and `record`.
    link_ : Link
        A and B: the probability of the lower class of a pair is 1 / (1 + exp(A * margin + B)).
    pair_errors_ : ndarray of shape (n(n-1)/2,) or None
        Estimated errors of the pairs, of rows left out where there was a calibration. Else, where the decoder is
        "radag": for support-vector machines the share of support vectors among the training points, for others the
        errors in training by Laplace's rule, (wrong + 1) / (asked + 2). None: not estimated, as good as all equal.
    problem_rows_ : ndarray of int64, shape (pairs,)
        The rows that each pair was trained on; not known of a model that was fitted before.
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
    >>> fast.calibrate(X[1000:1400], y[1000:1400]).predict_proba(X[1400:1401]).round(2)[0, y[1400]] > 0.8
    np.True_
    """

    pair_errors_: NDArray[np.float64] | None
    _model_has_names = False  # whether the trained pairs know the names of the features, as a wrapped model may

    def __init__(
        self,
        estimator: Any = None,
        decoder: str | Decoder = "adag",
        coupling: str = "wu-lin-weng",
        calibration: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.decoder = decoder
        self.coupling = coupling
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train one estimator for each pair of classes."""
        decoder, folds = self._read_decoder(), self._read_folds()
        self._read_coupling()
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], ensure_all_finite=False)
        check_classification_targets(y)
        base = LinearSVC() if self.estimator is None else self.estimator
        asked = any(hasattr(base, each) for each in ("decision_function", "predict_proba"))
        if isinstance(base, type) or not asked or not hasattr(base, "get_params"):
            must_be = "a classifier with decision_function or predict_proba"
            raise parameter_error("PairwiseClassifier", "estimator", must_be, shown(self.estimator))
        base = clone(base)
        trained = self._train(base, X, y)
        self._model_has_names = False
        self._take(from_model(trained), decoder)
        numbers = np.searchsorted(self.classes_, y)
        low, high = np.triu_indices(len(self.classes_), 1)
        sizes = np.bincount(numbers)
        self.problem_rows_ = (sizes[low] + sizes[high]).astype(np.int64)
        if folds is not None:
            pairwise = bool(self.__sklearn_tags__().input_tags.pairwise)
            train = functools.partial(self._train_model, base)
            self._believe(gather_left_out(train, X, numbers, folds, self.seed_, pairwise))
        elif not isinstance(decoder, MarginDecoder) and decoder.needs_pair_errors:
            shares = support_errors(trained)
            self.pair_errors_ = gather(self.model_, X, numbers).errors() if shares is None else shares
        return self

    def _train(self, base: Any, X: Any, y: Any) -> Any:
        """Return the trained pairs, as scikit-learn's model or as ours."""
        if isinstance(base, Perceptron):
            return fit_perceptrons(X, y, base, self.n_jobs)
        return OneVsOneClassifier(base, n_jobs=self.n_jobs).fit(X, y)

    def _train_model(self, base: Any, X: Any, y: Any) -> PairModel:
        return from_model(self._train(base, X, y))

    @classmethod
    def from_fitted(
        cls, model: Any, decoder: str | Decoder = "adag", random_state: Any = None, coupling: str = "wu-lin-weng"
    ) -> Self:
        """Wrap a model that is fitted already: whatever `pairsim.from_model` takes.

        An SVC brings its shares of support vectors as `pair_errors_`. `calibrate` finds better ones, and a `link_`.
        """
        wrapped = cls(None if isinstance(model, PairModel) else model, decoder, coupling, random_state=random_state)
        wrapped._read_coupling()
        form = from_model(model)
        wrapped._take(form, wrapped._read_decoder())
        wrapped.pair_errors_ = support_errors(model)
        if form.n_features is not None:
            wrapped.n_features_in_ = form.n_features
        names = getattr(model, "feature_names_in_", None)
        if names is not None:
            wrapped.feature_names_in_ = names
            wrapped._model_has_names = True
        return wrapped

    def calibrate(self, X: Any, y: ArrayLike) -> Self:
        """Find `link_` and `pair_errors_` on labelled rows; best on such as the model was not trained with."""
        check_is_fitted(self)
        check_consistent_length(X, y)
        self._believe(gather(self.model_, self._checked(X), self.model_._numbers_of(y, "calibrate")))
        return self

    def _believe(self, evidence: Evidence) -> None:
        self.link_, self.pair_errors_ = evidence.link(), evidence.errors()

    def _take(self, model: PairModel, decoder: Decoder | MarginDecoder) -> None:
        if isinstance(decoder, Decoder):
            decoder.kernel(model.n)  # does the decoder fit the number of classes?
        self.model_ = model
        self.classes_ = model.classes_
        self.link_ = Link()
        self.pair_errors_ = None
        self.seed_ = int(check_random_state(self.random_state).randint(MOST_SEED))

    def _read_decoder(self) -> Decoder | MarginDecoder:
        if isinstance(self.decoder, Decoder):
            return self.decoder
        if isinstance(self.decoder, str):
            known = MARGIN_DECODERS.get("".join(self.decoder.split()))
            return known or read_decoder(self.decoder)
        raise parameter_error(
            "PairwiseClassifier", "decoder", "a decoder or a spec such as 'adag'", shown(self.decoder)
        )

    def _read_folds(self) -> int | None:
        if self.calibration is None:
            return None
        if isinstance(self.calibration, str) and self.calibration == "auto":
            decoder = self._read_decoder()
            return FOLDS if isinstance(decoder, MarginDecoder) and decoder.takes_probabilities else None
        must_be = "'auto', None or an integer number of folds, at least 2"
        return check_whole("PairwiseClassifier", "calibration", self.calibration, 2, (1 << 31) - 1, must_be)

    def _read_coupling(self) -> str:
        """Return the name of the coupling that `predict_proba` uses."""
        check_choice("PairwiseClassifier", "coupling", self.coupling, COUPLINGS)
        decoder = self._read_decoder()
        return decoder.spec if decoder.spec in COUPLINGS else self.coupling

    def predict(self, X: Any, return_cost: bool = False) -> Any:
        """Return the label of each row, and with `return_cost` also what each decision cost.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (rows, features)
        return_cost : bool
            Whether to return (labels, costs), costs with `queries`, `distinct` and `rounds`, one number per row each.
        """
        check_is_fitted(self)
        winners, costs = self._name(self._checked(X))
        labels = self.classes_[winners]
        return (labels, costs) if return_cost else labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return scores, the named class on top; all pairs are asked.

        Those of a decoder that looks at margins are its own. For any other they are the share of pairs that each class
        wins, summed margins between equals, and one more for the class that is named. With two classes it is one number
        a row, positive for `classes_[1]`.
        """
        check_is_fitted(self)
        points, n, decoder = self._checked(X), self.model_.n, self._read_decoder()
        if isinstance(decoder, MarginDecoder):
            scores = score_all(self.model_, points, lambda margins: decoder.scores(margins, n, self.link_))
            return scores[:, 1] - scores[:, 0] if n == 2 else scores
        winners, _ = self._name(points)
        margins = self.model_.margins(points)
        if n == 2:
            return np.where(winners == 1, np.abs(margins[:, 0]), -np.abs(margins[:, 0]))
        return class_scores(margins, n, winners)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class: `link_` maps margins to those of pairs, a coupling combines them.

        It evaluates all pairs. The class that `predict` returns has the highest probability, as everywhere in
        scikit-learn: where a decoder that is no coupling predicts another class than the coupling would, the two
        exchange their probabilities.
        """
        check_is_fitted(self)
        points, n, couple = self._checked(X), self.model_.n, COUPLINGS[self._read_coupling()]
        probabilities = score_all(self.model_, points, lambda margins: couple(self.link_.probabilities(margins), n))
        if self._read_decoder().spec not in COUPLINGS:
            put_on_top(probabilities, self._name(points)[0])
        return probabilities

    def _name(self, points: Any) -> tuple[NDArray[np.int64], RowCosts]:
        """Decide about rows that were checked: a second check would find that they have lost their names."""
        decoder = self._read_decoder()
        if isinstance(decoder, MarginDecoder):
            return name_by_margins(self.model_, decoder, points, self.link_)
        if decoder.needs_pair_errors and self.pair_errors_ is not None:
            decoder = _with_errors(decoder, tuple(self.pair_errors_.tolist()))
        return name_classes(self.model_, decoder, points, self.seed_)

    def _checked(self, X: Any) -> Any:
        if not hasattr(self, "n_features_in_") or (not hasattr(self, "feature_names_in_") and self.model_.takes(X)):
            return X  # one that takes any X checks for itself; and with one row, checks cost more than all the rest
        if not self._model_has_names:
            return validate_data(self, X, accept_sparse=["csr", "csc"], ensure_all_finite=False, reset=False)
        # a wrapped model looks at names and values itself; where there are no names it has been said, once, here
        validate_data(self, X, reset=False, skip_check_array=True)
        if hasattr(X, "columns") or scipy.sparse.issparse(X):
            return X
        return pd.DataFrame(np.asarray(X), columns=self.feature_names_in_)

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether a training came to its end; one that rejected its data leaves marks, too."""
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            inner = self.estimator.__sklearn_tags__().input_tags
            tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
            tags.input_tags.allow_nan = inner.allow_nan
        return tags


@functools.lru_cache(maxsize=8)
def _with_errors(decoder: Decoder, errors: tuple[float, ...]) -> Decoder:
    """Return the decoder, the same for the same errors: the matching of its first round takes time."""
    return decoder.with_pair_errors(errors)
