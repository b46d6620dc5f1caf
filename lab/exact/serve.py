"""Windows for the host that they were counted of: ``python -m lab.exact.serve DIRECTORY MARKS``.

QEMU starts this program for every connection that the host makes to :data:`ADDRESS`, with the
connection as standard input and output. The host says what it wants, and reads ``ok SIZE`` and so
many bytes, compressed by zlib: for ``window NUMBER`` the window's file, for ``marks`` the library
that marks a program's timed part.
"""

from __future__ import annotations

import re
import shlex
import sys
import zlib
from pathlib import Path
from typing import BinaryIO

from mitigauge.core.wire.exact import WINDOW_BYTES

ADDRESS = "10.0.2.100:8"
LONGEST_LINE = 40


def marks_of(plugin: Path) -> Path:
    """The library that marks a program's timed part, see ``marks.c``."""
    return plugin.with_name(plugin.name.replace("exact-", "marks-"))


def command(directory: Path, plugin: Path) -> str:
    """The command line for QEMU to start, as a shell would read it."""
    files = (str(directory), str(marks_of(plugin)))
    return shlex.join([sys.executable, "-m", "lab.exact.serve", *files])


def answer(line: str, directory: Path, marks: Path) -> bytes:
    """What is sent for a line; ``ValueError`` or ``OSError`` where there is nothing to send."""
    if line.strip() == "marks":
        return zlib.compress(marks.read_bytes())
    found = re.fullmatch(r"window ([0-9]{1,5})", line.strip())
    if not found:
        raise ValueError("ask for `marks` or `window NUMBER`")
    path = directory / f"window-{found[1]}"
    if not path.is_file():
        raise ValueError(f"no window {found[1]} was counted: its marks did not run here")
    if path.stat().st_size > WINDOW_BYTES:
        raise ValueError(f"window {found[1]} has more than {WINDOW_BYTES} bytes")
    return zlib.compress(path.read_bytes(), 1)


def serve(directory: Path, marks: Path, asked: BinaryIO, told: BinaryIO) -> int:
    """Serve one connection; what goes wrong is said on it."""
    try:
        line = asked.readline(LONGEST_LINE).decode("ascii", "replace")
        body = answer(line, directory, marks)
        told.write(f"ok {len(body)}\n".encode() + body)
        told.flush()
    except BrokenPipeError:
        return 0
    except (ValueError, OSError) as error:
        told.write(f"error: {error}\n".encode())
        told.flush()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(serve(Path(sys.argv[1]), Path(sys.argv[2]), sys.stdin.buffer, sys.stdout.buffer))
