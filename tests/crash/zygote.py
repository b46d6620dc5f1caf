"""A process that has a worker's modules imported, and forks one for each request.

To import them takes over a second, to fork a few milliseconds. It has one thread only, so that
a fork is safe. Every child leads a session of its own, so that a signal hits just it, and dies
with the zygote.

It reads a request a line from its standard input and answers each with a line: JSON objects
``{"spawn": [arguments], "log": path, "env": {…}}`` → ``{"pid": n}``, and ``{"poll": pid}`` →
``{"code": null | exit code | -signal}``.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mitigauge.settings import REPOSITORY

PR_SET_PDEATHSIG = 1
WAIT_INTERVAL_S = 0.02


class Zygote:
    """The client's side: a zygote of our own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.zygote"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def spawn(
        self, arguments: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None
    ) -> Forked:
        """Fork a worker with these arguments; its output is appended to *log*."""
        request = {"spawn": list(arguments), "log": str(log), "env": dict(env or os.environ)}
        answer = self.ask(request)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return Forked(self, int(answer["pid"]))

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """One request, one answer. Raises RuntimeError when the zygote is gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except (OSError, ValueError):
                line = ""
        if not line:
            raise RuntimeError(f"the zygote is gone, exit code {self._process.poll()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End it; it kills what it forked."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        self._process.wait(30)
        if self._process.stdout:
            self._process.stdout.close()


@dataclass
class Forked:
    """A child of the zygote, asked and signalled as a ``Popen`` is."""

    zygote: Zygote
    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            self.returncode = self.zygote.ask({"poll": self.pid})["code"]
        return self.returncode

    def wait(self, timeout: float = 30.0) -> int:
        """Wait for its end. Raises TimeoutError."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} did not end within {timeout:.0f} s")
            time.sleep(WAIT_INTERVAL_S)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, stopped or not."""
        self.send_signal(signal.SIGKILL)

    def stopped(self) -> bool:
        """Whether it was stopped by a signal."""
        with contextlib.suppress(FileNotFoundError):
            stat = Path(f"/proc/{self.pid}/stat").read_text()
            return stat.rpartition(")")[2].split()[0] == "T"
        return False


@dataclass
class _Server:
    """The zygote's side."""

    codes: dict[int, int | None] = field(default_factory=dict)

    def serve(self) -> None:
        """Answer requests until there are no more; then kill what still runs."""
        for line in sys.stdin:
            request = json.loads(line)
            answer = self._spawn(request) if "spawn" in request else self._poll(request["poll"])
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        for pid in [pid for pid in self.codes if self._poll(pid)["code"] is None]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _spawn(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if threading.active_count() != 1:
            return {"error": "the zygote has more than one thread"}
        pid = os.fork()
        if pid == 0:
            _be_a_worker(request)
        self.codes[pid] = None
        return {"pid": pid}

    def _poll(self, pid: int) -> dict[str, Any]:
        if self.codes[pid] is None:
            ended, status = os.waitpid(pid, os.WNOHANG)
            self.codes[pid] = os.waitstatus_to_exitcode(status) if ended else None
        return {"code": self.codes[pid]}


def _be_a_worker(request: Mapping[str, Any]) -> None:
    """What the child does; never returns."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        _redirect(Path(request["log"]))
        os.environ.clear()
        os.environ.update(request["env"])
        worker_main.main(request["spawn"])
        code = 0
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else 1
    except BaseException:  # noqa: BLE001 nothing may go on in the zygote's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _redirect(log: Path) -> None:
    """Output to *log*, no input, and none of the zygote's pipes."""
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in ((0, nothing), (1, output), (2, output)):
        os.dup2(file, number)
    os.closerange(3, 64)


if __name__ == "__main__":
    from tests.crash import worker_main

    _Server().serve()
