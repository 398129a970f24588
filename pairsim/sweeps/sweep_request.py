"""What a sweep is asked to do: the grid, and when each task is finished, checked before any work."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pairsim.checks import check_list, check_members, check_number, check_text
from pairsim.decoders import Decoder
from pairsim.errors import parameter_error, shown
from pairsim.oracles import Oracle
from pairsim.simulation import check_seed, check_trials
from pairsim.simulation.methods import check_method
from pairsim.stats import check_confidence
from pairsim.sweeps.stopping import Stop, make_stop
from pairsim.sweeps.tasks import TRIALS_LIMIT


@dataclasses.dataclass(frozen=True)
class SweepRequest:
    """What a sweep is asked to do, checked: the grid, and when each task is finished."""

    oracles: tuple[Oracle, ...]
    decoders: tuple[Decoder, ...]
    stops: tuple[Stop, ...]  # one per oracle
    seed: int
    confidence: float
    method: str
    max_seconds: float | None = None
    shard: tuple[int, int] | None = None

    @property
    def has_rule(self) -> bool:
        """Whether tasks may end before their number of trials."""
        return any(stop.is_rule for stop in self.stops)


def make_request(
    oracles: Sequence[Oracle],
    decoders: Sequence[Decoder],
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    method: str = "auto",
    half_width: float | str | None = None,
    max_failures: int | None = None,
    max_seconds: float | None = None,
    shard: str | None = None,
) -> SweepRequest:
    """Check everything before any work is done."""
    # once: an iterator is empty the second time
    oracles = check_list("sweep", "oracles", oracles, "at least one oracle, all such as Uniform(16, 0.9)")
    decoders = check_list("sweep", "decoders", decoders, "at least one decoder, all such as MaxWin()")
    check_grid(oracles, decoders, trials)
    check_method("sweep", method)
    if max_failures is not None:
        if method == "conditional":
            raise parameter_error(
                "sweep", "max_failures", "omitted where probabilities, not failures, are added up", max_failures
            )
        method = "simulated" if method == "auto" else method  # failures have to be counted
    stops = []
    for oracle in oracles:
        stop = make_stop(trials, check_trials("sweep", None, oracle), half_width, max_failures)
        stops.append(dataclasses.replace(stop, trials=min(stop.trials, oracle.rows or stop.trials)))
    if max_seconds is not None:
        must_be = "a number of seconds above 0"
        max_seconds = check_number("sweep", "max_seconds", max_seconds, must_be)
        if not max_seconds > 0.0:
            raise parameter_error("sweep", "max_seconds", must_be, max_seconds)
    request = SweepRequest(
        tuple(oracles),
        tuple(decoders),
        tuple(stops),
        check_seed("sweep", seed),
        check_confidence("sweep", confidence),
        method,
        max_seconds,
        _read_shard(shard),
    )
    if request.shard is not None and request.has_rule:
        raise parameter_error("sweep", "shard", "omitted: it cannot be combined with a stopping rule", shown(shard))
    return request


def _read_shard(shard: str | None) -> tuple[int, int] | None:
    if shard is None:
        return None
    must_be = "i/k with integers 1 <= i <= k, for example 1/4"
    first, slash, second = check_text("sweep", "shard", shard, must_be).partition("/")
    if not slash or not (first.isdecimal() and second.isdecimal()) or not 1 <= int(first) <= int(second):
        raise parameter_error("sweep", "shard", must_be, shown(shard))
    return int(first), int(second)


def check_grid(oracles: Sequence[Oracle], decoders: Sequence[Decoder], trials: int | None) -> None:
    """Reject a grid with an empty side, or with a decoder that does not fit a number of classes, before any work."""
    check_members("sweep", "oracles", oracles, Oracle, "at least one oracle, all such as Uniform(16, 0.9)")
    check_members("sweep", "decoders", decoders, Decoder, "at least one decoder, all such as MaxWin()")
    for oracle in oracles:
        if check_trials("sweep", trials, oracle) > TRIALS_LIMIT:
            raise parameter_error("sweep", "trials", "at most 2**62", trials)
        for decoder in decoders:
            decoder.cost(oracle.n)
