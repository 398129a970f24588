"""The command line: what it prints, where it writes, and how it says no."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import pairsim
from pairsim.sweeps.rows import COLUMNS

SMALL = ("sweep", "--n", "4,8", "--p", "0.9", "--trials", "200")


def test_version_and_listings(pairsim_command):
    assert pairsim_command("--version").out == f"pairsim {pairsim.__version__}\n"
    decoders = pairsim_command("decoders").out.splitlines()
    assert [line.split(":")[0].split()[0] for line in decoders] == list(pairsim.decoders.REGISTRY)
    oracles = pairsim_command("oracles").out
    assert all(name in oracles for name in [*pairsim.oracles.REGISTRY, *pairsim.oracles.PROFILES])


@pytest.mark.parametrize("command", ["sweep", "plot", "decoders", "oracles"])
def test_help_has_an_example(pairsim_command, command):
    outcome = pairsim_command(command, "--help")
    assert outcome.code == 0
    assert f"Example: pairsim {command}" in " ".join(outcome.out.split())


def test_help_imports_nothing_heavy():
    program = (
        "import sys; sys.argv = ['pairsim', '--help']\n"
        "from pairsim.cli import run\n"
        "try:\n    run()\nexcept SystemExit: pass\n"
        "print('HEAVY', sorted({'numba', 'numpy', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout
    assert "sweep" in done.stdout


def test_python_m_pairsim_is_the_command(tmp_path):
    """Help, an error's exit code, and worker processes, which import the main module again."""

    def program(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pairsim", *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    helped = program("--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.startswith("Usage: pairsim")
    wrong = program("exact", "--n", "1", "--p", "0.9")
    assert (wrong.returncode, wrong.stdout, len(wrong.stderr.splitlines())) == (2, "", 1)
    sweep = ("sweep", "--n", 8, "--p", 0.9, "--decoder", "adag", "--trials", 100, "--format", "csv", "--quiet")
    alone, shared = program(*sweep), program(*sweep, "--workers", 2)
    assert (alone.returncode, alone.stderr) == (shared.returncode, shared.stderr) == (0, "")
    assert alone.stdout == shared.stdout != ""


def test_csv_columns_and_the_paper_set(pairsim_command):
    outcome = pairsim_command(*SMALL, "--format", "csv")
    header, *rows = outcome.out.splitlines()
    columns = "oracle,n,p,decoder,method,trials,success,low,high,queries,distinct,rounds"
    assert header == columns + ",agreement,agreement_low,agreement_high"
    assert [row.split(",")[3] for row in rows] == [
        "max-win",
        "poll:l=log",
        "poll:l=3log",
        "poll:l=5log",
        "adag",
        "ddag",
    ] * 2
    assert [line for line in outcome.err.splitlines() if "compiling" not in line] == []  # silent in a pipe


def test_json_is_strict_and_equals_csv(pairsim_command):
    records = json.loads(pairsim_command(*SMALL, "--format", "json").out)
    assert [list(record) for record in records] == [COLUMNS] * len(records)
    csv = pairsim_command(*SMALL, "--format", "csv").out
    lines = csv.splitlines()
    for record, line in zip(records, lines[1:], strict=True):
        assert [str(value) for value in record.values()] == line.split(",")


def test_table_says_what_was_done(pairsim_command):
    out = pairsim_command(*SMALL, "--decoder", "max-win", "--seed", 3).out
    assert "max-win" in out
    assert "200 trials" in out.splitlines()[-1]
    assert out.splitlines()[-1].startswith("uniform, p = 0.9, ")


def test_same_bytes_on_one_and_two_threads(pairsim_command):
    one = pairsim_command(
        "sweep", "--n", "16..64", "--p", "0.7,0.9", "--format", "csv", "--threads", 1, "--trials", 3000
    )
    two = pairsim_command(
        "sweep", "--n", "16..64", "--p", "0.7,0.9", "--format", "csv", "--threads", 2, "--trials", 3000
    )
    other = pairsim_command(
        "sweep", "--n", "16..64", "--p", "0.7,0.9", "--format", "csv", "--trials", 3000, "--seed", 1
    )
    assert one == two
    assert one.out != other.out


def test_ties_apply_to_all_but_what_says_otherwise(pairsim_command):
    outcome = pairsim_command(
        *SMALL,
        "--ties",
        "lose",
        "--decoder",
        "max-win",
        "--decoder",
        "poll:l=2,ties=first",
        "--decoder",
        "adag",
        "--format",
        "csv",
    )
    specs = {line.split('"')[1] if '"' in line else line.split(",")[3] for line in outcome.out.splitlines()[1:]}
    assert specs == {"max-win:ties=lose", "poll:l=2,ties=first", "adag"}


def test_similarity_profiles_and_files(pairsim_command, tmp_path):
    pairsim_command("sweep", "--r", "zipf:1.0", "--n", "5", "--trials", "300", "--out", tmp_path / "profile.csv")
    weights = [1 / k for k in range(1, 6)]
    (tmp_path / "r.csv").write_text("\n".join(repr(w / sum(weights)) for w in weights))
    np.save(tmp_path / "r.npy", np.array(weights) / sum(weights))
    profile = pd.read_csv(tmp_path / "profile.csv")
    assert set(profile["oracle"]) == {"similarity:zipf:1.0"}
    assert profile["p"].isna().all()
    for name in ("r.csv", "r.npy"):
        pairsim_command(
            "sweep", "--oracle", "similarity", "--r", tmp_path / name, "--trials", 300, "--out", tmp_path / "file.csv"
        )
        same = pd.read_csv(tmp_path / "file.csv")
        assert set(same["oracle"]) == {f"similarity:{name}"}
        pd.testing.assert_frame_equal(same.drop(columns="oracle"), profile.drop(columns="oracle"))


def test_matrix_from_csv_and_npy_is_the_oracle_it_describes(pairsim_command, tmp_path):
    probabilities = pairsim.Uniform(6, 0.8).matrix()
    np.savetxt(tmp_path / "probabilities.csv", probabilities, delimiter=",", fmt="%.17g")
    np.save(tmp_path / "probabilities.npy", probabilities)
    uniform = pairsim_command(
        "sweep", "--n", 6, "--p", 0.8, "--trials", 300, "--method", "simulated", "--format", "csv"
    ).out
    for name in ("probabilities.csv", "probabilities.npy"):
        out = pairsim_command(
            "sweep", "--matrix", tmp_path / name, "--trials", 300, "--method", "simulated", "--format", "csv"
        ).out
        assert out.replace(f"matrix:{name},6,,", "uniform,6,0.8,") == uniform


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_out_then_plot(pairsim_command, tmp_path, suffix):
    table = tmp_path / f"results{suffix}"
    assert pairsim_command(*SMALL, "--out", table).code == 0
    assert pairsim_command(*SMALL, "--out", table).code == 0  # ours: may be replaced
    for picture in ("fig.png", "fig.svg", "fig.pdf"):
        for _ in range(2):
            outcome = pairsim_command("plot", table, "--out", tmp_path / picture)
            assert (outcome.code, outcome.out) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fig.pdf", "fig.png", "fig.svg", f"results{suffix}"]


BAD = {
    "p above 1": (["--n", "8", "--p", "1.5"], "p", "1.5"),
    "p negative": (["--n", "8", "--p", "-0.1"], "p", "-0.1"),
    "p nan": (["--n", "8", "--p", "nan"], "p", "nan"),
    "p is text": (["--n", "8", "--p", "high"], "p", "high"),
    "p range without step": (["--n", "8", "--p", "0.5..0.9"], "p", "0.5..0.9"),
    "n is 1": (["--n", "1", "--p", "0.9"], "n", "1"),
    "n not whole": (["--n", "8.5", "--p", "0.9"], "n", "8.5"),
    "n reversed": (["--n", "64..16", "--p", "0.9"], "n", "64..16"),
    "n empty": (["--n", "", "--p", "0.9"], "n", "''"),
    "n empty part": (["--n", "8,,9", "--p", "0.9"], "n", "8,,9"),
    "n step of zero": (["--n", "8..16:0", "--p", "0.9"], "n", "0"),
    "n repeated": (["--n", "8,8", "--p", "0.9"], "n", "8,8"),
    "n huge range": (["--n", "2..1000000:1", "--p", "0.9"], "n", "999999"),
    "n missing": (["--p", "0.9"], "n", "nothing"),
    "p missing": (["--n", "8"], "p", "nothing"),
    "l below 1": (["--n", "8", "--p", "0.9", "--decoder", "poll:l=0"], "l", "0"),
    "l nonsense": (["--n", "8", "--p", "0.9", "--decoder", "poll:l=5lag"], "l", "5lag"),
    "k above n": (["--n", "8", "--p", "0.9", "--decoder", "top-k:k=9"], "k", "9"),
    "k not whole": (["--n", "8", "--p", "0.9", "--decoder", "top-k:k=2.5"], "k", "2.5"),
    "unknown final": (["--n", "8", "--p", "0.9", "--decoder", "top-k:final=x"], "final", "x"),
    "unknown decoder": (["--n", "8", "--p", "0.9", "--decoder", "best"], "decoder", "best"),
    "unknown decoder option": (["--n", "8", "--p", "0.9", "--decoder", "adag:l=3"], "adag", "l=3"),
    "decoder twice": (
        ["--n", "8", "--p", "0.9", "--decoder", "adag", "--decoder", "adag:order=random"],
        "decoder",
        "adag",
    ),
    "unknown order": (["--n", "8", "--p", "0.9", "--decoder", "adag:order=up"], "order", "up"),
    "unknown ties": (["--n", "8", "--p", "0.9", "--ties", "win"], "ties", "win"),
    "unknown oracle": (["--n", "8", "--p", "0.9", "--oracle", "delphi"], "oracle", "delphi"),
    "unknown format": (["--n", "8", "--p", "0.9", "--format", "xml"], "format", "xml"),
    "unknown option": (["--n", "8", "--p", "0.9", "--foo", "1"], "--foo", ""),
    "trials of zero": (["--n", "8", "--p", "0.9", "--trials", "0"], "trials", "0"),
    "trials is text": (["--n", "8", "--p", "0.9", "--trials", "many"], "trials", ""),
    "seed negative": (["--n", "8", "--p", "0.9", "--seed", "-1"], "seed", "-1"),
    "confidence of 1": (["--n", "8", "--p", "0.9", "--confidence", "1"], "confidence", "1"),
    "threads of zero": (["--n", "8", "--p", "0.9", "--threads", "0"], "threads", "0"),
    "unknown profile": (["--n", "8", "--r", "pareto:1"], "r", "pareto:1"),
    "profile without n": (["--r", "zipf:1"], "n", "nothing"),
    "profile number": (["--n", "8", "--r", "geometric:2"], "r", "geometric:2"),
    "missing r": (["--n", "8", "--oracle", "similarity"], "r", "nothing"),
    "missing matrix": (["--oracle", "matrix"], "matrix", "nothing"),
    "matrix not there": (["--matrix", "nowhere.csv"], "matrix", "nowhere.csv"),
    "p with matrix": (["--matrix", "nowhere.csv", "--p", "0.9"], "p", "0.9"),
    "out is a directory": (["--n", "8", "--p", "0.9", "--out", "."], "out", "."),
    "out has another ending": (["--n", "8", "--p", "0.9", "--out", "a.xlsx"], "out", "a.xlsx"),
    "out in no directory": (["--n", "8", "--p", "0.9", "--out", "no/where/a.csv"], "out", "no/where/a.csv"),
    "plot has another ending": (["--n", "8", "--p", "0.9", "--plot", "a.gif"], "plot", "a.gif"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_2(pairsim_command, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    arguments, name, got = BAD[case]
    outcome = pairsim_command("sweep", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 1
    assert name in outcome.err
    assert got in outcome.err
    assert "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []


FILES = {
    "r does not sum to 1": ("--r", b"0.5,0.4", "sum to 1"),
    "r largest elsewhere": ("--r", b"0.4,0.6", "class 1"),
    "r negative": ("--r", b"1.5,-0.5", "-0.5"),
    "r is text": ("--r", b"a,b", "numbers"),
    "matrix not square": ("--matrix", b"0.5,0.5,0.5\n0.5,0.5,0.5", "2 x 3"),
    "matrix does not add up": ("--matrix", b"0.5,0.7\n0.2,0.5", "0.7 + 0.2"),
    "matrix out of range": ("--matrix", b"0.5,1.7\n-0.7,0.5", "1.7"),
    "matrix with nan": ("--matrix", b"0.5,nan\nnan,0.5", "nan"),
    "matrix ragged": ("--matrix", b"0.5,0.5\n0.5", "numbers"),
    "matrix empty": ("--matrix", b"", "dimension"),
    "matrix binary junk": ("--matrix", bytes(range(256)), "numbers"),
    "npy cut short": ("--matrix", b"\x93NUMPY\x01\x00v\x00{'descr'", "numbers"),
    "npy of objects": ("--matrix", None, "numbers"),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files_are_one_line_and_exit_2(pairsim_command, tmp_path, case):
    option, content, says = FILES[case]
    path = tmp_path / "given.dat"
    if content is None:
        np.save(tmp_path / "given.npy", np.array([{"a": 1}, print], dtype=object), allow_pickle=True)
        path = tmp_path / "given.npy"
    else:
        path.write_bytes(content)
    outcome = pairsim_command("sweep", option, path)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert says in outcome.err


@pytest.mark.parametrize("name", ["mine.csv", "mine.json", "mine.parquet", "mine.png", "mine.svg", "mine.pdf"])
@pytest.mark.parametrize("content", [b"", b"name,grade\nann,1\n", b"[]", b"\x00\xff" * 50])
def test_a_strangers_file_is_never_replaced(pairsim_command, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    option = "--plot" if name.endswith(("png", "svg", "pdf")) else "--out"
    outcome = pairsim_command(*SMALL, option, path)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert str(path) in outcome.err or name in outcome.err
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_plot_refuses_what_is_not_a_results_table(pairsim_command, tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    for results in ("other.csv", "nowhere.csv", "."):
        outcome = pairsim_command("plot", tmp_path / results, "--out", tmp_path / "fig.png")
        assert (outcome.code, len(outcome.err.splitlines())) == (2, 1)
    assert not (tmp_path / "fig.png").exists()


def test_ctrl_c_ends_with_130_and_leaves_nothing(tmp_path):
    program = [sys.executable, "-c", "from pairsim.cli import run; run()"]
    options = ["sweep", "--n", "512", "--p", "0.7", "--trials", "100000000", "--out", "a.csv", "--progress", "json"]
    folder, told = tmp_path / "folder", tmp_path / "stderr"
    folder.mkdir()
    with (
        told.open("w") as stderr,
        subprocess.Popen(program + options, cwd=folder, stderr=stderr, stdout=subprocess.PIPE) as process,
    ):
        while '"tasks_done"' not in told.read_text():  # then imports are over and blocks are running
            assert process.poll() is None, told.read_text()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    *before, last = told.read_text().splitlines()
    assert "stopped" in last
    assert all(line.startswith(("pairsim: compiling", '{"seconds"')) for line in before)
    assert list(folder.iterdir()) == []


def test_a_closed_pipe_is_no_drama():
    program = f"{sys.executable} -c 'from pairsim.cli import run; run()'"
    command = f"{program} sweep --n 4..32:1 --p 0.9 --trials 10 --format csv | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("oracle,n,p")
    assert done.stderr == ""
