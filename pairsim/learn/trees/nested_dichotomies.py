"""NestedDichotomiesClassifier: random trees of binary models, whose branch probabilities multiply."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.errors import parameter_error
from pairsim.learn.parameters import check_params
from pairsim.learn.trees.branch_models import BranchModel, train_branch
from pairsim.learn.trees.class_tree import Classes, ClassTree
from pairsim.learn.trees.random_trees import SPLITS
from pairsim.models.base import count_rows, take_rows

CHUNK = 1 << 22  # probabilities of branches at a time: 32 MB
MOST_SEED = 2**31 - 1


class NestedDichotomiesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ensemble of random trees that split the classes in two at every node, with a binary model at each.

    A class's probability in a tree is the product of the branch probabilities on the way to it; trees are averaged.
    n - 1 binary problems per tree, of which most are small.

    Parameters
    ----------
    estimator : classifier, optional
        Trained at each node; one with `predict_proba`, or with `decision_function` and the calibration below.
        Default: `LogisticRegression(max_iter=1000)`.
    n_estimators : int
        Number of trees. One tree is readable (`export_text`, `plot_tree`) and depends much on luck.
    split : {"random", "class-balanced", "data-balanced"}
        "random" draws from all (2n - 3)!! trees of n classes with equal probability (Frank and Kramer). The others keep
        trees shallow (Dong, Frank and Kramer): "class-balanced" halves the classes of a node, "data-balanced" deals
        classes to both sides in turn until one has half of the rows.
    calibration : int or None
        For estimators without `predict_proba`: the number of folds whose left-out rows give Platt's sigmoid for the
        decision values of a node. None: a decision value m is a probability of 1 / (1 + exp(-m)).
    n_jobs : int, optional
        Number of estimators trained at a time. Default: 1.
    random_state : int, RandomState or None
        Seed for the trees and the folds.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    trees_ : list of ClassTree
        The trees; on the left of each node is the side with the lowest class.
    tree_ : ClassTree
        With n_estimators=1: the tree.
    estimators_ : list
        The trained estimators, one per dichotomy: trees share the model of a dichotomy of the same classes.
    node_estimators_ : list of ndarray, each of shape (n_classes - 1,)
        Per tree: the number in `estimators_` of the model at each node.
    problem_rows_ : ndarray of int64, shape (estimators,)
        Number of rows that each of `estimators_` was trained on.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    E. Frank, S. Kramer, "Ensembles of nested dichotomies for multi-class problems", 2004.

    L. Dong, E. Frank, S. Kramer, "Ensembles of balanced nested dichotomies for multi-class problems", 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import NestedDichotomiesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NestedDichotomiesClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), len(model.trees_), len(model.estimators_)
    (True, 10, 6)
    >>> model.predict_proba(X[:1]).sum().round(12)
    np.float64(1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "split": [StrOptions(set(SPLITS))],
        "calibration": [Interval(Integral, 2, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        split: str = "random",
        calibration: int | None = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.split = split
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Draw the trees and train a binary model for each of their dichotomies."""
        check_params(self)
        base = self._base()
        X, y = validate_data(self, X, y, **self._accepted())
        check_classification_targets(y)
        pairwise = bool(self.__sklearn_tags__().input_tags.pairwise)
        if pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(f"X should be a square matrix of pairs of rows. Got a {X.shape[0]}x{X.shape[1]} matrix.")
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        rng = check_random_state(self.random_state)
        sizes = np.bincount(numbers)
        trees = [SPLITS[self.split](sizes, rng) for _ in range(self.n_estimators)]
        seed = int(rng.randint(MOST_SEED))
        places: dict[tuple[Classes, Classes], int] = {}
        nodes = [
            np.array([places.setdefault(tree.sides(node), len(places)) for node in range(tree.n_nodes)])
            for tree in trees
        ]
        self._branches: list[BranchModel] = Parallel(n_jobs=self.n_jobs)(
            delayed(train_branch)(base, X, numbers, sides, folds=self.calibration, seed=seed, pairwise=pairwise)
            for sides in places
        )
        self.classes_, self.trees_, self.node_estimators_ = classes, trees, nodes
        self.estimators_ = [branch.estimator for branch in self._branches]
        self.problem_rows_ = np.array([branch.rows for branch in self._branches], np.int64)
        return self

    @property
    def tree_(self) -> ClassTree:
        """The tree, where there is one only."""
        if len(getattr(self, "trees_", ())) != 1:
            raise AttributeError(
                "tree_ is there after a fit with n_estimators=1; trees_ lists the trees of an ensemble."
            )
        return self.trees_[0]

    def _accepted(self) -> dict[str, Any]:
        """Return what X may be; the estimators of the nodes look at the values of features themselves."""
        tags = self.__sklearn_tags__().input_tags
        return {"accept_sparse": ["csr", "csc"] if tags.sparse else False, "ensure_all_finite": bool(tags.pairwise)}

    def _base(self) -> Any:
        """Return the estimator of the nodes, when it says more than a label."""
        if self.estimator is None:
            return LogisticRegression(max_iter=1000)
        if not any(hasattr(self.estimator, each) for each in ("decision_function", "predict_proba")):
            must_be = "one with decision_function or predict_proba"
            raise parameter_error(type(self).__name__, "estimator", must_be, repr(self.estimator))
        return self.estimator

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, the mean over the trees."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._accepted())
        rows = count_rows(X)
        out = np.empty((rows, len(self.classes_)))
        for part in gen_batches(rows, max(1, CHUNK // len(self._branches))):
            out[part] = self._probabilities(take_rows(X, part) if rows > part.stop - part.start else X)
        return out

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        to_left = np.column_stack([branch.probability(X) for branch in self._branches])
        total = np.zeros((len(to_left), len(self.classes_)))
        for tree, models in zip(self.trees_, self.node_estimators_, strict=True):
            reach = np.ones((tree.n_nodes, len(to_left)))
            for node, model in enumerate(models):
                left, right = reach[node] * to_left[:, model], reach[node] * (1.0 - to_left[:, model])
                for side, value in zip(tree.children(node), (left, right), strict=True):
                    if side >= 0:
                        reach[side] = value
                    else:
                        total[:, -side - 1] += value
        return total / len(self.trees_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities; with two classes one number per row, that of `classes_[1]` less the other."""
        scores = self.predict_proba(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row, the first of equals."""
        winners = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a training came to its end."""
        return hasattr(self, "problem_rows_")

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn may expect: what the estimator of the nodes can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            inner = self.estimator.__sklearn_tags__().input_tags
            tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
            tags.input_tags.allow_nan = inner.allow_nan
        return tags
