"""Folders of compiler caches: who writes which, and which a new one begins as."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from pipelines.adapters.sandbox import remove

# Written to by builds of source packages as Debian made them alone; the second is read by all.
UNPATCHED, SHARED = "ours.unpatched", "ours.shared"
LIVES_S = 14 * 86_400.0


def cache_in(directory: Path, scope: str) -> Path:
    """The cache of that scope, which need not exist yet; one that does is used from now on."""
    cache = directory / scope
    if cache.is_dir():
        os.utime(cache)
    return cache


def cache_begun(directory: Path, scope: str, beginnings: Iterable[str]) -> Path:
    """The cache of that scope; a new one is a copy of the first of *beginnings* that exists.

    What wrote those may have written anything: give scopes alone whose patches are in this build.
    """
    cache = cache_in(directory, scope)
    if cache.is_dir():
        return cache
    before = next((each for each in beginnings if (directory / each).is_dir()), None)
    if before is None:
        return cache
    arriving = directory / f"{scope}.new"
    remove(arriving)
    done = subprocess.run(["cp", "-a", "--", directory / before, arriving], check=False)
    # Who writes to it just now may have taken a file away, or the disk is full: it begins empty.
    if done.returncode == 0:
        arriving.rename(cache)
        os.utime(cache)
    remove(arriving)
    return cache


def forget_caches(directory: Path, now: float) -> None:
    """Remove caches that no build used for two weeks; never those of ours."""
    for cache in directory.glob("*"):
        if cache.name in (UNPATCHED, SHARED) or now - cache.stat().st_mtime < LIVES_S:
            continue
        remove(cache)
