"""A backup: a directory with what it takes to put a service back.

==================  ===========================================================================
``database.dump``   as ``pg_dump --format=custom`` writes it; ``pg_restore`` reads it
``blobs/ab/abc…``   raw files that its rows name, by their SHA-256, as the state directory has them
``access-key``      under which tokens and sessions are hashed
``manifest.json``   what there is, with sizes and digests
==================  ===========================================================================
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text

SUFFIX: Final = ".backup"
# What Mitigauge wrote before: one file, in a form of its own. The last that reads it is a commit.
OLD_SUFFIX: Final = ".mitigauge-backup"
READS_OLD: Final = "2a120b5b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
FORMAT: Final = 2
DATABASE, KEY, BLOBS, MANIFEST = "database.dump", "access-key", "blobs", "manifest.json"
LARGEST_MANIFEST: Final = 1 << 30
PIECE_BYTES: Final = 1 << 20
MOST_NAMED: Final = 100

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=1 << 62)]

Progress = Callable[[str], None]
"""Called often, with what is done now. What it raises ends the work."""


class Figures(BaseModel):
    """A file's size and SHA-256."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: Count
    sha256: Digest


class Manifest(BaseModel):
    """What a backup holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["mitigauge backup"] = "mitigauge backup"
    format: int = FORMAT
    version: str = Field(max_length=60, description="of Mitigauge")
    revision: str = Field(pattern=r"^[0-9a-z_]{1,20}$", description="of the schema")
    taken_at: datetime = Field(description="of the snapshot, by the database's clock")
    database: Figures
    key: Figures | None
    blobs: dict[Digest, Count] = Field(description="bytes of each raw file, by its SHA-256")
    left_out_blobs: Count = Field(description="that what was imported came without")
    unsound_blobs: Count = Field(description="that rows name and that were missing or damaged")
    unsound: list[str] = Field(max_length=MOST_NAMED, description="their names, the first")

    @property
    def blob_bytes(self) -> int:
        """The sum of all raw files."""
        return sum(self.blobs.values())

    @property
    def bytes(self) -> int:
        """What the backup takes."""
        return self.blob_bytes + self.database.bytes


def silent(_words: str) -> None:
    """Nobody follows it."""


def in_bytes(count: float) -> str:
    """So many bytes in the unit that people read, `12.3 MB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def blob_path(backup: Path, digest: str) -> Path:
    """Where a raw file lies in a backup."""
    return backup / BLOBS / digest[:2] / digest


def read_manifest(backup: Path) -> Manifest:
    """What the backup says that it holds.

    Raises :class:`InvalidInput` for what is none, or one of another form than this version's.
    """
    if backup.is_file():
        _refuse_file(backup)
    try:
        with (backup / MANIFEST).open("rb") as stream:
            manifest = Manifest.model_validate_json(stream.read(LARGEST_MANIFEST))
    except OSError as error:
        raise InvalidInput(
            f"{backup} cannot be read: {error.strerror or error}",
            hint="Give a directory that `mitigauge db backup` made.",
        ) from None
    except ValidationError:
        raise refused(backup, f"its {MANIFEST} is damaged, or of a newer version") from None
    if manifest.format != FORMAT:
        raise refused(backup, f"it is of Mitigauge {clean_text(manifest.version)}, another form")
    return manifest


def _refuse_file(path: Path) -> None:
    with path.open("rb") as stream:
        is_old = stream.read(len(_ZSTD)) == _ZSTD
    if is_old:
        raise InvalidInput(
            f"{path} is packed by zstd, as backups were up to commit {READS_OLD} of Mitigauge",
            hint=f"If it is one: check out commit {READS_OLD} of its repository, restore it by "
            "that, upgrade that service to this version, and take a new backup. Nothing was "
            "changed.",
        )
    raise refused(path, "a backup is a directory, and this is a file")


def refused(backup: Path, why: str) -> InvalidInput:
    """The error for a backup that cannot be put back."""
    return InvalidInput(f"{backup}: {why}", hint="Take another backup. Nothing was changed.")


def damage(backup: Path, manifest: Manifest, progress: Progress = silent) -> Iterator[str]:
    """Files of the backup that are missing, or not what the manifest says."""
    named = {DATABASE: manifest.database.sha256}
    if manifest.key is not None:
        named[KEY] = manifest.key.sha256
    named |= {str(blob_path(Path(), digest)): digest for digest in manifest.blobs}
    for number, (name, digest) in enumerate(named.items(), 1):
        said = f"reading {number:,} of {len(named):,} files again"
        if digest_of(backup / name, partial(progress, said)) != digest:
            yield name


def digest_of(path: Path, each: Callable[[], None] = lambda: None) -> str | None:
    """A file's SHA-256; None for one that is not there. *each* is called with each piece."""
    found = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while piece := stream.read(PIECE_BYTES):
                found.update(piece)
                each()
            each()
    except FileNotFoundError:
        return None
    return found.hexdigest()
