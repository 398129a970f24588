"""Whose directories the kernel cache uses: the user's own, and none that others can write."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from cache_processes import (
    COMPILING,
    SWEEP,
    copy_cache,
    entries,
    planted_pickle,
    run_pairsim,
    run_python,
)

from pairsim.kernels.private_places import UnsafeDirectoryError, private_directory

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no modes")
as_root = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache that has what `SWEEP` needs, and what that prints."""
    cache = tmp_path_factory.mktemp("warm") / "cache"
    done = run_pairsim(cache, *SWEEP)
    assert done.returncode == 0, done.stderr
    return cache, done.stdout


@pytest.fixture
def umask_zero():
    before = os.umask(0)
    yield
    os.umask(before)


def test_what_is_made_is_private_whatever_the_umask(tmp_path, umask_zero):
    path = private_directory(tmp_path / "some" / "where", "kernels-x")
    assert path == tmp_path.resolve() / "some" / "where" / "kernels-x"
    for place in (path, path.parent, path.parent.parent):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert private_directory(tmp_path / "some" / "where", "kernels-x") == path


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o720, 0o1777])
@pytest.mark.parametrize("place", ["root", "root/kernels-x"])
def test_a_directory_that_others_can_write_is_not_used(tmp_path, mode, place):
    path = private_directory(tmp_path / "root", "kernels-x")
    (tmp_path / place).chmod(mode)
    with pytest.raises(UnsafeDirectoryError, match=f"others can write.*{mode:04o}"):
        private_directory(tmp_path / "root", "kernels-x")
    (tmp_path / place).chmod(0o755)
    assert private_directory(tmp_path / "root", "kernels-x") == path


def test_nor_one_that_others_could_replace(tmp_path):
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o777)
    with pytest.raises(UnsafeDirectoryError, match="others can write"):
        private_directory(above / "root", "kernels-x")
    assert list(above.iterdir()) == []  # nothing is made in it
    (tmp_path / "link").symlink_to(above)
    with pytest.raises(UnsafeDirectoryError, match="others can write"):
        private_directory(tmp_path / "link" / "root", "kernels-x")
    above.chmod(0o1777)  # as /tmp: what is made there can be replaced by its owner only
    assert private_directory(above / "root", "kernels-x").is_dir()


@as_root
@pytest.mark.parametrize("place", ["above", "above/root", "above/root/kernels-x"])
def test_nor_one_of_another_user(tmp_path, place):
    private_directory(tmp_path / "above" / "root", "kernels-x")
    os.chown(tmp_path / place, 12345, 12345)
    with pytest.raises(UnsafeDirectoryError, match="belongs to user 12345"):
        private_directory(tmp_path / "above" / "root", "kernels-x")


@as_root
def test_nor_one_that_is_closed_to_us():
    """Not even whose it is below can be seen then, so it is judged from above."""
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from pairsim.kernels.private_places import UnsafeDirectoryError, private_directory\n"
        "os.seteuid(12345)\n"
        "try:\n"
        "    private_directory(Path(sys.argv[1]), 'kernels-x')\n"
        "except UnsafeDirectoryError as error:\n"
        "    print(error)\n"
    )
    with tempfile.TemporaryDirectory() as folder:  # not below tmp_path, which is private
        os.chmod(folder, 0o755)
        root = private_directory(Path(folder) / "root", "kernels-x").parent
        done = run_python(program, None, str(root))
    assert (done.stdout, done.stderr) == (f"'{root}' belongs to user 0\n", "")


def test_a_file_in_its_place_is_no_directory(tmp_path):
    (tmp_path / "kernels-x").write_text("")
    with pytest.raises(FileExistsError):
        private_directory(tmp_path, "kernels-x")


def plant(cache: Path, marker: Path) -> None:
    """Put a pickle that makes the file `marker` in the place of every entry, and of the index that numba would make."""
    for path in entries(cache):
        path.write_bytes(planted_pickle(marker))
        path.with_suffix(".nbi").write_bytes(planted_pickle(marker))


def foreign(cache: Path) -> None:
    for path in (cache, *cache.rglob("*")):
        os.chown(path, 12345, 12345)


def writable(cache: Path) -> None:
    cache.chmod(0o777)


@pytest.mark.parametrize("spoil", [writable, pytest.param(foreign, marks=as_root)], ids=lambda each: each.__name__)
def test_a_planted_cache_is_ignored_with_one_line(warm, tmp_path, spoil):
    cache, marker, runtime = copy_cache(warm[0], tmp_path / "cache"), tmp_path / "marker", tmp_path / "runtime"
    plant(cache, marker)
    spoil(cache)
    before = {path: path.read_bytes() for path in entries(cache)}
    copy_cache(warm[0], runtime / "pairsim")
    done = run_pairsim(cache, *SWEEP, XDG_RUNTIME_DIR=str(runtime), TMPDIR=str(tmp_path))
    assert done.returncode == 0
    assert not marker.exists()
    assert done.stdout == warm[1]
    (line,) = done.stderr.splitlines()  # and nothing is compiled: the fallback has it all
    assert line.startswith(f"pairsim: the kernel cache '{cache}' is ignored: ")
    assert line.endswith(f"using '{runtime / 'pairsim'}'.")
    assert {path: path.read_bytes() for path in entries(cache)} == before


def test_a_planted_cache_would_have_run(tmp_path):
    """Negative control: reading what is planted makes the file."""
    program = "import pickle, sys; pickle.loads(bytes.fromhex(sys.argv[1]))"
    assert run_python(program, None, planted_pickle(tmp_path / "marker").hex()).returncode == 0
    assert (tmp_path / "marker").exists()


def test_a_home_that_others_can_write_and_workers_that_need_not_repeat_it(warm, tmp_path):
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    (home / ".cache").mkdir(parents=True)
    copy_cache(warm[0], home / ".cache" / "pairsim")
    plant(home / ".cache" / "pairsim", tmp_path / "marker")
    home.chmod(0o777)
    temporary.mkdir()
    copy_cache(warm[0], temporary / f"pairsim-{os.geteuid()}")
    temporary.chmod(0o1777)
    many = [*SWEEP, "--trials", "3000000", "--workers", "2"]  # enough blocks for both
    done = run_pairsim(None, *many, HOME=str(home), TMPDIR=str(temporary))
    assert done.returncode == 0
    assert not (tmp_path / "marker").exists()
    assert done.stdout.count("\n") == 2
    assert COMPILING not in done.stderr
    assert done.stderr.count("is ignored") == 1
    assert f"others can write to '{home}' (mode 0777); using '{temporary}/pairsim-{os.geteuid()}'" in done.stderr


def test_a_cache_that_cannot_be_written_is_read(warm, tmp_path):
    cache = copy_cache(warm[0], tmp_path / "cache")
    for path in (*cache.rglob("*"), cache):
        path.chmod(path.stat().st_mode & ~0o222)
    done = run_pairsim(cache, *SWEEP)
    assert (done.returncode, done.stdout, done.stderr) == (0, warm[1], "")
    for path in (cache, *cache.rglob("*")):
        path.chmod(0o700)
