"""Units on the workers of a Dask scheduler, on this machine or any number of others."""

from __future__ import annotations

import contextlib
import importlib
import queue
import secrets
import time
import warnings
from typing import Any, NamedTuple, NoReturn

from pairsim.engines.base import Engine, EngineLost, Finished, UnitError, Work
from pairsim.engines.dask_address import await_greeting, check_address
from pairsim.engines.dask_quiet import Quiet
from pairsim.engines.kept_context import pack_context, perform_recalled, recall
from pairsim.engines.packing import Reply, in_words, one_line, pack, read_reply, unsent
from pairsim.errors import ParameterError, parameter_error

CENSUS = 0.5
"""Seconds between two queries to the scheduler: is it there, and how many workers has it?"""

SILENCES = 3
"""Queries in a row that may stay without an answer (each for the engine's timeout) before the scheduler is lost."""

BURIALS = 3
"""How often the context may die with its workers, without any unit done in between, before it is to blame itself."""

CLOSING = 3.0
"""Seconds that saying goodbye to a scheduler may take."""


class DaskEngine(Engine):
    """Runs units on the workers of a running Dask scheduler.

    A worker that dies has its units run again by Dask; a unit that Dask gives up (`KilledWorker`) counts as one
    bad attempt. The context is a task of its own, so that it can be made again when the workers that hold it die, and
    may be submitted before there is any worker. Units do not depend on it, or Dask would run them where it happens to
    be: a worker that has not seen it says so with its first unit, which then comes back to it with the context.

    Parameters
    ----------
    address : str
        `tcp://host:port` or `tls://host:port`.
    timeout : float
        Seconds to try to connect.

    Attributes
    ----------
    workers : int
        How many workers the scheduler has; `slots`, the number of their threads, is 0 while there are none.

    Examples
    --------
    >>> DaskEngine("localhost")
    Traceback (most recent call last):
        ...
    pairsim.errors.ParameterError: The 'scheduler' parameter of sweep must be an address like tcp://host:port ...
    """

    in_process = False

    def __init__(self, address: str, timeout: float = 10.0) -> None:
        check_address(address)
        self.address, self._timeout = address, timeout
        self.slots = self.workers = 0
        self._client: Any = None
        self._quiet = Quiet()
        self._forget()
        self._connect()

    @property
    def capacity(self) -> int:
        """Enough to hide the way to the scheduler and back, and a few to begin with while there is no worker."""
        return max(4, 3 * self.slots)

    def describe(self) -> str:
        """Say in a few words where the units run, or that they wait for a worker."""
        if not self.workers:
            return f"no worker yet at {self.address}"
        return f"{self.slots} slots of {self.workers} worker{'s' * (self.workers > 1)} at {self.address}"

    def _forget(self) -> None:
        self._arrivals: queue.SimpleQueue[tuple[Any, Any, BaseException | None]] = queue.SimpleQueue()
        self._units: dict[Any, Any] = {}
        self._unsent: list[Finished] = []
        self._context: Any = None
        self._burials = 0
        self._lost: EngineLost | None = None

    def _connect(self) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            must_be = "omitted: it requires Dask (pip install 'pairsim[dask]')"
            raise parameter_error("sweep", "scheduler", must_be, self.address) from error
        self._quiet.start()
        try:
            self._await_greeting(distributed)
            self._client = distributed.Client(self.address, timeout=self._timeout, set_as_default=False, name="pairsim")
            self._count(self._client.nthreads())
        except ParameterError:
            self._disconnect()
            raise
        except Exception as error:
            self._disconnect()
            reason = str(error) if isinstance(error, OSError) and str(error) else in_words(error)
            raise EngineLost(f"no Dask scheduler answers at {self.address} ({one_line(reason)})") from error
        except BaseException:
            self._disconnect()
            raise
        self._client.loop.add_callback(self._take_census, self._client)

    def _await_greeting(self, distributed: Any) -> None:
        protocol, host, port = check_address(self.address)
        context = None
        if protocol == "tls":
            context = distributed.Security().get_connection_args("client").get("ssl_context")
            if context is None:
                must_be = "a tcp:// address unless TLS is set up (distributed.comm.tls in Dask's configuration)"
                raise parameter_error("sweep", "scheduler", must_be, self.address)
        await_greeting(host, port, self._timeout, context)

    def _count(self, threads: dict[str, int]) -> None:
        self.workers, self.slots = len(threads), sum(threads.values())

    async def _take_census(self, client: Any) -> None:
        """Ask the scheduler for its workers, again and again; runs in the client's own thread."""
        import asyncio  # slow to load, and loaded already when there is a client

        silences = 0
        while client is self._client and self._lost is None:
            reason = f"the connection is {client.status}"
            try:
                threads = await asyncio.wait_for(client.scheduler.ncores(), self._timeout)
            except TimeoutError:
                silences += 1
                reason = f"no answer for {silences * self._timeout:g} s"
            except OSError:
                silences, reason = SILENCES, "the connection was lost"
            except Exception as error:
                silences, reason = SILENCES, in_words(error)
            else:
                silences = 0
                self._count(threads)
            if client is self._client and (silences >= SILENCES or client.status != "running"):
                self._lose(reason)
            await asyncio.sleep(CENSUS)

    def _lose(self, reason: str) -> None:
        if self._lost is None:
            self._lost = EngineLost(f"the Dask scheduler at {self.address} is gone ({reason})")
            self._arrivals.put((None, None, None))  # wakes `wait`

    def start(self, work: Work, context: Any) -> None:
        """Submit the context; connects again after a stop."""
        self._packed = pack_context(type(self).__name__, work, context)
        self._release()
        if self._client is None:
            self._connect()
        self._key = secrets.token_hex(8)
        self._send_context()

    def _send_context(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on its size: it is sent once, and no user can make it smaller
            self._context = self._submit("context", _open_context, self._key, self._packed)

    def _submit(self, kind: str, *call: Any, **where: Any) -> Any:
        if self._lost is not None:
            raise self._lost
        try:
            return self._client.submit(*call, key=f"pairsim-{kind}-{secrets.token_hex(16)}", pure=False, **where)
        except Exception as error:
            self._lose(in_words(error))
            raise self._lost or error from error

    def submit(self, unit: Any) -> None:
        """Send one unit to the scheduler."""
        try:
            packed = pack(unit)
        except Exception as caught:
            self._unsent.append(unsent(unit, caught))
            return
        self._send_unit(unit, packed, None)

    def _send_unit(self, unit: Any, packed: bytes, context: Any, **where: Any) -> None:
        future = self._submit("unit", _perform_there, self._key, context, packed, **where)
        self._units[future] = (unit, packed)
        self._client.loop.add_callback(_bring, self._client, future, self._arrivals)

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return what has finished."""
        finished, self._unsent = self._unsent, []
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._units:
            left = 0.0 if finished or self._lost else None if deadline is None else deadline - time.monotonic()
            try:
                future, answer, error = self._arrivals.get(timeout=None if left is None else max(0.0, left))
            except queue.Empty:
                break
            if future in self._units:
                self._read(self._units.pop(future), answer, error, finished)
                future.release()
        if not finished and self._lost is not None:
            raise self._lost
        return finished

    def _read(self, tag: tuple[Any, bytes], answer: Any, error: BaseException | None, finished: list[Finished]) -> None:
        unit, packed = tag
        if isinstance(answer, Reply):
            self._burials = 0
            finished.append(read_reply(unit, answer))
            return
        with contextlib.suppress(EngineLost):  # told by `wait`, after it has handed out what did finish
            if self._client.status != "running":
                self._lose("the connection was lost")
            elif isinstance(answer, str):
                self._give_up(answer)
            elif isinstance(answer, NoContext):  # back to that worker or, should it be gone, to any
                self._mend_context()
                self._send_unit(unit, packed, self._context, workers=[answer.worker], allow_other_workers=True)
            elif error is not None:
                innocent = getattr(error, "task", None) == self._context.key
                self._mend_context()
                if innocent:  # it never ran: the context it was waiting for was lost with its worker
                    self._send_unit(unit, packed, None)
                else:
                    finished.append(Finished(unit, None, UnitError(in_words(error)), 0.0))

    def _mend_context(self) -> None:
        """Send the context again when it is gone with its workers; one that cannot be read loses the engine."""
        if self._context.status == "error":
            error = self._context.exception()
            self._burials += 1
            if type(error).__name__ != "KilledWorker" or self._burials > BURIALS:
                self._give_up(in_words(error))
            self._send_context()
        elif self._context.status == "cancelled":  # somebody has restarted the cluster
            self._send_context()

    def _give_up(self, reason: str) -> NoReturn:
        self._lost = EngineLost(f"the workers cannot read their work units ({reason})")
        raise self._lost

    def stop(self, *, now: bool) -> None:
        """Give back what the scheduler holds for us and close the connection.

        Units that run on a worker cannot be ended from here; they end by themselves, and nobody reads their results.
        """
        with contextlib.suppress(EngineLost):
            while not now and self._units:
                self.wait(None)
        self._release()
        self._disconnect()

    def _release(self) -> None:
        for future in [*self._units, self._context]:
            if future is not None:
                future.release()
        self._forget()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):  # what is closed already, or cannot be reached, is closed enough
                client.close(timeout=CLOSING)
        self._quiet.stop()


class NoContext(NamedTuple):
    """The answer of a worker that has yet to see the context."""

    worker: str


def _perform_there(key: str, packed_context: bytes | None, packed_unit: bytes) -> Reply | str | NoContext:
    """Run a unit on a worker."""
    answer = perform_recalled(key, packed_context, packed_unit)
    if answer is not None:
        return answer
    distributed: Any = importlib.import_module("distributed")
    return NoContext(distributed.get_worker().address)


def _open_context(key: str, packed: bytes) -> bytes:
    """Read the context on a worker, so that one that cannot be read fails here and once."""
    recall(key, packed)
    return packed


async def _bring(client: Any, future: Any, arrivals: queue.SimpleQueue[tuple[Any, Any, BaseException | None]]) -> None:
    """Fetch a result as soon as there is one; runs in the client's own thread."""
    try:
        arrivals.put((future, await client.gather(future, asynchronous=True), None))
    except BaseException as error:  # also a cancelled future, which is what a lost scheduler leaves behind
        arrivals.put((future, None, error))
