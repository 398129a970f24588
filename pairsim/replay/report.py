"""The report of one trial: text for people, a record for programs."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from pairsim.checks import check_whole
from pairsim.decoders import Decoder
from pairsim.errors import parameter_error, shown
from pairsim.oracles import Oracle
from pairsim.oracles.labels import without_labels
from pairsim.replay.explanations import Verdict, counted, reason_for
from pairsim.replay.layout import lay_out_rounds
from pairsim.replay.queries import Queries
from pairsim.replay.transcript import transcribe
from pairsim.simulation import check_seed

MOST_QUERIES = 1 << 25  # ten bytes each, and as much again to know the repeated ones: what a laptop can hold


@dataclasses.dataclass(frozen=True)
class TrialReport:
    """What happened in one trial.

    Attributes
    ----------
    oracle, p, n : str, float or None, int
        The oracle's label, its probability of a right answer where that is one number, and the number of classes.
    decoder, seed, trial : str, int, int
        The decoder's spec, the seed, and the trial's number.
    truth, winner : int, int or None
        The true class, and the class that was named: None when a tie named nobody.
    queries, distinct : int
        Queries asked, and different pairs among them.
    asked : Queries
        All queries in the order in which they were asked: a sequence of `Query`.
    rounds : tuple of Queries
        The same, cut into rounds.
    scores : dict of int to int
        How often each class won, repeated queries included.
    reason : str
        Why the decision is right or wrong.
    """

    oracle: str
    p: float | None
    n: int
    decoder: str
    seed: int
    trial: int
    truth: int
    winner: int | None
    queries: int
    distinct: int
    reason: str
    asked: Queries = dataclasses.field(repr=False, hash=False)
    rounds: tuple[Queries, ...] = dataclasses.field(repr=False, hash=False)
    scores: dict[int, int] = dataclasses.field(repr=False, hash=False)

    @property
    def right(self) -> bool:
        """Whether the true class was named."""
        return self.winner == self.truth

    def to_text(self, limit: int | None = 40) -> str:
        """Return the trace as text.

        Parameters
        ----------
        limit : int or None
            Maximum queries shown per round: those with the true class and with the winner, lost ones first. Of more
            rounds than this, only those with such queries. None shows everything.

        Examples
        --------
        >>> from pairsim import Adag, Uniform
        >>> from pairsim.replay import replay_trial
        >>> print(replay_trial(Uniform(4, 0.6), Adag(), seed=1, trial=2).to_text())
        uniform (p = 0.6), n = 4, adag, seed 1, trial 2: the true class is 0
        round 1: 2 queries
          1 beats 3
          0 beats 2   right
        round 2: 1 query
          0 beats 1   right
        cost: 3 queries, 3 different pairs, 2 rounds
        right: class 0 is the true class and was named: it won both of its queries.
        """
        if limit is not None:
            limit = check_whole("to_text", "limit", limit, 1, must_be="None or an integer of at least 1")
        probability = "" if self.p is None else f" (p = {self.p:g})"
        cost = f"{counted(self.queries, 'query')}, {counted(self.distinct, 'different pair')}"
        return "\n".join(
            [
                f"{self.oracle}{probability}, n = {self.n}, {self.decoder}, seed {self.seed}, trial {self.trial}: "
                f"the true class is {self.truth}",
                *lay_out_rounds(self.asked, self.rounds, self.winner, self.n, limit),
                f"cost: {cost}, {counted(len(self.rounds), 'round')}",
                f"{'right' if self.right else 'WRONG'}: {self.reason}",
            ]
        )

    def to_record(self) -> dict[str, Any]:
        """Return everything as JSON knows it: dicts with text for keys, lists, numbers, text, true, false and null.

        Examples
        --------
        >>> from pairsim import Ddag, Uniform
        >>> from pairsim.replay import replay_trial
        >>> record = replay_trial(Uniform(3, 1.0), Ddag(), seed=0, trial=0).to_record()
        >>> record["winner"], record["scores"], record["rounds"][1]
        (0, {'0': 2, '1': 0, '2': 0}, [{'first': 0, 'second': 2, 'winner': 0, 'repeated': False, 'right': True}])
        """
        plain = ("oracle", "p", "n", "decoder", "seed", "trial", "truth", "winner", "right", "queries", "distinct")
        return {
            **{name: getattr(self, name) for name in plain},
            "rounds": [[query._asdict() for query in queries] for queries in self.rounds],
            "scores": {str(label): wins for label, wins in self.scores.items()},
            "reason": self.reason,
        }


def replay_trial(oracle: Oracle, decoder: Decoder, seed: int, trial: int) -> TrialReport:
    """Decode one trial again, and tell what was asked, what was answered and why the decision is right or wrong.

    Parameters
    ----------
    oracle : Oracle
        Where the answers come from.
    decoder : Decoder
        What asks. Only what it asks is computed.
    seed, trial : int
        The seed of the simulation, and the trial's number in it, from 0.

    Returns
    -------
    TrialReport
        Its winner is the one of that trial in `simulate(oracle, decoder, seed=seed, method="simulated")`.

    Examples
    --------
    >>> from pairsim import MaxWin, Uniform
    >>> from pairsim.replay import replay_trial
    >>> report = replay_trial(Uniform(8, 0.7), MaxWin(), seed=0, trial=3)
    >>> report.winner, report.queries
    (0, 28)
    >>> report.reason
    'class 0 is the true class and was named: it won 6 of its 7 queries, the runner-up (class 1) 5.'
    """
    if not isinstance(oracle, Oracle):
        raise parameter_error("replay_trial", "oracle", "an oracle such as Uniform(16, 0.9)", shown(oracle))
    if not isinstance(decoder, Decoder):
        raise parameter_error("replay_trial", "decoder", "a decoder such as MaxWin()", shown(decoder))
    seed, trial = check_seed("replay_trial", seed), _check_trial(trial, oracle)
    if decoder.cost(oracle.n).queries > MOST_QUERIES:
        must_be = f"one that asks at most {MOST_QUERIES:,} queries of {oracle.n} classes"
        raise parameter_error(
            "replay_trial", "decoder", must_be, f"{decoder.spec}: {decoder.cost(oracle.n).queries:,} queries"
        )
    truth = int(oracle.truth(trial, 1)[0])
    spec, decoder = decoder.spec, without_labels(oracle, decoder)
    winner, book, edges = transcribe(oracle, decoder, seed, trial)
    asked = Queries(book, 0, edges[-1], truth)
    rounds = tuple(
        Queries(book, start, stop, truth, decoder.asker_only(number))
        for number, (start, stop) in enumerate(itertools.pairwise(edges))
    )
    return TrialReport(
        oracle=oracle.label,
        p=oracle.p,
        n=oracle.n,
        decoder=spec,
        seed=seed,
        trial=trial,
        truth=truth,
        winner=winner,
        queries=len(asked),
        distinct=len(asked) - int(asked.repeated.sum()),
        reason=reason_for(Verdict(decoder, oracle.n, truth, winner, asked, rounds)),
        asked=asked,
        rounds=rounds,
        scores=dict(enumerate(asked.wins(oracle.n).tolist())),
    )


def _check_trial(trial: object, oracle: Oracle) -> int:
    """Return the trial's number: any that the stream can count to, or that of a recorded row."""
    if oracle.rows is None:
        return check_whole("replay_trial", "trial", trial, 0, (1 << 63) - 1, "an integer from 0 to 2**63 - 1")
    must_be = f"the number of a recorded row, from 0 to {oracle.rows - 1}"
    return check_whole("replay_trial", "trial", trial, 0, oracle.rows - 1, must_be)
