"""Digests of inventories: whether a machine has the same ones, without what they say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from mitigauge.measurement.fleet.inventory import environment_folders

GENERATED = "generated"


def inventory_digests(home: Path) -> dict[str, str]:
    """SHA-256 of every file of an inventory on this machine, by name.

    Those that were generated, such as the lab's, stand in the state directory *home*. What cannot
    be read is left out.
    """
    found = {}
    for name, path in sorted(_files(home)):
        try:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            continue
    return found


def _files(home: Path) -> Iterator[tuple[str, Path]]:
    for folder in environment_folders().values():
        for path in folder.rglob("*"):
            if path.is_file():
                yield str(path.relative_to(folder.parent)), path
    for path in home.glob("*/inventory/*"):
        if path.is_file():
            yield f"{GENERATED}/{path.relative_to(home)}", path
