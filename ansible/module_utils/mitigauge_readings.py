"""Files of a host by which settings are proven: parameters of modules and sysctls. Reads only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

READABLE = re.compile(r"sys/module/\w+/parameters/\w+|proc/sys(/[\w-]+){2,}", re.ASCII)
LONGEST = 4096


def readings(root: Path, wanted: Sequence[str]) -> dict[str, str | None]:
    """File → its text, at most some KiB of it; None where it cannot be read.

    Raises ValueError for a name that is none of such a file.
    """
    found: dict[str, str | None] = {}
    for name in wanted:
        if not READABLE.fullmatch(name):
            raise ValueError(f"{name!r} is no parameter of a module and no sysctl")
        try:
            found[name] = (root / name).read_text(errors="replace").strip()[:LONGEST]
        except OSError:
            found[name] = None
    return found
