"""What the tree paper says that training costs: its Theorems 1 and 2 and equations (10) to (12), as calculators.

Liu, Yan, Mu, Hua, Chang and Zhang, "Towards optimal discriminating order for multiclass classification" (2011), section
IV-A. Each gives the form that holds, and the printed one where they differ. Costs are numbers of operations or steps,
not seconds, and constants are those of the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence

from pairsim.bounds.learning_theory import TheoryBound, positive
from pairsim.checks import check_flag, check_list, check_whole
from pairsim.errors import parameter_error

_MOST = 1 << 60
_MOST_CLASSES = 1 << 20


def cutting_plane_cost(class_sizes: Sequence[int], nonzeros: int, *, printed: bool = False) -> TheoryBound:
    """Count the operations of one cutting-plane step at a node: Theorem 1.

    The print says O(s l): for each of the l examples of the node, an output from the s nonzero entries of alpha. It
    leaves out the pair constraints, of which a class with n_c examples has n_c (n_c - 1) / 2: with N classes of equal
    size that is about l^2 / (2 N), more than s l as soon as l > 2 N s. The value is s l + pairs; with `printed`, s l.

    Assumes that the constraint set does not grow (the print's "constant constraint set") and leaves out the quadratic
    program of the planes, which does not depend on l.

    Parameters
    ----------
    class_sizes : sequence of int
        Examples of each class at the node.
    nonzeros : int
        s.
    printed : bool
        Leave the pairs out.

    Examples
    --------
    >>> cutting_plane_cost([50, 50, 50], 5).terms
    {'outputs': 750.0, 'pairs': 3675.0}
    >>> cutting_plane_cost([50, 50, 50], 5, printed=True).value
    750.0
    """
    owner = "cutting_plane_cost"
    must_be = "at least one integer, none below 1"
    sizes = [
        check_whole(owner, "class_sizes", size, 1, _MOST, must_be)
        for size in check_list(owner, "class_sizes", class_sizes, must_be)
    ]
    if not sizes:
        raise parameter_error(owner, "class_sizes", must_be, class_sizes)
    outputs = float(check_whole(owner, "nonzeros", nonzeros, 1, _MOST) * sum(sizes))
    pairs = float(sum(size * (size - 1) // 2 for size in sizes))
    if check_flag(owner, "printed", printed):
        return TheoryBound(outputs, False, {"outputs": outputs}, f"leaves out {pairs:.0f} pairs")
    return TheoryBound(outputs + pairs, False, {"outputs": outputs, "pairs": pairs})


def cutting_plane_steps(epsilon: float, penalty: float, norm: float, *, printed: bool = False) -> TheoryBound:
    """Bound the cutting-plane steps until the gap is at most epsilon: Theorem 2.

    The bound is max(2 / epsilon, 8 lambda R^2 / epsilon^2).

    R is the norm of the longest cutting plane that the hinge part can have, |sum_i sign(f_i) (k_i, 1)| / n where the
    slack is a mean as in (9). The print calls that norm R^2 (the square is missing; `printed=True` keeps it so), does
    not divide it by n, and does not define lambda: in the theorem that it follows it is the penalty of the mean slack,
    lambda_1 here (Joachims, "Training linear SVMs in linear time", KDD 2006, Theorem 2).

    Assumes epsilon in the units of the mean slack, and planes of the hinge part alone. Those of the pair part have
    slopes that grow with the outputs, which nothing in the theorem bounds, so with pair constraints this is a guide.

    Parameters
    ----------
    epsilon : float
        The gap, positive.
    penalty : float
        lambda.
    norm : float
        R.
    printed : bool
        Put R where R^2 belongs.

    Examples
    --------
    >>> cutting_plane_steps(0.1, 500.0, 2.0).value, cutting_plane_steps(0.1, 500.0, 2.0, printed=True).value
    (1600000.0, 800000.0)
    """
    owner = "cutting_plane_steps"
    gap, cost = positive(owner, "epsilon", epsilon), positive(owner, "penalty", penalty)
    norm = positive(owner, "norm", norm)
    squared = norm if check_flag(owner, "printed", printed) else norm * norm
    terms = {"first": 2.0 / gap, "second": 8.0 * cost * (squared / gap) / gap}
    return TheoryBound(max(terms.values()), False, terms)


def tree_training_cost(n: int, classes: int, *, unit: float = 1.0, printed: bool = False) -> TheoryBound:
    """Bound the training cost of a balanced tree on n examples: equations (10) to (12).

    A node with l examples costs unit * l (10); the nodes of a level share all examples, so a level costs unit * n (11);
    a balanced tree of N classes has ceil(log2 N) levels of nodes, so the tree costs at most ceil(log2 N) * unit * n.
    The print has floor(log2(N) - 1) + 2 levels (12), one too many where N is a power of 2: an upper bound all the same.

    Assumes classes of one size, a cost that is linear in l (the pairs of `cutting_plane_cost` are not) and a balanced
    tree, which the method does not promise: splitting off one class at a time ("caterpillar" in `terms`) costs
    (N + 1)/2 - 1/N times unit * n. "balanced" in `terms` is the cost of halving the classes, to the last example.

    Parameters
    ----------
    n : int
        Examples.
    classes : int
        N.
    unit : float
        beta, the cost per example.
    printed : bool
        Count the levels as the print does.

    Examples
    --------
    >>> tree_training_cost(800, 8).value, tree_training_cost(800, 8, printed=True).value
    (2400.0, 3200.0)
    >>> tree_training_cost(800, 8).terms
    {'levels': 3.0, 'level': 800.0, 'balanced': 2400.0, 'caterpillar': 3500.0}
    """
    owner = "tree_training_cost"
    n, count = check_whole(owner, "n", n, 1, _MOST), check_whole(owner, "classes", classes, 2, _MOST_CLASSES)
    level = positive(owner, "unit", unit) * n
    floor_log = count.bit_length() - 1  # of integers, exactly
    levels = floor_log + 1 if check_flag(owner, "printed", printed) else (count - 1).bit_length()
    deepest = 2 * (count - (1 << floor_log))  # leaves below the last full level of a tree that halves
    balanced = level * (floor_log + deepest / count)
    terms = {
        "levels": float(levels),
        "level": level,
        "balanced": balanced,
        "caterpillar": level * ((count + 1) / 2.0 - 1.0 / count),
    }
    return TheoryBound(levels * level, False, terms)
