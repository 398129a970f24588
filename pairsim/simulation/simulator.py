"""Decoders side by side on oracles with the same number of classes: one block of trials at a time."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder
from pairsim.kernels.driver import DISTINCT, decode_trials
from pairsim.kernels.stream import stream_key
from pairsim.oracles import Oracle
from pairsim.oracles.labels import without_labels
from pairsim.simulation.conditional import CONDITIONAL, ConditionalMethod
from pairsim.simulation.conditional.base import QUERIES, WINNERS, WRONG_GAMES
from pairsim.simulation.outcomes import TrialOutcomes
from pairsim.simulation.slab import SlabTrials, Trials, WrongGames
from pairsim.simulation.tally import BlockResult
from pairsim.simulation.workspace import WORKSPACES, Workspace

NOTHING: NDArray[np.float64] = np.empty(0)


class Entry(NamedTuple):
    """A decoder of a `BlockSimulator`, as it acts on these oracles, with what is known about its type."""

    place: int
    decoder: Decoder
    known: ConditionalMethod | None
    conditional: bool  # by its conditional method, or counted?

    @property
    def method(self) -> ConditionalMethod:
        """The method of a decoder whose probabilities are computed."""
        assert self.known is not None  # `check_method` and `choose_method` see to it
        return self.known


@dataclasses.dataclass(frozen=True)
class BlockSimulator:
    """All that a block of trials needs but its place.

    `oracles` have one n; when there are several they are `uniform`, and the games among the wrong classes, which do
    not depend on p, are played once for all of them. `methods` has one entry per decoder; `reference` is the decoder
    with whose winners the others' are compared, -1 for none. With `paired`, every two decoders are compared.
    """

    oracles: tuple[Oracle, ...]
    decoders: tuple[Decoder, ...]
    methods: tuple[str, ...]
    reference: int
    seed: int
    paired: bool = False
    counts_distinct: bool = True  # or does nobody want to know how many different pairs are asked?

    @property
    def n(self) -> int:
        """The number of classes."""
        return self.oracles[0].n

    @functools.cached_property
    def stream(self) -> np.uint64:
        """The root of the random stream."""
        return stream_key(self.seed, self.n)

    @functools.cached_property
    def _entries(self) -> tuple[Entry, ...]:
        rules = (without_labels(self.oracles[0], decoder) for decoder in self.decoders)
        return tuple(
            Entry(place, each, CONDITIONAL.of(each), method == "conditional")
            for place, (each, method) in enumerate(zip(rules, self.methods, strict=True))
        )

    @functools.cached_property
    def scored(self) -> bool:
        """Whether tournaments are scored in slabs: blocks are then whole slabs."""
        return self.oracles[0].in_slabs and any(
            each.known is not None and (each.known.counts_scores or (each.conditional and each.known.given != QUERIES))
            for each in self._entries
        )

    @functools.cached_property
    def _splits(self) -> bool:
        """Whether the games among the wrong classes are played on their own."""
        return len(self.oracles) > 1 or any(
            each.conditional and each.method.given == WRONG_GAMES for each in self._entries
        )

    @functools.cached_property
    def _compares(self) -> bool:
        """Whether it matters whom the reference predicts; one that is alone and always predicts agrees with itself."""
        if self.reference < 0:
            return False
        own = self._entries[self.reference]
        return len(self._entries) > 1 or not own.conditional or not own.decoder.always_names

    def run(self, first: int, count: int) -> list[BlockResult]:
        """Return what trials first .. first + count - 1 give, one entry per oracle."""
        if not self.scored:
            return [self._decode(oracle, None, None, first, count) for oracle in self.oracles]
        with WORKSPACES.take(self.n) as workspace:
            wrong = WrongGames(self.oracles[0], self.stream, first, count, workspace) if self._splits else None
            return [self._decode(oracle, workspace, wrong, first, count) for oracle in self.oracles]

    @functools.cached_property
    def _costs(self) -> NDArray[np.float64]:
        """What a trial costs each decoder in (queries, distinct, rounds), as far as it is known beforehand."""
        costs = np.empty((len(self._entries), 3))
        for place, decoder, *_ in self._entries:
            cost, distinct = decoder.cost(self.n), decoder.expected_distinct(self.n)
            costs[place] = cost.queries, cost.queries if distinct is None else distinct, cost.rounds
        return costs

    @functools.cached_property
    def _samples_distinct(self) -> frozenset[int]:
        """The places of decoders without a formula for the different pairs that they ask."""
        if not self.counts_distinct:
            return frozenset()
        return frozenset(place for place, decoder, *_ in self._entries if decoder.expected_distinct(self.n) is None)

    def _decode(
        self, oracle: Oracle, workspace: Workspace | None, wrong: WrongGames | None, first: int, count: int
    ) -> BlockResult:
        """Return what each decoder did: first whom they named, then the probabilities, given the reference."""
        truth = oracle.truth(first, count)
        outcomes = TrialOutcomes(len(self._entries), truth)
        outcomes.costs[:] = count * self._costs
        trials = Trials(oracle, self.stream, first, truth)
        if workspace is not None:
            trials = SlabTrials(oracle, self.stream, first, truth, workspace, wrong)
        for entry in self._entries:
            if entry.conditional and entry.method.given != QUERIES:
                self._name_conditionally(entry, trials, outcomes)
            else:
                self._name(entry, trials, outcomes)
        if self._compares:
            trials.reference = outcomes.named[self.reference]
        for entry in self._entries:
            if entry.conditional and entry.method.gives != WINNERS:
                entry.method.write(trials, entry.decoder, outcomes.of(entry.place))
                outcomes.note_probabilities(entry.place, agreed=self._compares and entry.method.agrees)
        return outcomes.add_up(self.reference if self._compares else -1, self.paired)

    def _name(self, entry: Entry, trials: Trials, outcomes: TrialOutcomes) -> None:
        """Write whom a decoder names: from what is known of the trials where that does it, else by asking."""
        place, decoder, known, _ = entry
        named = outcomes.named[place]
        if isinstance(trials, SlabTrials) and known and not decoder.adaptive and known.names(trials, decoder, named):
            self._count_distinct(place, decoder, trials, outcomes)
        else:
            sure = outcomes.sure[place] if entry.conditional else NOTHING
            counted = self.counts_distinct
            outcomes.costs[place] = _ask(trials.oracle, decoder, self.stream, trials.first, named, sure, counted)
        outcomes.note_names(place)

    def _count_distinct(self, place: int, decoder: Decoder, trials: Trials, outcomes: TrialOutcomes) -> None:
        """Write how many different pairs a decoder that is not asked would ask, where there is no formula for it."""
        if place in self._samples_distinct:
            known = self._entries[place].known
            sampled = known.distinct_trials if known is not None else ConditionalMethod.distinct_trials
            distinct = _sampled_distinct(trials.oracle, decoder, self.stream, sampled)
            outcomes.costs[place, DISTINCT] = trials.count * distinct

    def _name_conditionally(self, entry: Entry, trials: Trials, outcomes: TrialOutcomes) -> None:
        """Write whom a decoder with probabilities names, where that is wanted or is what its method gives."""
        place, decoder, method = entry.place, entry.decoder, entry.method
        named = outcomes.named[place]
        self._count_distinct(place, decoder, trials, outcomes)
        if method.gives == WINNERS:
            method.write(trials, decoder, outcomes.of(place))
            outcomes.note_names(place)
        elif self._compares and (place == self.reference or not method.agrees):
            if not (isinstance(trials, SlabTrials) and method.names(trials, decoder, named)):
                _ask(trials.oracle, decoder, self.stream, trials.first, named)
            outcomes.note_names(place)
        elif place == self.reference:
            outcomes.note_reference(place)


def _ask(
    oracle: Oracle,
    decoder: Decoder,
    stream: np.uint64,
    first: int,
    winners: NDArray[np.int64],
    sure: NDArray[np.float64] = NOTHING,
    counts_distinct: bool = True,
) -> NDArray[np.int64]:
    """Run the ask/tell decoder and write whom it names; return [queries, distinct, rounds].

    Where `sure` is not empty, the decoder's own probabilities to be right are written to it. Different pairs are as
    many as queries where they are not counted.
    """
    cost = np.zeros(3, np.int64)
    repeats = decoder.cost(oracle.n).queries if decoder.repeats and counts_distinct else 0
    decode_trials(oracle.kernel(), decoder.kernel(oracle.n), oracle.n, stream, first, repeats, winners, cost, sure)
    return cost


@functools.lru_cache(maxsize=256)
def _sampled_distinct(oracle: Oracle, decoder: Decoder, stream: np.uint64, trials: int) -> float:
    """Return the mean number of different pairs over the first trials: some decoders have no formula."""
    return float(_ask(oracle, decoder, stream, 0, np.empty(trials, np.int64))[DISTINCT] / trials)
