"""Files of a host by which settings are proven. Reads only.

Parameters of modules, sysctls, and what the kernel says of its processors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

WRITABLE = re.compile(r"sys/module/\w+/parameters/\w+|proc/sys(/[\w-]+){2,}", re.ASCII)
READABLE = re.compile(rf"{WRITABLE.pattern}|sys/devices/system/cpu/\w+/\w+", re.ASCII)
LONGEST = 4096


def readings(root: Path, wanted: Sequence[str]) -> dict[str, str | None]:
    """File → its text, at most some KiB of it; None where it cannot be read.

    Raises ValueError for a name that is none of such a file.
    """
    found: dict[str, str | None] = {}
    for name in wanted:
        if not READABLE.fullmatch(name):
            raise ValueError(f"{name!r} is no file that proves a setting")
        try:
            found[name] = (root / name).read_text(errors="replace").strip()[:LONGEST]
        except OSError:
            found[name] = None
    return found
