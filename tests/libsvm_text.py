"""A fitted SVC in LIBSVM's text format, written from the format's description."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse

KERNEL_NAMES = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid"}


def libsvm_text(svc: Any, order: list[int] | None = None) -> str:
    """Return the model's text; `order` lists scikit-learn's class numbers in the order that the file is to have."""
    n = len(svc.classes_)
    order = list(range(n)) if order is None else order
    sign = -1.0 if n == 2 else 1.0
    dual = sign * (svc.dual_coef_.toarray() if scipy.sparse.issparse(svc.dual_coef_) else svc.dual_coef_)
    rho = dict(zip(itertools.combinations(range(n), 2), -sign * svc.intercept_, strict=True))
    vectors = svc.support_vectors_
    vectors = vectors.toarray() if scipy.sparse.issparse(vectors) else vectors
    owner = np.repeat(np.arange(n), svc.n_support_)

    def coefficient(s: int, c: int, other: int) -> float:
        value = dual[other - 1 if other > c else other, s]
        flipped = (c < other) != (order.index(c) < order.index(other))
        return -value if flipped else value

    lines = [f"svm_type {svc._impl}", f"kernel_type {KERNEL_NAMES[svc.kernel]}"]
    if svc.kernel == "poly":
        lines.append(f"degree {svc.degree}")
    if svc.kernel != "linear":
        lines.append(f"gamma {svc._gamma:.17g}")
    if svc.kernel in ("poly", "sigmoid"):
        lines.append(f"coef0 {svc.coef0:.17g}")
    pairs = [(order[a], order[b]) for a in range(n) for b in range(a + 1, n)]
    rhos = [rho[pair] if pair in rho else -rho[pair[::-1]] for pair in pairs]
    lines += [
        f"nr_class {n}",
        f"total_sv {len(owner)}",
        "rho " + " ".join(f"{value:.17g}" for value in rhos),
        "label " + " ".join(str(svc.classes_[c]) for c in order),
        "nr_sv " + " ".join(str(svc.n_support_[c]) for c in order),
        "SV",
    ]
    for c in order:
        for s in np.flatnonzero(owner == c):
            words = [f"{coefficient(s, c, other):.17g}" for other in order if other != c]
            words += [f"{k + 1}:{value:.17g}" for k, value in enumerate(vectors[s]) if value != 0]
            lines.append(" ".join(words))
    return "\n".join(lines) + "\n"
