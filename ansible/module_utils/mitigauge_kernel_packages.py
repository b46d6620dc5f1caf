"""Which package file each kernel of ours was installed from, as this host noted it.

dpkg knows a package by name and version, which two builds of one release share. So the file's
SHA-256 is noted beside the moment at which dpkg unpacked it: whoever installs another package of
that name changes the moment, and the note is worth nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

NOTES = Path("/var/lib/mitigauge/kernel-packages.json")
DPKG = Path("/var/lib/dpkg/info")


def unpacked_at(package: str, dpkg: Path = DPKG) -> int | None:
    """When dpkg last unpacked the package, in ns; None where it is not there."""
    for name in (f"{package}.list", f"{package}:amd64.list"):
        try:
            return (dpkg / name).stat().st_mtime_ns
        except FileNotFoundError:
            continue
    return None


def installed_from(package: str, notes: Path = NOTES, dpkg: Path = DPKG) -> str | None:
    """SHA-256 of the file that the package was installed from; None where nobody can tell."""
    noted = _read(notes).get(package)
    if not isinstance(noted, dict) or noted.get("unpacked_at") != unpacked_at(package, dpkg):
        return None
    digest = noted.get("sha256")
    return digest if isinstance(digest, str) else None


def note(package: str, sha256: str, notes: Path = NOTES, dpkg: Path = DPKG) -> None:
    """Write down what the package, which is installed now, came from."""
    kept = {name: noted for name, noted in _read(notes).items() if unpacked_at(name, dpkg)}
    kept[package] = {"sha256": sha256, "unpacked_at": unpacked_at(package, dpkg)}
    partial = notes.with_name(f".{notes.name}.part")
    with partial.open("w") as file:
        json.dump(kept, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(notes)


def sha256_of(path: Path) -> str:
    """Of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _read(notes: Path) -> dict[str, Any]:
    """What was noted; nothing where that cannot be read: the packages are then installed again."""
    try:
        read = json.loads(notes.read_text())
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}
