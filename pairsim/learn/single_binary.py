"""SingleBinary: many classes by one binary machine on replicated points (El-Yaniv, Pechyony, Yom-Tov)."""

from __future__ import annotations

import functools
import math
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from pairsim.errors import refusal
from pairsim.learn.code_decoding import decode_scores
from pairsim.learn.codes import CODES, default_code, read_code
from pairsim.learn.extensions import extension_gram, tied_rho
from pairsim.learn.gram import KernelClassifier
from pairsim.learn.kernel_weights import LearnedWeights, learn_weights
from pairsim.learn.kronecker import DualSolution, solve_dual


class SingleBinary(KernelClassifier):
    """Every point is copied once a class, each copy is extended by a mark of its class, and one SVM tells right copies.

    The kernel of two copies is the kernel of the points times the kernel of the marks; the product's matrix, of
    (rows x classes) squared entries, is never formed.

    Parameters
    ----------
    extension : {"kernel", "identity", "single", "ecoc"}
        The marks: "identity" unit vectors, "single" the numbers 1, 2, ..., "kernel" one kernel a class with weights
        that are learned (SBC-KERNEL), "ecoc" one copy a column of a code, marked by its number.
    C : float
        The price of errors: the upper limit of a dual variable, as in LIBSVM.
    C_scaling : {"plain", "mean"}
        "mean" divides C by the number of copies, as the paper's (3) does. The paper's greedy search then often starts
        where nothing is learned.
    kernel : str or callable
        "rbf", "linear", "poly", "sigmoid", "laplacian", "cosine", a function of two rows, "precomputed", or "distances"
        (X holds squared distances; the kernel is Gaussian).
    gamma : {"scale", "auto"} or float
        As in `SVC`; the paper's width s is 1 / sqrt(2 gamma). With kernel="precomputed" it serves the marks only, and a
        name stands for 1.
    degree, coef0
        As in `SVC`.
    rho, ext_scale : float, optional
        How alike two marks are: rho is what the kernel of two unit vectors is, ext_scale the width s that gives it,
        rho = exp(-1 / s**2). When both are left out the marks share the points' width, as in the paper; that is often
        too alike (rho = 0.94 at s = 4). rho = 0 is one-vs-all with one bias for all classes.
    bias : {"shared", "class"}
        One bias for all copies (the paper's; it cannot change who is named, but for "ecoc") or one a class.
    learn_mu : bool
        Whether "kernel" learns its weights, by Algorithm 2, or keeps the first ones.
    mu_init : {"uniform", "frequency"}
        The first weights; shares of the classes do as well as what is learned, at the cost of one training.
    mu_update : {"mkl", "paper"}
        "paper" is the printed step, which stops where weights are proportional to gradients and not at the minimum that
        it is said to reach; "mkl" reaches it. At the minimum some weights can be 0, most of them where many classes
        have few rows each; the classes of these cannot be told from each other, and "paper" is better.
    radius : float, optional
        The sum of the weights, R; sqrt(rows) when left out. It multiplies the kernel, so C works as C times R.
    mu_tol : float
        Weights that change less, relatively, are learned.
    max_rounds : int
        Most changes of the weights.
    code : str or array_like, shape (classes, columns), optional
        Of "ecoc": a name such as "bch" (`make_code`), or entries -1, 1 and 0 (no copy), one row a class in the order of
        `classes_`. When left out: all dichotomies of up to five classes, else 10 log2(classes) random ones.
    decode : {"euclid", "hamming"}
        Of "ecoc": the nearest row of the code to the scores, or to their signs (scores settle ties).
    tol : float
        By how much optimality may be violated.
    max_iter : int
        Most steps of the solver, in all rounds together.
    shrinking : bool
        Whether points that cannot improve are left out for a while; the result is the same.
    gram_dtype : {"float64", "float32"}
        Of the points' Gram matrix, the only large one.
    warm_start : bool
        Whether `fit` starts from the last fit's dual variables, for the same rows and labels with another C or kernel.
    random_state : int, RandomState or None
        Of a random code.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    dual_coef_ : ndarray, shape (support rows, copies)
        Label times dual variable; `support_` has the rows' numbers.
    label_gram_ : ndarray, shape (copies, copies)
        The kernel of the marks.
    mu_, mu_gap_, n_rounds_
        Of "kernel": the weights, the relative duality gap they leave, and how often they were changed.
    intercept_ : ndarray, shape (copies,)
    code_ : ndarray, shape (classes, copies)
        The binary labels of each class's copies.
    objective_ : float
        Of the dual.
    n_iter_ : int
        Steps of the solver.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import SingleBinary
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SingleBinary("identity", C=8, rho=0.1).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.decision_function(X[:2]).shape
    (True, (2, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._kernel_constraints,
        "extension": [StrOptions({"kernel", "identity", "single", "ecoc"})],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "C_scaling": [StrOptions({"plain", "mean"})],
        "rho": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "ext_scale": [Interval(Real, 0.0, None, closed="neither"), None],
        "bias": [StrOptions({"shared", "class"})],
        "learn_mu": ["boolean"],
        "mu_init": [StrOptions({"uniform", "frequency"})],
        "mu_update": [StrOptions({"paper", "mkl"})],
        "radius": [Interval(Real, 0.0, None, closed="neither"), None],
        "mu_tol": [Interval(Real, 0.0, None, closed="left")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "code": [StrOptions(set(CODES)), "array-like", None],
        "decode": [StrOptions({"euclid", "hamming"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shrinking": ["boolean"],
        "gram_dtype": [StrOptions({"float64", "float32"})],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        extension: str = "kernel",
        *,
        C: float = 1.0,
        C_scaling: str = "plain",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        rho: float | None = None,
        ext_scale: float | None = None,
        bias: str = "shared",
        learn_mu: bool = True,
        mu_init: str = "uniform",
        mu_update: str = "mkl",
        radius: float | None = None,
        mu_tol: float = 1e-3,
        max_rounds: int = 200,
        code: str | ArrayLike | None = None,
        decode: str = "euclid",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        shrinking: bool = True,
        gram_dtype: str = "float64",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.extension = extension
        self.C = C
        self.C_scaling = C_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.rho = rho
        self.ext_scale = ext_scale
        self.bias = bias
        self.learn_mu = learn_mu
        self.mu_init = mu_init
        self.mu_update = mu_update
        self.radius = radius
        self.mu_tol = mu_tol
        self.max_rounds = max_rounds
        self.code = code
        self.decode = decode
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.gram_dtype = gram_dtype
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train the one machine, and with extension="kernel" the weights of its kernels."""
        self._validate_params()
        X, self.classes_, numbers = self._checked_data(X, y)
        rho = self._likeness()
        self.code_ = self._read_code()
        signs = np.ascontiguousarray(self.code_[numbers].T, np.float64)
        gram = self._gram_of_rows(X, dtype=self.gram_dtype)
        box = self.C if self.C_scaling == "plain" else self.C / signs.size
        problem: Any = {"gram": gram, "signs": signs, "box": box, "own_bias": self.bias == "class"}
        train: Any = functools.partial(_train, most=self.max_iter, tol=self.tol, shrinking=self.shrinking, **problem)
        start = self._last_dual(signs, box)
        if self.extension == "kernel":
            found = self._learn(train, numbers, rho, start)
            solution, self.n_iter_ = found.solution, max(1, found.steps)
        else:
            self.label_gram_ = extension_gram(self.extension, len(signs), rho)
            solution = train(self.label_gram_, start, 0)
            self.n_iter_ = max(1, solution.steps)
        if solution.violation >= self.tol:
            warnings.warn("Solver terminated early: raise max_iter.", ConvergenceWarning, stacklevel=2)
        self._take(X, solution)
        if self.warm_start:
            self._last = (signs, self.bias, box, solution.beta)
        return self

    def _learn(self, train: Any, numbers: NDArray[np.int64], rho: float, start: Any) -> LearnedWeights:
        radius = math.sqrt(len(numbers)) if self.radius is None else float(self.radius)
        count = len(self.classes_)
        shares = np.full(count, 1.0 / count)
        if self.mu_init == "frequency":
            shares = np.bincount(numbers, minlength=count) / len(numbers)
        rounds = self.max_rounds if self.learn_mu else 0
        options: Any = {"update": self.mu_update, "tol": self.mu_tol, "dual_tol": self.tol, "most": rounds}
        found = learn_weights(train, radius * shares, rho, start=start, **options)
        if not found.converged and found.solution.violation < self.tol:
            warnings.warn("The weights still change: raise max_rounds or mu_tol.", ConvergenceWarning, stacklevel=3)
        self.mu_, self.mu_gap_, self.n_rounds_ = found.mu, found.gap, found.rounds
        self.label_gram_ = found.label_gram
        return found

    def _take(self, X: Any, solution: DualSolution) -> None:
        rows = self._keep_rows(X, (solution.beta != 0.0).any(axis=0))
        self.dual_coef_ = np.ascontiguousarray(solution.beta[:, rows].T)
        self.intercept_ = solution.bias
        self.objective_ = solution.objective

    def _likeness(self) -> float:
        if self.rho is not None and self.ext_scale is not None:
            raise refusal("SingleBinary", "rho", "None where 'ext_scale' is given", self.rho)
        if self.rho is not None:
            return float(self.rho)
        if self.ext_scale is None:
            return tied_rho(self.gamma_)
        with np.errstate(over="ignore"):
            return float(np.exp(-((np.float64(1.0) / self.ext_scale) ** 2)))

    def _read_code(self) -> NDArray[np.int64]:
        """Return the binary labels of the copies: +1 for the class's own, or the rows of the code."""
        count = len(self.classes_)
        if self.extension != "ecoc":
            return 2 * np.eye(count, dtype=np.int64) - 1
        if self.code is None:
            return default_code(count, check_random_state(self.random_state))
        return read_code("SingleBinary", self.code, count, self.random_state)

    def _last_dual(self, signs: NDArray[np.float64], box: float) -> NDArray[np.float64] | None:
        if not self.warm_start or not hasattr(self, "_last"):
            return None
        last_signs, bias, last_box, beta = self._last
        # what balances for one bias does not for one a class
        if bias != self.bias or not np.array_equal(last_signs, signs) or not 0.0 < box / last_box < math.inf:
            return None
        return np.asarray(beta * (box / last_box))

    def copy_scores(self, X: Any) -> NDArray[np.float64]:
        """Return what the machine says of each copy of each row, bias included, of shape (rows, copies)."""
        check_is_fitted(self)
        return self._weighted_sums(X, self.dual_coef_ @ self.label_gram_) + self.intercept_

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        scores = self.copy_scores(X)
        return scores if self.extension != "ecoc" else decode_scores(scores, self.code_, self.decode)


def _train(
    labels_gram: NDArray[np.float64], start: NDArray[np.float64] | None, taken: int, *, most: int, **problem: Any
) -> DualSolution:
    """Solve the dual with the steps that are left when some were taken before."""
    return solve_dual(labels_gram=labels_gram, start=start, most=most - taken, **problem)
