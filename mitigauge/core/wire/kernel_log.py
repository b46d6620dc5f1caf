"""The kernel's taint, and the lines of its log that explain one or reject an option of its command
line, as a host reads them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
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

# Of init/main.c; the options follow, in quotation marks since 5.16. Before 5.14 nothing is said.
UNKNOWN_PARAMETERS: Final = re.compile(r"Unknown (?:kernel )?command line parameters:? ")
# What the kernel (5.14 to 7.2) says of an option that it does not know or cannot do.
REJECTS: Final = re.compile(
    UNKNOWN_PARAMETERS.pattern + r"|Unsupported mitigations|[Ii]gnoring unknown|nknown option"
    r"|nknown [a-z ]{1,40} option|[Ii]nvalid option|ignoring option \("
    r"|selected but not compiled in|compiled without mitigations|unknown CPU flag:"
    r"|Malformed early option"
)
MOST_REJECTING: Final = 40
# The kernel cuts a line of its log here.
LONGEST_LINE: Final = 1024
# Options are read at the start of a boot: the records of its first second are among so many.
FIRST_RECORDS: Final = 30_000


def rejecting(lines: Iterable[str]) -> list[str]:
    """The first lines that reject an option of the command line, in their order."""
    rejections = (line for line in islice(lines, FIRST_RECORDS) if REJECTS.search(line))
    return [line[:LONGEST_LINE] for line in islice(rejections, MOST_REJECTING)]


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
