"""Watches hosts over plain SSH: one thread with one loop, whatever the number of runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.wire.job import STATE_FILE
from mitigauge.measurement.fleet.inventory import load_hosts
from mitigauge.measurement.fleet.service import HostVars
from pipelines.adapters.ssh_command import python_of, ssh_command
from pipelines.host_watch import Watched

log = get_logger(__name__)

PROGRAM = Path(__file__).with_name("await_job.py")
ROLE_DEFAULTS = REPOSITORY / "ansible/roles/workload/defaults/main.yml"
# Until the host says that it waits; an emulated one takes seconds for it.
READY_S = 30.0
READY = b"waiting\n"
# The runner begins some seconds after the play that starts it, on an emulated host.
BEGINS_WITHIN_S = 120
# More than it says at the beginning nobody asked for.
MOST_BYTES = 4096
ENDS_WITHIN_S = 5.0
KNOCK_EVERY_S = 1.0
ANSWERS_WITHIN_S = 3.0
GREETING = b"SSH-"
# A run that was woken in vain for so long belongs to somebody else.
FORGOTTEN_S = 300.0

FindHost = Callable[[str, str], HostVars | None]


def find_host(environment: str, name: str) -> HostVars | None:
    """The host as the inventory has it now; None where that cannot be read, or lacks it."""
    try:
        return load_hosts(environment).get(name)
    except (MitigaugeError, OSError, ValueError):
        return None  # the step that acts on the host says why


@dataclass(slots=True)
class _Watch:
    """What one run waits for."""

    what: str
    environment: str
    future: Future[None] | None = None
    come_at: float | None = None
    ready: threading.Event = field(default_factory=threading.Event)
    waits: bool = False


class SshWatch:
    """:class:`pipelines.host_watch.HostWatch` for hosts that ssh reaches by itself."""

    def __init__(self, find: FindHost = find_host) -> None:
        self._find = find
        self._watches: dict[int, _Watch] = {}
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> Sequence[int]:
        """See HostWatch; ends the thread too."""
        left = list(self._watches)
        for run_id in left:
            self.drop(run_id)
        asyncio.run_coroutine_threadsafe(_tasks_ended(), self._loop).result(ENDS_WITHIN_S * 2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ENDS_WITHIN_S)
        self._loop.close()
        return left

    def state(self, run_id: int, what: str) -> Watched:
        """See HostWatch."""
        with self._lock:
            watch = self._watches.get(run_id)
            if watch is None or watch.what != what:
                return Watched.NOT
            if watch.come_at is None:
                return Watched.WAITS
            del self._watches[run_id]
            return Watched.COME

    def await_job(self, run_id: int, what: str, place: tuple[str, str], job: str) -> bool:
        """See HostWatch."""
        host = self._find(*place)
        command = None if host is None else _waiting_command(host, job)
        if command is None:
            return False
        watch = _Watch(what, place[0])
        self._begin(run_id, watch, _await_process(command, watch))
        watch.ready.wait(READY_S)
        if not watch.waits:
            self.drop(run_id)
        return watch.waits

    def await_greeting(
        self, run_id: int, what: str, place: tuple[str, str], after_s: float
    ) -> bool:
        """See HostWatch."""
        host = self._find(*place)
        # Whether one that is emulated is up is read from its console, before anybody knocks.
        if host is None or not host.address or host.power.get("greeting"):
            return False
        watch = _Watch(what, place[0])
        self._begin(run_id, watch, _await_greeting((host.address, host.port), after_s))
        return True

    def drop(self, run_id: int) -> None:
        """See HostWatch."""
        with self._lock:
            watch = self._watches.pop(run_id, None)
        if watch and watch.future:
            watch.future.cancel()

    def come(self) -> Sequence[tuple[int, str]]:
        """See HostWatch."""
        now = time.monotonic()
        with self._lock:
            self._watches = {
                run_id: watch
                for run_id, watch in self._watches.items()
                if watch.come_at is None or now - watch.come_at < FORGOTTEN_S
            }
            return [
                (run_id, watch.environment)
                for run_id, watch in self._watches.items()
                if watch.come_at is not None
            ]

    def watched(self) -> int:
        """How many runs something is awaited for."""
        with self._lock:
            return sum(watch.come_at is None for watch in self._watches.values())

    def _begin(self, run_id: int, watch: _Watch, waiting: Coroutine[Any, Any, None]) -> None:
        self.drop(run_id)
        with self._lock:
            self._watches[run_id] = watch
        watch.future = asyncio.run_coroutine_threadsafe(_until(waiting, watch), self._loop)


def _waiting_command(host: HostVars, job: str) -> list[str] | None:
    """The ssh call that waits for the job's end; None where only Ansible can reach the host."""
    jobs = str(host.variables.get("workload_jobs") or _default_jobs())
    if "{{" in jobs:
        return None
    arguments = [f"{jobs}/{job}/{STATE_FILE}", str(BEGINS_WITHIN_S)]
    return ssh_command(host, [python_of(host), "-I", "-c", PROGRAM.read_text(), *arguments])


@cache
def _default_jobs() -> str:
    """Where jobs lie on a host whose inventory says nothing of it."""
    return str(YAML(typ="safe").load(ROLE_DEFAULTS.read_text())["workload_jobs"])


async def _until(waiting: Coroutine[Any, Any, None], watch: _Watch) -> None:
    """Wait; then it has come, also where waiting failed: whoever is woken sees what there is."""
    try:
        await waiting
    except OSError as error:
        log.warning("a host is not watched", what=watch.what, error=str(error))
    finally:
        watch.come_at = time.monotonic()
        watch.ready.set()


async def _await_process(command: Sequence[str], watch: _Watch) -> None:
    """Wait for the end of an ssh call that says at first that its host waits."""
    # The pipe to its input is closed with this process, however that ends; the host sees it.
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        start_new_session=True,
    )
    try:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MOST_BYTES)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), process.stdout
        )
        try:
            await _read_to_end(reader, watch)
        finally:
            transport.close()
    finally:
        if process.stdin:
            process.stdin.close()
        # Whoever does not wait any more does not keep it from being ended.
        await asyncio.shield(asyncio.ensure_future(_ended(process)))


async def _read_to_end(reader: asyncio.StreamReader, watch: _Watch) -> None:
    with contextlib.suppress(asyncio.IncompleteReadError, TimeoutError):
        async with asyncio.timeout(READY_S):
            watch.waits = await reader.readexactly(len(READY)) == READY
    watch.ready.set()
    if watch.waits:
        # It says nothing more, and ends; or it is none of ours.
        await reader.read(1)


async def _ended(process: subprocess.Popen[bytes]) -> None:
    """See to it that the process is no more."""
    deadline = time.monotonic() + ENDS_WITHIN_S / 2
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
        await asyncio.sleep(0.05)


async def _await_greeting(address: tuple[str, int], after_s: float) -> None:
    await asyncio.sleep(after_s)
    while not await _greets(*address):
        await asyncio.sleep(KNOCK_EVERY_S)


async def _greets(address: str, port: int) -> bool:
    """Whether SSH answers: what forwards a port takes a connection long before a host is up."""
    writer = None
    try:
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            reader, writer = await asyncio.open_connection(address, port)
            return await reader.readexactly(len(GREETING)) == GREETING
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return False
    finally:
        if writer:
            writer.close()


async def _tasks_ended() -> None:
    """Wait for what was cancelled to end its processes."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


def _environment() -> Mapping[str, str]:
    """What ssh needs of ours, and nothing of our secrets."""
    names = ("PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK")
    return {"LC_ALL": "C.UTF-8", **{name: os.environ[name] for name in names if name in os.environ}}
