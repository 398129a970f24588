"""Decoders and oracles of users, in a package that nothing in pairsim knows of, wherever one can be named."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import naive
import pytest
import strategies
import test_laws
from engine_cluster import Cluster, wait_until

import pairsim
from pairsim import MaxWin, ParameterError, Uniform, sweep
from pairsim.decoders import decoder, decoder_of
from pairsim.engines import DaskEngine
from pairsim.specs import find_class
from pairsim.store import Store
from pairsim.sweeps import work
from pairsim.sweeps.oracle_records import oracle_of, oracle_record
from pairsim.sweeps.work import Context

HERE = Path(__file__).parents[1] / "plugins"
sys.path.append(str(HERE))  # as a user's own directory would be

from my_plugins.hill import Hill  # noqa: E402
from my_plugins.moody import Moody  # noqa: E402
from my_twins import hill, moody_cases  # noqa: E402

HILL, MOODY = "my_plugins.hill:Hill", "my_plugins.moody:Moody"
GRID = ["--oracle", MOODY, "--n", "6", "--p", "0.9", "--set", "hard=0.5,0.7"]
DECODERS = ["--decoder", f"{HILL}:order=given,backwards=true", "--decoder", "max-win", "--decoder", HILL]


def run(folder: Path, *words: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a folder, whose modules it finds by itself."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    plain["PYTHONPATH"] = str(Path(pairsim.__file__).parents[1])
    command = [sys.executable, "-P", "-c", "from pairsim.cli import run; run()", *map(str, words)]
    return subprocess.run(
        command, cwd=folder, env=plain | changes, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a user's directory with the package in it, and a store that a sweep on worker processes made."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(HERE / "my_plugins", folder / "my_plugins", ignore=shutil.ignore_patterns("__pycache__"))
    done = run(folder, "sweep", *GRID, *DECODERS, "--trials", 300, "--store", "s.db", "--workers", 1,
               "--format", "csv", "--quiet")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "swept.csv").write_text(done.stdout)
    return folder


@pytest.fixture
def elsewhere(project: Path, tmp_path: Path) -> Path:
    """Return a directory with the store and without the code."""
    shutil.copy(project / "s.db", tmp_path)
    return tmp_path


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(strategies.DECODERS, "hill", Hill)
    monkeypatch.setitem(strategies.ORACLES, "moody", Moody)
    monkeypatch.setitem(naive.DECODERS, "hill", hill)
    monkeypatch.setitem(strategies.ORACLE_CASES, "moody", moody_cases)


PAIRS = [("moody", "hill"), ("uniform", "hill"), ("recorded", "hill"), ("moody", "max-win"), ("moody", "quick")]
LAWS = [
    test_laws.test_equals_its_naive_twin,
    test_laws.test_a_recording_gives_the_same_decisions,
    test_laws.test_decisions_do_not_depend_on_the_batch,
    test_laws.test_costs_are_as_promised,
    test_laws.test_picking_and_sessions_are_trial_0,
]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("oracle_name", "decoder_name"), PAIRS)
def test_the_laws_hold(law: Any, oracle_name: str, decoder_name: str) -> None:
    law(oracle_name, decoder_name)


@pytest.mark.usefixtures("registered")
def test_a_wrong_twin_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    test_laws.test_a_wrong_twin_is_noticed("hill")
    wrong = lambda judge, n, draw, order, backwards: hill(judge, n, draw, order, not backwards)  # noqa: E731
    monkeypatch.setitem(naive.DECODERS, "hill", wrong)
    with pytest.raises(AssertionError):
        test_laws.test_equals_its_naive_twin("uniform", "hill")


# --- the command line ------------------------------------------------------------------------------------------------


def test_a_sweep_on_workers_is_that_of_python(project: Path) -> None:
    oracles = [Moody(6, 0.9, hard) for hard in (0.5, 0.7)]
    rows = sweep(oracles, [Hill("given", True), MaxWin(), Hill()], 300, threads=1)
    lines = (project / "swept.csv").read_text().splitlines()
    assert [float(line.rpartition('"')[2].split(",")[-9]) for line in lines[1:]] == rows.success.tolist()
    assert rows.decoder.tolist()[:3] == [f"{HILL}:order=given,backwards=True", "max-win", HILL]
    assert rows.oracle.tolist()[::3] == ["moody:hard=0.5", "moody:hard=0.7"]


def test_tables_need_no_code(project: Path, elsewhere: Path) -> None:
    shown = run(elsewhere, "show", "s.db", "--format", "csv")
    assert (shown.returncode, shown.stdout) == (0, (project / "swept.csv").read_text())
    assert run(elsewhere, "export", "s.db", "--out", "a.csv").returncode == 0
    assert (elsewhere / "a.csv").read_text() == shown.stdout
    assert run(elsewhere, "merge", "s.db", "--out", "all.db").returncode == 0


def test_what_needs_the_code_says_how_to_load_it(elsewhere: Path) -> None:
    refused = run(elsewhere, "verify", "s.db")
    assert refused.returncode == 2
    assert "--load my_plugins." in refused.stderr
    no_module = run(elsewhere, "verify", "s.db", "--load", "my_plugins.hill")
    assert no_module.returncode == 2
    assert "must be a module that can be imported" in no_module.stderr


def test_no_file_makes_a_module_load(project: Path, elsewhere: Path) -> None:
    """The module lies where Python would find it, and leaves a mark when it is imported."""
    (elsewhere / "my_plugins").mkdir()
    for name in ("__init__", "hill", "moody"):
        (elsewhere / "my_plugins" / f"{name}.py").write_text("open('mark', 'w').close()\n")
    path = os.pathsep.join([str(Path(pairsim.__file__).parents[1]), str(elsewhere)])
    for words in (
        ["show", "s.db"],
        ["export", "s.db", "--out", "b.csv"],
        ["verify", "s.db"],
        ["show", "s.db", "--tasks"],
    ):
        run(elsewhere, *words, PYTHONPATH=path)
        assert not (elsewhere / "mark").exists()
    run(elsewhere, "show", "s.db", "--load", "my_plugins", PYTHONPATH=path)
    assert (elsewhere / "mark").exists()  # the mark works


def task_ids(folder: Path) -> list[str]:
    done = run(folder, "sweep", *GRID, *DECODERS, "--trials", 300, "--dry-run", "--format", "json")
    return [record["task"] for record in json.loads(done.stdout)]


def test_edited_code_is_a_new_task_and_a_declared_version_is_not(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    shutil.copytree(project, folder)
    before = task_ids(folder)
    assert before == task_ids(project)
    module = folder / "my_plugins" / "hill.py"
    module.write_text(module.read_text() + "\n# edited\n")
    after = task_ids(folder)
    assert [one == two for one, two in zip(before, after, strict=True)] == [False, True, False] * 2
    versioned = module.read_text().replace("    repeats = False\n", "    repeats = False\n    version = 7\n")
    module.write_text(versioned)
    declared = task_ids(folder)
    module.write_text(versioned + "\n# edited again\n")
    assert task_ids(folder) == declared != after
    module.write_text(versioned.replace("version = 7", "version = 8"))
    assert task_ids(folder) != declared


def test_rows_of_code_that_was_replaced_are_left_out(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    shutil.copytree(project, folder)
    module = folder / "my_plugins" / "hill.py"
    code = module.read_text()
    last = "return state.order[state.at[0]]\n\n\ndefine"
    assert last in code
    module.write_text(code.replace(last, "return state.order.size - 1 - state.order[state.at[0]]\n\n\ndefine"))
    words = ["sweep", *GRID, *DECODERS, "--trials", 300, "--store", "s.db", "--format", "csv", "--quiet"]
    again = run(folder, *words)
    assert again.returncode == 0
    assert again.stdout != (project / "swept.csv").read_text()
    shown = run(tmp_path, "show", folder / "s.db", "--format", "csv")
    assert sorted(shown.stdout.splitlines()) == sorted(again.stdout.splitlines())


@pytest.fixture
def command(project: Path, pairsim_command: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command line in this process, where the kernels are compiled already."""
    monkeypatch.chdir(project)
    return pairsim_command


def test_resume_plays_nothing_again(command: Any, project: Path) -> None:
    done = command("sweep", *GRID, *DECODERS, "--trials", 300, "--store", "s.db", "--format", "csv", "--threads", 1)
    assert (done.code, done.out) == (0, (project / "swept.csv").read_text())
    assert "s.db already has 6 of the blocks" in done.err


def test_verify_replay_compare_plan_and_exact(command: Any) -> None:
    verified = command("verify", "s.db", "--load", "my_plugins.hill", "--load", "my_plugins.moody")
    assert verified.out == "6 of 6 blocks recomputed: all values match.\n"
    tasks = json.loads(command("show", "s.db", "--tasks", "--format", "json").out)
    report = command("replay", "s.db", "--task", tasks[0]["task"], "--trial", 5, "--load", "my_plugins.hill")
    assert report.code == 0
    assert report.out.startswith(
        "moody:hard=0.5 (p = 0.9), n = 6, my_plugins.hill:Hill:order=given,backwards=True, seed 0"
    )
    assert command("compare", "s.db", HILL, "max-win", "--format", "csv").out.splitlines()[1].endswith(",yes")
    planned = command("plan", "--oracle", f"{MOODY}:p=0.95,hard=0.8", "--n", 6, "--target", 0.3, "--decoder", HILL)
    assert (planned.code, "my_plugins.hill:Hill" in planned.out) == (0, True)
    value = command("exact", "--n", 6, "--p", 0.9, "--decoder", "my_plugins.lottery:Lottery", "--format", "csv")
    assert float(value.out.splitlines()[1].split(",")[4]) == pytest.approx(2 * 0.9 / 6)
    for words in (["--oracle", MOODY, "--decoder", "adag"], ["--decoder", HILL]):
        refused = command("exact", "--n", 6, "--p", 0.9, *words)
        assert refused.code == 2
        assert "use simulate" in refused.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--decoder", "my_plugins.hill:Hill:backwards=5"], "must be true or false. Got '5'"),
        (["--decoder", "my_plugins.hill:Hill:k=5"], "with key one of backwards, order"),
        (["--decoder", "my_plugins.hill:Dale"], "add --load my_plugins.hill"),
        (["--decoder", "my_plugins.dale:Hill"], "ModuleNotFoundError"),
        (["--set", "soft=0.7"], "omitted: the oracle my_plugins.moody:Moody has no such option"),
        (["--set", "hard"], "must be key=POINTS"),
        (["--set", "hard=high"], "must be numbers such as 0.7"),
        (["--r", "zipf:1"], "omitted: the oracle my_plugins.moody:Moody has no such option"),
    ],
)
def test_slips_are_told_in_one_line(command: Any, words: list[str], told: str) -> None:
    done = command("sweep", "--oracle", MOODY, "--n", 6, "--p", 0.9, *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert told in done.err


@pytest.mark.parametrize("known", [True, False])
def test_a_cluster_needs_the_code(project: Path, tmp_path: Path, known: bool) -> None:
    pytest.importorskip("distributed")
    homes = [str(Path(pairsim.__file__).parents[1]), *([str(project)] if known else [])]
    with Cluster(tmp_path, PYTHONPATH=os.pathsep.join(homes)) as cluster:
        cluster.add_worker()
        with DaskEngine(cluster.address) as engine:
            wait_until(lambda: engine.slots >= 1, "the worker")
        words = ["--oracle", MOODY, "--n", 6, "--p", 0.9, "--decoder", HILL, "--trials", 300, "--format", "csv"]
        done = run(project, "sweep", *words, "--scheduler", cluster.address, "--quiet")
    if known:
        assert (done.returncode, done.stderr) == (0, "")
        rows = sweep([Moody(6, 0.9)], [Hill()], 300, threads=1)
        assert float(done.stdout.splitlines()[1].split(",")[6]) == rows.success.item()
    else:
        assert done.returncode == 1
        assert "this worker cannot import my_plugins." in done.stderr


# --- workers, stores and names ---------------------------------------------------------------------------------------


def test_a_worker_with_other_code_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = pairsim.sweeps.tasks.BlockSimulator((Moody(6, 0.9),), (Hill(),), ("simulated",), -1, 0)
    packed = pickle.dumps(Context([simulator]))
    assert pickle.loads(packed).simulator(0, (0,), (0,)) == simulator
    for cls in (Hill, Moody):
        with monkeypatch.context() as patch:
            patch.setattr("pairsim.specs._codes", {cls: "another"})
            with pytest.raises(RuntimeError, match="this worker has other code of my_plugins"):
                pickle.loads(packed)
    monkeypatch.setattr(work, "find_class", lambda base, name: None)
    with pytest.raises(RuntimeError, match="this worker has no my_plugins"):
        pickle.loads(packed)


def test_specs_definitions_and_records_read_back() -> None:
    for each in (Hill(), Hill("given"), Hill("given", True)):
        assert decoder(each.spec) == each
        assert decoder_of(each.definition()) == each
        assert json.loads(json.dumps(each.definition())) == each.definition()
        assert pickle.loads(pickle.dumps(each)) == each
    for oracle in (Moody(5, 0.9), Moody(5, 0.9, 0.1)):
        assert oracle_of(oracle_record(oracle)) == oracle
        assert pickle.loads(pickle.dumps(oracle)) == oracle
    assert Moody(5, 0.9) != Moody(5, 0.9, 0.1)
    assert find_class(pairsim.Decoder, HILL) is Hill
    assert find_class(pairsim.Oracle, HILL) is None


def test_a_class_that_nobody_can_import_is_kept_in_no_store(tmp_path: Path) -> None:
    class Local(Hill):
        pass

    rows = sweep([Uniform(5, 0.9)], [Local()], 50, threads=1)
    assert len(rows) == 1
    with pytest.raises(ParameterError, match="classes at the top of a module"):
        sweep([Uniform(5, 0.9)], [Local()], 50, threads=1, store=tmp_path / "a.db")
    with Store.read(tmp_path / "a.db") as store:
        assert store.tasks() == []


def test_nothing_in_pairsim_knows_of_them() -> None:
    for path in Path(pairsim.__file__).parent.rglob("*.py"):
        text = path.read_text()
        assert "my_plugins" not in text
        assert "moody" not in text.lower()
