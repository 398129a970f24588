"""Decoders side by side on oracles with the same number of classes: one block of trials at a time."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder, MaxWin, Poll, TopK
from pairsim.kernels.bits import LANES, SLAB_TRIALS, U_LANES
from pairsim.kernels.crown import crown_trials
from pairsim.kernels.drive import DISTINCT, decode_trials
from pairsim.kernels.fair_polls import Crowd, fair_poll_trials, list_rivals
from pairsim.kernels.finals import top_k_trials
from pairsim.kernels.podium import score_slices, settle_masks, summit, top_masks, unpack_scores
from pairsim.kernels.polls import poll_trials
from pairsim.kernels.slabs import Slab, clear_slab, flush_pending, new_slab, play_class_zero, play_slab
from pairsim.kernels.stream import TRIALS_PER_WORD, stream_key
from pairsim.kernels.ties import RANDOM
from pairsim.oracles import Oracle
from pairsim.simulation.conditional import max_win_failures, poll_tables, sampled_law
from pairsim.simulation.eliminations import Dealt, deal_block, read_answers, shares_orders
from pairsim.simulation.methods import plays_in_slabs
from pairsim.simulation.room import Room
from pairsim.simulation.tally import Played, Tally, moments_of
from pairsim.simulation.versus import NO_VERSUS, side_by_side

Winners = NDArray[np.int64]
DISTINCT_TRIALS = 16
NOBODY: Winners = np.empty(0, np.int64)
SLABS = Room(lambda n: (new_slab(n), new_slab(n)))
ORDERS = Room(lambda n: np.empty((SLAB_TRIALS, n), np.int32))


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
            return [self._tally(oracle, None, first, count, {}) for oracle in self.oracles]
        with SLABS.lend(self.n) as (others, full):
            if len(self.oracles) == 1 and not self._needs_crowns:
                self._play_slab(self.oracles[0], 0, first, full)
                return [self._tally(self.oracles[0], full, first, count, {})]
            self._play_slab(self.oracles[0], 1, first, others)
            if not self._dealt:
                return self._play_class_zero(others, full, first, count, None)
            with ORDERS.lend(self.n) as orders:
                dealt = deal_block(self.n, self.stream, first, orders[:count])
                return self._play_class_zero(others, full, first, count, dealt)

    def _play_class_zero(self, others: Slab, full: Slab, first: int, count: int, dealt: Dealt | None) -> list[Played]:
        """Return what each oracle's games of class 0 give, added to those of the others."""
        crowns = self._crowns(others)
        tallies = []
        for oracle in self.oracles:
            if self._needs_class_zero:
                word = first // TRIALS_PER_WORD
                play_class_zero(oracle.kernel(), self.n, self.stream, word, others, full, U_LANES)
            winners = {}
            if dealt:
                answers = read_answers(self.n, others, full)
                winners = {place: dealt.winners(self.decoders[place], answers) for place in self._dealt}
            tallies.append(self._tally(oracle, full, first, count, winners, crowns))
        return tallies

    @functools.cached_property
    def _dealt(self) -> list[int]:
        """The places of decoders that are played with one random order for all of them and all oracles."""
        if not self._needs_class_zero:
            return []
        return [place for place, decoder in enumerate(self.decoders) if shares_orders(self.oracles[0], decoder)]

    def _play_slab(self, oracle: Oracle, first_class: int, first: int, slab: Slab) -> None:
        clear_slab(slab)
        play_slab(oracle.kernel(), self.n, first_class, self.stream, first // TRIALS_PER_WORD, slab, U_LANES)
        flush_pending(slab)

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

    def _crowns(self, others: Slab) -> dict[str, tuple[Any, ...]]:
        """Return, for each tie rule of a conditional max-win, (M, chance to fail at M, chance to fail at M + 1)."""
        rules = {
            decoder.ties: decoder.kernel(self.n).ties
            for decoder, method in zip(self.decoders, self.methods, strict=True)
            if isinstance(decoder, MaxWin) and method == "conditional"
        }
        if not rules:
            return {}
        heights, at_top, below_top = np.empty((3, SLAB_TRIALS), np.int64)
        summit(others, self.n, heights, at_top, below_top)
        crowns = {}
        for name, rule in rules.items():
            fail_at, fail_above = np.empty((2, SLAB_TRIALS))
            crown_trials(self.n, rule, heights, at_top, below_top, fail_at, fail_above)
            crowns[name] = (heights, fail_at, fail_above)
        return crowns

    def _tally(
        self,
        oracle: Oracle,
        slab: Slab | None,
        first: int,
        count: int,
        known: dict[int, Winners],
        crowns: dict[str, tuple[Any, ...]] | None = None,
    ) -> Played:
        """Return what each decoder did; `known` are winners that were found already, by the decoder's place."""
        truth = oracle.truth(first, count)
        scores = self._scores(slab)
        winners: list[Winners] = [NOBODY] * len(self.decoders)
        prices = np.zeros((len(self.decoders), 3))
        for place, (decoder, method) in enumerate(zip(self.decoders, self.methods, strict=True)):
            cost = decoder.cost(self.n)
            prices[place] = count * cost.queries, count * cost.queries, count * cost.rounds
            if isinstance(decoder, MaxWin) and slab is not None:
                if self._needs_winners:
                    winners[place] = self._max_win(slab, decoder, first)[:count]
            elif place in known:
                winners[place] = known[place]
            elif method != "conditional":
                winners[place], prices[place] = _ask(oracle, decoder, self.stream, first, count)
            elif isinstance(decoder, TopK):
                winners[place], prices[place] = self._top_k(oracle, decoder, scores, first, count)
                prices[place, DISTINCT] = count * _sampled_distinct(oracle, decoder, self.stream)
            else:
                assert isinstance(decoder, Poll)
                prices[place, DISTINCT] = count * decoder.expected_distinct(self.n)
        reference = winners[self.reference] if self.reference >= 0 else NOBODY
        crowd = list_rivals(scores, truth) if self._needs_crowd else None
        tallies: list[Tally] = []
        lost: list[NDArray[Any]] = []  # of each decoder: in which trials it failed, or with what chance
        for place, (decoder, method) in enumerate(zip(self.decoders, self.methods, strict=True)):
            named = winners[place]
            agreements = float(((named == reference) & (named >= 0)).sum()) if reference.size and named.size else np.nan
            if method == "conditional" and isinstance(decoder, MaxWin):
                lost.append(max_win_failures(self.n, oracle.p or 0.0, *(crowns or {})[decoder.ties])[:count])
                if not named.size:
                    agreements = float(count)  # a lone max-win agrees with itself
            elif method == "conditional" and isinstance(decoder, Poll):
                missed, agreements = self._poll(decoder, scores, crowd, truth, reference)
                lost.append(missed)
            else:
                lost.append(named != truth)
            counted = lost[-1].dtype == np.bool_
            failed = int(lost[-1].sum()) if counted else 0
            smooth = None if counted else moments_of(lost[-1])
            tallies.append(Tally(count, failed, smooth, agreements, *prices[place].tolist()))
        return Played(tuple(tallies), side_by_side(lost) if self.paired else NO_VERSUS)

    def _poll(
        self, decoder: Poll, scores: NDArray[np.uint16], crowd: Crowd | None, truth: Winners, reference: Winners
    ) -> tuple[NDArray[np.float64], float]:
        """Return a poll's chance to fail in each trial, and the sum of its chances to name the reference."""
        kernel, tables = decoder.kernel(self.n), poll_tables(self.n, decoder.kernel(self.n).l)
        missed, agreed = np.empty((2, len(truth)))
        if kernel.ties == RANDOM:
            fair_poll_trials(tables, crowd, scores, truth, reference, missed, agreed)
        else:
            poll_trials(tables, kernel.ties, scores, truth, reference, missed, agreed)
        return missed, float(agreed.sum()) if reference.size else np.nan

    @functools.cached_property
    def _needs_crowd(self) -> bool:
        """Whether a conditional poll settles its ties by a draw: all of them then look at the same lists of rivals."""
        return any(
            isinstance(decoder, Poll) and method == "conditional" and decoder.ties == "random"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )

    def _scores(self, slab: Slab | None) -> NDArray[np.uint16]:
        """Return the scores [class, trial] where a conditional poll or top-k wants them."""
        wanted = any(
            isinstance(decoder, Poll | TopK) and method == "conditional"
            for decoder, method in zip(self.decoders, self.methods, strict=True)
        )
        scores = np.empty((self.n, SLAB_TRIALS) if wanted else (0, 0), np.uint16)
        if wanted:
            unpack_scores(slab, self.n, scores)
        return scores

    def _max_win(self, slab: Slab, decoder: MaxWin, first: int) -> Winners:
        masks = np.empty((self.n, LANES), np.uint64)
        best = np.empty((score_slices(self.n), LANES), np.uint64)
        winners = np.empty(SLAB_TRIALS, np.int64)
        top_masks(slab, 0, self.n, masks, best)
        settle_masks(masks, self.n, decoder.kernel(self.n).ties, self.stream, first, winners)
        return winners

    def _top_k(
        self, oracle: Oracle, decoder: TopK, scores: NDArray[np.uint16], first: int, count: int
    ) -> tuple[Winners, NDArray[np.int64]]:
        kernel, winners, price = decoder.kernel(self.n), np.empty(count, np.int64), np.zeros(3, np.int64)
        law = sampled_law(self.n, kernel.l)
        top_k_trials(oracle.kernel(), kernel, *law, scores, self.stream, first, winners, price)
        return winners, price


def _ask(
    oracle: Oracle, decoder: Decoder, stream: np.uint64, first: int, count: int
) -> tuple[Winners, NDArray[np.int64]]:
    """Run the ask/tell decoder on `count` trials; return the winners and [queries, distinct, rounds]."""
    winners, price = np.empty(count, np.int64), np.zeros(3, np.int64)
    repeats = decoder.cost(oracle.n).queries if decoder.repeats else 0
    decode_trials(oracle.kernel(), decoder.kernel(oracle.n), oracle.n, stream, first, repeats, winners, price)
    return winners, price


@functools.lru_cache(maxsize=256)
def _sampled_distinct(oracle: Oracle, decoder: Decoder, stream: np.uint64) -> float:
    """Return the mean number of different pairs over the first trials: top-k has no formula for it."""
    return float(_ask(oracle, decoder, stream, 0, DISTINCT_TRIALS)[1][DISTINCT] / DISTINCT_TRIALS)
