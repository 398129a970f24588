"""SequentialDiscriminatingTreeClassifier: a tree of SVMs that separates first what is easiest to separate."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from pairsim.errors import ParameterError, parameter_error
from pairsim.learn.trees.class_rows import ClassRows, Decision
from pairsim.learn.trees.sign_search import DichotomySearch, canonical
from pairsim.learn.trees.tree_classifier import Classes, TreeClassifier

MORE_STARTS = (1, 4, 16)  # times as many, where none divides the classes


class SequentialDiscriminatingTreeClassifier(TreeClassifier):
    """Sequential discriminating tree (SDT): each node separates two groups of its classes with the largest margin.

    At every node, the classes are divided such that the support vector machine (SVM) between the two groups has the
    least objective, and each group is divided further until a leaf has one class. A tree of N classes has N - 1 SVMs;
    a prediction evaluates those on one way from the root to a leaf. Classes are never cut in two.

    The objective is not normalised: small and remote classes are separated first, one by one. With many classes the
    tree is then a chain, which costs time and adds up errors: with 100 classes of 8 rows each, it was right on 49% of
    new rows where one-vs-one was on 78%, and `HierarchicalSVC` on 69%.

    Parameters
    ----------
    C : float
        Regularisation parameter: the upper limit of a dual variable, as in LIBSVM.
    C_scaling : {"plain", "lambda"}
        "lambda" is the paper's scaling: C is `lambda_1` divided by the number of rows at the node.
    kernel : str or callable
        "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", a function of two rows, "precomputed" (X holds kernel
        values) or "distances" (X holds squared distances, of which the Gaussian kernel is made). With "linear" and few
        dense features (128 at most, and features**2 <= 2 * rows) no Gram matrix is made, and the time does not depend
        on C; otherwise the matrix takes 8 * rows**2 bytes.
    gamma, degree, coef0
        As in `SVC`.
    tol : float
        Tolerance on the violation of optimality.
    class_weight : dict, "balanced" or None
        Factors of C by label; "balanced" makes the classes at a node count alike.
    solver : {"search", "cccp"}
        "search" looks for the best dichotomy among the classes: SVMs of several starts, in which each class then moves
        to the side where its losses are smaller until nothing moves, then moves of single classes; of three classes or
        fewer, all are tried. "cccp" is the method as printed, on rows instead of classes: the constrained
        concave-convex procedure with cutting planes. It is slow, finds worse divisions and is meant for small linear
        problems, of 2000 rows at most; the node's SVM is that of the division it finds.
    lambda_1, lambda_2 : float
        The costs of rows within the margin and of pairs of one class on different sides, for "cccp"; `lambda_1` also
        for C_scaling="lambda".
    n_starts : int
        Random starts per node. For "search": two means of the class means, beside the starts that are not random (each
        class against the rest, and the first principal component of the class means). For "cccp": hyperplanes; where
        all of them end with every class on one side, more are drawn.
    n_jobs : int, optional
        Threads, for nodes of equal depth. Default: 1.
    random_state : int, RandomState or None
        Seed of the random starts.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    tree_ : ClassTree
        The division of the classes; the lowest class of a node is on its left.
    coef_ : ndarray, shape (nodes, features)
        With kernel="linear": the weights of each node, positive for the left.
    dual_coef_ : sparse matrix, shape (nodes, support rows)
        With any other kernel: side times dual variable; `support_` has the rows' numbers.
    intercept_ : ndarray, shape (nodes,)
    objectives_ : ndarray, shape (nodes,)
        The optimum of each node's SVM problem, by its dual.
    margins_ : ndarray, shape (nodes,)
        The smallest distance of a training row from the node's plane, negative where one is on the wrong side.
    problem_rows_ : ndarray, shape (nodes,)
        The training rows of each node.
    n_search_fits_ : int
        Dichotomies that were tried at all nodes together.
    cccp_results_ : list
        With solver="cccp": the `CccpResult` of each node, with its objective after every step; None for two classes.

    References
    ----------
    Liu, Yan, Mu, Hua, Chang and Zhang, "Towards optimal discriminating order for multiclass classification", 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import SequentialDiscriminatingTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SequentialDiscriminatingTreeClassifier(C=10.0, kernel="linear").fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.tree_.nested, model.problem_rows_.tolist()
    (True, (0, (1, 2)), [150, 100])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClassifier._tree_constraints,
        "C_scaling": [StrOptions({"plain", "lambda"})],
        "solver": [StrOptions({"search", "cccp"})],
        "lambda_1": [Interval(Real, 0.0, None, closed="neither")],
        "lambda_2": [Interval(Real, 0.0, None, closed="neither")],
        "n_starts": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_scaling: str = "plain",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        class_weight: Any = None,
        solver: str = "search",
        lambda_1: float = 500.0,
        lambda_2: float = 500.0,
        n_starts: int = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.C_scaling = C_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.n_starts = n_starts
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _cost(self, rows: int) -> float:
        return float(self.C) if self.C_scaling == "plain" else float(self.lambda_1) / rows

    def _decide(self, rows: ClassRows, classes: Classes, boxes: NDArray[np.float64], seed: int) -> Decision:
        rng = np.random.default_rng([seed, *classes])
        search = DichotomySearch(rows, classes, boxes, float(self.tol))
        report = None
        if self.solver == "cccp" and len(classes) > 2:
            report = self._cccp(rows, classes, rng)
            search.race([canonical(report.sides)])
        else:
            search.run(int(self.n_starts), rng)
        return search.decision(report)

    def _cccp(self, rows: ClassRows, classes: Classes, rng: np.random.Generator) -> Any:
        from pairsim.learn.trees.cccp import cccp_partition

        numbers = np.repeat(np.arange(len(classes)), rows.sizes[list(classes)])
        starts, reason = max(1, int(self.n_starts)), ""
        for more in MORE_STARTS:  # every start of a few may end with all classes on one side
            try:
                return cccp_partition(
                    rows.gram(classes),
                    numbers,
                    lambda_1=float(self.lambda_1),
                    lambda_2=float(self.lambda_2),
                    starts=more * starts,
                    rng=rng,
                )
            except ParameterError as error:
                reason = str(error)
        raise parameter_error(type(self).__name__, "solver", f"'search' for these data ({reason})", "'cccp'")

    def _keep_search(self, decisions: Sequence[Decision]) -> None:
        self.n_search_fits_ = sum(decision.fits for decision in decisions)
        self.__dict__.pop("cccp_results_", None)
        if self.solver == "cccp":
            self.cccp_results_ = [decision.report for decision in decisions]
