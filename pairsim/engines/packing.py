"""Units, results and errors as bytes, so that one that cannot travel spoils nothing but itself."""

from __future__ import annotations

import time
import traceback
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from pairsim.engines.base import Finished, UnitError, Work


class Outcome(NamedTuple):
    """What one call of the work gave."""

    result: Any
    error: BaseException | None
    seconds: float


class Reply(NamedTuple):
    """An `Outcome` on its way home: the payload is the packed result, or the packed error."""

    worked: bool
    payload: bytes
    seconds: float


def pack(thing: Any) -> bytes:
    """Turn an object into bytes."""
    return bytes(ForkingPickler.dumps(thing))


def unpack(data: bytes) -> Any:
    """Turn bytes made by `pack` back into the object.

    Examples
    --------
    >>> unpack(pack({"block": 7}))
    {'block': 7}
    """
    return ForkingPickler.loads(data)


def one_line(text: str) -> str:
    """Return a text without line breaks, and with single blanks."""
    return " ".join(text.split())


def in_words(error: BaseException) -> str:
    r"""Return an exception as one line: its type and its message.

    Examples
    --------
    >>> in_words(ValueError("too\nlong"))
    'ValueError: too long'
    """
    try:
        message = one_line(str(error))
    except Exception:  # a broken __str__ of somebody else's exception must not hide the exception
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def perform(work: Work, context: Any, unit: Any) -> Outcome:
    """Call the work and time it; whatever it raises is an outcome too.

    Examples
    --------
    >>> perform(pow, 2, 10).result
    1024
    """
    began = time.perf_counter()
    try:
        result, error = work(context, unit), None
    except BaseException as caught:  # also SystemExit: a unit may end itself, never its worker
        result, error = None, caught
    return Outcome(result, error, time.perf_counter() - began)


def perform_packed(work: Work, context: Any, packed_unit: bytes) -> Reply:
    """Do the same with a packed unit, for a worker elsewhere; never raises."""
    began = time.perf_counter()
    try:
        unit = unpack(packed_unit)
    except BaseException as caught:
        error = UnitError(f"the unit could not be read by its worker ({in_words(caught)})")
        return Reply(False, pack_error(error), time.perf_counter() - began)
    outcome = perform(work, context, unit)
    if outcome.error is not None:
        return Reply(False, pack_error(outcome.error), outcome.seconds)
    try:
        return Reply(True, pack(outcome.result), outcome.seconds)
    except BaseException as caught:
        error = UnitError(f"the result of the unit cannot be sent back ({in_words(caught)})")
        return Reply(False, pack_error(error), outcome.seconds)


def pack_error(error: BaseException) -> bytes:
    """Pack an exception together with its traceback as a note, or its words when it cannot travel as it is."""
    try:
        error.add_note("".join(traceback.format_exception(error)).rstrip())
        data = pack(error)
        # many exceptions can be packed but not unpacked (an __init__ of another shape): find out here, not at home
        if isinstance(unpack(data), BaseException):
            return data
    except BaseException:  # whatever a foreign exception does when copied, its words still go home
        pass
    return pack(UnitError(in_words(error)))


def read_reply(unit: Any, reply: Reply) -> Finished:
    """Return what became of `unit`; an answer that cannot be read is an error of that unit."""
    try:
        content = unpack(reply.payload)
    except Exception as caught:
        error = UnitError(f"the answer to the unit could not be read ({in_words(caught)})")
        return Finished(unit, None, error, reply.seconds)
    if reply.worked:
        return Finished(unit, content, None, reply.seconds)
    return Finished(unit, None, content, reply.seconds)


def unsent(unit: Any, caught: BaseException) -> Finished:
    """Return the end of a unit that could not be packed."""
    error = UnitError(f"the unit cannot be sent to another process ({in_words(caught)})")
    return Finished(unit, None, error, 0.0)
