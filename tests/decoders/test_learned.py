"""What `learned` learns, what it makes of it, and which files and texts it takes."""

from __future__ import annotations

from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairsim import Adag, Learned, Matrix, MaxWin, ParameterError, Recorded, decoder, simulate
from pairsim.decoders import profiles
from pairsim.decoders.profiles import MOST_PROFILES, ROWS, Profiles, learn, probabilities

N = 12
LOW, HIGH = np.triu_indices(N, 1)


def on_a_line(rows: int, seed: int, noise: float = 0.02) -> Recorded:
    """Answers like those of trained models: the class nearer to the true one wins, but for some noise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, N, rows)
    at = truth[:, None] + rng.uniform(-0.4, 0.4, (rows, 1))
    nearer = np.abs(LOW - at) < np.abs(HIGH - at)
    return Recorded(nearer ^ (rng.random(nearer.shape) < noise), truth)


def test_it_asks_less_than_adag_and_is_right_as_often_as_max_win() -> None:
    test, taught = on_a_line(4000, 1, noise=0.001), on_a_line(2000, 2, noise=0.001)
    everybody, knock_out, learned = simulate(test, [MaxWin(), Adag(), Learned(taught)], threads=1)
    assert learned.queries < 0.75 * knock_out.queries
    assert learned.success > everybody.success - 0.01


def test_answers_of_another_model_mislead_it() -> None:
    """Negative control: the same answers, but to other pairs."""
    test, taught = on_a_line(1000, 1, noise=0.001), on_a_line(2000, 2, noise=0.001)
    others = Recorded(taught.answers()[:, np.random.default_rng(0).permutation(len(LOW))])
    right, wrong = (simulate(test, Learned(answers), threads=1).success for answers in (taught, others))
    assert wrong < right - 0.1


def test_true_classes_are_not_looked_at() -> None:
    taught = on_a_line(500, 3)
    assert Learned(taught).answers == Learned(Recorded(taught.answers())).answers


@given(st.integers(2, 6), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_rows_belong_to_the_winner_of_max_win(n: int, rows: int, seed: int) -> None:
    answers = np.random.default_rng(seed).random((rows, n * (n - 1) // 2)) < 0.5
    recorded = Recorded(answers)
    winners = profiles._winners(n, recorded.bits)
    low, high = np.triu_indices(n, 1)
    for row, winner in enumerate(winners.tolist()):
        scores = np.bincount(np.where(answers[row], low, high), minlength=n)
        assert scores[winner] == scores.max()


def test_tables_of_small_classes_are_shrunk_frequencies() -> None:
    """One profile per class: counted again, one answer at a time."""
    taught = on_a_line(300, 4)
    answers = taught.answers()
    winners = profiles._winners(N, taught.bits).tolist()
    tables = learn(N, taught.bits)
    assert np.diff(tables.starts).tolist() == [1] * N
    own = [
        (answers[t, q] == (LOW[q] == w))
        for t, w in enumerate(winners)
        for q in range(len(LOW))
        if w in (LOW[q], HIGH[q])
    ]
    usual = (sum(own) + 1) / (len(own) + 2)
    for c in range(N):
        for q in range(len(LOW)):
            mine = c in (LOW[q], HIGH[q])
            won = [bool(answers[t, q]) for t, w in enumerate(winners) if w == c]
            general = (answers[:, q].sum() + 1) / (len(winners) + 2)
            expected = (usual if c == LOW[q] else 1 - usual) if mine else general
            weight = 4 if mine else 2
            share = (sum(won) + weight * expected) / (len(won) + weight)
            share = min(max(share, 1e-4), 1 - 1e-4) if mine else 0.01 + 0.98 * share
            found = probabilities(tables.levels)[q, c]
            step = share * (1 - share) * np.log(1e4) / 127  # of log odds, at this probability
            assert abs(found - share) <= 0.6 * step


def test_kinds_of_rows_get_profiles_of_their_own() -> None:
    """Two kinds of rows of one class, as an upper and a lower case letter: each profile answers like one of them."""
    rng = np.random.default_rng(5)
    kinds = rng.integers(0, 2, 4 * ROWS)
    pattern = rng.random((2, len(LOW))) < 0.5
    pattern[:, LOW == 0] = True  # class 0 wins
    answers = pattern[kinds] ^ ((rng.random((len(kinds), len(LOW))) < 0.05) & (LOW > 0))
    tables = learn(N, Recorded(answers).bits)
    number = int(tables.starts[1])
    assert 2 <= number <= MOST_PROFILES
    likely = probabilities(tables.levels)[:, :number] > 0.5
    agreed = [(likely == pattern[kind][:, None]).mean(axis=0).max() for kind in (0, 1)]
    assert min(agreed) > 0.95


def test_the_opening_asks_no_pair_twice_on_a_path() -> None:
    tables = learn(N, on_a_line(400, 6).bits)
    assert len(tables.opening) == 2 ** (N - 1).bit_length() - 1
    assert profiles._is_path_free(tables.opening)
    assert not profiles._is_path_free(np.array([4, 1, 4], np.int32))  # negative control


def test_the_first_query_tells_most() -> None:
    """On a line, the one that splits the classes in the middle."""
    first = int(learn(N, on_a_line(4000, 7).bits).opening[0])
    assert abs((LOW[first] + HIGH[first]) / 2 - (N - 1) / 2) <= 1.0


def test_files_and_texts_give_the_same_decoder(tmp_path: Path) -> None:
    taught = on_a_line(200, 8)
    taught.save(tmp_path / "left-out.npz")
    read = decoder(f"learned:answers={tmp_path}/left-out.npz,lead=3")
    assert read == Learned(taught, lead=3.0)
    assert read.spec == f"learned:answers={tmp_path}/left-out.npz,lead=3.0"
    assert decoder(Learned(taught).spec) == Learned(taught)
    kept = read.definition()
    (tmp_path / "left-out.npz").unlink()
    from pairsim.decoders import decoder_of

    assert decoder_of(kept) == read  # what is stored needs no file


@pytest.mark.parametrize(
    ("answers", "got"),
    [
        ("absent.npz", "absent.npz"),
        (7, "7"),
        ("profiles-", "damaged"),
        ("profiles-!", "damaged"),
        ("profiles-eJwDAAAAAAE", "damaged"),
    ],
)
def test_other_answers_are_rejected_in_one_line(answers: object, got: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Learned(answers)
    assert "'answers' parameter of Learned" in str(caught.value)
    assert got in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.data())
def test_damaged_profiles_are_rejected_or_sound(data: st.DataObject) -> None:
    """Any change of the text is an error, or gives tables that fit each other."""
    import base64
    import zlib

    text = str(Learned(on_a_line(50, 9)).answers)
    body = bytearray(zlib.decompress(base64.urlsafe_b64decode(text.removeprefix("profiles-") + "==")))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, 400))] = data.draw(st.integers(0, 255))
    changed = "profiles-" + base64.urlsafe_b64encode(zlib.compress(bytes(body))).decode().rstrip("=")
    try:
        found = Learned(changed)
    except ParameterError:
        return
    tables = found.answers.tables
    assert tables.starts[-1] == len(tables.prior) == tables.levels.shape[1]
    assert (np.diff(tables.starts) > 0).all()
    simulate(on_a_line(3, 0) if tables.n == N else Recorded.of(Matrix(np.full((tables.n, tables.n), 0.5)), 3), found)


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"weight": 0.0}, "weight"), ({"weight": 1.5}, "weight"), ({"lead": 0.0}, "lead"), ({"budget": 0}, "budget")],
)
def test_settings_out_of_range_are_rejected(settings: dict[str, float], name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of Learned"):
        Learned(None, **settings)  # type: ignore[arg-type]


def test_answers_of_other_classes_are_rejected() -> None:
    with pytest.raises(ParameterError, match="of 5 classes, as many as there are"):
        Learned(on_a_line(20, 0)).kernel(5)


def test_one_query_is_asked_at_least_and_never_more_than_the_budget() -> None:
    taught = on_a_line(500, 10)
    for budget in (1, 3, None):
        for lead in (1e-9, 1000.0):
            found = simulate(on_a_line(100, 11), Learned(taught, None, lead, budget), threads=1)
            most = 5 * (N - 1) // 4 if budget is None else budget
            assert found.queries == (1 if lead < 1 else most)


def test_its_twin_is_told_apart_by_what_was_learned() -> None:
    """Negative control of the law that compares it with the twin: other tables make another decision."""
    taught, other = Learned(on_a_line(500, 12)), Learned(on_a_line(500, 13, noise=0.3))
    answers = on_a_line(50, 14).answers()
    decisions = [
        [
            naive.decide(
                "learned",
                {"answers": made.answers, "weight": None, "lead": 4.0, "budget": None},
                N,
                naive.recorded_tournament(N, row.tolist()),
                0,
                trial,
            )
            for trial, row in enumerate(answers)
        ]
        for made in (taught, other)
    ]
    assert decisions[0] != decisions[1]
    assert isinstance(taught.answers, Profiles)
