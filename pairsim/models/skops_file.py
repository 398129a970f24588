"""`read_skops`: models that skops saved, of which nothing is run that skops does not know."""

from __future__ import annotations

import io
from pathlib import Path

from pairsim.archives import Limits, check_archive
from pairsim.errors import ParameterError, parameter_error
from pairsim.input_files import read_input
from pairsim.memory import check_memory
from pairsim.models.base import PairModel
from pairsim.models.sklearn_models import from_model

MUST_BE = "a file of skops with a fitted model, of types of scikit-learn and numpy only"
LIMITS = Limits(members=1 << 20, total=1 << 31, text=1 << 26)  # arrays of up to 2 GB; the text describes them


def read_skops(path: Path | str) -> PairModel:
    """Read a fitted one-vs-one model of scikit-learn from a file that `skops.io.dump` wrote (extra pairsim[skops]).

    A skops file is not a pickle: it names types, and those that skops does not trust are rejected here with
    the list of them, before any of it is built. The model is whatever `from_model` takes.
    """
    try:
        import skops.io as skops
    except ImportError:
        must_be = "read where skops is installed (pip install 'pairsim[skops]')"
        raise parameter_error("read_skops", "path", must_be, f"{str(path)!r} without it") from None
    content = read_input("read_skops", "path", path, MUST_BE)
    try:
        needed = check_archive(io.BytesIO(content), LIMITS)
        check_memory("read_skops", "path", repr(str(path)), 3 * needed, "what it holds")
        untrusted = skops.get_untrusted_types(data=content)
        if untrusted:
            raise parameter_error("read_skops", "path", MUST_BE, f"{str(path)!r} with {', '.join(untrusted)}")
        return from_model(skops.loads(content, trusted=None))
    except ParameterError:
        raise
    except Exception as error:  # damaged, not fitted: whatever its readers say, it is the same one line to the user
        raise parameter_error(
            "read_skops", "path", MUST_BE, f"{str(path)!r} ({error or type(error).__name__})"
        ) from None
