"""What was changed on a host, written down before each change, so that all of it can be put back.

One file, a mapping of what to what it was before. Whatever is noted once stays as it was noted:
the first note tells the state that was the host's own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RECORD = Path("/var/lib/mitigauge/changes.json")
RECORD_VERSION = 1
# Files and folders of ours have this in their path; nothing else is ever removed.
OURS = "mitigauge"
# Kind → what its notes hold as the state before.
KINDS = (
    "paths",  # files and folders of ours, which are removed whole: null
    "directories",  # directories that were made for them, removed where empty: null
    "units",  # of systemd, enabled by us: null
    "links",  # of the network: null
    "packages",  # that were not there: null
    "kernels",  # releases that were unpacked without dpkg: null
    "upgraded",  # package → the version that was there
    "grub",  # variable in GRUB's environment → its value, null where it was not set
    "efi",  # label of our entry of the firmware, which goes with its files: null
)


class ChangesError(Exception):
    """The record cannot be read, or a change cannot be noted; the text says why."""


def is_ours(path: str) -> bool:
    """Whether the path names us, below a directory of its own; only such ones are removed."""
    parts = Path(path).parts
    return (
        len(parts) > 2
        and parts[0] == "/"
        and ".." not in parts
        and any(OURS in part for part in parts[2:])
    )


def read(record: Path = RECORD) -> dict[str, dict[str, Any]]:
    """Kind → what → its state before; empty where nothing was ever changed.

    Raises :class:`ChangesError` for a record that is torn or of another version.
    """
    try:
        kept = json.loads(record.read_text())
        version = kept["version"]
        noted = {kind: dict(kept[kind]) for kind in KINDS if kind in kept}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ChangesError(
            f"{record}, the record of our changes, cannot be read: {error!r}"
        ) from error
    if version != RECORD_VERSION:
        raise ChangesError(
            f"{record} is of version {version!r}, not {RECORD_VERSION}; "
            "use the version of Mitigauge that wrote it"
        )
    return noted


def note(kind: str, before: Mapping[str, Any], record: Path = RECORD) -> bool:
    """Write down what is about to change; False where all of it was noted already.

    On disk and whole before this returns. Raises :class:`ChangesError` where it cannot be.
    """
    noted = read(record)
    known = noted.setdefault(kind, {})
    new = {what: state for what, state in before.items() if what not in known}
    if not new:
        return False
    known.update(new)
    write(noted, record)
    return True


def write(noted: Mapping[str, Mapping[str, Any]], record: Path = RECORD) -> None:
    """Replace the record as a whole, on disk before this returns."""
    partial = record.with_name(f".{record.name}.part")
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w") as file:
            json.dump({"version": RECORD_VERSION, **noted}, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(record)
    except OSError as error:
        raise ChangesError(f"{record} cannot be written: {error.strerror}") from error


def note_paths(paths: Iterable[str | Path], record: Path = RECORD) -> None:
    """Note files and folders of ours, and the directories that have to be made for them.

    Raises :class:`ChangesError` for a path that does not name us: restoring removes it whole.
    """
    names = [str(path) for path in paths]
    for name in names:
        if not is_ours(name):
            raise ChangesError(
                f"{name} does not have {OURS!r} in its name, so that nobody could tell it from the "
                "host's own; choose another path"
            )
    note("directories", dict.fromkeys(missing_directories(names)), record)
    note("paths", dict.fromkeys(names), record)


def missing_directories(names: Iterable[str]) -> list[str]:
    """Directories above the paths that are not there."""
    above = {str(parent) for name in names for parent in Path(name).parents}
    return sorted(directory for directory in above if not os.path.lexists(directory))
