"""The search: what each family needs to reach a target, or what it reaches within limits."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Sequence

from pairsim.bounds import bound, certified_sample_size, least_queries
from pairsim.decoders import Decoder, Family
from pairsim.errors import ParameterError
from pairsim.planning.limits import Limits
from pairsim.planning.screen import Judged, Screen

LEVELS = (256, 1024, 8192, 65_536)  # trials: more where fewer do not decide
MOST_TRIALS = 1 << 17  # for targets so near to 1 that fewer trials would see no failure
LEAST_FAILURES = 3.0  # expected at the target, for an estimate at the target to mean something
CERTAIN = 0.99  # confidence of "reaches it" and "does not" before the last level
SIGMAS = 2.576  # of an interval at that confidence
SURE, ASKED_SURE = 0.5, 1.0  # standard errors by which the last level must exceed the target; asked: fewer trials
ASKED_WORK = 7e5  # queries to judge a decoder that must be asked
DRAWN_WORK = 1.5e8  # queries that are not asked, as scores tell who wins how often
SCORED_WORK = 1e11  # pairs of tournaments that are scored
NARROW = 2e-3  # a proven interval at most so wide needs no trials beside it
REFINED = 1.02  # settings are narrowed down until the next cheaper one costs so little less
MOST_CERTIFIED_CLASSES = 2048  # beyond it the sum of a proof takes longer than all else


@dataclasses.dataclass
class Search:
    """The state of one plan: what was evaluated so far, by the trials of the screen."""

    screen: Screen
    target: float | None
    limits: Limits
    ties: str
    enough: float = math.inf  # queries of a poll that reaches the target
    budgets: bool = True  # may a limit of the mean be kept by a budget?
    seen: dict[Decoder, Judged] = dataclasses.field(default_factory=dict)
    reaching: dict[Decoder, str] = dataclasses.field(default_factory=dict)  # with the group
    certified: set[Decoder] = dataclasses.field(default_factory=set)

    @property
    def n(self) -> int:
        """The number of classes."""
        return self.screen.oracle.n

    @functools.cached_property
    def _floor(self) -> float:
        """The least budget of any decoder that reaches the target: what may ask less is not judged.

        But for the largest setting of a family, which is judged in any case: it may be the best that there is.
        """
        assert self.target is not None
        return least_queries(self.screen.oracle, self.target) if self.screen.oracle.uniform else 0.0

    def look_at(self, family: Family) -> None:
        """Find the smallest setting of a family that reaches the target; without one, the largest within the limits."""
        if self.target is None:
            for budgets in (False, True) if self.limits.mean_queries is not None else (True,):
                self.budgets = budgets
                settings = list(family.grid)
                top = self._largest(family, settings)
                if top >= 0:
                    self._compete(family, self._made(family, settings[top]))
            return
        settings = list(family.grid)
        top = self._largest(family, settings)
        if top < 0:
            return
        below, reached = self._bracket(family, settings, top)
        if reached < 0:
            return
        while reached - below > 1 and not self._near(family, settings[below] if below >= 0 else 0, settings[reached]):
            middle = (below + reached) // 2
            below, reached = (below, middle) if self._reaches_at(family, settings[middle]) else (middle, reached)
        low, high = settings[below] if below >= 0 else settings[0] - 1, settings[reached]
        while high - low > 1 and not self._near(family, low, high):
            middle = (low + high) // 2
            low, high = (low, middle) if self._reaches_at(family, middle) else (middle, high)
        found = self._made(family, high)
        assert found is not None
        self._note(found, family)

    def _bracket(self, family: Family, settings: list[int], top: int) -> tuple[int, int]:
        """Return the places of a setting that does not reach the target (-1: none) and one that does (-1: none).

        Where another family of the group reaches it, only the top is likely to be too small. Else from below: the
        largest settings would cost the most to judge.
        """
        below = place = -1
        while place < top:
            place = top if self._rivals(family) else min(top, 2 * place + 3)
            decoder = self._made(family, settings[place])
            if decoder is not None and self._reaches(decoder, lenient=place == top):
                return below, place
            below = place
        return below, -1

    def _rivals(self, family: Family) -> list[Decoder]:
        """Return what reaches the target of the family's group."""
        return [found for found, group in self.reaching.items() if group == (family.group or family.name)]

    def _near(self, family: Family, below: int, reached: int) -> bool:
        """Say whether a setting costs hardly less than one that reaches the target."""
        cheap, found = (self._made(family, each) if each >= family.grid[0] else None for each in (below, reached))
        if cheap is None or found is None or cheap.cost(self.n).queries * REFINED < found.cost(self.n).queries:
            return False
        if not found.adaptive:
            return True
        return self.screen.mean_cost(cheap)[1] * REFINED >= self.screen.mean_cost(found)[1]

    def _made(self, family: Family, setting: int) -> Decoder | None:
        return self.limits.kept_by(family.decoder(setting), self.screen, self.budgets)

    def _largest(self, family: Family, settings: list[int]) -> int:
        """Return the place of the largest setting to look at, -1 for none; the last one may become smaller.

        Costs grow with the setting. What keeps a limit by a budget of its own is as good with the largest setting.
        """
        low, high = -1, len(settings)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._worth(family, settings[middle]) else (low, middle)
        if low + 1 < len(settings):  # the last step up to a limit is shorter
            least = settings[low] if low >= 0 else settings[0] - 1
            under, over = least, settings[low + 1]
            while over - under > 1:
                middle = (under + over) // 2
                under, over = (middle, over) if self._worth(family, middle) else (under, middle)
            if under > least:
                settings[low + 1 :] = [under]
                low += 1
        return low

    def _worth(self, family: Family, setting: int) -> bool:
        """Say whether a setting keeps the limits, and may be cheaper or faster than what reaches the target already."""
        decoder = self._made(family, setting)
        if decoder is None:
            return False
        cost = decoder.cost(self.n)
        if decoder.adaptive or self.target is None:
            return True
        if cost.queries > self.enough and cost.rounds > 1:
            return False
        costs = [each.cost(self.n) for each in self._rivals(family) if not each.adaptive]
        return not any(each.queries <= cost.queries and each.rounds <= cost.rounds for each in costs)

    def _reaches_at(self, family: Family, setting: int) -> bool:
        decoder = self._made(family, setting)
        return decoder is not None and self._reaches(decoder, lenient=False)

    def _reaches(self, decoder: Decoder, lenient: bool) -> bool:
        """Say whether a decoder reaches the target, by as many trials as it takes.

        Where the last level does not decide, its estimate does: less some standard errors, or, `lenient`, as it is.
        """
        assert self.target is not None
        if not lenient and decoder.cost(self.n).queries < self._floor:
            return False
        played, found = 0, Judged(0.0, 0.0, 1.0, "")
        for trials, found in self._judged(decoder):
            played = trials
            if found.low >= self.target or found.method == "exact":
                return found.success >= self.target
            if found.high < self.target:
                return False
        if found.method != "certified" and played * (1.0 - self.target) < LEAST_FAILURES:
            return False
        errors = SURE if self.screen.scores_decide(decoder) else ASKED_SURE
        error = 0.0 if lenient else errors * (found.success - found.low) / SIGMAS
        return found.success - error >= self.target

    def _judged(self, decoder: Decoder) -> Iterator[tuple[int, Judged]]:
        """Yield (trials, estimate) on more and more trials; the last one is remembered."""
        proven = proven_success(self.screen.oracle, decoder)
        if proven is not None and proven.high - proven.low <= NARROW:
            self.seen[decoder] = proven
            yield 0, proven
            return
        for trials in self._levels(decoder):
            found = self.screen.judge(decoder, trials, CERTAIN)
            if proven is not None:
                found = both(found, proven)
            self.seen[decoder] = found
            yield trials, found

    def _levels(self, decoder: Decoder) -> list[int]:
        rows, oracle = self.screen.oracle.rows, self.screen.oracle
        most = MOST_TRIALS if rows is None else rows
        if self.screen.scores_decide(decoder):
            work = SCORED_WORK / (self.n * self.n / 2), DRAWN_WORK / decoder.cost(self.n).queries
            most = min(most, *map(int, work))
        elif not (decoder.equivalent and oracle.in_slabs):
            most = min(most, int(ASKED_WORK / max(1.0, self.screen.mean_cost(decoder)[0])))
        most = max(64, most) if rows is None else rows
        levels = list(LEVELS)
        if self.target is not None and LEAST_FAILURES / (1.0 - self.target) > LEVELS[-1]:
            levels.append(min(MOST_TRIALS, math.ceil(2.0 * LEAST_FAILURES / (1.0 - self.target))))
        return sorted({min(level, most) for level in levels})

    def _note(self, decoder: Decoder, family: Family) -> None:
        group = family.group or family.name
        self.reaching.setdefault(decoder, group)
        if family.caps:
            self.enough = min(self.enough, decoder.cost(self.n).queries)
            self._certify(family, group, decoder)

    def _certify(self, family: Family, group: str, found: Decoder) -> None:
        """Add the smallest poll whose success is proven to reach the target, where a proof is to be had."""
        if self.n > MOST_CERTIFIED_CLASSES:
            return
        assert self.target is not None
        try:
            size = certified_sample_size(self.screen.oracle, failure=1.0 - self.target, ties=self.ties)
        except ParameterError:
            return
        decoder = self.limits.kept_by(family.decoder(size.l), self.screen)
        if decoder is not None and decoder.cost(self.n).queries < self.n * (self.n - 1) // 2:
            if decoder.cost(self.n).queries <= found.cost(self.n).queries:
                del self.reaching[found]
            self.reaching[decoder] = group
            self.certified.add(decoder)
            self.seen.setdefault(decoder, self.screen.judge(decoder, LEVELS[1], CERTAIN))

    def _compete(self, family: Family, decoder: Decoder | None) -> None:
        """Without a target: keep the best decoder of each group, by as many trials as it takes."""
        if decoder is None or decoder in self.reaching:
            return
        group = family.group or family.name
        rival = next((found for found, its in self.reaching.items() if its == group), None)
        if rival is None:
            for trials, _ in self._judged(decoder):
                if trials >= LEVELS[1]:
                    break
            self.reaching[decoder] = group
            return
        mine, theirs = self._judged(decoder), self._judged(rival)
        for (_, own), (_, other) in zip(mine, theirs, strict=False):
            if own.high < other.low or other.high < own.low:
                break
        if self.seen[decoder].success > self.seen[rival].success:
            del self.reaching[rival]
            self.reaching[decoder] = group

    def best_seen(self, count: int) -> list[Decoder]:
        """Return what succeeds most of all that was evaluated, the cheapest first among equals."""
        order = sorted(self.seen, key=lambda each: (-self.seen[each].success, self.screen.mean_cost(each)[1]))
        return order[:count]

    def listed(self) -> Sequence[Decoder]:
        """Return what reaches the target, without what another one of its group beats in every cost."""
        found = list(self.reaching)
        if self.target is None:
            return found
        costs = {each: (self.screen.mean_cost(each)[1], each.cost(self.n).rounds) for each in found}
        return [
            each
            for each in found
            if each in self.certified
            or not any(
                self.reaching[other] == self.reaching[each]
                and other not in self.certified
                and costs[other] != costs[each]
                and all(theirs <= own for theirs, own in zip(costs[other], costs[each], strict=True))
                for other in found
            )
        ]


def proven_success(oracle: object, decoder: Decoder) -> Judged | None:
    """Return the proven interval of a decoder that predicts what max-win predicts, None where there is none."""
    judged = decoder.equivalent
    if judged is None:
        return None
    try:
        proven = bound(oracle, judged)  # type: ignore[arg-type]
    except ParameterError:
        return None
    low, high = proven.success_low, proven.success_high
    return Judged((low + high) / 2.0, low, high, "certified")


def both(found: Judged, proven: Judged) -> Judged:
    """Return an estimate within what is proven: the narrower interval, and an estimate that lies in the proven one."""
    low, high = max(found.low, proven.low), min(found.high, proven.high)
    success = min(max(found.success, proven.low), proven.high)
    if proven.high - proven.low <= found.high - found.low or low > high:
        return Judged(success, proven.low, proven.high, "certified")
    return Judged(success, min(low, success), max(high, success), found.method)
