"""An exact pass as a host leaves it: the marks of its windows, its directory and exact.json.

A window is what an emulated host runs between two marks; the emulator counts its blocks
(`lab/exact/plugin.c` writes the file, `lab/exact/serve.py` sends it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

# Within a case's directory.
DIRECTORY: Final = "exact"
FILE: Final = "exact.json"
# A window's file, compressed by zlib, and the maps of the process that ran in it.
WINDOW: Final = "window-{}.z"
MAPS: Final = "maps-{}.txt"
# Where `run` finds the library that marks programs which it starts.
MARKS_VARIABLE: Final = "MITIGAUGE_MARKS"

# Windows of a case, numbered from 1. What they have in common is what an operation does; a second
# one shows whether it does it each time.
WINDOWS: Final = 2
# Windows of a case whose program cannot mark its timed part: of once, twice and three times the
# operations. What each has more than the one before is a window without start-up.
STEPS: Final = WINDOWS + 1

# Of counted time, by each instruction: `-icount shift=1`.
INSTRUCTION_NS: Final = 2

# The mark: NOPL disp32(%rax,%rax,1), the displacement being sign, kind and number.
NOP: Final = b"\x0f\x1f\x84\x00"
SIGN: Final = 0x4D
BEGIN: Final = 1
END: Final = 2
# Numbers of windows are below it.
MOST_WINDOWS: Final = 8

# Of one window's file, unpacked and packed.
WINDOW_BYTES: Final = 120 << 20
PACKED_BYTES: Final = 32 << 20

# How a window's file begins: these letters, the number of its form, and the length of its header
# (32 bits each).
LETTERS: Final = b"MGXB"
FORM: Final = 1
START: Final = "<II"
# Files of this form tell behind that how many lines of data stand between header and blocks; nobody
# reads these.
FORM_WITH_DATA: Final = 2
DATA_LINES: Final = "<I"
DATA_LINE_BYTES: Final = 24

# Of all names together.
MOST_SYMBOLS: Final = 60_000


class Window(TypedDict):
    """One window as `run` tells it: operations, and their time where the tool says it."""

    number: int
    operations: int
    seconds: float


# Where a function begins and ends, its name, and what it is part of: `kernel`, a module of the
# kernel, or a program's file. One without a name is all of a file that no symbol covers.
Symbol = tuple[int, int, str, str]


class Begun(TypedDict):
    """What exact.json has, however the pass ended; `detail`: why there is nothing."""

    state: str
    detail: str


class Exact(Begun, total=False):
    """exact.json."""

    windows: Sequence[Window]
    symbols: Sequence[Symbol]
