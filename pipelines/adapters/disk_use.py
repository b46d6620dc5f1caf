"""What a program took of the disk, however it hides it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Folders within folders: a kernel's tree has some 12, and a path as the kernel takes it 4,096
# characters, so that what lies deeper can be reached by no path.
DEEPEST = 100
_BLOCK = 512


@dataclass(slots=True)
class DiskUse:
    """Bytes and files below some directories; *too_deep*: there is more, that was not counted."""

    used_bytes: int = 0
    files: int = 0
    too_deep: bool = False


def disk_use(directories: Iterable[Path]) -> DiskUse:
    """What lies below the directories. Links are not followed, and folders are held open as they
    are gone through, so that neither a name nor a path leads elsewhere.
    """
    use = DiskUse()
    for directory in directories:
        with suppress(OSError):
            _count(os.open(directory, os.O_RDONLY | os.O_DIRECTORY), use, 0)
    return use


def _count(descriptor: int, use: DiskUse, depth: int) -> None:
    try:
        if depth > DEEPEST:
            use.too_deep = True
            return
        for entry in os.scandir(descriptor):
            use.files += 1
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                    _count(os.open(entry.name, flags, dir_fd=descriptor), use, depth + 1)
                else:
                    use.used_bytes += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
    finally:
        os.close(descriptor)


def unlinked_bytes(processes: Iterable[int]) -> int:
    """Bytes of files that processes hold open and that have no name any more, each once."""
    found: dict[tuple[int, int], int] = {}
    for process in processes:
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{process}/fd"):
                with suppress(OSError):
                    held = os.stat(entry.path)
                    if held.st_nlink == 0:
                        found[held.st_dev, held.st_ino] = held.st_blocks * _BLOCK
    return sum(found.values())
