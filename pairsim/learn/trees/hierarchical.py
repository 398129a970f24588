"""HierarchicalSVC: a tree of SVMs over classes that clustering divides."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from pairsim.learn.trees.class_rows import ClassRows, Decision
from pairsim.learn.trees.sign_search import DichotomySearch, canonical
from pairsim.learn.trees.tree_classifier import Classes, TreeClassifier
from pairsim.learn.trees.two_means import two_means


class HierarchicalSVC(TreeClassifier):
    """Hierarchical SVM: k-means divides the classes of each node in two, and a support vector machine separates them.

    Clusters are looked for in the space of the kernel. The labels do not tell the clustering what an SVM separates
    well: `SequentialDiscriminatingTreeClassifier` searches for that instead.

    Parameters
    ----------
    cluster_on : {"centroids", "samples"}
        What is clustered: the means of the classes, or the training rows as in the paper, where each class then goes to
        the cluster with most of its rows. Clusters of rows may cut every class in two: then half of the classes go to
        either side, by their share of rows in the first cluster. Rows were the worse choice where both were tried
        (vowel with a linear kernel: 58% against 72% correct), so the default is "centroids".
    C : float
        Regularisation parameter: the upper limit of a dual variable, as in LIBSVM.
    kernel, gamma, degree, coef0, tol, class_weight
        As in `SequentialDiscriminatingTreeClassifier`.
    n_init : int
        Random starts of k-means per node, of which the clusters with the smallest scatter are taken.
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
    coef_, dual_coef_, support_, intercept_, objectives_, margins_, problem_rows_
        As in `SequentialDiscriminatingTreeClassifier`.

    References
    ----------
    Vural and Dy, "A hierarchical method for multi-class support vector machines", 2004; Liu and others, "Towards
    optimal discriminating order for multiclass classification", 2011, whose comparison clusters rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import HierarchicalSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HierarchicalSVC(C=10.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.tree_.nested
    (True, (0, (1, 2)))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClassifier._tree_constraints,
        "cluster_on": [StrOptions({"centroids", "samples"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        cluster_on: str = "centroids",
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        class_weight: Any = None,
        n_init: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.cluster_on = cluster_on
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _decide(self, rows: ClassRows, classes: Classes, boxes: NDArray[np.float64], seed: int) -> Decision:
        sides = (1, -1)
        if len(classes) > 2:
            sides = self._clusters(rows, classes, np.random.default_rng([seed, *classes]))
        search = DichotomySearch(rows, classes, boxes, float(self.tol))
        search.race([sides])
        return search.decision()

    def _clusters(self, rows: ClassRows, classes: Classes, rng: np.random.Generator) -> Any:
        """Return the side of each class."""
        on_rows = self.cluster_on == "samples"
        index = list(classes)
        count = int(rows.sizes[index].sum()) if on_rows else len(index)
        product = rows.product(classes) if on_rows else rows.means[np.ix_(index, index)].dot
        found = min((two_means(product, count, rng) for _ in range(int(self.n_init))), key=lambda each: each.scatter)
        if not on_rows:
            return canonical(found.signs)
        starts = np.concatenate([[0], np.cumsum(rows.sizes[index])[:-1]])
        return canonical(majority_sides(np.add.reduceat(found.signs, starts) / rows.sizes[index]))


def majority_sides(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the side of each class by the mean sign of its rows; if all were on one, the upper half of them is on 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.trees.hierarchical import majority_sides
    >>> majority_sides(np.array([0.9, -0.2, 0.1])).tolist(), majority_sides(np.array([0.9, 0.2, 0.1])).tolist()
    ([1, -1, 1], [1, -1, -1])
    """
    sides = np.where(shares >= 0.0, 1, -1)
    if sides.min() == sides.max():
        sides[:] = -1
        sides[np.argsort(-shares, kind="stable")[: len(shares) // 2]] = 1
    return sides
