"""Files of the state directory and of dead processes that may go."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

# Their lines are found by their place in the file while a run boots the host.
CONSOLES = ("lab/hosts/*/serial.log", "lab/hosts/*/qemu.log")
SERVICE_LOGS = ("log/*.log", "postgres/server.log")
# As mkdtemp names ours: sockets of long life lie in directories that are named otherwise.
_SCRATCH = re.compile(r"mitigauge-[a-z]+-[a-z0-9_]{8}")
_SECONDS_A_DAY = 86400


def logs(home: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Log files of the state directory."""
    for pattern in patterns:
        yield from sorted(home.glob(pattern))


def dead_scratch(home: Path, days: float) -> Iterator[Path]:
    """Directories of plays, and ours below the system's for temporary files, that are old.

    Whoever made them needs them for minutes; one that is *days* old belongs to a process
    that was killed. Only real directories of this account are ours.
    """
    temporary = Path(tempfile.gettempdir())
    ours = (path for path in temporary.glob("mitigauge-*") if _SCRATCH.fullmatch(path.name))
    for path in sorted([*(home / "ansible-runner").glob("run-*"), *ours]):
        if _old(path, days) and _own_directory(path):
            yield path


def _own_directory(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _old(path: Path, days: float) -> bool:
    # The time of the last change of the entry itself: an archive's content cannot set that.
    try:
        return time.time() - path.lstat().st_ctime >= days * _SECONDS_A_DAY
    except FileNotFoundError:
        return False


def remove_directory(directory: Path, *, dry_run: bool) -> int:
    """Remove it with all that is below; bytes that went. Raises ``OSError``."""
    size = sum(
        os.lstat(os.path.join(folder, name)).st_size
        for folder, _, names in os.walk(directory)
        for name in names
    )
    if not dry_run:
        shutil.rmtree(directory)
    return size


def remove_file(path: Path, *, dry_run: bool) -> int:
    """Remove it; bytes that went. Raises ``OSError``."""
    size = path.lstat().st_size
    if not dry_run:
        path.unlink()
    return size


def old_files(paths: Iterable[Path], days: float) -> Iterator[Path]:
    """Those of the files that were written that long ago."""
    return (path for path in paths if _old(path, days))
