"""What a piece of work takes, however large and however busy the session is that asks."""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# Of work that hangs; whatever it is, it ends far sooner on the slowest machine.
HUNG_S = 900.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a piece of work, and what it took."""

    answer: Any
    own_bytes: int
    """The most memory that the process held that did the work, Python and imports included."""
    started_bytes: int
    """The most that one of the processes held that it started; at least what it held itself."""
    processor_s: float


def measure(work: Callable[..., Any], *arguments: object) -> Taken:
    """Do *work*, a function of a module, in a fresh process, and tell what it took.

    Linux counts the memory of whoever starts a process as that process's own until it has begun
    its program, and keeps one maximum of all that a process ever started. So neither can be
    asked of a session that holds other tests.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(work, arguments, theirs), daemon=False)
    process.start()
    theirs.close()
    try:
        if not ours.poll(HUNG_S):
            raise AssertionError(f"{work.__qualname__} has no end")
        answer = ours.recv()
    finally:
        process.kill()
        process.join()
    if isinstance(answer, str):
        raise AssertionError(answer)
    taken: Taken = answer
    return taken


def own_peak_bytes() -> int:
    """The most memory that this process has held since it began its program."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)[0]) << 10


def started_peak_bytes() -> int:
    """The most that one of the processes held that this one started and that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10


def processor_s() -> float:
    """Processor time of this process and of all that it started and that have ended."""
    return sum(os.times()[:4])


@contextmanager
def within_processor_s(limit_s: float) -> Iterator[None]:
    """Fail where what is inside takes more than *limit_s* of processor time.

    A busy machine makes everything take longer by the clock, but little of it more work.
    """
    began = processor_s()
    yield
    took = processor_s() - began
    assert took < limit_s, f"{took:.1f} s of processor time"


def _work(work: Callable[..., Any], arguments: tuple[object, ...], out: Connection) -> None:
    try:
        answer = work(*arguments)
        taken = Taken(answer, own_peak_bytes(), started_peak_bytes(), processor_s())
    except BaseException:  # noqa: BLE001 - a failed assertion is told where it is looked for
        out.send(traceback.format_exc())
    else:
        out.send(taken)
    # Until it is ended: what it sent may lie in the pipe.
    out.close()
