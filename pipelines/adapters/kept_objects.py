"""What builds left in their output folders, for builds of the same and some patches more.

Such a build compiles only what these patches change. It gets a copy: whoever wrote a patch may have
written anything into it, and a copy begins those builds alone in which that patch is too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from pipelines.adapters.disk_use import disk_use
from pipelines.adapters.file_lock import alone
from pipelines.adapters.sandbox import remove

# Of kernels without patches, and of those with some: a series goes on from the one before.
MOST_PLAIN, MOST_PATCHED = 2, 2
# A distribution's whole configuration leaves more than tens of such folders.
LARGEST = 3 << 30
LIVES_S = 2 * 86_400.0
# Less than this is free: they are the first to go.
LEAST_FREE = 16 << 30


def keep(directory: Path, name: str, out: Path, *, patched: bool) -> None:
    """Take over the folder *out* as what the build *name* left; the oldest ones make room."""
    if disk_use([out]).used_bytes > LARGEST:
        return
    with alone(directory / "lock"):
        kind = directory / ("patched" if patched else "plain")
        kind.mkdir(parents=True, exist_ok=True)
        remove(kind / name)
        out.rename(kind / name)
        os.utime(kind / name)
        most = MOST_PATCHED if patched else MOST_PLAIN
        for old in sorted(kind.iterdir(), key=lambda each: each.stat().st_mtime)[:-most]:
            remove(old)


def begin(directory: Path, names: Sequence[str], out: Path) -> str | None:
    """Make *out* a copy of the first of *names* that is kept; which one, or None.

    One from the future is not taken: what is patched now would look older than its objects.
    """
    with alone(directory / "lock"):
        kept = {each.name: each for each in directory.glob("*/*")}
        now = time.time()
        for name in names:
            if name not in kept or kept[name].stat().st_mtime >= now:
                continue
            remove(out)
            copied = subprocess.run(
                ["cp", "-a", "--reflink=auto", "--", kept[name], out], check=False
            )
            if copied.returncode == 0:
                os.utime(kept[name])
                return name
            remove(out)
            out.mkdir()
            return None
    return None


def forget(directory: Path, now: float) -> None:
    """Remove what no build used for two days; all of it where the disk is nearly full."""
    if not directory.is_dir():
        return
    is_short = shutil.disk_usage(directory).free < LEAST_FREE
    with alone(directory / "lock"):
        for each in directory.glob("*/*"):
            if is_short or now - each.stat().st_mtime > LIVES_S:
                remove(each)
