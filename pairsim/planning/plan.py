"""plan(oracle, target): every decoder that reaches the target, cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pairsim.bounds import bound, least_mean_queries, most_success
from pairsim.checks import (
    check_callable,
    check_choice,
    check_instance,
    check_members,
    check_number,
    check_whole,
)
from pairsim.decoders import Decoder, MaxWin
from pairsim.decoders.base import TIES
from pairsim.errors import ParameterError, parameter_error
from pairsim.oracles import Oracle, Recorded
from pairsim.planning.candidates import families, fixed
from pairsim.planning.limits import Limits
from pairsim.planning.options import Option, Plan
from pairsim.planning.report import Reporter, seen_option
from pairsim.planning.screen import Screen
from pairsim.planning.search import Search
from pairsim.simulation import check_seed, check_threads, check_trials
from pairsim.stats import check_confidence

MOST_CLASSES = 65_535  # beyond it one max-win takes hours, and a poll of any use not much less
OTHER_TRIALS = 0x9E3779B97F4A7C15  # what the seed of the trials to choose by differs in from that of the figures

MOST_COMPARED = 3  # of the best where nothing reaches the target: by the trials of the figures, for what can be reached

Progress = Callable[[str, int, int], None]


def plan(
    oracle: Oracle,
    target: float | None = None,
    *,
    decoders: Sequence[Decoder] | None = None,
    max_queries: int | None = None,
    max_rounds: int | None = None,
    mean_queries: float | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    ties: str = "random",
    trials: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Find the decoders whose success probability meets a target, cheapest first; or the best within limits.

    Each family (what the decoders declare as `candidates`: posterior, quick, poll, top-k with several k and both
    finals, halving ...) is listed with the smallest setting that reaches the target. Costs are those of different
    pairs, because the answer to a pair is persistent.

    A setting is chosen by trials of its own, on which its success less its standard error, or the lower limit of its
    99% interval, meets the target. A decoder without a setting that is sure to meet it is listed where its best
    estimate does. The figures that are listed come from other trials and were not used for any choice, so their
    intervals cover as often as they say; one may lie below the target. Of recorded rows, a random half is for choosing.

    Parameters
    ----------
    oracle : Oracle
        The source of the answers, random or recorded.
    target : float, optional
        Target success probability, strictly between 0 and 1. Default: none; the best of each family within the limits.
    decoders : sequence of Decoder, optional
        Consider only these decoders. Default: search all families.
    max_queries, max_rounds : int, optional
        Maximum different pairs and rounds per decision, whatever the answers. A decoder that has a `budget` keeps
        `max_queries` by it.
    mean_queries : float, optional
        Maximum mean number of different pairs per decision.
    seed, confidence, threads
        Seed, confidence level and threads of the simulations. Default: one thread per core. The figures are those of
        `simulate` with this seed.
    ties : {"random", "lose", "first"}
        Tie rule of decoders whose scores can tie.
    trials : int, optional
        Trials of each option's figures. Default: 20,480, fewer where they would ask 2.5 million queries.
    progress : callable, optional
        Called with what is looked at next, how many families and options are done, and how many there are.

    Returns
    -------
    Plan

    Raises
    ------
    ParameterError
        When the target cannot be reached; the message says what can.

    Examples
    --------
    >>> from pairsim import Poll, Uniform, plan
    >>> best = plan(Uniform(32, 0.9), 0.9).options[0]
    >>> best.decoder.name, best.queries < Poll("5log").cost(32).queries / 10, best.distinct > best.mean_floor
    ('posterior', True, True)
    >>> best = plan(Uniform(32, 0.9), max_queries=60).options[0]
    >>> best.decoder.name, best.most, best.success > 0.8
    ('posterior', 60.0, True)
    """
    check_instance("plan", "oracle", oracle, Oracle, "an oracle such as Uniform(16, 0.9)")
    if decoders is not None:
        decoders = check_members("plan", "decoders", decoders, Decoder, "decoders such as [MaxWin(), Poll()]")
    check_callable("plan", "progress", progress, "a callable that takes a text and two numbers")
    check_choice("plan", "ties", ties, TIES)
    if trials is not None:
        trials = check_trials("plan", trials, oracle)
    limits = _checked_limits(max_queries, max_rounds, mean_queries)
    target = _checked_target(target, limits)
    seed, confidence = check_seed("plan", seed), check_confidence("plan", confidence)
    threads = check_threads("plan", threads)
    if decoders is None and oracle.n > MOST_CLASSES:
        must_be = f"at most {MOST_CLASSES:,} classes, unless decoders are given"
        raise parameter_error("plan", "n", must_be, oracle.n)
    if target is not None and decoders is None:
        _refuse_hopeless(oracle, target, limits)
    chooses, reports = _halves(oracle, seed)
    screen = Screen(chooses, seed ^ OTHER_TRIALS, threads)
    search = Search(screen, target, limits, ties)
    chosen = list(families(oracle, ties)) if decoders is None else list(map(fixed, decoders))
    for place, family in enumerate(chosen):
        if progress is not None:
            progress(family.name, place, len(chosen))
        try:
            search.look_at(family)
        except ParameterError:  # such as one whose trial would take more memory than there is
            if decoders is not None:
                raise
    listed = search.listed()
    reporter = Reporter(reports, seed, confidence, trials, threads, screen)
    if not listed:
        raise _nothing(search, reporter)
    options = []
    for place, each in enumerate(listed):
        if progress is not None:
            progress(each.spec, len(chosen) + place, len(chosen) + len(listed))
        options.append(reporter.option(each, each in search.certified))
    options.sort(key=_by_cost if target is not None else _by_success)
    looked_at = sorted((seen_option(screen, *each) for each in search.seen.items()), key=_by_cost)
    return Plan(oracle, target, tuple(options), tuple(looked_at))


def _success(option: Option) -> float:
    return option.success


def _by_cost(option: Option) -> tuple[float, ...]:
    return option.distinct, option.rounds, -option.success


def _by_success(option: Option) -> tuple[float, ...]:
    return -option.success, option.distinct, option.rounds


def _checked_limits(max_queries: int | None, max_rounds: int | None, mean_queries: float | None) -> Limits:
    whole = [
        None if limit is None else check_whole("plan", name, limit, 1)
        for name, limit in (("max_queries", max_queries), ("max_rounds", max_rounds))
    ]
    if mean_queries is not None:
        must_be = "a number of at least 1"
        mean_queries = check_number("plan", "mean_queries", mean_queries, must_be)
        if not 1.0 <= mean_queries < 1e18:
            raise parameter_error("plan", "mean_queries", must_be, mean_queries)
    return Limits(whole[0], whole[1], mean_queries)


def _checked_target(target: float | None, limits: Limits) -> float | None:
    must_be = "a number strictly between 0 and 1"
    if target is None:
        if not limits:
            raise parameter_error(
                "plan", "target", f"{must_be}, unless a limit such as max_queries is given", "nothing"
            )
        return None
    target = check_number("plan", "target", target, must_be)
    if not 0.0 < target < 1.0:
        raise parameter_error("plan", "target", must_be, target)
    return target


def _refuse_hopeless(oracle: Oracle, target: float, limits: Limits) -> None:
    """Refuse what is proven to be out of reach of every decoder.

    Under uniform-p with p of at least 1/2 the class with the most wins is the most likely one, so that nothing is
    correct more often than max-win. The floors are about decoders to which class numbers mean nothing, and on
    oracles that treat all wrong classes alike numbers mean nothing to any.
    """
    p = oracle.p
    if not oracle.uniform or p is None or p < 0.5:
        return
    most = bound(oracle, MaxWin()).success_high
    if target > most:
        raise parameter_error(
            "plan", "target", f"at most {most:.10g}, the success of max-win, which none exceeds", target
        )
    if limits.queries is not None:
        most = most_success(oracle, limits.queries)
        if target > most:
            must_be = f"at most {most:.4g}, which none exceeds with max_queries = {limits.queries:,}"
            raise parameter_error("plan", "target", must_be, target)
    if limits.mean_queries is not None:
        least = least_mean_queries(oracle, target)
        if limits.mean_queries < least:
            must_be = f"at least {least:,.1f}, as every decoder asks so much on average for a success of {target:g}"
            raise parameter_error("plan", "mean_queries", must_be, limits.mean_queries)


def _halves(oracle: Oracle, seed: int) -> tuple[Oracle, Oracle]:
    """Return what to choose by and what to report: of recorded rows, two halves; else the oracle, as seeds differ."""
    recorded = oracle.recording
    if recorded is None or recorded.rows is None or recorded.rows < 2:
        return oracle, oracle
    rows = recorded.rows
    order = np.random.default_rng(seed).permutation(rows)
    truth = recorded.truth(0, rows)
    parts = np.sort(order[: rows // 2]), np.sort(order[rows // 2 :])
    first, second = (Recorded.from_bits(recorded.n, recorded.bits[part], truth[part]) for part in parts)
    return first, second


def _nothing(search: Search, reporter: Reporter) -> ParameterError:
    """Return the error for a target or limits that nothing meets, which says what is met."""
    limits = search.limits
    if not search.seen:
        n = search.n
        name = next(name for name in ("queries", "mean_queries", "rounds") if getattr(limits, name) is not None)
        got = getattr(limits, name)
        named = name if name == "mean_queries" else f"max_{name}"
        return parameter_error("plan", named, f"such that a decoder of {n} classes can keep to it", got)
    best = max((reporter.option(each, False) for each in search.best_seen(MOST_COMPARED)), key=_success)
    where = f", {best.low:.4g} .. {best.high:.4g}" if best.low < best.high else ""
    how = f"{best.decoder.spec}, {best.distinct:,.0f} queries on average{where}"
    within = f" with {limits.described()}" if limits else ""
    must_be = f"at most {best.success:.4g}, the most that is reached here{within} ({how})"
    return parameter_error("plan", "target", must_be, search.target)
