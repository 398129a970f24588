"""The address of a Dask scheduler: is it one, is anybody there, and does it speak as a scheduler does?

Dask's own client waits without end for the greeting of a server that speaks another protocol, and tries for twice its
timeout to use TLS that was never set up.
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import time
from typing import TYPE_CHECKING

from pairsim.errors import parameter_error

if TYPE_CHECKING:
    import ssl

ADDRESS = re.compile(r"(tcp|tls)://(\[[^\]\s]+\]|[^:/\s\[\]]+):(\d{1,5})", re.ASCII)

PAUSE = 0.2
"""Seconds between two tries while nobody listens: a scheduler may be starting."""

LONGEST_GREETING = 1 << 20
"""Bytes. Some services greet as well, and what they say is no length, or far too long a one."""


class NoGreetingError(OSError):
    """The server at the address is no Dask scheduler, or none that speaks this protocol."""


def check_address(address: object) -> tuple[str, str, int]:
    """Return the protocol, host and port of a scheduler's address.

    Examples
    --------
    >>> check_address("tcp://[::1]:8786")
    ('tcp', '::1', 8786)
    """
    match = ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if match is None or not 1 <= int(match[3]) <= 65535:
        raise parameter_error("sweep", "scheduler", "an address like tcp://host:port or tls://host:port", repr(address))
    return match[1], match[2].strip("[]"), int(match[3])


def await_greeting(host: str, port: int, timeout: float, context: ssl.SSLContext | None) -> None:
    """Return when a Dask scheduler greets, over TLS with `context`; raise an OSError within the timeout else."""
    import ssl  # slow to load

    deadline = time.monotonic() + timeout
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(_connect(host, port, deadline))
        if context is not None:
            try:
                connection = stack.enter_context(context.wrap_socket(connection, server_hostname=host))
            except TimeoutError:
                raise NoGreetingError(f"the server does not speak TLS: no answer within {timeout:g} s") from None
            except (ssl.SSLError, ConnectionError, EOFError) as error:
                raise NoGreetingError(f"no TLS connection to the server: {_reason(error)}") from error
        try:
            greeting = _receive(connection, struct.calcsize("Q"), deadline)
        except TimeoutError:
            raise NoGreetingError(f"the server does not greet as a Dask scheduler does within {timeout:g} s") from None
        except ssl.SSLError as error:
            raise NoGreetingError(f"the server ends the TLS connection: {_reason(error)}") from error
    if not 0 < struct.unpack("Q", greeting)[0] <= LONGEST_GREETING:
        raise NoGreetingError("the server speaks another protocol than a Dask scheduler")


def _reason(error: BaseException) -> str:
    """Return why TLS failed, without the place in OpenSSL's sources."""
    return getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error) or type(error).__name__


def _connect(host: str, port: int, deadline: float) -> socket.socket:
    """Connect, trying again until the time is up: a scheduler that is just being started is waited for."""
    while True:
        try:
            connection = socket.create_connection((host, port), max(0.1, deadline - time.monotonic()))
        except (OSError, UnicodeError) as error:  # UnicodeError: a host name that cannot be one
            if time.monotonic() + PAUSE >= deadline or isinstance(error, UnicodeError):
                raise OSError(getattr(error, "strerror", None) or str(error)) from error
            time.sleep(PAUSE)
        else:
            connection.settimeout(max(0.1, deadline - time.monotonic()))
            return connection


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    """Read so many bytes; fewer when the server ends the connection, which no scheduler does."""
    data = b""
    while len(data) < size:
        connection.settimeout(max(0.01, deadline - time.monotonic()))
        part = connection.recv(size - len(data))
        if not part:
            raise NoGreetingError("the server ends the connection at once")
        data += part
    return data
