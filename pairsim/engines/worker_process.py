"""The worker's side of a process engine: read units, run them, and end when the parent is gone."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import time
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any

from pairsim.engines.packing import in_words, pack, perform_packed, unpack

GOODBYE = b""
"""The message that ends a worker after the units it has been given."""

HERE = ("here", "")
"""Said when the process is up, before the context is sent, so that the parent never waits for a slow start."""

READY = ("ready", "")
"""Said when the context has been read."""

ALIVE = ("alive", "")
"""Said every few seconds from then on, so that a long unit is not taken for a worker that was stopped."""

CANNOT = "cannot"
"""Said, with the reason, when the context cannot be read."""

GLANCE = 1.0
"""Seconds between two looks at the parent's number, for systems or accidents that keep its pipes open."""


class Speaker:
    """Sends messages to the parent, one at a time, from any thread."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._one_at_a_time = threading.Lock()

    def say(self, message: tuple[Any, ...]) -> None:
        """Send one message."""
        data = pack(message)
        with self._one_at_a_time:
            self._pipe.send_bytes(data)


def serve(pipe: Connection, heartbeat: float) -> None:
    """Run units that come through the pipe until told to stop; the main function of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, inbox), name="parent", daemon=True).start()
    parent = Speaker(pipe)
    try:
        parent.say(HERE)
        threading.Thread(target=_beat, args=(parent, heartbeat), name="heartbeat", daemon=True).start()
        try:
            work, context = unpack(inbox.get())
        except BaseException as caught:
            parent.say((CANNOT, in_words(caught)))
            return
        parent.say(READY)
        while (message := inbox.get()) != GOODBYE:
            parent.say(tuple(perform_packed(work, context, message)))
    except OSError:  # nobody is there to read: the parent is gone or has dropped us
        os._exit(1)


def _beat(parent: Speaker, seconds: float) -> None:
    """Tell the parent again and again that the process is not stopped; not the listener's task, which must not wait."""
    while True:
        time.sleep(seconds)
        try:
            parent.say(ALIVE)
        except OSError:
            return


def _listen(pipe: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    """Move messages from the pipe to the inbox, also while a unit runs, and end the process with its parent.

    Reading at once keeps the parent from ever blocking on a full pipe; the same pipe closes when the parent dies.
    """
    parent = multiprocessing.parent_process()
    parent_number = os.getppid()
    watched: list[Any] = [pipe] if parent is None else [pipe, parent.sentinel]
    while True:
        connection.wait(watched, GLANCE)
        try:
            while pipe.poll():
                inbox.put(pipe.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)
        if os.getppid() != parent_number or (parent is not None and not parent.is_alive()):
            os._exit(1)
