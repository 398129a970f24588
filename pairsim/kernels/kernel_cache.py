"""numba's cache of machine code, in files that are verified before anything in them is used.

Unlike numba's own there is no index: a file is named by a hash of all that its kernel depends on, so that processes
that write at the same time never mix up whose code a file holds. What does not verify or load is removed, and the
kernel is compiled again.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import pickle
from pathlib import Path
from typing import Any

from numba.core import caching, sigutils
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from pairsim.kernels.cache_directory import kernel_files, tell
from pairsim.kernels.sealed_files import DamagedFileError, SealedFiles
from pairsim.kernels.signatures import describe_signature
from pairsim.kernels.sources import PACKAGE, hash_sources, source_digest

SUFFIX = ".nbc"
NOT_FOR_WRITING = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT)  # an image, or a cache that was just cleared

unsaved: list[OSError] = []  # why kernels of this process could not be kept
_told: list[str] = []


class KernelCache(caching._Cache):
    """Keeps the machine code of one kernel, a file for each signature."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        module = _module_in_package(function.__code__.co_filename)
        name = f"{module}.{function.__qualname__}-{function.__code__.co_firstlineno}"
        self._name = name.replace("<", "").replace(">", "")
        self._basis = "\n".join((self._name, _describe_options(options), source_digest()))
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The directory."""
        files = kernel_files()
        return None if files is None else str(files.directory)

    def enable(self) -> None:
        """Start to use the cache again."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor save from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Forget all signatures of the kernel."""
        files = kernel_files()
        if files is not None:
            for path in files.directory.glob(f"{self._name}-*{SUFFIX}"):
                files.remove(path.name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature, or None when it must be compiled."""
        target_context.refresh()  # numba: the context must be complete before anything is put in it
        name, files = self._file_name(sig, target_context.codegen()), kernel_files()
        if name is None or files is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(files.read(name)))
        except (OSError, MemoryError):  # it is not there, or cannot be read now
            return None
        except DamagedFileError:
            _remove(files, name, "is damaged")
        except Exception as error:  # whatever numba and LLVM raise
            _remove(files, name, f"cannot be loaded ({type(error).__name__})")
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; where that fails, it is compiled again next time."""
        name, files = self._file_name(sig, data.codegen), kernel_files()
        if name is None or files is None or data.lifted or data.library.has_dynamic_globals:
            return
        content = dumps(data._reduce())
        try:
            if hash_sources() == source_digest():  # else edited meanwhile: this code is not what the directory is for
                files.write(name, content)
        except DamagedFileError:  # the key, by somebody who damages it as fast as it is made
            pass
        except OSError as error:
            unsaved.append(error)
            if error.errno not in NOT_FOR_WRITING:
                _tell_once(f"kernels cannot be kept in {str(files.directory)!r}: {error.strerror}.")

    def _file_name(self, sig: Any, codegen: Any) -> str | None:
        """Return the name of the file for a signature; None when it is not to be kept."""
        arguments, result = sigutils.normalize_signature(sig)
        described = describe_signature(arguments if result is None else (*arguments, result))
        if not self._enabled or described is None:
            return None
        basis = "\n".join((self._basis, described, repr(result is None), repr(codegen.magic_tuple())))
        return f"{self._name}-{hashlib.sha256(basis.encode()).hexdigest()[:32]}{SUFFIX}"


def can_be_cached(function: Any) -> bool:
    """Say whether all that a function is compiled from is in pairsim's own files."""
    return _module_in_package(function.__code__.co_filename) is not None and function.__closure__ is None


@functools.cache
def _module_in_package(file: str) -> str | None:
    """Return the name of the module that a source file is, without the package's; None when it is not in it."""
    path = Path(file).resolve()
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts) if path.is_relative_to(PACKAGE) else None


def _describe_options(options: dict[str, Any]) -> str:
    """Return compiler options as the same text in every process; sets have no order of their own."""
    return repr(sorted((key, sorted(value) if isinstance(value, set) else value) for key, value in options.items()))


def _remove(files: SealedFiles, name: str, why: str) -> None:
    """Remove a file that cannot be used."""
    files.remove(name)
    _tell_once(f"a file of the kernel cache {why}; removed and compiled again: {str(files.directory / name)!r}.")


def _tell_once(message: str) -> None:
    """Print one line for all that is wrong with the cache in this process."""
    if not _told:
        _told.append(message)
        tell(message)
