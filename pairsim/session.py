"""Deciding with answers from outside: a Python callable, a person, a service, a slow judge."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_classes, check_instance, check_list, check_number, check_whole
from pairsim.decoders import Decoder, MaxWin
from pairsim.errors import parameter_error, shown
from pairsim.kernels.driver import (
    class_probabilities,
    decoder_confidence,
    list_round,
    name_winner,
    record_round,
    start_decoder,
)
from pairsim.kernels.stream import stream_key
from pairsim.memory import check_memory
from pairsim.simulation import check_seed

ROUNDING = 1e-12  # of a sum of probabilities
BYTES_PER_ANSWER = 400  # of a query and its answer as Python objects

Pair = tuple[int, int]


class Choice(int):
    """The class that was picked (an int, so it indexes your list of candidates), and what it cost."""

    queries: int
    distinct: int
    rounds: int
    confidence: float | None  # the decoder's own probability to be correct, where it has one
    probabilities: NDArray[np.float64] | None  # that of each class, where it has them

    def __new__(  # noqa: D102
        cls,
        winner: int,
        queries: int,
        distinct: int,
        rounds: int,
        confidence: float | None = None,
        probabilities: NDArray[np.float64] | None = None,
    ) -> Choice:
        choice = super().__new__(cls, check_whole("Choice", "winner", winner, 0))
        choice.queries, choice.distinct, choice.rounds = queries, distinct, rounds
        choice.confidence, choice.probabilities = confidence, probabilities
        return choice

    def credible_set(self, level: float = 0.95) -> list[int] | None:
        """Return the fewest classes that together have at least this probability, the most likely first.

        None where the decoder has no probabilities.

        Examples
        --------
        >>> from pairsim import Posterior, pick
        >>> best = pick(lambda i, j: i > j, 8, Posterior(0.8, 0.9))
        >>> best.credible_set(0.7), best.credible_set(0.99)
        ([7], [7, 6, 5, 4])
        """
        return _credible_set("Choice.credible_set", self.probabilities, level, self.winner)

    @property
    def winner(self) -> int:
        """The class as a plain int."""
        return int(self)


class _Position(NamedTuple):
    """Where a decoder stands: what its state is, what it asks in this round, and what it has asked before."""

    state: Any
    questions: NDArray[np.int64]  # shape (size of the round, 2)
    open: dict[Pair, Pair]  # the pairs that had no answer when the round began, each as it is asked
    target: int  # how many answers there are once the round is answered
    queries: int
    rounds: int


class Session:
    """Run a decoder on your own answers: `ask` returns the open queries of a round, `tell` takes answers in any order.

    A query is one pairwise comparison. Answers are kept: a pair that the decoder asks again is not returned twice.

    Parameters
    ----------
    n : int
        Number of classes (candidates).
    decoder : Decoder
        The decoder. Default: `MaxWin()`.
    seed : int
        Of the decoder's own draws.

    Notes
    -----
    Threads: every method may be called from any thread; one call is made after the other. Each open query must be
    answered once: hand each to one thread, as a second answer to a query is rejected.

    Exceptions: `tell` and `tell_all` keep all of their answers or none, whatever is raised inside them, Ctrl-C
    included. After any exception, `ask()` returns what is still open.

    Processes: a session can be pickled, copied and sent to another process; the copy has the answers so far, and
    the two are independent from then on.

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
        check_instance("Session", "decoder", decoder, Decoder, "a decoder such as MaxWin()")
        self.n = check_classes("Session", n)
        self.decoder = decoder
        self._seed = check_seed("Session", seed)
        # an adaptive decoder's cost is what it could come to, and mostly a small multiple of n is what it does
        asked = 4 * self.n if decoder.adaptive else decoder.cost(self.n).queries
        needed = decoder.memory(self.n) + BYTES_PER_ANSWER * asked
        check_memory("Session", "n", self.n, needed, f"a session of {decoder.spec}")
        self._kernel = decoder.kernel(self.n)
        # The answers, by (lower class, higher class): whether the lower one wins. All else follows from them, so that
        # one assignment is all that `tell` has to do in one piece.
        self._answers: dict[Pair, bool] = {}
        self._position: _Position | None = None
        self._lock = threading.RLock()
        self._settled()

    @property
    def queries(self) -> int:
        """Number of queries in the completed rounds, repeated ones included."""
        with self._lock:
            return self._settled().queries

    @property
    def rounds(self) -> int:
        """Number of completed rounds."""
        with self._lock:
            return self._settled().rounds

    @property
    def distinct(self) -> int:
        """Number of different pairs answered so far."""
        return len(self._answers)

    @property
    def done(self) -> bool:
        """Whether the decoder has finished."""
        with self._lock:
            return len(self._settled().questions) == 0

    @property
    def winner(self) -> int | None:
        """The predicted class; None while it is undecided, or after a tie under ties="lose"."""
        with self._lock:
            position = self._settled()
            if len(position.questions):
                return None
            winner = int(name_winner(self._kernel, position.state))
            return winner if winner >= 0 else None

    @property
    def confidence(self) -> float | None:
        """The decoder's own probability that the class it would predict now is the true one; None where it has none."""
        with self._lock:
            value = float(decoder_confidence(self._kernel, self._settled().state))
            return None if math.isnan(value) else value

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """The decoder's own probability that each class is the true one, after the completed rounds; None without one.

        Examples
        --------
        >>> from pairsim import Posterior, Session
        >>> session = Session(3, Posterior(p=0.9))
        >>> (pair,) = session.ask()
        >>> session.tell(*pair, True)
        >>> sorted(session.probabilities.round(2).tolist())
        [0.07, 0.33, 0.6]
        """
        with self._lock:
            found = class_probabilities(self._kernel, self._settled().state, self.n)
            return None if math.isnan(found[0]) else found

    def credible_set(self, level: float = 0.95) -> list[int] | None:
        """Return the fewest classes that together have at least this probability now, the most likely first.

        None where the decoder has no probabilities.
        """
        with self._lock:
            return _credible_set("Session.credible_set", self.probabilities, level, self.winner)

    def ask(self) -> list[tuple[int, int]]:
        """Return the queries of this round that are still open; empty when the decoder is done."""
        with self._lock:
            return [question for pair, question in self._settled().open.items() if pair not in self._answers]

    def tell(self, i: int, j: int, i_wins: bool) -> None:
        """Take the answer to an open query: does i win against j? The pair may be given either way round.

        Safe from any thread. Whatever is raised, Ctrl-C included, the answer is taken or it is not; `ask()` tells.
        """
        wins = _check_answer("tell", "i_wins", i_wins)
        with self._lock:
            pair = self._check_open(i, j)
            self._answers[pair] = wins == (int(i) == pair[0])
            self._settled()

    def tell_all(self, first_wins: Iterable[bool]) -> None:
        """Take the answers to all open queries, in the order of `ask()`: all of them, or none where one is bad.

        Safe from any thread, though another one may have told some of the queries meanwhile: then the number of
        answers is wrong, and none is taken.
        """
        answers = check_list("tell_all", "first_wins", first_wins, "answers, one per open query")
        with self._lock:
            questions = self.ask()
            if len(questions) != len(answers):
                must_be = f"{len(questions)} answers, one per open query"
                raise parameter_error("tell_all", "first_wins", must_be, len(answers))
            wins = [_check_answer("tell_all", "first_wins", answer) for answer in answers]
            told = {_in_order(i, j): won == (i < j) for (i, j), won in zip(questions, wins, strict=True)}
            self._answers.update(told)
            self._settled()

    def _check_open(self, i: int, j: int) -> Pair:
        """Return the pair in order when it is one of the open queries."""
        try:
            pair = _in_order(operator.index(i), operator.index(j))
        except TypeError:
            pair = (-1, -1)
        if pair not in self._settled().open or pair in self._answers:
            raise parameter_error(
                "tell", "i, j", "one of the open queries that ask() returns", f"({shown(i)}, {shown(j)})"
            )
        return pair

    def _settled(self) -> _Position:
        """Return the position with no round left to close; the lock is held.

        Closing a round changes the decoder's state in place. While that happens there is no position: should it be cut
        short, the next call starts from the beginning and closes all rounds again with the answers that are kept.
        """
        position = self._position
        if position is not None and (len(self._answers) < position.target or len(position.questions) == 0):
            return position
        self._position = None
        if position is None:
            key = stream_key(self._seed, self.n)
            position = self._listed(start_decoder(self._kernel, self.n, key), 0, 0)
        while len(position.questions) and len(self._answers) >= position.target:
            position = self._closed(position)
        self._position = position
        return position

    def _closed(self, position: _Position) -> _Position:
        """Record the answers to a round and list the next."""
        questions = position.questions
        low, high = questions.min(axis=1).tolist(), questions.max(axis=1).tolist()
        low_wins = np.array([self._answers[pair] for pair in zip(low, high, strict=True)], np.bool_)
        first_is_low = questions[:, 0] < questions[:, 1]
        record_round(self._kernel, position.state, questions, low_wins == first_is_low)
        return self._listed(position.state, position.queries + len(questions), position.rounds + 1)

    def _listed(self, state: Any, queries: int, rounds: int) -> _Position:
        """Return the position at the start of a round."""
        questions = list_round(self._kernel, state)
        fresh: dict[Pair, Pair] = {}
        for i, j in questions.tolist():
            pair = _in_order(i, j)
            if pair not in self._answers:
                fresh.setdefault(pair, (i, j))
        return _Position(state, questions, fresh, len(self._answers) + len(fresh), queries, rounds)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"n": self.n, "decoder": self.decoder, "seed": self._seed, "answers": dict(self._answers)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__init__(kept["n"], kept["decoder"], kept["seed"])  # type: ignore[misc]
        self._answers.update(kept["answers"])


def _credible_set(
    owner: str, probabilities: NDArray[np.float64] | None, level: float, winner: int | None
) -> list[int] | None:
    must_be = "a number strictly between 0 and 1"
    level = check_number(owner, "level", level, must_be)
    if not 0.0 < level < 1.0:
        raise parameter_error(owner, "level", must_be, shown(level))
    if probabilities is None:
        return None
    order = np.lexsort((np.arange(len(probabilities)) != winner, -probabilities))  # the winner before its equals
    reached = np.cumsum(probabilities[order]) >= level * (1.0 - ROUNDING)
    size = int(np.argmax(reached)) + 1 if reached.any() else len(order)
    chosen: list[int] = order[:size].tolist()
    return chosen


def _in_order(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def _check_answer(owner: str, name: str, answer: Any) -> bool:
    if not isinstance(answer, bool | np.bool_):
        raise parameter_error(owner, name, "True or False", shown(answer))
    return bool(answer)


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
        The decoder. Default: `MaxWin()`.
    seed : int
        Of the decoder's own draws.

    Returns
    -------
    Choice
        The winner, an int with `.queries`, `.distinct` and `.rounds`, and `.confidence`, `.probabilities` and
        `.credible_set()` where the decoder knows how likely it is right; None when a tie names nobody (ties="lose").

    Examples
    --------
    >>> from pairsim import Adag, pick
    >>> words = ["fig", "banana", "apple", "kiwi"]
    >>> best = pick(lambda i, j: len(words[i]) > len(words[j]), len(words), Adag())
    >>> words[best], best.queries
    ('banana', 3)
    """
    if not callable(ask):
        raise parameter_error("pick", "ask", "a callable that answers ask(i, j) with True or False", shown(ask))
    session = Session(n, decoder, seed)
    while not session.done:
        for i, j in session.ask():
            session.tell(i, j, ask(i, j))
    winner = session.winner
    if winner is None:
        return None
    cost = session.queries, session.distinct, session.rounds
    return Choice(winner, *cost, session.confidence, session.probabilities)
