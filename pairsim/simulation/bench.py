"""Decoders side by side on oracles with the same number of classes: one block of trials at a time."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder, MaxWin, Poll, TopK
from pairsim.kernels.bits import SLAB_TRIALS, U_LANES
from pairsim.kernels.crowds import Crowd, count_rivals
from pairsim.kernels.crown import crown_trials, miss_crown
from pairsim.kernels.drive import DISTINCT, decode_trials
from pairsim.kernels.fair_polls import fair_poll_trials
from pairsim.kernels.finals import top_k_trials
from pairsim.kernels.podium import name_winners, summit, unpack_scores
from pairsim.kernels.polls import poll_trials
from pairsim.kernels.slabs import play_class_zero, play_slab
from pairsim.kernels.stream import TRIALS_PER_WORD, stream_key
from pairsim.kernels.ties import RANDOM
from pairsim.oracles import Oracle
from pairsim.simulation.conditional import class_zero_scores, poll_tables, sampled_law
from pairsim.simulation.desk import DESKS, Desk
from pairsim.simulation.eliminations import Dealt, deal_block, shares_orders
from pairsim.simulation.methods import plays_in_slabs
from pairsim.simulation.sheet import Sheet
from pairsim.simulation.tally import Played

Winners = NDArray[np.int64]
Crowns = dict[str, tuple[Any, ...]]
DISTINCT_TRIALS = 16
NOBODY: Winners = np.empty(0, np.int64)


@dataclasses.dataclass(frozen=True)
class Bench:
    """All that a block of trials needs but its place.

    `oracles` have one n; when there are several they are `Uniform`, and the games among the wrong classes, which do
    not depend on p, are played once for all of them. `methods` has one entry a decoder; `reference` is the decoder
    with whose winners the others' are compared, -1 for none. With `paired`, every two decoders are compared.
    """

    oracles: tuple[Oracle, ...]
    decoders: tuple[Decoder, ...]
    methods: tuple[str, ...]
    reference: int
    seed: int
    paired: bool = False

    @property
    def n(self) -> int:
        """The number of classes."""
        return self.oracles[0].n

    @functools.cached_property
    def stream(self) -> np.uint64:
        """The root of the random stream."""
        return stream_key(self.seed, self.n)

    @functools.cached_property
    def scored(self) -> bool:
        """Whether tournaments are scored in slabs: blocks are then whole slabs."""
        return plays_in_slabs(self.oracles[0]) and any(
            isinstance(decoder, MaxWin) or method == "conditional"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )

    def play(self, first: int, count: int) -> list[Played]:
        """Return what trials first .. first + count - 1 give, one entry an oracle."""
        if not self.scored:
            return [self._decode(oracle, None, first, count) for oracle in self.oracles]
        word = first // TRIALS_PER_WORD
        with DESKS.lend(self.n) as desk:
            if len(self.oracles) == 1 and not self._needs_crowns:
                play_slab(self.oracles[0].kernel(), self.n, 0, self.stream, word, desk.full, U_LANES)
                return [self._decode(self.oracles[0], desk, first, count)]
            play_slab(self.oracles[0].kernel(), self.n, 1, self.stream, word, desk.others, U_LANES)
            crowns = self._crowns(desk)
            dealt = deal_block(self.n, self.stream, first, desk.orders[:count]) if self._dealt else None
            played = []
            for oracle in self.oracles:
                if self._needs_class_zero:
                    kernel, room = oracle.kernel(), (desk.others, desk.full, desk.answers)
                    play_class_zero(kernel, self.n, self.stream, word, *room, U_LANES)
                played.append(self._decode(oracle, desk, first, count, dealt, crowns))
            return played

    @functools.cached_property
    def _dealt(self) -> frozenset[int]:
        """The places of decoders that are played with one random order for all of them and all oracles."""
        if not self._needs_class_zero:
            return frozenset()
        return frozenset(place for place, each in enumerate(self.decoders) if shares_orders(self.oracles[0], each))

    @functools.cached_property
    def _prices(self) -> NDArray[np.float64]:
        """What a trial costs each decoder in (queries, distinct, rounds), where that is known beforehand."""
        prices = np.empty((len(self.decoders), 3))
        for place, (decoder, method) in enumerate(zip(self.decoders, self.methods, strict=True)):
            cost = decoder.cost(self.n)
            prices[place] = cost.queries, cost.queries, cost.rounds
            if isinstance(decoder, Poll) and method == "conditional":
                prices[place, DISTINCT] = decoder.expected_distinct(self.n)
        return prices

    @functools.cached_property
    def _needs_crowns(self) -> bool:
        """Whether max-win's chance is wanted given the games among the wrong classes."""
        return any(
            isinstance(decoder, MaxWin) and method == "conditional"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )

    @functools.cached_property
    def _needs_class_zero(self) -> bool:
        """Whether anything but max-win's own conditional chance is wanted of the scores."""
        return self._needs_winners or any(
            not isinstance(decoder, MaxWin) and method == "conditional"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )

    @functools.cached_property
    def _needs_winners(self) -> bool:
        """Whether max-win's winners are wanted: to count them, or to compare others (or a tie rule) with them."""
        simulated = any(
            isinstance(decoder, MaxWin) and method == "simulated"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )
        lonely = len(self.decoders) == 1 and getattr(self.decoders[0], "ties", "lose") != "lose"
        return simulated or (self.reference >= 0 and not lonely)

    def _crowns(self, desk: Desk) -> Crowns:
        """Return, for each tie rule of a conditional max-win, (M, chance to fail at M, chance to fail at M + 1)."""
        rules = {
            decoder.ties: decoder.kernel(self.n).ties
            for decoder, method in zip(self.decoders, self.methods, strict=True)
            if isinstance(decoder, MaxWin) and method == "conditional"
        }
        if not rules:
            return {}
        heights, at_top, below_top = desk.summit
        summit(desk.others, self.n, *desk.tops, heights, at_top, below_top)
        crowns = {}
        for name, rule in rules.items():
            fail_at, fail_above = np.empty((2, SLAB_TRIALS))
            crown_trials(self.n, rule, heights, at_top, below_top, fail_at, fail_above)
            crowns[name] = (heights, fail_at, fail_above)
        return crowns

    def _decode(
        self,
        oracle: Oracle,
        desk: Desk | None,
        first: int,
        count: int,
        dealt: Dealt | None = None,
        crowns: Crowns | None = None,
    ) -> Played:
        """Return what each decoder did: first whom they named, then the chances, which may look at the reference."""
        sheet = Sheet(len(self.decoders), oracle.truth(first, count))
        sheet.prices[:] = count * self._prices
        scores = self._scores(desk)
        for place, (decoder, method) in enumerate(zip(self.decoders, self.methods, strict=True)):
            named = sheet.named[place]
            if isinstance(decoder, MaxWin) and desk is not None:
                if not self._needs_winners:
                    continue
                named[:] = self._max_win(desk, decoder, first)[:count]
            elif place in self._dealt and dealt is not None and desk is not None:
                dealt.write_winners(decoder, desk.answers, named)
            elif method != "conditional":
                sheet.prices[place] = _ask(oracle, decoder, self.stream, first, named)
            elif isinstance(decoder, TopK):
                sheet.prices[place] = self._top_k(oracle, decoder, scores, first, named)
                sheet.prices[place, DISTINCT] = count * _sampled_distinct(oracle, decoder, self.stream)
            else:
                continue
            sheet.note_names(place)
        compared = self.reference >= 0 and (self._needs_winners or desk is None)
        self._write_chances(oracle, scores, sheet, compared, crowns or {})
        return sheet.add_up(self.reference if compared else -1, self.paired)

    def _write_chances(
        self, oracle: Oracle, scores: NDArray[np.uint16], sheet: Sheet, compared: bool, crowns: Crowns
    ) -> None:
        """Write the chances of the decoders that have them; `compared` with whom the reference named."""
        reference = sheet.named[self.reference] if compared else NOBODY
        crowd = count_rivals(scores, sheet.truth) if self._needs_crowd else None
        for place, (decoder, method) in enumerate(zip(self.decoders, self.methods, strict=True)):
            if method != "conditional":
                continue
            if isinstance(decoder, MaxWin):
                miss_crown(*class_zero_scores(self.n, oracle.p or 0.0), *crowns[decoder.ties], sheet.lost[place])
                sheet.note_chances(place, agreed=False)
                if not self._needs_winners:
                    sheet.note_reference(place)  # a lone max-win agrees with itself
            elif isinstance(decoder, Poll):
                self._poll(decoder, scores, crowd, sheet.truth, reference, sheet.lost[place], sheet.agreed[place])
                sheet.note_chances(place, agreed=compared)

    def _poll(
        self,
        decoder: Poll,
        scores: NDArray[np.uint16],
        crowd: Crowd | None,
        truth: Winners,
        reference: Winners,
        missed: NDArray[np.float64],
        agreed: NDArray[np.float64],
    ) -> None:
        """Write a poll's chances to fail and to name the reference."""
        kernel = decoder.kernel(self.n)
        tables = poll_tables(self.n, kernel.l)
        if kernel.ties == RANDOM:
            fair_poll_trials(tables, crowd, scores, truth, reference, missed, agreed)
        else:
            poll_trials(tables, kernel.ties, scores, truth, reference, missed, agreed)

    @functools.cached_property
    def _needs_crowd(self) -> bool:
        """Whether a conditional poll settles its ties by a draw: all of them then look at the same lists of rivals."""
        return any(
            isinstance(decoder, Poll) and method == "conditional" and decoder.ties == "random"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )

    def _scores(self, desk: Desk | None) -> NDArray[np.uint16]:
        """Return the scores [class, trial] where a conditional poll or top-k wants them."""
        if desk is None or not self._needs_scores:
            return np.empty((0, 0), np.uint16)
        unpack_scores(desk.full, self.n, desk.scores)
        return desk.scores

    @functools.cached_property
    def _needs_scores(self) -> bool:
        return any(
            isinstance(decoder, Poll | TopK) and method == "conditional"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )

    def _max_win(self, desk: Desk, decoder: MaxWin, first: int) -> Winners:
        """Return max-win's winners in a slab, in an array of the desk's."""
        rule = decoder.kernel(self.n).ties
        name_winners(desk.full, self.n, rule, self.stream, first, *desk.tops, *desk.ties, desk.winners)
        return desk.winners

    def _top_k(
        self, oracle: Oracle, decoder: TopK, scores: NDArray[np.uint16], first: int, winners: Winners
    ) -> NDArray[np.int64]:
        """Write whom a top-k names; return its price, but for distinct pairs."""
        kernel, price = decoder.kernel(self.n), np.zeros(3, np.int64)
        law = sampled_law(self.n, kernel.l)
        top_k_trials(oracle.kernel(), kernel, *law, scores, self.stream, first, winners, price)
        return price


def _ask(oracle: Oracle, decoder: Decoder, stream: np.uint64, first: int, winners: Winners) -> NDArray[np.int64]:
    """Run the ask/tell decoder and write whom it names; return [queries, distinct, rounds]."""
    price = np.zeros(3, np.int64)
    repeats = decoder.cost(oracle.n).queries if decoder.repeats else 0
    decode_trials(oracle.kernel(), decoder.kernel(oracle.n), oracle.n, stream, first, repeats, winners, price)
    return price


@functools.lru_cache(maxsize=256)
def _sampled_distinct(oracle: Oracle, decoder: Decoder, stream: np.uint64) -> float:
    """Return the mean number of different pairs over the first trials: top-k has no formula for it."""
    return float(_ask(oracle, decoder, stream, 0, np.empty(DISTINCT_TRIALS, np.int64))[DISTINCT] / DISTINCT_TRIALS)
