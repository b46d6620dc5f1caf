"""The kernel's taint, and the lines of its log that explain one, as a host reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

TAINTED: Final = "/proc/sys/kernel/tainted"
LOG: Final = "/dev/kmsg"
MOST_LINES: Final = 5
LONGEST_TEXT: Final = 250
# A record of /dev/kmsg is no longer than this.
RECORD: Final = 1 << 16
# What kernel/panic.c, mm/, the watchdogs and arch/x86 print as they taint.
EXPLAINS: Final = re.compile(
    r"BUG:|Oops|general protection fault|WARNING:|soft lockup|\[Hardware Error\]"
    r"|due to kernel taint|Running old microcode"
)


def tainted() -> int | None:
    """Bits of the present kernel's taint; None where it does not say."""
    try:
        with open(TAINTED) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def explaining(lines: Iterable[str]) -> list[str]:
    """The lines that explain a taint, in their order, none longer than LONGEST_TEXT."""
    return [line[:LONGEST_TEXT] for line in lines if EXPLAINS.search(line)]


def kernel_log(path: str = LOG) -> Iterator[str]:
    """Texts of all records since the boot that the kernel still has; none where it shows none."""
    try:
        log = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        while True:
            try:
                record = os.read(log, RECORD)
            except BrokenPipeError:
                # Overwritten while it was read; the next one is there.
                continue
            if not record:
                return
            text = record.decode(errors="replace").partition(";")[2]
            yield text.partition("\n")[0]
    except OSError:
        # Its end: there is no more to read now.
        return
    finally:
        os.close(log)
