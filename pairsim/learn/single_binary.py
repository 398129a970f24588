"""SingleBinaryClassifier: one SVM on class-tagged copies of the data (El-Yaniv, Pechyony, Yom-Tov 2008)."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from pairsim.learn.codes.code_tables import CODES
from pairsim.learn.copies import EarlierFit, copies_to_classes, copy_labels
from pairsim.learn.extension_matrices import read_kernels
from pairsim.learn.gram import KernelClassifier
from pairsim.learn.parameters import check_params
from pairsim.learn.solvers.extensions import LabelKernels, likeness
from pairsim.learn.solvers.kernel_weights import LearnedWeights, first_weights, learn_weights
from pairsim.learn.solvers.kronecker import DualSolution, solve_dual


class SingleBinaryClassifier(KernelClassifier):
    """Single-binary reduction: one SVM on class-tagged copies of the data.

    Every point is copied once per class, the copy of class r is extended by row r of a matrix M (its mark), and one SVM
    learns which copy is the point's own. The kernel of two copies is the kernel of the points times the kernel of the
    marks, K_M; their Kronecker product, of (rows x classes) squared entries, is never formed.

    Parameters
    ----------
    extension : {"kernel", "identity", "single", "ecoc"} or array_like
        The marks. "identity": unit vectors. "single": the numbers 1, 2, ... "kernel" (SBC-KERNEL): a weighted sum of
        one kernel per class. "ecoc": one copy per column of a code, marked by its number.

        An array of shape (classes, columns) is the matrix M itself, its rows in the order of `classes_`, no two alike:
        K_M[r, s] = rho**(|M_r - M_s|**2 / 2), which is the paper's Gaussian (Algorithm 1). Where weights are learned,
        its columns are a kernel each (Algorithm 2). A sequence of such matrices has one kernel each, too, and K_M is
        their weighted sum. The unit matrix is "identity", and its columns are the kernels of "kernel".
    ext_kernel : {"rbf", "precomputed"}
        "precomputed": the array is K_M itself, or a sequence of label kernels: (classes, classes), symmetric, positive
        semidefinite.
    C : float
        Regularisation parameter: the upper limit of a dual variable, as in LIBSVM.
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
        rho = exp(-1 / s**2). Default: the marks share the points' width, as in the paper; that is often too alike
        (rho = 0.94 at s = 4). rho = 0 is one-vs-all with one bias for all classes.
    bias : {"shared", "class"}
        One bias for all copies (the paper's; it cannot change the predicted class, but for "ecoc") or one per class.
    learn_mu : bool, optional
        Whether the weights of the kernels are learned (Algorithm 2) or stay as `mu_init` says. Default: learned where
        `mu_update` is given. See Notes.
    mu_init : {"uniform", "frequency"} or array_like
        The first weights, in proportion: equal, the classes' parts of the rows, or any positive numbers.
    mu_update : {"paper", "mkl"}, optional
        How weights are learned. "paper" is the printed step, which stops where weights are proportional to gradients
        and not at the minimum that it is said to reach. "mkl" (also where only learn_mu=True is given) reaches it; at
        the minimum weights can be 0, most of them where many classes have few rows each, and classes whose weights are
        0 cannot be told from each other.
    mu_floor : float
        The least weight, as a part of the mean weight R / kernels: from 0 to 1, where nothing is left to learn.
    radius : float, optional
        The sum of the weights, R. It multiplies the kernel, so C works as C times R. Default: sqrt(rows).
    mu_tol : float
        Weights that change less, relatively, are learned.
    max_rounds : int
        Maximum number of weight updates.
    code : str or array_like, shape (classes, columns), optional
        For "ecoc": a name such as "bch" (`make_code`), or entries -1, 1 and 0 (no copy), one row per class in the order
        of `classes_`. Default: all dichotomies of up to five classes, else 10 log2(classes) random ones.
    decode : {"euclid", "hamming"}
        For "ecoc": the nearest row of the code to the scores, or to their signs (scores settle ties).
    tol : float
        Tolerance on the violation of optimality.
    max_iter : int
        Maximum solver steps over all rounds.
    shrinking : bool
        Whether to skip points that cannot improve for a while; the result is the same.
    gram_dtype : {"float64", "float32"}
        Type of the points' Gram matrix, the only large one.
    warm_start : bool
        Whether `fit` starts from the last fit's dual variables, for the same rows and labels with another C or kernel.
    random_state : int, RandomState or None
        Seed of a random code.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    dual_coef_ : ndarray, shape (support rows, copies)
        Label times dual variable; `support_` has the rows' numbers.
    label_gram_ : ndarray, shape (copies, copies)
        The kernel of the marks.
    mu_, mu_gap_, n_rounds_
        Of weighted kernels: the weights, the relative duality gap they leave, and how often they were changed.
    problem_rows_ : ndarray of int64, shape (1,)
        The rows of the binary problem: all copies (of "ecoc" those that the code does not leave out).
    intercept_ : ndarray, shape (copies,)
    code_ : ndarray, shape (classes, copies)
        The binary labels of each class's copies.
    objective_ : float
        Of the dual.
    n_iter_ : int
        Steps of the solver.

    Notes
    -----
    Weights are equal unless an update is named. Learning them does not pay, and where many classes have few rows it can
    lose most classes. Over 20 sets, C = 1 and 10, it makes the error larger by 7.7 points on average ("mkl"), 2.6
    ("paper") or 1.1 ("frequency"). Mean errors in percent over five half splits, scaled features, C = 10, at most 60
    rounds (`experiments/sbc_defaults.py`):

    ================================ ======  =======  =======  =====  ======
    weights                          plants  soybean    tumor  vowel  digits
    ================================ ======  =======  =======  =====  ======
    equal (default)                    23.1      8.7     53.9   12.8     2.8
    "frequency": the closing idea      23.1     13.1     53.9   12.8     2.8
    learned, "paper"                   30.3     14.2     55.1   16.1     6.6
    learned, "mkl"                     60.2     30.6     55.1   12.6     2.8
    the same, `mu_floor` = 0.75        26.1     10.6     56.2   12.5     2.7
    the same, one round                26.7     12.1     53.6   12.6     2.7
    one-vs-all                         17.8      7.1     60.4    6.5     2.3
    ================================ ======  =======  =======  =====  ======

    Equal weights are extension="identity" with C R and 1 - 2 (1 - sqrt(rho)) / classes instead of C and rho.

    References
    ----------
    R. El-Yaniv, D. Pechyony, E. Yom-Tov (2008), Better multiclass classification via a margin-optimized single binary
    problem, Pattern Recognition Letters 29. M. Kloft, U. Brefeld, S. Sonnenburg, A. Zien (2011), lp-norm multiple
    kernel learning, JMLR 12 (its step for p = 1 is "mkl"; where "paper" stops is its minimum for p = 2).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import SingleBinaryClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SingleBinaryClassifier("identity", C=8, rho=0.1).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.decision_function(X[:2]).shape
    (True, (2, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._kernel_constraints,
        "extension": [StrOptions({"kernel", "identity", "single", "ecoc"}), "array-like"],
        "ext_kernel": [StrOptions({"rbf", "precomputed"})],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "C_scaling": [StrOptions({"plain", "mean"})],
        "rho": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "ext_scale": [Interval(Real, 0.0, None, closed="neither"), None],
        "bias": [StrOptions({"shared", "class"})],
        "learn_mu": ["boolean", None],
        "mu_init": [StrOptions({"uniform", "frequency"}), "array-like"],
        "mu_update": [StrOptions({"paper", "mkl"}), None],
        "mu_floor": [Interval(Real, 0.0, 1.0, closed="both")],
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
        extension: str | ArrayLike = "kernel",
        *,
        ext_kernel: str = "rbf",
        C: float = 1.0,
        C_scaling: str = "plain",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        rho: float | None = None,
        ext_scale: float | None = None,
        bias: str = "shared",
        learn_mu: bool | None = None,
        mu_init: str | ArrayLike = "uniform",
        mu_update: str | None = None,
        mu_floor: float = 0.0,
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
        self.ext_kernel = ext_kernel
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
        self.mu_floor = mu_floor
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
        """Train the one SVM, and the weights of its kernels where they are to be learned."""
        check_params(self)
        X, self.classes_, numbers = self._checked_data(X, y)
        self.code_ = copy_labels(self.extension, self.code, len(self.classes_), self.random_state)
        learned = self.mu_update is not None if self.learn_mu is None else bool(self.learn_mu)
        rho = likeness(self.rho, self.ext_scale, self.gamma_)
        kernels = read_kernels(self.extension, self.code_.shape[1], rho, self.ext_kernel, learned)
        signs = np.ascontiguousarray(self.code_[numbers].T, np.float64)
        gram = self._gram_of_rows(X, dtype=self.gram_dtype)
        box = self.C if self.C_scaling == "plain" else self.C / signs.size

        def train(label_gram: NDArray[np.float64], start: NDArray[np.float64] | None, taken: int) -> DualSolution:
            return solve_dual(
                gram, label_gram, signs, box, own_bias=self.bias == "class", tol=self.tol, most=self.max_iter - taken,
                start=start, shrinking=self.shrinking,
            )  # fmt: skip

        last: EarlierFit | None = getattr(self, "_last", None) if self.warm_start else None
        start = None if last is None else last.start(signs, self.bias, box)
        if isinstance(kernels, np.ndarray):
            self.label_gram_ = kernels
            solution = train(kernels, start, 0)
            self.n_iter_ = max(1, solution.steps)
        else:
            found = self._learn(train, numbers, kernels, start, self.max_rounds if learned else 0)
            solution, self.n_iter_ = found.solution, max(1, found.steps)
        if solution.violation >= self.tol:
            warnings.warn("Solver terminated early: raise max_iter.", ConvergenceWarning, stacklevel=2)
        self._take(X, solution)
        self.problem_rows_ = np.array([np.count_nonzero(signs)], np.int64)
        if self.warm_start:
            self._last = EarlierFit(signs, self.bias, box, solution.beta)
        return self

    def _learn(self, train: Any, numbers: Any, kernels: LabelKernels, start: Any, rounds: int) -> LearnedWeights:
        radius = math.sqrt(len(numbers)) if self.radius is None else float(self.radius)
        mu = first_weights(self.mu_init, numbers, kernels.size, radius, self.mu_floor)
        found = learn_weights(
            train, mu, kernels, update=self.mu_update or "mkl", tol=self.mu_tol, dual_tol=self.tol, most=rounds,
            floor=self.mu_floor, start=start,
        )  # fmt: skip
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

    def copy_scores(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each copy of each row, bias included, of shape (rows, copies)."""
        check_is_fitted(self)
        return self._weighted_sums(X, self.dual_coef_ @ self.label_gram_) + self.intercept_

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        return copies_to_classes(self.extension, self.copy_scores(X), self.code_, self.decode)
