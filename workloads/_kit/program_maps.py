"""Where the files lie of programs that a pass starts, of all of them together.

Addresses of a window are of whatever process ran: one that two files share is told as of neither.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

LOOK_S = 0.02
# address-end permissions offset device inode path
MAPPED = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ..x. ([0-9a-f]+) \S+ \d+ +(/.*)")


class Mapping(NamedTuple):
    """Code of a file from `start` to `end`; `base`: where the file's byte 0 would lie."""

    start: int
    end: int
    base: int
    path: str


class Watch:
    """Looks again and again at the maps of this process's group, while its block runs."""

    def __init__(self) -> None:
        self.found: set[Mapping] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def told(self) -> str:
        """What was seen, in the form of /proc/PID/maps."""
        lines = (
            f"{each.start:x}-{each.end:x} r-xp {each.start - each.base:x} 00:00 0 {each.path}\n"
            for each in unambiguous(self.found)
        )
        return "".join(lines)

    def _look(self) -> None:
        group = os.getpgid(0)
        while True:
            for process in Path("/proc").glob("[0-9]*"):
                # A process may end meanwhile.
                with contextlib.suppress(OSError):
                    if os.getpgid(int(process.name)) == group:
                        self.found.update(mappings(process.joinpath("maps").read_text()))
            if self._over.wait(LOOK_S):
                return


def mappings(maps: str) -> Iterator[Mapping]:
    """Code of files in what /proc/PID/maps says."""
    for line in maps.splitlines():
        found = MAPPED.match(line)
        if found:
            start, end, offset = (int(word, 16) for word in found.groups()[:3])
            yield Mapping(start, end, start - offset, found[4])


def unambiguous(found: Iterable[Mapping]) -> Iterator[Mapping]:
    """The parts of address space that one file alone lies in, in the order of addresses."""
    listed = sorted(set(found))
    edges = sorted({edge for each in listed for edge in (each.start, each.end)})
    for start, end in zip(edges, edges[1:]):
        here = [each for each in listed if each.start <= start and end <= each.end]
        if len({(each.base, each.path) for each in here}) == 1:
            yield Mapping(start, end, here[0].base, here[0].path)
