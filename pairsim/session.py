"""Deciding with answers from outside: a Python callable, a person, a service, a slow judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders import Decoder, MaxWin
from pairsim.errors import refusal
from pairsim.kernels.drive import list_round, name_winner, record_round, start_decoder
from pairsim.kernels.stream import stream_key
from pairsim.simulation import check_seed


class Choice(int):
    """The class that was picked (an int, so it indexes your list of candidates), and what it cost."""

    queries: int
    distinct: int
    rounds: int

    def __new__(cls, winner: int, queries: int, distinct: int, rounds: int) -> Choice:  # noqa: D102
        choice = super().__new__(cls, winner)
        choice.queries, choice.distinct, choice.rounds = queries, distinct, rounds
        return choice

    @property
    def winner(self) -> int:
        """The class as a plain int."""
        return int(self)


class Session:
    """A decoder that asks you: `ask` gives the open questions of a round, `tell` takes answers in any order.

    Answers are kept: a pair that the decoder asks again is not put to you twice.

    Parameters
    ----------
    n : int
        Number of classes (candidates).
    decoder : Decoder
        How to decide; max-win when left out.
    seed : int
        Of the decoder's own draws.

    Examples
    --------
    >>> from pairsim import Adag, Session
    >>> session = Session(4, Adag(order="given"))
    >>> while not session.done:
    ...     for i, j in session.ask():          # all of these can be asked at once
    ...         session.tell(i, j, i > j)       # here the higher number always wins
    >>> session.winner, session.queries, session.rounds
    (3, 3, 2)
    """

    def __init__(self, n: int, decoder: Decoder | None = None, seed: int = 0) -> None:
        decoder = MaxWin() if decoder is None else decoder
        if not isinstance(decoder, Decoder):
            raise refusal("Session", "decoder", "a decoder such as MaxWin()", repr(decoder))
        self.n = check_classes("Session", n)
        self.decoder = decoder
        self.queries = 0
        self.rounds = 0
        self._kernel = decoder.kernel(self.n)
        self._state = start_decoder(self._kernel, self.n, stream_key(check_seed("Session", seed), self.n))
        self._low_wins: dict[tuple[int, int], bool] = {}
        self._open: dict[tuple[int, int], None] = {}
        self._advance()

    @property
    def distinct(self) -> int:
        """How many different pairs were answered so far."""
        return len(self._low_wins)

    @property
    def done(self) -> bool:
        """Whether the decoder has come to its end."""
        return len(self._questions) == 0

    @property
    def winner(self) -> int | None:
        """The class that is named; None while it is undecided, or when a tie names nobody (ties="lose")."""
        if not self.done:
            return None
        winner = int(name_winner(self._kernel, self._state))
        return winner if winner >= 0 else None

    def ask(self) -> list[tuple[int, int]]:
        """Return the questions of this round that are still open; empty when the decoder is done."""
        return list(self._open)

    def tell(self, i: int, j: int, i_wins: bool) -> None:
        """Take the answer to an open question: does i win against j? The pair may be given either way round."""
        if not isinstance(i_wins, bool | np.bool_):
            raise refusal("tell", "i_wins", "True or False", repr(i_wins))
        question = (i, j) if (i, j) in self._open else (j, i)
        if question not in self._open:
            raise refusal("tell", "i, j", "one of the open questions that ask() returns", f"({i}, {j})")
        del self._open[question]
        self._low_wins[(min(i, j), max(i, j))] = bool(i_wins) == (i < j)
        if not self._open:
            self._close_round()

    def tell_all(self, first_wins: Iterable[bool]) -> None:
        """Take the answers to all open questions, in the order of `ask()`."""
        questions, answers = self.ask(), list(first_wins)
        if len(questions) != len(answers):
            raise refusal("tell_all", "first_wins", f"{len(questions)} answers, one an open question", len(answers))
        for (i, j), answer in zip(questions, answers, strict=True):
            self.tell(i, j, answer)

    def _close_round(self) -> None:
        low = self._questions.min(axis=1).tolist()
        high = self._questions.max(axis=1).tolist()
        low_wins = np.array([self._low_wins[pair] for pair in zip(low, high, strict=True)], np.bool_)
        first_is_low = self._questions[:, 0] < self._questions[:, 1]
        record_round(self._kernel, self._state, self._questions, low_wins == first_is_low)
        self.queries += len(self._questions)
        self.rounds += 1
        self._advance()

    def _advance(self) -> None:
        """List the next round; rounds whose answers are all known already are closed at once."""
        self._questions = list_round(self._kernel, self._state)
        fresh: dict[tuple[int, int], tuple[int, int]] = {}
        for i, j in self._questions.tolist():
            pair = (min(i, j), max(i, j))
            if pair not in self._low_wins:
                fresh.setdefault(pair, (i, j))
        self._open = dict.fromkeys(fresh.values())
        if len(self._questions) and not self._open:
            self._close_round()


def pick(ask: Callable[[int, int], bool], n: int, decoder: Decoder | None = None, seed: int = 0) -> Choice | None:
    """Find the best of n by asking `ask(i, j)`: does i win against j?

    Parameters
    ----------
    ask : callable
        Called once for each different pair that the decoder needs; returns True or False. May be a person or a
        service.
    n : int
        Number of candidates, numbered 0 .. n-1.
    decoder : Decoder, optional
        Max-win when left out.
    seed : int
        Of the decoder's own draws.

    Returns
    -------
    Choice
        The winner, an int with `.queries`, `.distinct` and `.rounds`; None when a tie names nobody (ties="lose").

    Examples
    --------
    >>> from pairsim import Adag, pick
    >>> words = ["fig", "banana", "apple", "kiwi"]
    >>> best = pick(lambda i, j: len(words[i]) > len(words[j]), len(words), Adag())
    >>> words[best], best.queries
    ('banana', 3)
    """
    session = Session(n, decoder, seed)
    while not session.done:
        for i, j in session.ask():
            session.tell(i, j, ask(i, j))
    winner = session.winner
    return None if winner is None else Choice(winner, session.queries, session.distinct, session.rounds)
