"""plan(oracle, target): every decoder and setting that reaches the target, cheapest first."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from pairsim.bounds import bound, certified_sample_size
from pairsim.checks import check_number, check_whole
from pairsim.decoders import Decoder, Poll, as_max_win
from pairsim.errors import ParameterError, refusal
from pairsim.oracles import Oracle
from pairsim.planning.candidates import Family, families, fixed
from pairsim.simulation import check_trials, simulate
from pairsim.stats import Estimate

GRID_TRIALS = 4096
FINAL_TRIALS = 20_480
PRICE_TRIALS = 1024  # for the mean price of a decoder whose questions depend on the answers


@dataclasses.dataclass(frozen=True)
class Option:
    """One decoder with its price and its success probability.

    Attributes
    ----------
    decoder : str
        The decoder's spec.
    queries, rounds : float
        What a decision costs; the simulated mean for quick and champion, whose questions depend on the answers.
    success, low, high : float
        The success probability and what is known of it: equal when `kind` is "exact", a proven interval when it is
        "certified" (success is then its lower end), a confidence interval when it is "simulated".
    kind : {"exact", "certified", "simulated"}
    """

    decoder: str
    queries: float
    rounds: float
    success: float
    low: float
    high: float
    kind: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """What reaches the target, cheapest first, and everything that was looked at on the way.

    Attributes
    ----------
    target : float
    options : tuple of Option
        Those whose `low` is at least the target, by queries.
    looked_at : tuple of Option
        All settings that were evaluated, for a picture of success against queries.
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
    """Find the decoders that name the true class with at least the wanted probability, cheapest first.

    Each family (ddag, adag, poll, top-k with several k and both finals, max-win; up to 1,024 classes also quick,
    champion and halving) is listed with the smallest sample size that reaches the target; a top-k or halving that
    costs more than a poll that reaches it is left out.

    A simulated option was chosen because its interval clears the target on the same trials that it comes from,
    among many settings tried: read it as a good candidate, and `simulate` it with another seed before relying on it.
    Exact and certified options need no such check.

    Parameters
    ----------
    oracle : Oracle
        Where the answers come from; recorded answers serve as well as drawn ones.
    target : float
        The wanted success probability, strictly between 0 and 1.
    decoders : sequence of Decoder, optional
        Look at these only, as they are, in place of all families.
    max_queries, max_rounds : int, optional
        The most questions and rounds that a decision may take, whatever the answers.
    seed, confidence, threads
        Of the simulations behind figures that are neither exact nor certified.
    ties : {"random", "lose", "first"}
        For decoders whose scores can tie.
    trials : int, optional
        Of the final simulation of each option: 20,480 when left out, or every recorded row.
    progress : callable, optional
        Called with the name of what is looked at next.

    Returns
    -------
    Plan

    Raises
    ------
    ParameterError
        When the target cannot be reached; the message says what can.

    Examples
    --------
    >>> from pairsim import Uniform, plan
    >>> best = plan(Uniform(32, 0.9), 0.9).options[0]
    >>> best.decoder, best.queries < Poll("5log").cost(32).queries / 5, best.low >= 0.9
    ('quick', True, True)
    """
    target = check_number("plan", "target", target, "a number strictly between 0 and 1")
    if not 0.0 < target < 1.0:
        raise refusal("plan", "target", "a number strictly between 0 and 1", target)
    limits = [
        None if limit is None else check_whole("plan", name, limit, 1)
        for name, limit in (("max_queries", max_queries), ("max_rounds", max_rounds))
    ]
    search = _Search(oracle, target, limits[0], limits[1], seed, confidence, ties, trials, threads)
    chosen = families(oracle.n, ties) if decoders is None else map(fixed, decoders)
    for family in chosen:
        if progress:
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
            self.reaching[final.decoder] = final
            if family.name == "poll":
                self.enough = int(final.queries)
                self.certify()

    def smallest_setting(self, family: Family, below: int, reached: int) -> int:
        """Narrow the settings between one that is too small and one that reaches the target (success grows with l)."""
        while reached - below > 1:
            middle = (below + reached) // 2
            option = self.evaluate(family.decoder(middle), FINAL_TRIALS)
            below, reached = (below, middle) if option.low >= self.target else (middle, reached)
        return reached

    def certify(self) -> None:
        """Add the smallest poll whose success is proven to reach the target, where a proof is to be had."""
        try:
            size = certified_sample_size(self.oracle, failure=1.0 - self.target, ties=self.ties)
        except ParameterError:
            return
        decoder = Poll(size.l, self.ties)
        if self.affordable(decoder):
            self.reaching[decoder.spec + " certified"] = self.option_of(
                decoder, 1.0 - size.failure_high, 1.0 - size.failure_high, 1.0 - size.failure_low, "certified"
            )

    def evaluate(self, decoder: Decoder, trials: int) -> Option:
        """Estimate a decoder; all of them see the same tournaments."""
        rows = self.oracle.rows
        trials = check_trials("plan", self.trials or (min(trials, rows) if rows else trials), self.oracle)
        # who names whom max-win names is right as often, and max-win's own scores are much faster to come by
        judged = as_max_win(decoder) or decoder
        estimate = simulate(self.oracle, judged, trials, self.seed, self.confidence, threads=self.threads)
        option = self.judge(decoder, estimate)
        self.seen[option.decoder] = option
        return option

    def judge(self, decoder: Decoder, estimate: Estimate) -> Option:
        """Turn an estimate into an option, replaced by a proof where there is one that says as much."""
        if estimate.method == "exact":
            return self.option_of(decoder, estimate.success, estimate.low, estimate.high, "exact")
        max_win = as_max_win(decoder)
        if max_win:
            try:
                proven = bound(self.oracle, max_win)
            except ParameterError:
                pass
            else:
                if proven.width <= estimate.high - estimate.low or proven.success_low >= self.target:
                    low, high = proven.success_low, proven.success_high
                    return self.option_of(decoder, low, low, high, "certified")
        return self.option_of(decoder, estimate.success, estimate.low, estimate.high, "simulated")

    def option_of(self, decoder: Decoder, success: float, low: float, high: float, kind: str) -> Option:
        """Return the option with the decoder's price."""
        queries, rounds = self.price(decoder)
        return Option(decoder.spec, queries, rounds, success, low, high, kind)

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
        options = sorted(self.reaching.values(), key=lambda option: (option.queries, option.rounds, option.kind))
        if not options:
            if not self.seen:
                raise refusal(
                    "plan", "max_queries", f"at least {self.oracle.n - 1}", self.max_queries or self.max_rounds
                )
            best = max(self.seen.values(), key=lambda option: (option.low, -option.queries))
            must_be = (
                f"at most {best.low:.4g}, the best that is reached here ({best.decoder}, {best.queries:,.0f} queries)"
            )
            raise refusal("plan", "target", must_be, self.target)
        return Plan(self.target, tuple(options), tuple(sorted(self.seen.values(), key=lambda option: option.queries)))
