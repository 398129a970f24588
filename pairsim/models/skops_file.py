"""`read_skops`: models that skops saved, of which nothing is run that skops does not know."""

from __future__ import annotations

from pathlib import Path

from pairsim.errors import ParameterError, refusal
from pairsim.models.base import PairModel
from pairsim.models.sklearn_models import from_model

MUST_BE = "a file of skops with a fitted model, of types of scikit-learn and numpy only"


def read_skops(path: Path | str) -> PairModel:
    """Read a fitted one-vs-one model of scikit-learn from a file that `skops.io.dump` wrote (extra pairsim[skops]).

    A skops file is not a pickle: it names types, and those that skops does not trust by itself are refused here with
    the list of them, before any of it is built. The model is whatever `from_model` takes.
    """
    try:
        import skops.io as skops
    except ImportError:
        must_be = "read where skops is installed (pip install 'pairsim[skops]')"
        raise refusal("read_skops", "path", must_be, f"{str(path)!r} without it") from None
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise refusal("read_skops", "path", MUST_BE, f"{str(path)!r} ({error.strerror or 'unreadable'})") from None
    try:
        untrusted = skops.get_untrusted_types(data=content)
        if untrusted:
            raise refusal("read_skops", "path", MUST_BE, f"{str(path)!r} with {', '.join(untrusted)}")
        return from_model(skops.loads(content, trusted=None))
    except ParameterError:
        raise
    except Exception as error:  # damaged, not fitted: whatever its readers say, it is the same one line to the user
        if isinstance(error, MemoryError):
            raise
        raise refusal("read_skops", "path", MUST_BE, f"{str(path)!r} ({error or type(error).__name__})") from None
