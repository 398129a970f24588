"""Files that are verified before they are read, and written whole or not at all.

Each begins with a keyed hash (BLAKE2b) of its name and content. The key is random and lies in the directory, readable
by its owner alone: a file that is damaged, cut short, renamed or from another installation does not verify.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

KEY_NAME = "key"
TEMPORARY = ".tmp"
MAC_BYTES = 32
MOST_BYTES = 2**28  # a hundred times the largest kernel; a file that claims more is none of ours
FLAGS = {name: getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")}
READ = os.O_RDONLY | FLAGS["O_BINARY"] | FLAGS["O_CLOEXEC"] | FLAGS["O_NOFOLLOW"] | FLAGS["O_NONBLOCK"]
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS["O_BINARY"] | FLAGS["O_CLOEXEC"]


class DamagedFileError(Exception):
    """A file is not what was written under its name by this installation."""


class SealedFiles:
    """The sealed files of a directory that belongs to the user.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pairsim.kernels.sealed_files import SealedFiles
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     files = SealedFiles(Path(directory))
    ...     files.write("a", b"content")
    ...     files.read("a")
    b'content'
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @functools.cached_property
    def _key(self) -> bytes:
        """The secret of the directory; a new one when there is none or it is damaged, and old files are void then."""
        path = self.directory / KEY_NAME
        for _ in range(3):  # another process may make or remove it at the same time
            try:
                key = _read_own(path, private=True)
                if len(key) == MAC_BYTES:
                    return key
                raise DamagedFileError(path)
            except DamagedFileError:
                path.unlink(missing_ok=True)
            except FileNotFoundError:
                pass
            with contextlib.suppress(FileExistsError):
                _write_new(path, secrets.token_bytes(MAC_BYTES))
        return _read_own(path, private=True)

    def read(self, name: str) -> bytes:
        """Return the content of a file; raises FileNotFoundError or DamagedFileError."""
        data = _read_own(self.directory / name)
        content = data[MAC_BYTES:]
        if not hmac.compare_digest(data[:MAC_BYTES], self._mac(name, content)):
            raise DamagedFileError(name)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file, in place of one that is there; readers see the old one or the new one."""
        with _temporary(self.directory / name, self._mac(name, content) + content) as temporary:
            os.replace(temporary, self.directory / name)

    def remove(self, name: str) -> None:
        """Remove a file if it is there and can be removed."""
        with contextlib.suppress(OSError):
            os.unlink(self.directory / name)

    def _mac(self, name: str, content: bytes) -> bytes:
        mac = hashlib.blake2b(key=self._key, digest_size=MAC_BYTES, person=b"pairsim kernel")
        encoded = name.encode()
        mac.update(len(encoded).to_bytes(8, "big") + encoded)
        mac.update(content)
        return mac.digest()


def _read_own(path: Path, *, private: bool = False) -> bytes:
    """Return the bytes of a regular file that only the user can have written (or, if `private`, read)."""
    try:
        handle = os.open(path, READ)
    except OSError as error:
        if error.errno == errno.ELOOP:  # a symbolic link
            raise DamagedFileError(path) from None
        raise
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise DamagedFileError(path)
        if hasattr(os, "geteuid"):
            forbidden = 0o077 if private else 0o022
            if status.st_uid != os.geteuid() or status.st_mode & forbidden:
                raise DamagedFileError(path)
        with open(handle, "rb", closefd=False) as file:
            return file.read(MOST_BYTES)
    finally:
        os.close(handle)


def _write_new(path: Path, data: bytes) -> None:
    """Write a file unless one is there; raises FileExistsError then."""
    with _temporary(path, data) as temporary:
        try:
            os.link(temporary, path)  # unlike a rename, it never replaces anything
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: the last of several processes wins
            os.replace(temporary, path)


@contextlib.contextmanager
def _temporary(path: Path, data: bytes) -> Iterator[Path]:
    """Yield a new file beside `path` that holds `data`; it is gone afterwards."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}{TEMPORARY}")
    handle = os.open(temporary, WRITE, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
