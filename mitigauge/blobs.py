"""Raw files by SHA-256, in a directory."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

from mitigauge.errors import NotFound


def put_blob(root: Path, content: bytes) -> str:
    """Store *content* and return its SHA-256; storing it again changes nothing."""
    digest = hashlib.sha256(content).hexdigest()
    path = root / digest[:2] / digest
    if path.exists():
        return digest
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and renamed, so that a reader never sees half a file.
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(temporary).replace(path)
    return digest


def blob_path(root: Path, digest: str) -> Path:
    """Where a blob lies. Raises :class:`NotFound` for one that is not there."""
    path = root / digest[:2] / digest
    if not re.fullmatch(r"[0-9a-f]{64}", digest) or not path.is_file():
        raise NotFound(f"there is no blob {digest[:80]}", hint="Blobs are named by SHA-256.")
    return path
