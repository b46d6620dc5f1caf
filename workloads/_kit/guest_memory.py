"""The guest's memory: how QEMU is to get it, and what it got as the host's kernel shows it."""

from __future__ import annotations

import re
import resource
from pathlib import Path
from typing import NamedTuple

PLAIN, SHARED, HUGE = "plain", "shared", "hugepages"
# Arguments of a memory-backend-memfd; the first is QEMU's own way, without a backend.
BACKENDS = {PLAIN: "", SHARED: "share=on", HUGE: "share=on,hugetlb=on,prealloc=on"}
PAGE_KB = resource.getpagesize() >> 10
# proc_pid_smaps(5): a line of the mapping, then its values.
MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ([rwxsp-]{4}) ", re.M)
PAGE = re.compile(r"^KernelPageSize: +(\d+) kB$", re.M)


class Mapping(NamedTuple):
    """The mapping that is the guest's memory."""

    page_kb: int
    is_shared: bool


def arguments(size_mb: int, backing: str) -> list[str]:
    """QEMU's arguments for so much memory, `backing` being one of BACKENDS; none is QEMU's own."""
    size = ["-m", str(size_mb)]
    if not BACKENDS.get(backing):
        return size
    backend = f"memory-backend-memfd,id=ram,size={size_mb}M,{BACKENDS[backing]}"
    return [*size, "-object", backend, "-machine", "memory-backend=ram"]


def mapping(pid: int, size_mb: int) -> Mapping | None:
    """Of the process, the smallest mapping that holds `size_mb`; None without one."""
    return found_in(Path(f"/proc/{pid}/smaps").read_text(), size_mb)


def found_in(smaps: str, size_mb: int) -> Mapping | None:
    """As `mapping`, of the text of an smaps file."""
    starts = [*MAPPING.finditer(smaps)]
    ends = [match.start() for match in starts[1:]] + [len(smaps)]
    able = []
    for start, end in zip(starts, ends):
        size = int(start[2], 16) - int(start[1], 16)
        # QEMU reserves addresses around it that nobody may write to.
        if size >= size_mb << 20 and start[3].startswith("rw"):
            able.append((size, start.start(), end, start[3][3] == "s"))
    if not able:
        return None
    _, begin, end, is_shared = min(able)
    page = PAGE.search(smaps, begin, end)
    return Mapping(int(page[1]) if page else 0, is_shared)


def backing_of(found: Mapping | None) -> str:
    """Which of BACKENDS the mapping is."""
    if found is None:
        return "unknown"
    if found.page_kb > PAGE_KB:
        return HUGE
    return SHARED if found.is_shared else PLAIN


def checked_size(size_mb: int, guest_kb: int) -> str:
    """The memory that QEMU gave in MiB, or what the guest has, where that cannot be the same.

    A kernel takes some of it for itself, a small guest's a third or so.
    """
    return str(size_mb) if size_mb << 9 <= guest_kb <= size_mb << 10 else str(guest_kb >> 10)
