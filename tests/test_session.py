"""A session under several threads, interrupted at every line, and given bad answers: never half told."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import pairsim.session
from pairsim import Adag, Champion, Decoder, MaxWin, ParameterError, Poll, Quick, Session, pick

DECODERS = [MaxWin("first"), Adag(order="given"), Poll(2), Quick("first"), Champion("first")]


def first_wins(i: int, j: int) -> bool:
    """Answer in a fixed way that is not an order."""
    low, high = min(i, j), max(i, j)
    return ((7 * low + 3 * high) % 5 < 3) == (i < j)


def finish(session: Session) -> tuple[Any, ...]:
    """Answer what is open until the decoder is done; return all that can be known of it."""
    while not session.done:
        for i, j in session.ask():
            session.tell(i, j, first_wins(i, j))
    return session.winner, session.queries, session.distinct, session.rounds


@pytest.mark.parametrize(
    ("decoder", "n", "times"), [(Adag(order="given"), 32, 15), (MaxWin("first"), 10, 5), (Champion("first"), 9, 5)]
)
def test_threads_may_tell_at_once(decoder: Decoder, n: int, times: int) -> None:
    wanted = finish(Session(n, decoder))
    for _ in range(times):
        session = Session(n, decoder)
        failed = tell_from_threads(session, 4)
        assert failed == []
        assert finish(session) == wanted


def yield_at_lines(frame: Any, event: str, _: Any) -> Any:
    """Let other threads have their turn, for a random time, before each line of a session or of one made up here."""
    if frame.f_code.co_name.startswith(("work", "wait")) or "session" not in frame.f_code.co_filename:
        return None
    if event == "line":
        time.sleep(random.random() * 2e-4)
    return yield_at_lines


def tell_from_threads(session: Any, count: int) -> list[BaseException]:
    """Let threads share the queries of each round, all starting at once; return what they raised."""
    failed: list[BaseException] = []
    barrier = threading.Barrier(count)
    shares: list[list[tuple[int, int]]] = [[] for _ in range(count)]

    def work(place: int) -> None:
        while True:
            if barrier.wait(60) == 0:
                queries = session.ask()
                shares[:] = [queries[each::count] for each in range(count)]
            barrier.wait(60)
            if not any(shares) or failed:
                return
            try:
                for i, j in shares[place]:
                    session.tell(i, j, first_wins(i, j))
            except BaseException as error:
                failed.append(error)
            barrier.wait(60)

    def yielding(place: int) -> None:
        sys.settrace(yield_at_lines)
        work(place)

    threads = [threading.Thread(target=yielding, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return failed


def test_the_threads_find_what_is_not_done_in_one_piece() -> None:
    class Careless:
        """Takes answers, and counts them in two steps."""

        def __init__(self) -> None:
            self.open = {(i, j): None for j in range(24) for i in range(j)}
            self.told = 0

        def ask(self) -> list[tuple[int, int]]:
            return list(self.open)

        def tell(self, i: int, j: int, _: bool) -> None:
            told = self.told
            del self.open[i, j]
            self.told = told + 1

    lost = 0
    for _ in range(5):
        session = Careless()
        assert tell_from_threads(session, 4) == []
        lost += 276 - session.told
    assert lost > 0


def interrupting(at: int, where: str, work: Callable[[], object]) -> bool:
    """Do the work, with Ctrl-C at the event of that number in a file; say whether it came to that."""
    seen = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_filename != where:
            return None
        frame.f_trace_opcodes = True
        if event in ("line", "opcode"):
            seen += 1
            if seen == at:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("decoder", [MaxWin("first"), Quick("first"), Poll(2)], ids=lambda each: each.spec)
@pytest.mark.parametrize("together", [False, True])
def test_an_interrupt_leaves_all_or_nothing(decoder: Decoder, together: bool) -> None:
    wanted = finish(Session(4, decoder))
    for at in range(1, 100_000):
        session = Session(4, decoder)
        queries = session.ask()
        if not together:  # up to the last query of the round, whose answer closes it
            for i, j in queries[:-1]:
                session.tell(i, j, first_wins(i, j))
        i, j = queries[-1]
        answers = [first_wins(*query) for query in queries]
        before = session.distinct
        work: Callable[[], object] = (
            (lambda session=session, answers=answers: session.tell_all(answers))
            if together
            else (lambda session=session, i=i, j=j: session.tell(i, j, first_wins(i, j)))
        )
        interrupted = interrupting(at, pairsim.session.__file__, work)
        told = session.distinct - before
        assert told in (0, len(queries) if together else 1)
        assert ((i, j) in session.ask()) == (told == 0)
        assert finish(session) == wanted
        if not interrupted:
            assert told
            break
    assert at > 50


def test_the_interrupts_find_a_session_that_is_half_told() -> None:
    half = []
    for at in range(1, 40):
        told: list[int] = []

        def work(told: list[int] = told) -> None:
            told.append(1)
            told.append(2)

        interrupting(at, __file__, work)
        half.append(len(told))
    assert set(half) == {0, 1, 2}


@pytest.mark.parametrize("bad", [None, 1, "yes", 0.5])
def test_tell_all_takes_all_or_none(bad: Any) -> None:
    session = Session(4, MaxWin("first"))
    answers = [first_wins(*query) for query in session.ask()]
    for place in range(len(answers)):
        with pytest.raises(ParameterError, match=r"'first_wins' parameter of tell_all must be True or False"):
            session.tell_all([*answers[:place], bad, *answers[place + 1 :]])
        assert session.distinct == 0
    for wrong in (answers[:-1], [*answers, True], [], iter(answers[:2])):
        with pytest.raises(ParameterError, match=r"6 answers, one per open query"):
            session.tell_all(wrong)
    assert len(session.ask()) == 6
    session.tell_all(iter(answers))
    assert session.winner == pick(first_wins, 4, MaxWin("first"))


def test_an_answer_is_taken_once() -> None:
    session = Session(3, MaxWin("first"))
    session.tell(1, 0, True)
    for i, j in ((0, 1), (1, 0), (0, 0), (5, 1), (-1, 1), ("0", 2), (None, None), (0.0, 2.0), ([], {})):
        with pytest.raises(ParameterError, match=r"one of the open queries that ask\(\) returns"):
            session.tell(i, j, True)  # type: ignore[arg-type]
    assert (session.distinct, session.ask()) == (1, [(0, 2), (1, 2)])


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda each: each.spec)
def test_a_copy_goes_its_own_way(decoder: Decoder) -> None:
    wanted = finish(Session(7, decoder, seed=3))
    session = Session(7, decoder, seed=3)
    while not session.done:
        i, j = session.ask()[0]
        for other in (pickle.loads(pickle.dumps(session)), copy.deepcopy(session), copy.copy(session)):
            assert (other.ask(), other.queries, other.rounds) == (session.ask(), session.queries, session.rounds)
            assert finish(other) == wanted
        session.tell(i, j, first_wins(i, j))
    assert finish(session) == wanted


class OneByOne(RuleBasedStateMachine):
    """A session told in any order and by any method against one that is told query by query."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = DECODERS[0]
        self.session = Session(6, self.decoder)
        self.told: dict[tuple[int, int], bool] = {}

    @rule(place=st.integers(0, len(DECODERS) - 1), n=st.integers(2, 7), seed=st.integers(0, 3))
    def start(self, place: int, n: int, seed: int) -> None:
        """Begin anew."""
        self.session, self.told = Session(n, DECODERS[place], seed), {}

    @precondition(lambda self: not self.session.done)
    @rule(data=st.data(), wins=st.booleans(), turned=st.booleans())
    def tell(self, data: Any, wins: bool, turned: bool) -> None:
        """Tell one of the open queries."""
        i, j = data.draw(st.sampled_from(self.session.ask()))
        self.told[min(i, j), max(i, j)] = wins == (i < j)
        self.session.tell(*((j, i, not wins) if turned else (i, j, wins)))

    @precondition(lambda self: not self.session.done)
    @rule(seed=st.integers(0, 1000), bad=st.booleans())
    def tell_all(self, seed: int, bad: bool) -> None:
        """Tell all of them, or try to."""
        queries, chance = self.session.ask(), random.Random(seed)
        answers: list[Any] = [chance.random() < 0.5 for _ in queries]
        if bad:
            answers[chance.randrange(len(answers))] = None
            with pytest.raises(ParameterError):
                self.session.tell_all(answers)
            return
        self.session.tell_all(answers)
        for (i, j), wins in zip(queries, answers, strict=True):
            self.told[min(i, j), max(i, j)] = wins == (i < j)

    @rule()
    def send_away(self) -> None:
        """Go on with what comes out of a pickle."""
        self.session = pickle.loads(pickle.dumps(self.session))

    @invariant()
    def is_as_one_by_one(self) -> None:
        """The same answers, told one by one, give the same session."""
        plain = Session(self.session.n, self.session.decoder, self.session._seed)
        while open_now := [q for q in plain.ask() if (min(q), max(q)) in self.told]:
            (i, j) = open_now[0]
            plain.tell(i, j, self.told[min(i, j), max(i, j)] == (i < j))
        assert sorted(plain.ask()) == sorted(self.session.ask())
        assert (plain.queries, plain.rounds, plain.distinct, plain.winner) == (
            self.session.queries, self.session.rounds, self.session.distinct, self.session.winner,
        )  # fmt: skip


OneByOne.TestCase.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
TestOneByOne = OneByOne.TestCase
