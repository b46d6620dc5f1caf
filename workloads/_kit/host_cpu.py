"""Processor time of the whole host, from /proc/stat (proc_stat(5))."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

STAT = Path("/proc/stat")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# user, nice, system, irq, softirq. User holds what guests take; steal is no work of this host.
BUSY = (0, 1, 2, 5, 6)
ALL = range(8)


class Ticks(NamedTuple):
    """Since the boot, over all processors."""

    busy: int
    all: int


def read_ticks(stat: str | None = None) -> Ticks:
    """What the first line says, of the file or of its text."""
    numbers = [int(word) for word in (stat or STAT.read_text()).split("\n", 1)[0].split()[1:]]
    return Ticks(sum(numbers[i] for i in BUSY), sum(numbers[i] for i in ALL))
