"""A process that has our programs' modules imported, and forks one for each request.

To import them takes up to a second, to fork a few milliseconds. What is forked is a process like
any other: its own arguments, environment, standard streams, signals and exit code. The zygote has
one thread only, so that a fork is safe. Every child leads a session of its own, so that a signal
hits just it, and dies with the zygote.

Client and zygote talk over a pair of sockets that keep messages apart, each a JSON object:
``{"program": name, "arguments": […], "env": {…}}`` with three descriptors →
``{"child": k, "pid": n}`` or ``{"error": text}``, and, whenever a child has ended, ``{"ended": k,
"code": exit code or -signal}``. Children are numbered from 1: the system gives a pid again.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mitigauge.core.settings import REPOSITORY

PR_SET_PDEATHSIG = 1
MESSAGE_BYTES = 1 << 20
# Which modules a zygote has imported.
BARE, ALL = "bare", "all"


class Zygote:
    """The client's side: a zygote of our own. Safe to use from several threads.

    A *bare* one has other people's libraries alone, so that what is forked imports of ours just
    what it asks for.
    """

    def __init__(self, *, bare: bool = False) -> None:
        self._lock = threading.Lock()
        self._codes: dict[int, int] = {}
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.zygote", str(theirs.fileno()), BARE if bare else ALL],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def spawn(
        self,
        program: str,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        streams: tuple[int, int, int],
    ) -> Forked:
        """Fork one of :data:`PROGRAMS` with these descriptors for input, output and errors.

        Raises RuntimeError when the zygote is gone or cannot fork.
        """
        request = {"program": program, "arguments": list(arguments), "env": dict(env)}
        with self._lock:
            try:
                socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
            except OSError:
                raise self._gone() from None
            while (answer := self._heard()) is None:
                pass
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return Forked(self, int(answer["child"]), int(answer["pid"]))

    def code_of(self, child: int, timeout: float = 0.0) -> int | None:
        """Exit code of a child; None where it has not ended within *timeout* seconds."""
        deadline = time.monotonic() + timeout
        with self._lock:
            while child not in self._codes:
                self._socket.settimeout(max(0.0, deadline - time.monotonic()))
                try:
                    self._heard()
                except (TimeoutError, BlockingIOError):
                    return None
                finally:
                    self._socket.settimeout(None)
            return self._codes[child]

    def close(self) -> None:
        """End it; what it forked dies with it."""
        self._socket.close()
        self._process.wait(30)

    def _heard(self) -> dict[str, Any] | None:
        """One answer; None where it was the end of a child, which is kept."""
        said = self._socket.recv(MESSAGE_BYTES)
        if not said:
            raise self._gone()
        answer: dict[str, Any] = json.loads(said)
        if "ended" not in answer:
            return answer
        self._codes[answer["ended"]] = answer["code"]
        return None

    def _gone(self) -> RuntimeError:
        return RuntimeError(f"the zygote is gone, exit code {self._process.poll()}")


@dataclass
class Forked:
    """A child of the zygote, asked and signalled as a ``Popen`` is."""

    zygote: Zygote
    child: int
    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            self.returncode = self.zygote.code_of(self.child)
        return self.returncode

    def wait(self, timeout: float = 30.0) -> int:
        """Wait for its end. Raises TimeoutError."""
        if self.returncode is None:
            self.returncode = self.zygote.code_of(self.child, timeout)
        if self.returncode is None:
            raise TimeoutError(f"process {self.pid} did not end within {timeout:.0f} s")
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            # It may end meanwhile; the zygote has not told yet.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, stopped or not."""
        self.send_signal(signal.SIGKILL)

    def stopped(self) -> bool:
        """Whether it was stopped by a signal."""
        with suppress(FileNotFoundError):
            stat = Path(f"/proc/{self.pid}/stat").read_text()
            return stat.rpartition(")")[2].split()[0] == "T"
        return False


@functools.cache
def shared(*, bare: bool = False) -> Zygote:
    """The zygote of this process, made when it is first asked for."""
    zygote = Zygote(bare=bare)
    atexit.register(zygote.close)
    return zygote


def run(
    program: str,
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    timeout: float,
    bare: bool = False,
) -> subprocess.CompletedProcess[str]:
    """What the program printed until its end, as ``subprocess.run`` gives it. Raises TimeoutError.

    Its output goes to files without a name, so that none can fill up and stop it.
    """
    with ExitStack() as stack:
        nothing = stack.enter_context(Path(os.devnull).open("rb"))
        out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        streams = (nothing.fileno(), out.fileno(), err.fileno())
        child = shared(bare=bare).spawn(program, arguments, env=env, streams=streams)
        try:
            code = child.wait(timeout)
        except TimeoutError:
            child.kill()
            raise
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode().replace("\r\n", "\n"))
        return subprocess.CompletedProcess([program, *arguments], code, *said)


@contextmanager
def log_streams(log: Path) -> Iterator[tuple[int, int, int]]:
    """Descriptors for :meth:`Zygote.spawn`: no input, and all output appended to *log*."""
    with Path(os.devnull).open("rb") as nothing, log.open("ab") as output:
        yield nothing.fileno(), output.fileno(), output.fileno()


def _mitigauge(arguments: Sequence[str]) -> None:
    from cli.main import main

    sys.argv = ["mitigauge", *arguments]
    main()


def _worker(arguments: Sequence[str]) -> None:
    from tests.crash.worker_main import main

    main(arguments)


LIBRARIES = (
    *("alembic.command", "fastapi", "numpy", "orjson", "procrastinate", "psycopg", "pydantic"),
    *("rich.console", "rich.table", "ruamel.yaml", "scipy.stats", "sqlalchemy.orm", "structlog"),
    *("typer", "uvicorn", "zstandard"),
)


def _killed(arguments: Sequence[str]) -> None:
    from tests.db.killed_at import killed

    killed(arguments)


PROGRAMS: Mapping[str, Callable[[Sequence[str]], None]] = {
    "mitigauge": _mitigauge,
    "killed": _killed,
    "worker": _worker,
}


def import_modules(which: str) -> None:
    """Whatever the programs import when they start or later, or what of it is not ours."""
    if which == BARE:
        for name in LIBRARIES:
            importlib.import_module(name)
        return
    import cli

    for module in pkgutil.iter_modules(cli.__path__, "cli."):
        importlib.import_module(module.name)
    for name in ("api.app", "pipelines.worker", "tests.crash.worker_main", "cli.remote.client"):
        importlib.import_module(name)


@dataclass
class _Server:
    """The zygote's side."""

    socket: socket.socket
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    pids: dict[int, int] = field(default_factory=dict)
    """Child → its pid, for those that run."""
    forked: int = 0

    def serve(self) -> None:
        """Answer requests until the client is gone, and tell it who has ended."""
        self.selector.register(self.socket, selectors.EVENT_READ)
        while True:
            for key, _ in self.selector.select():
                if key.data is None and not self._answer():
                    return
                if key.data is not None:
                    self._bury(key.fd, key.data)

    def _answer(self) -> bool:
        """Answer one request; False where there are no more."""
        said, streams, _, _ = socket.recv_fds(self.socket, MESSAGE_BYTES, 3)
        if not said:
            return False
        if threading.active_count() != 1:
            self._say(error="the zygote has more than one thread")
            return True
        pid = os.fork()
        if pid == 0:
            _become(json.loads(said), streams)
        for stream in streams:
            os.close(stream)
        self.forked += 1
        self.pids[self.forked] = pid
        self.selector.register(os.pidfd_open(pid), selectors.EVENT_READ, self.forked)
        self._say(child=self.forked, pid=pid)
        return True

    def _bury(self, descriptor: int, child: int) -> None:
        self.selector.unregister(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(self.pids.pop(child), 0)
        self._say(ended=child, code=os.waitstatus_to_exitcode(status))

    def _say(self, **answer: object) -> None:
        # Nobody listens any more: the next request says so.
        with suppress(OSError):
            self.socket.send(json.dumps(answer).encode())


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """What the child does; never returns."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        _redirect(streams)
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        code = _ended(PROGRAMS[request["program"]], request["arguments"])
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 nothing may go on in the zygote's loop
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


def _ended(program: Callable[[Sequence[str]], None], arguments: Sequence[str]) -> int:
    """Exit code of a program, as Python itself would end with it."""
    try:
        program(arguments)
    except SystemExit as asked:
        if asked.code is None or isinstance(asked.code, int):
            return asked.code or 0
        print(asked.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 what Python does with what nobody catches
        traceback.print_exc()
        return 1
    return 0


def _redirect(streams: Sequence[int]) -> None:
    """The given descriptors for input, output and errors, and none of the zygote's."""
    # High ones first: one of them may be a number that is to be replaced.
    kept = [os.dup(stream) for stream in streams]
    for number, stream in enumerate(kept):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    sys.stdin, sys.stdout = os.fdopen(0, "r", closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)


if __name__ == "__main__":
    # As a module of its own name, of which there is one.
    from tests.zygote import _Server as Server

    import_modules(sys.argv[2])
    # What is imported lives as long as the process: a child that looked through it for garbage
    # would copy all of its memory.
    gc.freeze()
    Server(socket.socket(fileno=int(sys.argv[1]))).serve()
