"""A Python program over hostile input, in a process that can harm nobody.

It has limits on memory, processor time and files, gets no environment of ours, and what it
says is read with a limit while it runs. Its whole process group ends with it.
"""

from __future__ import annotations

import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text

LAUNCHER = Path(__file__).with_name("_confine.py")
# Of what it says on stderr the end is kept: that is where the reason stands.
LONGEST_COMPLAINT = 4000
# More than this is no complaint; the program is ended.
MOST_ERRORS = 1 << 20
PIECE = 1 << 16
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a confined program may use."""

    seconds: float
    """By the clock, and of processor time."""
    memory_bytes: int
    """Of address space."""
    output_bytes: int
    """On stdout."""
    wall_seconds: float = 0.0
    """By the clock, where a loaded machine may take longer than its processor time; 0: the same."""

    @property
    def by_the_clock(self) -> float:
        """Seconds until it is ended."""
        return self.wall_seconds or self.seconds


@dataclass(slots=True)
class _Output:
    """What a program printed so far."""

    output: list[bytes] = field(default_factory=list)
    errors: bytes = b""
    output_size: int = 0
    errors_size: int = 0

    def take(self, piece: bytes, *, error: bool) -> None:
        if error:
            self.errors_size += len(piece)
            self.errors = (self.errors + piece)[-LONGEST_COMPLAINT:]
        else:
            self.output_size += len(piece)
            self.output.append(piece)


def run_confined(
    program: Path,
    arguments: Sequence[str | Path],
    *,
    name: str,
    limits: Limits,
    given: bytes = b"",
) -> bytes:
    """What *program* prints on stdout; people know it as *name*. *given*: on its stdin.

    Raises :class:`InvalidInput` with its complaint where its exit code is not 0, and with
    the limit where it reached one.
    """
    command = [
        *(sys.executable, "-I", "-B", "-X", "utf8", str(LAUNCHER)),
        *(str(limits.memory_bytes), str(math.ceil(limits.seconds)), str(program)),
        *(str(argument) for argument in arguments),
    ]
    with _on_stdin(given) as stdin:
        process = _start(command, stdin)
    said = _Output()
    try:
        over = _listen(process, said, limits)
    finally:
        _end(process)
    why = over or _reason(process.returncode, said, limits)
    if why:
        raise InvalidInput(f"{name} {why}", hint="See the case's raw files.")
    if process.returncode:
        complaint = clean_text(said.errors.decode(errors="replace")).strip()
        raise InvalidInput(f"{name}: {complaint[-2000:]}", hint="See the case's raw files.")
    return b"".join(said.output)


def _on_stdin(given: bytes) -> IO[bytes]:
    """A file in memory that holds *given*: a pipe would have to be filled while it is read."""
    file = os.fdopen(os.memfd_create("given"), "w+b")
    file.write(given)
    file.seek(0)
    return file


def _start(command: Sequence[str], stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=ENVIRONMENT,
        start_new_session=True,
    )


def _listen(process: subprocess.Popen[bytes], said: _Output, limits: Limits) -> str:
    """Hear the program to its end; which limit it reached, if one."""
    assert process.stdout
    assert process.stderr
    deadline = time.monotonic() + limits.by_the_clock
    ended = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ, False)
            selector.register(process.stderr, selectors.EVENT_READ, True)
            selector.register(ended, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    return f"did not end within {limits.by_the_clock:g} s"
                for key, _ in ready:
                    if key.fd == ended:
                        # What it started and left behind would keep the pipes open.
                        _kill_group(process)
                        selector.unregister(ended)
                        continue
                    piece = os.read(key.fd, PIECE)
                    said.take(piece, error=key.data)
                    if not piece:
                        selector.unregister(key.fileobj)
                if said.output_size > limits.output_bytes or said.errors_size > MOST_ERRORS:
                    return f"printed more than {limits.output_bytes} bytes"
    finally:
        os.close(ended)
    return ""


def _reason(code: int, said: _Output, limits: Limits) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGALRM):
        return f"took more than {limits.seconds:g} s of processor time"
    if code == -signal.SIGKILL:
        return f"was killed: {limits.seconds:g} s of processor time, or the machine's memory"
    if code < 0:
        return f"ended by signal {-code}"
    if code and said.errors.rstrip().rpartition(b"\n")[2].startswith(b"MemoryError"):
        return f"needed more than {limits.memory_bytes >> 20} MiB of memory"
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill_group(process)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End it and all it started. Before it is waited for: its number is not another's yet."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
