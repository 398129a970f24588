"""The files of the kernel cache: what is damaged, cut short or somebody else's does not verify."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cache_processes import environment

from pairsim.kernels.sealed_files import KEY_NAME, DamagedFileError, SealedFiles

CONTENT = bytes(range(256))

HAMMER = """
import sys
from pathlib import Path
from pairsim.kernels.sealed_files import SealedFiles
files = SealedFiles(Path(sys.argv[1]))
for turn in range(300):
    files.write("shared", bytes([turn % 256]) * 50_000)
    found = files.read("shared")
    assert len(found) == 50_000 and len(set(found)) == 1
assert "numba" not in sys.modules
"""


@pytest.fixture
def files(tmp_path: Path) -> SealedFiles:
    made = SealedFiles(tmp_path)
    made.write("entry", CONTENT)
    return made


def test_what_was_written_is_read_by_this_process_and_the_next(files):
    assert files.read("entry") == CONTENT
    assert SealedFiles(files.directory).read("entry") == CONTENT
    files.write("entry", b"")
    assert SealedFiles(files.directory).read("entry") == b""
    with pytest.raises(FileNotFoundError):
        files.read("another")
    assert sorted(os.listdir(files.directory)) == ["entry", KEY_NAME]  # nothing temporary is left
    assert {path.stat().st_mode & 0o777 for path in files.directory.iterdir()} == {0o600}


def test_no_flipped_bit_and_no_other_length_goes_unnoticed(files):
    path = files.directory / "entry"
    whole = path.read_bytes()
    damaged = []
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        damaged.append(bytes(changed))
    damaged += [whole[:length] for length in range(len(whole))] + [whole + b"\0", whole + whole, CONTENT, b""]
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(DamagedFileError):
            files.read("entry")
    path.write_bytes(whole)
    assert files.read("entry") == CONTENT  # negative control: it was the damage


def test_a_file_under_another_name_or_from_another_installation_does_not_verify(files, tmp_path):
    whole = (files.directory / "entry").read_bytes()
    (files.directory / "another").write_bytes(whole)
    with pytest.raises(DamagedFileError):
        files.read("another")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = SealedFiles(elsewhere)
    other.write("entry", CONTENT)
    (elsewhere / "entry").write_bytes(whole)
    with pytest.raises(DamagedFileError):
        other.read("entry")


@pytest.mark.parametrize("key", [b"", b"short", b"\0" * 32, b"\0" * 33])
def test_a_damaged_key_voids_what_was_sealed_with_it_and_is_replaced(files, key):
    path = files.directory / KEY_NAME
    path.write_bytes(key)
    later = SealedFiles(files.directory)
    with pytest.raises(DamagedFileError):
        later.read("entry")
    later.write("entry", CONTENT)
    assert SealedFiles(files.directory).read("entry") == CONTENT
    assert len(path.read_bytes()) == 32


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no modes")
def test_only_a_regular_file_that_nobody_else_can_write_is_read(files, tmp_path):
    path = files.directory / "entry"
    for mode in (0o620, 0o602, 0o666):
        path.chmod(mode)
        with pytest.raises(DamagedFileError):
            files.read("entry")
    path.chmod(0o644)
    assert files.read("entry") == CONTENT
    real = tmp_path / "real"
    path.rename(real)
    path.symlink_to(real)
    with pytest.raises(DamagedFileError):
        files.read("entry")
    path.unlink()
    os.mkfifo(path)  # opening it must not wait for a writer
    with pytest.raises(DamagedFileError):
        files.read("entry")
    (files.directory / KEY_NAME).chmod(0o640)  # a key that others may know is none
    path.unlink()
    real.rename(path)
    with pytest.raises(DamagedFileError):
        SealedFiles(files.directory).read("entry")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_read(files):
    os.chown(files.directory / "entry", 12345, 12345)
    with pytest.raises(DamagedFileError):
        files.read("entry")


def test_readers_see_whole_files_while_processes_and_threads_write(tmp_path):
    command = [sys.executable, "-c", HAMMER, str(tmp_path)]
    hammers = [subprocess.Popen(command, env=environment(None)) for _ in range(3)]
    files, failures = SealedFiles(tmp_path), []

    def write() -> None:
        try:
            for turn in range(100):
                files.write("shared", bytes([turn]) * 50_000)
                assert len(set(files.read("shared"))) == 1
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [hammer.wait(timeout=120) for hammer in hammers] == [0, 0, 0]
    assert failures == []
    assert sorted(os.listdir(tmp_path)) == [KEY_NAME, "shared"]
