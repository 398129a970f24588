"""OutputCodeClassifier: a binary classifier per column of an error-correcting code (Dietterich and Bakiri 1995)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from pairsim.learn.codes.code_tables import CODES, read_code
from pairsim.learn.codes.columns import ColumnClassifier
from pairsim.learn.codes.decoding import DECODINGS, code_probabilities, decode_scores
from pairsim.learn.one_vs_one.margin_decoders import put_on_top
from pairsim.learn.parameters import check_params


def _decodes_to_probabilities(model: OutputCodeClassifier) -> bool:
    return model.decoding == "probability"


class OutputCodeClassifier(ColumnClassifier):
    """Error-correcting output codes: one binary classifier per code column; the nearest code word is predicted.

    Parameters
    ----------
    code : str or array_like, shape (classes, columns)
        "bch", "exhaustive", "dense", "sparse", "one-vs-all" or "all-pairs" (`make_code`), or entries -1, 1 and 0 (the
        class is skipped), one row per class in the order of `classes_`.
    decoding : str
        How far a word is from the margins: "hamming" or "inverse-hamming" from their signs, "euclid", or by the loss
        "hinge", "exponential" or "logistic" (`code_distances`). "probability" predicts the highest product of
        probabilities, and provides `predict_proba`. Ties are settled by the sum of margins, then by `classes_`.
    estimator : classifier, optional
        Binary model for each problem. Default: SVMs that share one Gram matrix of 8 * rows**2 bytes, with the
        parameters below, which are ignored where an estimator is given.
    C : float
        Regularisation parameter: the upper limit of a dual variable, as in LIBSVM.
    C_scaling : {"plain", "mean"}
        "mean" divides C by the number of rows of the binary problem.
    kernel, gamma, degree, coef0
        As in `SingleBinaryClassifier`.
    tol : float
        Tolerance on the violation of optimality.
    n_jobs : int, optional
        Number of estimators trained at a time. Default: 1.
    random_state : int, RandomState or None
        Seed for a random code ("dense", "sparse").

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    code_ : ndarray, shape (classes, columns)
        The words.
    estimators_ : list
        The trained estimators, where one was given.
    dual_coef_ : ndarray, shape (support rows, columns)
        Label times dual variable; `support_` has the rows' numbers.
    intercept_ : ndarray, shape (columns,)
    n_iter_ : ndarray, shape (columns,)
        Steps of the solver.
    problem_rows_ : ndarray of int64, shape (columns,)
        The rows that each column was trained on: those of the classes that it does not leave out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pairsim.learn import OutputCodeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OutputCodeClassifier(gamma=1e-3).fit(X[:1000], y[:1000])
    >>> model.code_.shape, bool(model.score(X[1000:], y[1000:]) > 0.94)
    ((10, 31), True)
    >>> linear = LogisticRegression(max_iter=200)
    >>> coded = OutputCodeClassifier("one-vs-all", "probability", linear).fit(X[:200] / 16, y[:200])
    >>> coded.predict_proba(X[:1] / 16).shape
    (1, 10)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ColumnClassifier._binary_constraints,
        "code": [StrOptions(set(CODES)), "array-like"],
        "decoding": [StrOptions(set(DECODINGS))],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        code: str | ArrayLike = "bch",
        decoding: str = "hinge",
        estimator: Any = None,
        *,
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
        self.code = code
        self.decoding = decoding
        self.estimator = estimator
        self.C = C
        self.C_scaling = C_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train a binary classifier for each column of the code."""
        check_params(self)
        X, self.classes_, numbers = self._checked_data(X, y)
        self.code_ = read_code("OutputCodeClassifier", self.code, len(self.classes_), self.random_state)
        self._fit_columns(X, numbers)
        return self

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        margins = self._columns_say(X, probabilities=_decodes_to_probabilities(self))
        return decode_scores(margins, self.code_, self.decoding)

    @available_if(_decodes_to_probabilities)  # type: ignore[untyped-decorator, unused-ignore]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class: the product of what the columns believe of it, made to add up to 1.

        A column believes what its estimator's `predict_proba` says, or the logistic function of its margin.
        """
        margins = self._columns_say(X, probabilities=True)
        probabilities = code_probabilities(margins, self.code_)
        put_on_top(probabilities, decode_scores(margins, self.code_, self.decoding).argmax(axis=1))
        return probabilities
