"""Programs that switch power, run with a limit on their time and on what they may say."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mitigauge.core.hostile_text import clean_text
from pipelines.adapters.power.protocol import PowerError

KEPT_BYTES = 64 << 10
_LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class Finished:
    """What a program said at its end: of each stream the last 64 KiB."""

    status: int
    stdout: str
    stderr: str

    @property
    def last_line(self) -> str:
        """The last line of its complaints; where it has none, of what else it said."""
        lines = [line.strip() for line in f"{self.stdout}\n{self.stderr}".splitlines()]
        return next((line[:300] for line in reversed(lines) if line), "")


def run_program(
    argv: Sequence[str],
    *,
    limit_s: float,
    missing_hint: str,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run *argv* without a shell or input, in a process group of its own.

    It gets *environment*, else what has no secrets.

    Raises :class:`PowerError` for a program that is not there, and for one that is still running
    after *limit_s* seconds, which is killed with all that it started.
    """
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=bare_environment() if environment is None else environment,
            cwd="/",
        )
    except OSError as error:
        raise PowerError(
            f"The program {argv[0]} cannot be started: {error.strerror}.", hint=missing_hint
        ) from error
    with process:
        return _finished(process, argv[0], limit_s)


def bare_environment() -> dict[str, str]:
    """What a program needs of our environment; the rest of it holds secrets of the service."""
    kept = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C"}


def _finished(process: subprocess.Popen[bytes], name: str, limit_s: float) -> Finished:
    assert process.stdout is not None
    assert process.stderr is not None
    said = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    deadline = time.monotonic() + limit_s
    try:
        _listen(process, said, deadline)
        process.wait(max(deadline - time.monotonic(), 0.0))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise PowerError(
            f"The program {name} did not end within {limit_s:g} s and was stopped.",
            hint="Run it by hand: does its controller answer?",
        ) from None
    finally:
        if process.poll() is None:
            _kill(process)
    out, err = (clean_text(text.decode(errors="replace")) for text in said.values())
    return Finished(process.returncode, out, err)


def _listen(process: subprocess.Popen[bytes], said: dict[int, bytes], deadline: float) -> None:
    """Keep the end of each stream until both end or the program does.

    Raises ``TimeoutError`` at the deadline. What a program leaves behind may hold the streams
    open for ever, and is not waited for.
    """
    with selectors.DefaultSelector() as streams:
        for stream in said:
            streams.register(stream, selectors.EVENT_READ)
        while streams.get_map():
            ended, late = process.poll() is not None, time.monotonic() > deadline
            ready = streams.select(0 if ended else _LOOK_EVERY_S)
            for key, _ in ready:
                _keep(streams, key.fd, said)
            if ended and (late or not ready):
                return
            if late:
                raise TimeoutError


def _keep(streams: selectors.BaseSelector, stream: int, said: dict[int, bytes]) -> None:
    piece = os.read(stream, KEPT_BYTES)
    said[stream] = (said[stream] + piece)[-KEPT_BYTES:]
    if not piece:
        streams.unregister(stream)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
