"""Addresses at which no Dask scheduler answers, on the loopback address: one line each, within a bounded time."""

from __future__ import annotations

import contextlib
import http.server
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_cluster import Cluster

from pairsim.engines import DaskEngine, EngineLost
from pairsim.engines.dask_address import NoGreetingError, await_greeting, check_address
from pairsim.errors import ParameterError

pytest.importorskip("distributed")

SHORT = 1.0


@contextlib.contextmanager
def listening(greeting: bytes | None) -> Iterator[int]:
    """Give the port of a server that says so much to everybody, and nothing else; None: it hangs up at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    if greeting is None:
                        connection.close()
                        continue
                    kept.append(connection)
                    with contextlib.suppress(OSError):  # the other side may have left
                        connection.sendall(greeting)

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)  # wakes accept
        serving.join()
        for connection in kept:
            connection.close()


@pytest.mark.parametrize(
    ("greeting", "said"),
    [
        (b"", r"does not greet as a Dask scheduler does within 1 s"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "speaks another protocol"),
        (b"220 mail.example ESMTP\r\n", "speaks another protocol"),
        (bytes(64), "speaks another protocol"),
        (b"abc", r"does not greet as a Dask scheduler does within 1 s"),
        (None, "ends the connection at once|reset"),
    ],
    ids=["silent", "ssh", "mail", "zeros", "three bytes", "hangs up"],
)
def test_servers_that_are_no_scheduler(greeting: bytes | None, said: str) -> None:
    with listening(greeting) as port:
        address = f"tcp://127.0.0.1:{port}"
        with pytest.raises(EngineLost, match=rf"no Dask scheduler answers at {address} \(.*({said})") as caught:
            DaskEngine(address, timeout=SHORT)
    assert "\n" not in str(caught.value)


def test_a_web_server_is_no_scheduler() -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(EngineLost, match="does not greet"):
            DaskEngine(f"tcp://127.0.0.1:{server.server_port}", timeout=SHORT)
    finally:
        server.shutdown()
        server.server_close()


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineLost, match="Connection refused"):
        DaskEngine(f"tcp://127.0.0.1:{port}", timeout=SHORT)
    with pytest.raises(EngineLost, match="no Dask scheduler answers"):
        DaskEngine("tcp://no-such-host.invalid:8786", timeout=SHORT)
    with pytest.raises(EngineLost, match="no Dask scheduler answers"):
        DaskEngine(f"tcp://{'x' * 70}.invalid:8786", timeout=SHORT)


@pytest.mark.parametrize(
    "address",
    ["", "tcp://", "tcp://host", "tcp://host:0", "tcp://host:65536", "tcp://host:99999", "http://host:80", "tcp:/h:1",
     "tcp://ho st:1", "tcp://host:\N{ARABIC-INDIC DIGIT ONE}", "tcp://a:b:1", "localhost:8786", 5, None],
)  # fmt: skip
def test_what_is_no_address(address: object) -> None:
    with pytest.raises(ParameterError, match="'scheduler' parameter of sweep must be an address like"):
        check_address(address)


def test_a_scheduler_greets(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        _, host, port = check_address(cluster.address)
        await_greeting(host, port, 20.0, None)
        with pytest.raises(NoGreetingError, match="no TLS connection to the server"):  # it speaks, but not TLS
            await_greeting(host, port, 20.0, ssl.create_default_context())


def test_tls_that_is_not_set_up_is_refused_at_once() -> None:
    program = [sys.executable, "-c", "from pairsim.cli import run; run()"]
    words = ["sweep", "--p", "0.7", "--n", "4", "--trials", "64", "--scheduler", "tls://127.0.0.1:8786"]
    ended = subprocess.run([*program, *words], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert "must be a tcp:// address unless TLS is set up" in line
