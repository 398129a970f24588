"""Spawned processes that end with their parent at any moment of their life, also before their first import.

`multiprocessing` gives a new process no chance to look after its parent until the parent's main module is imported
again, which can take as long as it likes. So the command line that starts the interpreter is put together here.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
import threading
from typing import Any

GUARD = """
import os, threading, time
def guard():
    while os.getppid() == {parent}:
        time.sleep({seconds})
    os._exit(1)
try:
    import ctypes
    if {by_system}:
        ctypes.CDLL(None).prctl(1, ctypes.c_ulong(9), 0, 0, 0)
except (ImportError, OSError, AttributeError):
    pass
threading.Thread(target=guard, name="guard", daemon=True).start()
"""
"""Run before all else. Linux kills the process with its parent (PR_SET_PDEATHSIG, SIGKILL), which works in the middle
of an import; elsewhere a thread looks for the parent."""

GLANCE = 0.5
"""Seconds between two looks at the parent."""


def make_process(target: Any, arguments: tuple[Any, ...], name: str) -> Any:
    """Return a process that is spawned by `start` and ends with this one, as a daemon.

    Examples
    --------
    >>> process = make_process(print, ("hello",), "greeter")
    >>> process.name, process.daemon
    ('greeter', True)
    """
    spawn: Any = multiprocessing.get_context("spawn")
    process = spawn.Process(target=target, args=arguments, name=name, daemon=True)
    if os.name == "posix" and not getattr(sys, "frozen", False):
        process._Popen = _start_guarded
    return process


def _start_guarded(process: Any) -> Any:
    """Start a process; what `multiprocessing` calls in place of its own."""
    from multiprocessing import popen_spawn_posix, resource_tracker, spawn, util  # not to be had everywhere

    context: Any = multiprocessing.context
    tools: Any = util
    spawn_tools: Any = spawn

    class GuardedPopen(popen_spawn_posix.Popen):
        """Starts the interpreter as its base does, with the guard in front."""

        _fds: list[int]
        finalizer: Any

        def _launch(self, process_obj: Any) -> None:
            tracker = resource_tracker.getfd()
            content = io.BytesIO()
            context.set_spawning_popen(self)
            try:
                for part in (spawn_tools.get_preparation_data(process_obj.name), process_obj):
                    context.reduction.dump(part, content)
            finally:
                context.set_spawning_popen(None)
            parent_reads, child_writes = os.pipe()
            child_reads, parent_writes = os.pipe()
            self.finalizer = tools.Finalize(self, tools.close_fds, (parent_reads, parent_writes))
            try:
                command = _with_guard(spawn_tools.get_command_line(tracker_fd=tracker, pipe_handle=child_reads))
                passed = [*self._fds, tracker, child_reads, child_writes]
                self.pid = tools.spawnv_passfds(spawn_tools.get_executable(), command, passed)
            finally:
                os.close(child_reads)
                os.close(child_writes)
            self.sentinel = parent_reads
            with open(parent_writes, "wb", closefd=False) as file:
                file.write(content.getbuffer())

    return GuardedPopen(process)


def _with_guard(command: list[str]) -> list[str]:
    """Put the guard in front of the program of a command line of Python's."""
    place = command.index("-c") + 1
    # the system kills with the thread that started the process: only the main thread lasts as long as the parent
    by_system = threading.current_thread() is threading.main_thread()
    guard = GUARD.format(parent=os.getpid(), seconds=GLANCE, by_system=by_system)
    return [*command[:place], guard + command[place], *command[place + 1 :]]
