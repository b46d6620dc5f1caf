"""Windows in which an emulated host's blocks are counted; elsewhere the marks do nothing.

A mark is one instruction that does nothing, see `wire/exact.py`. A program of perf's benchmarks is
marked by a library that the runner had from the emulator; a `run` marks what it does itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from _kit import program_maps
from _kit.wire.exact import (
    BEGIN,
    END,
    MAPS,
    MARKS_VARIABLE,
    MOST_WINDOWS,
    NOP,
    SIGN,
    STEPS,
    WINDOWS,
    Window,
)

RETURN = b"\xc3"
# personality(2): addresses are the same in each run, so that those of one tell those of the next.
ADDR_NO_RANDOMIZE = 0x0040000


def marks(number: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """Functions that run the marks of begin and end of window *number*.

    Both lie in one page of memory, by which the emulator knows who began the window.
    """
    if not 0 <= number < MOST_WINDOWS:
        raise ValueError(f"{number} is no window: a whole number below {MOST_WINDOWS}")
    begin, end = (NOP + struct.pack("<HBB", number, kind, SIGN) + RETURN for kind in (BEGIN, END))
    page, at = code_page(begin + end)
    return called_at(page, at), called_at(page, at + len(begin))


def machine_code(code: bytes, *parameters: type[Any]) -> Callable[..., None]:
    """A function that runs these instructions of x86-64; *parameters*: their ctypes."""
    return called_at(*code_page(code), *parameters)


def code_page(code: bytes) -> tuple[mmap.mmap, int]:
    """A page of memory with these instructions, and its address."""
    protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=protection)
    page.write(code)
    return page, ctypes.addressof(ctypes.c_char.from_buffer(page))


def called_at(page: mmap.mmap, address: int, *parameters: type[Any]) -> Callable[..., None]:
    """A function that runs what lies at an *address* in a *page*."""
    function = ctypes.CFUNCTYPE(None, *parameters)(address)
    # The page lives as long as what leads into it.
    function.page = page  # type: ignore[attr-defined]
    return function


@contextlib.contextmanager
def window(number: int) -> Iterator[None]:
    """Count as window *number* what runs within the block."""
    begin, end = marks(number)
    begin()
    try:
        yield
    finally:
        end()


def keep_addresses() -> None:
    """Have each program that is started lie at the same addresses each time."""
    ctypes.CDLL(None).personality(ctypes.c_ulong(ADDR_NO_RANDOMIZE))


@contextlib.contextmanager
def marked_by_library(number: int, output: Path) -> Iterator[None]:
    """Have what is started within the block count its timed part as window *number*."""
    library = os.environ.get(MARKS_VARIABLE, "")
    ours = {
        "LD_PRELOAD": library,
        "MITIGAUGE_WINDOW": str(number),
        "MITIGAUGE_MAPS": str(output / MAPS.format(number)),
    }
    keep_addresses()
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


def count(
    record: dict[str, Any],
    operations: int,
    measured: Callable[[int], float],
) -> int:
    """Have `measured(number)` run the case's operations in each window; it returns their seconds.

    What is told of it stands in *record*, which becomes run.json.
    """
    # Once without a window: what is done only the first time is no part of an operation.
    measured(0)
    record["exact"] = [
        Window(number=number, operations=operations, seconds=measured(number))
        for number in range(1, WINDOWS + 1)
    ]
    return 0


def count_steps(
    record: dict[str, Any],
    operations: int,
    measured: Callable[[int, int], float],
    output: Path,
) -> int:
    """Have `measured(number, times)` run so many times the case's operations in each window.

    For programs that cannot mark their timed part: their start is in each window once. It returns
    seconds; what is told of it stands in *record*, which becomes run.json.
    """
    keep_addresses()
    with program_maps.Watch() as watch:
        measured(0, 1)
    maps = watch.told()
    for number in range(1, STEPS + 1):
        (output / MAPS.format(number)).write_text(maps)
    record["exact"] = [
        Window(number=number, operations=operations * number, seconds=measured(number, number))
        for number in range(1, STEPS + 1)
    ]
    return 0


def keep_own_maps(output: Path) -> None:
    """Leave this process's maps for all windows."""
    for number in range(1, WINDOWS + 1):
        shutil.copyfile("/proc/self/maps", output / MAPS.format(number))
