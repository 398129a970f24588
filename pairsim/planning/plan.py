"""plan(oracle, target): every decoder that reaches the target, cheapest first."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from pairsim.bounds import bound, certified_sample_size
from pairsim.checks import check_callable, check_choice, check_instance, check_members, check_number, check_whole
from pairsim.decoders import Decoder, Family
from pairsim.decoders.base import TIES
from pairsim.errors import ParameterError, parameter_error
from pairsim.oracles import Oracle
from pairsim.planning.candidates import families, fixed
from pairsim.simulation import check_threads, check_trials, simulate
from pairsim.stats import Estimate

MOST_CLASSES = 65_535  # beyond it one max-win takes hours, and a poll of any use not much less
GRID_TRIALS = 4096
FINAL_TRIALS = 20_480
SUREST_FIRST = ("exact", "certified", "conditional", "simulated")
PRICE_TRIALS = 1024  # for the mean cost of a decoder whose queries depend on the answers


@dataclasses.dataclass(frozen=True)
class Option:
    """One decoder with its cost and its success probability.

    Attributes
    ----------
    decoder : Decoder
    queries, rounds : float
        What a decision costs; the simulated mean for quick and champion, whose queries depend on the answers.
    success, low, high : float
        The success probability and what is known of it: equal when `method` is "exact", a proven interval when it is
        "certified" (success is then its lower end), a confidence interval when it is "conditional" or "simulated".
    method : {"exact", "certified", "conditional", "simulated"}
    """

    decoder: Decoder
    queries: float
    rounds: float
    success: float
    low: float
    high: float
    method: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """The decoders that reach the target, cheapest first, and all that were evaluated.

    Attributes
    ----------
    target : float
    options : tuple of Option
        Those whose `low` is at least the target, by queries.
    looked_at : tuple of Option
        All parameters that were evaluated, for a plot of success against queries.
    """

    target: float
    options: tuple[Option, ...]
    looked_at: tuple[Option, ...]


def plan(
    oracle: Oracle,
    target: float,
    *,
    decoders: Sequence[Decoder] | None = None,
    max_queries: int | None = None,
    max_rounds: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    ties: str = "random",
    trials: int | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Plan:
    """Find the decoders whose success probability meets a target, cheapest first.

    Each family (ddag, adag, poll, top-k with several k and both finals, max-win; up to 1,024 classes also quick,
    champion and halving) is listed with the smallest sample size that reaches the target; a top-k or halving that
    costs more than a poll that reaches it is skipped.

    A conditional or simulated option was chosen because its interval clears the target on the same trials that it
    comes from, among many settings tried: read it as a good candidate, and `simulate` it with another seed before
    relying on it.
    Exact and certified options need no such check.

    Parameters
    ----------
    oracle : Oracle
        The source of the answers, random or recorded.
    target : float
        Target success probability, strictly between 0 and 1.
    decoders : sequence of Decoder, optional
        Consider only these decoders. Default: search all families.
    max_queries, max_rounds : int, optional
        Maximum queries and rounds per decision.
    seed, confidence, threads
        Seed, confidence level and threads of the simulations. Default: one thread per core.
    ties : {"random", "lose", "first"}
        Tie rule of decoders whose scores can tie.
    trials : int, optional
        Trials of the final simulation of each option. Default: 20,480, or every recorded row.
    progress : callable, optional
        Called with the name of the next candidate.

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
    >>> best.decoder.spec, best.queries < Poll("5log").cost(32).queries / 5, best.low >= 0.9
    ('posterior:p=None,stop=0.7', True, True)
    """
    check_instance("plan", "oracle", oracle, Oracle, "an oracle such as Uniform(16, 0.9)")
    if decoders is not None:
        decoders = check_members("plan", "decoders", decoders, Decoder, "decoders such as [MaxWin(), Poll()]")
    check_callable("plan", "progress", progress, "a callable that takes a text")
    check_choice("plan", "ties", ties, TIES)
    if trials is not None:
        trials = check_trials("plan", trials, oracle)
    target = check_number("plan", "target", target, "a number strictly between 0 and 1")
    if not 0.0 < target < 1.0:
        raise parameter_error("plan", "target", "a number strictly between 0 and 1", target)
    limits = [
        None if limit is None else check_whole("plan", name, limit, 1)
        for name, limit in (("max_queries", max_queries), ("max_rounds", max_rounds))
    ]
    threads = check_threads("plan", threads)
    if decoders is None and oracle.n > MOST_CLASSES:
        must_be = f"at most {MOST_CLASSES:,} classes, unless decoders are given"
        raise parameter_error("plan", "n", must_be, oracle.n)
    search = _Search(oracle, target, limits[0], limits[1], seed, confidence, ties, trials, threads)
    chosen = families(oracle.n, ties) if decoders is None else map(fixed, decoders)
    for family in chosen:
        if progress is not None:
            progress(family.name)
        search.look_at(family)
    return search.result()


@dataclasses.dataclass
class _Search:
    """The state of one plan: what was evaluated so far."""

    oracle: Oracle
    target: float
    max_queries: int | None
    max_rounds: int | None
    seed: int
    confidence: float
    ties: str
    trials: int | None
    threads: int | None
    enough: float = (
        math.inf
    )  # queries of a poll that reaches the target: what costs more, in more rounds, is not wanted
    seen: dict[str, Option] = dataclasses.field(default_factory=dict)
    reaching: dict[str, Option] = dataclasses.field(default_factory=dict)

    def affordable(self, decoder: Decoder) -> bool:
        """Say whether the decoder keeps to the limits, and does not cost more than what is known to be enough."""
        cost = decoder.cost(self.oracle.n)
        return (
            (self.max_queries is None or cost.queries <= self.max_queries)
            and (self.max_rounds is None or cost.rounds <= self.max_rounds)
            and cost.queries <= self.enough
        )

    def look_at(self, family: Family) -> None:
        """Evaluate a family over its grid, then find its smallest setting that reaches the target."""
        below = 0
        for wanted in family.grid:
            setting = wanted
            while setting > below and not self.affordable(family.decoder(setting)):
                setting -= 1  # the last step up to a limit is shorter
            if setting == below:
                return
            if self.evaluate(family.decoder(setting), GRID_TRIALS).low >= self.target:
                break
            below = setting
        else:
            return
        smallest = self.smallest_setting(family, below, setting)
        final = self.evaluate(family.decoder(smallest), FINAL_TRIALS)
        if final.low >= self.target:
            self.reaching[final.decoder.spec] = final
            if family.caps:
                self.enough = int(final.queries)
                self.certify(family)

    def smallest_setting(self, family: Family, below: int, reached: int) -> int:
        """Narrow the settings between one that is too small and one that reaches the target (success grows with l)."""
        while reached - below > 1:
            middle = (below + reached) // 2
            option = self.evaluate(family.decoder(middle), FINAL_TRIALS)
            below, reached = (below, middle) if option.low >= self.target else (middle, reached)
        return reached

    def certify(self, family: Family) -> None:
        """Add the smallest poll whose success is proven to reach the target, where a proof is to be had."""
        try:
            size = certified_sample_size(self.oracle, failure=1.0 - self.target, ties=self.ties)
        except ParameterError:
            return
        decoder = family.decoder(size.l)
        if self.affordable(decoder):
            self.reaching[decoder.spec + " certified"] = self.option_of(
                decoder, 1.0 - size.failure_high, 1.0 - size.failure_high, 1.0 - size.failure_low, "certified"
            )

    def evaluate(self, decoder: Decoder, trials: int) -> Option:
        """Estimate a decoder; all of them see the same tournaments."""
        rows = self.oracle.rows
        trials = check_trials("plan", self.trials or (min(trials, rows) if rows else trials), self.oracle)
        # who names whom max-win names is right as often, and max-win's own scores are much faster to come by
        judged = decoder.equivalent or decoder
        estimate = simulate(self.oracle, judged, trials, self.seed, self.confidence, threads=self.threads)
        option = self.judge(decoder, estimate)
        self.seen[option.decoder.spec] = option
        return option

    def judge(self, decoder: Decoder, estimate: Estimate) -> Option:
        """Turn an estimate into an option, replaced by a proof where there is one that says as much."""
        if estimate.method == "exact":
            return self.option_of(decoder, estimate.success, estimate.low, estimate.high, "exact")
        judged = decoder.equivalent
        if judged is not None:
            try:
                proven = bound(self.oracle, judged)
            except ParameterError:
                pass
            else:
                if proven.width <= estimate.high - estimate.low or proven.success_low >= self.target:
                    low, high = proven.success_low, proven.success_high
                    return self.option_of(decoder, low, low, high, "certified")
        return self.option_of(decoder, estimate.success, estimate.low, estimate.high, estimate.method)

    def option_of(self, decoder: Decoder, success: float, low: float, high: float, method: str) -> Option:
        """Return the option with the decoder's price."""
        queries, rounds = self.price(decoder)
        return Option(decoder, queries, rounds, success, low, high, method)

    def price(self, decoder: Decoder) -> tuple[float, float]:
        """Return queries and rounds: by formula, or the mean over some trials where they depend on the answers."""
        if not decoder.adaptive:
            cost = decoder.cost(self.oracle.n)
            return float(cost.queries), float(cost.rounds)
        if decoder.spec in self.seen:
            return self.seen[decoder.spec].queries, self.seen[decoder.spec].rounds
        trials = min(PRICE_TRIALS, self.oracle.rows or PRICE_TRIALS)
        estimate = simulate(self.oracle, decoder, trials, self.seed, method="simulated", threads=self.threads)
        return estimate.queries, estimate.rounds

    def result(self) -> Plan:
        """Return the plan, or say what can be reached when the target cannot."""
        options = sorted(
            self.reaching.values(),
            key=lambda option: (option.queries, option.rounds, SUREST_FIRST.index(option.method)),
        )
        if not options:
            if not self.seen:
                raise parameter_error(
                    "plan", "max_queries", f"at least {self.oracle.n - 1}", self.max_queries or self.max_rounds
                )
            best = max(self.seen.values(), key=lambda option: (option.low, -option.queries))
            how = f"{best.decoder.spec}, {best.queries:,.0f} queries"
            must_be = f"at most {best.low:.4g}, the best that is reached here ({how})"
            raise parameter_error("plan", "target", must_be, self.target)
        return Plan(self.target, tuple(options), tuple(sorted(self.seen.values(), key=lambda option: option.queries)))
