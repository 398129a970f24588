"""`from_model`: which fitted scikit-learn models are one-vs-one models, and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error
from pairsim.models.base import LEAST, Margins, PairModel, Places, take_rows
from pairsim.models.estimators import EstimatorPairs, OneEstimator
from pairsim.models.linear import LinearPairs
from pairsim.models.pipeline import PipelinePairs
from pairsim.models.sklearn_svc import adapt_svc, without_names

KINDS = "a fitted SVC, NuSVC or OneVsOneClassifier of scikit-learn, or a Pipeline or search that ends in one"


def from_model(model: Any) -> PairModel:
    """Return a fitted one-vs-one model of scikit-learn in pairsim's form, with the same votes.

    Parameters
    ----------
    model : estimator
        A fitted `SVC` or `NuSVC` (any kernel, dense or sparse), a `OneVsOneClassifier` over anything that
        classifies, a two-class linear classifier, a `Pipeline` that ends in one of these, or a search (such as
        `GridSearchCV`) whose best estimator is one.

    Returns
    -------
    PairModel
        Its votes are those of `model`: also where a score is 0, and where rounding could change its sign (such
        margins are computed by the model itself). An X that does not fit raises the model's own error.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.multiclass import OneVsOneClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from pairsim import from_model
    >>> X, y = load_wine(return_X_y=True)
    >>> trained = make_pipeline(StandardScaler(), OneVsOneClassifier(LinearSVC(random_state=0))).fit(X, y)
    >>> from_model(trained).answers(X[:1]).tolist()
    [[True, True, True]]
    """
    if isinstance(model, PairModel):
        return model
    try:
        import sklearn  # noqa: F401
    except ImportError:
        must_be = "given where scikit-learn is installed (the extra pairsim[sklearn])"
        raise parameter_error("from_model", "model", must_be, f"a {type(model).__name__} without it") from None
    return adapt(model)


def adapt(model: Any) -> PairModel:
    """Return a fitted model of scikit-learn by its kind."""
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
    from sklearn.multiclass import OneVsOneClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC, NuSVC
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, GridSearchCV | RandomizedSearchCV) or hasattr(model, "best_estimator_"):
        check_is_fitted(model, "best_estimator_")
        return from_model(model.best_estimator_)
    if not isinstance(model, SVC | NuSVC | OneVsOneClassifier | Pipeline) and not is_linear(model):
        raise parameter_error("from_model", "model", KINDS, f"a {type(model).__name__}")
    check_is_fitted(model)
    if isinstance(model, Pipeline):
        return adapt_pipeline(model)
    if isinstance(model, OneVsOneClassifier):
        return adapt_one_vs_one(model)
    return adapt_svc(model) if isinstance(model, SVC | NuSVC) else adapt_linear(model)


def adapt_pipeline(pipeline: Any) -> PairModel:
    """Return a pipeline's last step behind the transforms before it."""
    last = from_model(pipeline[-1])
    if len(pipeline) == 1:
        return last
    return PipelinePairs(pipeline[:-1], last, getattr(pipeline, "n_features_in_", None))


def adapt_one_vs_one(model: Any) -> PairModel:
    """Return a OneVsOneClassifier: hyperplanes when every estimator is one, else its estimators one by one."""
    from sklearn.base import is_regressor
    from sklearn.utils.validation import check_is_fitted

    for estimator in model.estimators_:
        check_is_fitted(estimator)  # partial_fit leaves the estimators of pairs it never saw as they were
        if is_regressor(estimator):
            got = f"a OneVsOneClassifier over {type(estimator).__name__}"
            raise parameter_error("from_model", "model", "made of classifiers (regressors do not vote)", got)
    features = getattr(model, "n_features_in_", None)
    if all(is_linear(estimator) for estimator in model.estimators_):
        return stack_linear(model.estimators_, model.classes_, OneVsOneCheck(model, model.estimators_[0]))
    estimators = [adapt_estimator(estimator) for estimator in model.estimators_]
    return EstimatorPairs(estimators, model.classes_, OneVsOneCheck(model), model.pairwise_indices_, features)


def adapt_estimator(estimator: Any) -> PairModel:
    """Return the estimator of one pair, whose classes are 0 (the lower) and 1."""
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC, NuSVC

    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if (isinstance(last, SVC | NuSVC) or is_linear(last)) and np.array_equal(last.classes_, [0, 1]):
        return from_model(estimator)
    return OneEstimator(estimator)


def adapt_linear(model: Any) -> PairModel:
    """Return a linear classifier of two classes, which is one pair; of more, it is no one-vs-one model."""
    if len(model.classes_) != 2:
        got = f"a {type(model).__name__} of {len(model.classes_)} classes (put it in a OneVsOneClassifier)"
        raise parameter_error("from_model", "model", KINDS, got)
    return stack_linear([model], model.classes_, OneVsOneCheck(None, model))


def is_linear(estimator: Any) -> bool:
    """Tell whether score and vote are those of scikit-learn's linear classifiers: x . w + b, and that above 0."""
    from sklearn.linear_model import Perceptron, RidgeClassifier

    kind = type(estimator)
    votes = (Perceptron.predict, RidgeClassifier.predict)
    return getattr(kind, "decision_function", None) is Perceptron.decision_function and kind.predict in votes


def stack_linear(estimators: Any, classes: NDArray[Any], check: OneVsOneCheck) -> LinearPairs:
    """Return linear classifiers as the rows of one matrix; a score above 0 is a vote for the higher class."""
    coef = np.vstack([np.ravel(estimator.coef_) for estimator in estimators])
    intercept = np.array([np.ravel(estimator.intercept_)[0] for estimator in estimators])
    # scores of single precision are in doubt up to single precision
    kind = min((np.result_type(estimator.coef_, np.float32) for estimator in estimators), key=lambda t: t.itemsize)
    epsilon = float(np.finfo(kind).eps)
    return LinearPairs(
        -coef,
        -intercept,
        classes,
        check=check,
        settle=LinearSettle(tuple(map(without_names, estimators))),
        epsilon=epsilon,
    )


@dataclasses.dataclass(frozen=True)
class OneVsOneCheck:
    """The checks that `OneVsOneClassifier.predict` makes, and then its first estimator, with their messages."""

    model: Any
    estimator: Any = None

    def __call__(self, X: Any) -> Any:
        """Return X as an array or a CSR matrix."""
        from sklearn.utils.validation import validate_data

        if self.model is not None:
            X = validate_data(self.model, X, accept_sparse=True, ensure_all_finite=False, reset=False)
        if self.estimator is not None:
            X = validate_data(self.estimator, X, accept_sparse="csr", reset=False)
        return X


@dataclasses.dataclass(frozen=True)
class LinearSettle:
    """The scores of linear classifiers as they compute them; a score of 0 is a vote for the lower class."""

    estimators: Sequence[Any]

    def __call__(self, points: Any, rows: Places, pairs: Places) -> Margins:
        """Return the margin of pair pairs[k] on points[rows[k]], for each k."""
        out = np.empty(rows.size)
        for k in np.unique(pairs):
            mine = np.flatnonzero(pairs == k)
            scores = self.estimators[k].decision_function(take_rows(points, rows[mine])).astype(np.float64)
            out[mine] = np.where(scores > 0.0, -scores, np.maximum(-scores, LEAST))
        return out
