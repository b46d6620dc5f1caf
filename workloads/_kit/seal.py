"""Digests of raw files, taken where they were written: what was changed since is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _kit.parsing import ParseError, field
from _kit.wire.run_record import FILE, SHA256


def of(directory: Path, names: Iterable[str]) -> dict[str, str]:
    """Name → SHA-256 of each file."""
    return {name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in names}


def require_whole(directory: Path, record: dict[str, Any], names: Iterable[str]) -> None:
    """Raise ParseError unless every file is as `record`, which is run.json, says it was written."""
    for name in names:
        said = field(record, FILE, SHA256, dict).get(name)
        try:
            content = (directory / name).read_bytes()
        except OSError as error:
            raise ParseError(f"{name}: {error.strerror}") from None
        if said != hashlib.sha256(content).hexdigest():
            raise ParseError(f"{name}: it is not as it was written, or {FILE} has no digest of it")
