"""Data sets: read as they are, split as stated, prepared from the training part alone, and named by their content."""

from __future__ import annotations

import collections
import gzip
import math
import statistics
import warnings
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import use_folder
from sklearn.utils import Bunch

from pairsim import ParameterError
from pairsim.datasets import Dataset, known_names, load, preprocessor
from pairsim.datasets.loading import split_in_two

COLOURS = "size,colour,target\n1,red,a\n?,blue,b\n5,,a\n3,none,b\n2,red,a\n4,blue,b\n"


def small(**changes: object) -> Dataset:
    """Return a data set of four and two rows."""
    parts: dict[str, object] = {
        "X": pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", np.nan, "red"]}),
        "y": np.array(["a", "b", "a", "b"]),
        "X_test": pd.DataFrame({"size": [5.0, 6.0], "colour": ["red", "green"]}),
        "y_test": np.array(["a", "b"]),
    }
    return Dataset("small", **(parts | changes))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(1, 12), min_size=2, max_size=6).filter(lambda counts: max(counts) > 1),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_split_is_a_partition_with_every_class_on_both_sides(counts, share, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    X = pd.DataFrame({"row": np.arange(len(y))})
    found = split_in_two("made", X, y, share, seed)
    rows = [*found.X["row"], *found.X_test["row"]]
    assert sorted(rows) == list(range(len(y)))
    assert [*y[found.X["row"]]] == [*found.y]
    assert [*y[found.X_test["row"]]] == [*found.y_test]
    trained, tested = collections.Counter(found.y.tolist()), collections.Counter(found.y_test.tolist())
    for number, count in enumerate(counts):
        assert trained[number] >= 1
        assert (tested[number] >= 1) == (count > 1)
    again = split_in_two("made", X, y, share, seed)
    assert [*again.X["row"]] == [*found.X["row"]]


def test_a_split_keeps_shares_and_depends_on_the_seed():
    y = np.repeat([0, 1, 2], [200, 100, 50])
    X = pd.DataFrame({"row": np.arange(350)})
    found = split_in_two("made", X, y, 0.3, 1)
    assert np.bincount(found.y_test).tolist() == [60, 30, 15]
    assert [*split_in_two("made", X, y, 0.3, 2).X_test["row"]] != [*found.X_test["row"]]
    assert found.split == "stratified 0.3, seed 1"


def test_csv_files_are_read_as_they_are(tmp_path):
    (tmp_path / "colours.csv").write_text(COLOURS)
    with gzip.open(tmp_path / "colours.csv.gz", "wt") as file:
        file.write(COLOURS)
    plain, packed = (load(str(tmp_path / f"colours.csv{ending}"), test_share=0.5) for ending in ("", ".gz"))
    assert plain.digest == packed.digest
    assert plain.name == packed.name == "colours"
    X, y = plain.whole()
    rows = sorted(zip(X["size"].fillna(-1.0), X["colour"].fillna("-"), y.tolist(), strict=True))
    assert rows == [
        *((-1.0, "blue", "b"), (1.0, "red", "a"), (2.0, "red", "a")),
        *((3.0, "none", "b"), (4.0, "blue", "b"), (5.0, "-", "a")),
    ]


def test_the_column_of_labels_can_be_chosen(tmp_path):
    (tmp_path / "a.csv").write_text("kind,x\n1,0.5\n2,0.25\n1.0,3\n2,4\n")
    found = load(str(tmp_path / "a.csv"), target="kind", test_share=0.5)
    assert found.whole()[1].dtype.kind == "i"
    assert sorted(found.whole()[1].tolist()) == [1, 1, 2, 2]
    assert list(found.X.columns) == ["x"]
    with pytest.raises(ParameterError, match="omitted"):
        load("iris", target="kind")


BAD = {
    "empty": b"",
    "header only": b"x,target\n",
    "one column": b"target\na\nb\n",
    "no header": b"1.5,2,a\n2.5,3,b\n1,1,a\n",
    "one class": b"x,target\n1,a\n2,a\n",
    "no label": b"x,target\n1,a\n2,\n3,b\n",
    "fractions": b"x,target\n1,0.5\n2,1.5\n",
    "infinity": b"x,target\ninf,a\n2,b\n",
    "beyond": b"x,target\n-1e200,a\n2,b\n1,a\n2,b\n",
    "nan among numbers": b"x,target\n1,nan\n2,1\n3,1\n4,2\n5,2\n",
    "ragged": b"x,target\n1,a\n2,b,c\n",
    "same names": b"x,x,target\n1,2,a\n2,3,b\n",
    "one row of each": b"x,target\n1,a\n2,b\n",
    "not text": b"x,target\n\xff\xfe\x00,a\n",
    "nul": b"\x00\x00\x00",
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("packed", [False, True], ids=["csv", "csv.gz"])
def test_bad_files_are_one_line_and_exit_code_2(tmp_path, pairsim_command, content, packed):
    path = tmp_path / ("bad.csv.gz" if packed else "bad.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    outcome = pairsim_command("evaluate", "--data", path)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert "The 'data' parameter of evaluate must be" in outcome.err


def test_files_that_are_not_there_or_not_gzip_are_refused(tmp_path, pairsim_command):
    (tmp_path / "plain.csv.gz").write_text(COLOURS)
    whole = gzip.compress(COLOURS.encode() * 100)
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "folder.csv").mkdir()
    for name in ("plain.csv.gz", "cut.csv.gz", "folder.csv", "nowhere.csv", "nowhere"):
        outcome = pairsim_command("evaluate", "--data", tmp_path / name)
        assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    (tmp_path / "good.csv").write_text(COLOURS)
    outcome = pairsim_command("evaluate", "--data", tmp_path / "good.csv", "--target", "kind")
    assert outcome.code == 2
    assert "no column is called 'kind'" in outcome.err


@settings(deadline=None, derandomize=True, max_examples=80)
@given(st.data())
def test_damaged_files_never_crash(tmp_path_factory, data):
    content = bytearray(COLOURS.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "a.csv"
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        found = load(str(path), test_share=0.5)
    except ParameterError:
        return
    found.numbers()


def test_the_digest_is_the_content_and_not_the_name():
    first = small()
    assert first.digest == small().digest
    assert first.digest == Dataset("other", first.X, first.y, first.X_test, first.y_test, "cut").digest
    changed = [
        small(y=np.array(["a", "b", "b", "b"])),
        small(X=first.X.assign(size=[1.0, 2.0, 3.0, 4.5])),
        small(X=first.X.assign(colour=["red", "blue", "", "red"])),
        small(X=first.X.assign(colour=["redb", "lue", np.nan, "red"])),
        small(X=first.X.iloc[::-1]),
        small(X=first.X.rename(columns={"size": "s"}), X_test=first.X_test.rename(columns={"size": "s"})),
        small(X_test=first.X_test.assign(size=[5.0, 7.0])),
        small(y_test=np.array(["b", "b"])),
    ]
    assert len({each.digest for each in [first, *changed]}) == len(changed) + 1


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="same columns"):
        small(X_test=pd.DataFrame({"size": [5.0, 6.0]}))
    with pytest.raises(ParameterError, match="same columns"):
        small(X_test=pd.DataFrame({"size": ["5", "six"], "colour": ["red", "green"]}))
    with pytest.raises(ParameterError, match="two classes"):
        small(y=np.array(["a", "a", "a", "a"]))


def test_numbers_are_those_of_a_plain_calculation():
    """Median, mean and spread of the training part; the most frequent colour; a new colour is nothing."""
    X = pd.DataFrame({"size": [1.0, 2.0, np.nan, 5.0], "colour": ["red", "blue", np.nan, "red"]})
    unseen = pd.DataFrame({"size": [np.nan, 1000.0], "colour": ["green", np.nan]})
    found = small(X=X, X_test=unseen).numbers()
    filled = [1.0, 2.0, 2.0, 5.0]
    mean, spread = statistics.fmean(filled), statistics.pstdev(filled)

    def expected(size: float, colour: str) -> list[float]:
        return [(size - mean) / spread, float(colour == "blue"), float(colour == "red")]

    colours = ["red", "blue", "red", "red"]
    assert np.allclose(found.X, [expected(*each) for each in zip(filled, colours, strict=True)])
    assert np.allclose(found.X_test, [expected(2.0, "green"), expected(1000.0, "red")])
    raw = preprocessor(X, scaling="none").fit(X).transform(unseen)
    assert raw.tolist() == [[2.0, 0.0, 0.0], [1000.0, 0.0, 1.0]]
    with pytest.raises(ParameterError, match="scaling"):
        preprocessor(X, scaling="log")


def test_texts_are_weighed_by_words_of_the_training_part():
    texts = ["the red house", "the blue house house", "", "the sea"]
    X = pd.DataFrame({"text": texts})
    found = small(X=X, X_test=pd.DataFrame({"text": ["a red boat", np.nan]})).numbers()
    words = sorted({word for text in texts for word in text.split()})
    rarity = {word: math.log(5 / (1 + sum(word in text.split() for text in texts))) + 1 for word in words}

    def weigh(text: str) -> list[float]:
        counts = collections.Counter(text.split())
        weights = [(1 + math.log(counts[word])) * rarity[word] if counts[word] else 0.0 for word in words]
        length = math.hypot(*weights) or 1.0
        return [weight / length for weight in weights]

    assert np.allclose(found.X.toarray(), [weigh(text) for text in texts])
    assert np.allclose(found.X_test.toarray(), [weigh("red"), weigh("")])


def test_a_folder_gives_names_to_files(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path))
    (tmp_path / "colours.csv").write_text(COLOURS)
    for part, rows in (("train", "1,1\n2,x\n3,x\n4,1\n"), ("test", "7,1\n8,2\n"), ("val", "9,1\n10,x\n")):
        (tmp_path / f"parts-{part}.csv").write_text("x,target\n" + rows)
    (tmp_path / "half-train.csv").write_text("x,target\n1,a\n2,b\n")
    (tmp_path / "notes.txt").write_text("nothing")
    assert known_names() == ["iris", "wine", "digits", "breast-cancer", "colours", "parts"]
    parts = load("parts")
    assert (parts.split, parts.y.tolist(), parts.y_test.tolist()) == ("official", ["1", "x", "x", "1"], ["1", "2"])
    assert parts.classes.tolist() == ["1", "2", "x"]
    assert parts.whole()[0]["x"].tolist() == [1, 2, 3, 4, 9, 10, 7, 8]
    assert load("colours").split == "stratified 0.3, seed 0"
    with pytest.raises(ParameterError, match="colours, parts"):
        load("half")


@pytest.mark.parametrize(
    ("name", "rows", "features", "classes"),
    [
        ("letter", 20000, 16, 26),
        ("hwu64", 11036, 1, 64),
        ("soybean", 683, 35, 19),
        ("zoo", 101, 16, 7),
        ("primary-tumor", 339, 17, 21),
    ],
)
def test_real_sets_have_the_shape_that_is_known_of_them(monkeypatch, name, rows, features, classes):
    use_folder(monkeypatch)
    found = load(name)
    assert len(found.whole()[1]) == rows
    assert (found.X.shape[1], len(found.classes), found.is_text) == (features, classes, name == "hwu64")
    numbers = found.numbers()
    assert np.isfinite(numbers.X.data if found.is_text else numbers.X).all()


def test_a_class_may_be_called_what_elsewhere_means_missing(tmp_path):
    (tmp_path / "a.csv").write_text("x,target\n1,NA\n2,EU\n3,NA\n4,EU\n")
    assert load(str(tmp_path / "a.csv"), test_share=0.5).classes.tolist() == ["EU", "NA"]


def test_sets_of_openml_are_what_its_loader_gives(monkeypatch):
    """Without the network: scikit-learn's loader is replaced, and asked for what the name says."""
    asked = []
    data = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": pd.Categorical(["red", None, "blue", "red"])})

    def fetch(name, **options):
        asked.append((name, options["version"], options["target_column"]))
        return Bunch(data=data, target=pd.Series(pd.Categorical(["a", "b", "a", "b"]), name="class"))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    found = load("openml:colours", test_share=0.5)
    assert load("openml:colours:3", target="kind", test_share=0.5).digest == found.digest
    assert asked == [("colours", "active", "default-target"), ("colours", 3, "kind")]
    X, y = found.whole()
    assert sorted(zip(X["size"], X["colour"].fillna("-"), y.tolist(), strict=True)) == [
        *((1.0, "red", "a"), (2.0, "-", "b"), (3.0, "blue", "a"), (4.0, "red", "b")),
    ]
    data["size"] = [1.0, math.inf, 3.0, 4.0]
    with pytest.raises(ParameterError, match="'size' holds infinity"):
        load("openml:colours")


def test_a_network_that_is_not_there_is_one_line(monkeypatch, pairsim_command):
    def fetch(name, **options):
        warnings.warn("A network error occurred. Retrying...", stacklevel=2)
        raise URLError("Name or service not known")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    outcome = pairsim_command("evaluate", "--data", "openml:letter")
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert "'openml:letter' (<urlopen error Name or service not known>)" in outcome.err


def test_bundled_sets_and_what_load_refuses():
    assert {name: len(load(name).classes) for name in known_names()[:4]} == {
        "iris": 3, "wine": 3, "digits": 10, "breast-cancer": 2
    }  # fmt: skip
    for arguments in ({"test_share": 0.0}, {"test_share": 1.0}, {"test_share": "x"}, {"seed": -1}, {"seed": 2**32}):
        with pytest.raises(ParameterError):
            load("iris", **arguments)
    for name in ("nothing", "openml:", "openml:letter:new"):
        with pytest.raises(ParameterError, match="parameter of load"):
            load(name)
