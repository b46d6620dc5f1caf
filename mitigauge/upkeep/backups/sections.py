"""A backup's file: a header, sections, a manifest and an end, compressed by zstd. Pure.

Header, heads of sections, manifest and end are lines of JSON. A section's content follows its head
in pieces, each behind its length in four bytes; a length of nothing ends it. Tables come first,
then the access key, then raw files by rising SHA-256. A file may come from anybody: every limit
holds while it is read, and no name in it is ever a path.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, BinaryIO, Final, Literal

import zstandard
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from mitigauge.access.secret import KEY_BYTES
from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text, quoted

FORMAT: Final = 1
SUFFIX: Final = ".mitigauge-backup"
PIECE_BYTES = 1 << 20
# What a reader takes: lines (a manifest's too), pieces, tables, and memory of the decompressor.
LONGEST_LINE = 4 << 20
LONGEST_PIECE = 4 << 20
MOST_TABLES = 2000
LARGEST_WINDOW = 1 << 27
# Rows of a database pack to a tenth or a fiftieth. What unpacks to more than this is made to.
MOST_UNPACKED = 1000
UNPACKED_ANYWAY = 1 << 30
LEVEL = 3
LENGTH_BYTES = 4
# Behind the compressed lines, in what zstd passes over: a file that lacks it is cut off.
TRAILER: Final = (0x184D2A50).to_bytes(4, "little") + (8).to_bytes(4, "little") + b"mgbackup"
MOST_NAMED = 100

Name = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=1 << 62)]
Text = Annotated[str, Field(max_length=1000)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Anybodys(BaseModel):
    """Of a header only what every version writes."""

    kind: Literal["mitigauge backup"]
    format: int
    version: Annotated[str, Field(max_length=60)] = "of another version"


class Header(_Closed):
    """What a backup is; its first line."""

    kind: Literal["mitigauge backup"] = "mitigauge backup"
    format: int
    version: Text = Field(description="of Mitigauge")
    revision: str = Field(pattern=r"^[0-9a-z_]{1,20}$", description="of the schema")
    taken_at: datetime = Field(description="of the snapshot, by the database's clock")


class TableHead(_Closed):
    """Rows of a table follow, as PostgreSQL's COPY writes them as text."""

    table: Name
    columns: list[Name]


class KeyHead(_Closed):
    """The access key follows."""

    key: Literal["access-key"] = "access-key"


class BlobHead(_Closed):
    """A raw file follows, which has this SHA-256."""

    blob: Digest


class TableFigures(_Closed):
    """What a table's section holds: rows, bytes, and their SHA-256."""

    rows: Count
    bytes: Count
    sha256: Digest


class Manifest(_Closed):
    """What a backup holds, for who restores it. Raw files are named by their SHA-256."""

    tables: dict[Name, TableFigures]
    sequences: dict[Name, Annotated[int, Field(ge=1, le=(1 << 63) - 1)] | None]
    blobs: Count
    blob_bytes: Count
    unsound_blobs: Count = Field(description="that rows name and that were missing or damaged")
    left_out_blobs: Count = Field(description="that what was imported came without")
    unsound: list[Text] = Field(max_length=MOST_NAMED, description="their names, the first")
    has_key: bool
    inventories: dict[Text, Digest] = Field(description="names and digests, never what they say")

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables.values())

    @property
    def table_bytes(self) -> int:
        """Bytes of all rows."""
        return sum(table.bytes for table in self.tables.values())


class ManifestLine(_Closed):
    """The manifest's line."""

    manifest: Manifest


class End(_Closed):
    """The last line: the SHA-256 of all lines before it and of all sections' SHA-256."""

    sha256: Digest


Head = TableHead | KeyHead | BlobHead
Line = Head | ManifestLine | End
_LINE: TypeAdapter[Line] = TypeAdapter(TableHead | KeyHead | BlobHead | ManifestLine | End)


def refused(name: str, reason: str) -> InvalidInput:
    """The error for a file that is not taken."""
    return InvalidInput(
        f"{clean_text(name)}: {reason}",
        hint="Nothing was changed. `mitigauge db backup` writes such files: take another one.",
    )


@dataclass(slots=True)
class Writer:
    """Writes a file: :meth:`add` each section, then :meth:`close`."""

    stream: BinaryIO
    header: Header
    _digest: Any = field(default_factory=hashlib.sha256)
    _out: Any = None

    def __post_init__(self) -> None:
        compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._out = compressor.stream_writer(self.stream, closefd=False)
        self._line(self.header)

    def add(self, head: Head, content: Iterable[bytes]) -> TableFigures:
        """Write one section; what it holds, a row being what ends with a line break."""
        found, size, rows = hashlib.sha256(), 0, 0
        self._line(head)
        for piece in _in_pieces(content):
            self._out.write(len(piece).to_bytes(LENGTH_BYTES))
            self._out.write(piece)
            found.update(piece)
            size, rows = size + len(piece), rows + piece.count(b"\n")
        self._out.write(bytes(LENGTH_BYTES))
        self._digest.update(found.digest())
        return TableFigures(rows=rows, bytes=size, sha256=found.hexdigest())

    def close(self, manifest: Manifest) -> None:
        """Write manifest and end."""
        self._line(ManifestLine(manifest=manifest))
        self._line(End(sha256=self._digest.hexdigest()))
        self._out.close()
        self.stream.write(TRAILER)

    def _line(self, line: BaseModel) -> None:
        written = line.model_dump_json().encode() + b"\n"
        self._digest.update(written)
        self._out.write(written)


def figures_of(content: Iterable[bytes]) -> TableFigures:
    """Rows, bytes and SHA-256 of a table's rows as text."""
    found, size, rows = hashlib.sha256(), 0, 0
    for part in content:
        found.update(part)
        size, rows = size + len(part), rows + part.count(b"\n")
    return TableFigures(rows=rows, bytes=size, sha256=found.hexdigest())


def _in_pieces(content: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of about one size, none of them empty."""
    held = bytearray()
    for part in content:
        held += part
        while len(held) >= PIECE_BYTES:
            yield bytes(held[:PIECE_BYTES])
            del held[:PIECE_BYTES]
    if held:
        yield bytes(held)


@dataclass(frozen=True, slots=True)
class Section:
    """One section as it is read."""

    head: Head
    pieces: Iterator[bytes]
    """Its content, to be gone through at most once, before the next section is asked for."""


def read_header(stream: BinaryIO, name: str, size: int) -> Header:
    """The first line of a file of *size* bytes. Raises :class:`InvalidInput`."""
    return _header(_Plain(stream, name, size).line(), name)


def sections(stream: BinaryIO, name: str, size: int) -> Iterator[Section]:
    """All sections of a file that :func:`check` found whole. Raises :class:`InvalidInput`."""
    plain = _Plain(stream, name, size)
    plain.line()
    while True:
        line = plain.parsed()
        if isinstance(line, ManifestLine | End):
            return
        pieces = plain.pieces()
        yield Section(line, pieces)
        for _ in pieces:
            """What nobody asked for is skipped."""


def check(
    stream: BinaryIO, name: str, size: int, progress: Callable[[], None] = lambda: None
) -> tuple[Header, Manifest]:
    """Read a file of *size* bytes to its end, and see that it is whole and what it says it is.

    *progress* is called after each piece. Raises :class:`InvalidInput`.
    """
    checked = _Check(_Plain(stream, name, size), name, progress)
    return checked.header(), checked.manifest()


@dataclass(slots=True)
class _Check:
    plain: _Plain
    name: str
    progress: Callable[[], None]
    digest: Any = field(default_factory=hashlib.sha256)
    tables: dict[str, TableFigures] = field(default_factory=dict)
    has_key: bool = False
    blobs: int = 0
    blob_bytes: int = 0
    last: str = ""

    def header(self) -> Header:
        line = self.plain.line()
        self.digest.update(line)
        header = _header(line, self.name)
        self.plain.require_trailer()
        return header

    def manifest(self) -> Manifest:
        """Goes through all sections. Raises :class:`InvalidInput` where one is not as promised."""
        while True:
            line = self.plain.parsed()
            if isinstance(line, End):
                raise self.plain.refused("its manifest is missing")
            self.digest.update(self.plain.latest)
            if isinstance(line, ManifestLine):
                self._end(line.manifest)
                return line.manifest
            self._section(line)

    def _section(self, head: Head) -> None:
        found, size, rows = hashlib.sha256(), 0, 0
        for piece in self.plain.pieces():
            found.update(piece)
            size, rows = size + len(piece), rows + piece.count(b"\n")
            self.progress()
        self.digest.update(found.digest())
        if isinstance(head, TableHead):
            if self.has_key or self.blobs:
                raise self.plain.refused(f"the table {head.table} stands too late")
            if head.table in self.tables or len(self.tables) >= MOST_TABLES:
                raise self.plain.refused(f"the table {head.table} stands twice, or too many do")
            figures = TableFigures(rows=rows, bytes=size, sha256=found.hexdigest())
            self.tables[head.table] = figures
        elif isinstance(head, KeyHead):
            if self.has_key or self.blobs or size != KEY_BYTES:
                raise self.plain.refused("its access key is none")
            self.has_key = True
        else:
            self._blob(head.blob, found.hexdigest(), size)

    def _blob(self, named: str, found: str, size: int) -> None:
        if found != named:
            raise self.plain.refused(f"it is damaged: the raw file {named[:12]}… has other content")
        if named <= self.last:
            raise self.plain.refused(f"the raw file {named[:12]}… stands twice, or too late")
        self.last = named
        self.blobs, self.blob_bytes = self.blobs + 1, self.blob_bytes + size

    def _end(self, manifest: Manifest) -> None:
        end = self.plain.parsed()
        if not isinstance(end, End) or end.sha256 != self.digest.hexdigest():
            raise self.plain.refused("it is damaged: its checksum is another one")
        self.plain.require_end()
        if manifest.tables != self.tables:
            raise self.plain.refused("its tables are not those of its manifest")
        found = (self.blobs, self.blob_bytes, self.has_key)
        if found != (manifest.blobs, manifest.blob_bytes, manifest.has_key):
            raise self.plain.refused("its raw files or its key are not those of its manifest")


def _header(line: bytes, name: str) -> Header:
    try:
        anybodys = _Anybodys.model_validate_json(line)
        if anybodys.format == FORMAT:
            return Header.model_validate_json(line)
    except ValidationError:
        raise refused(name, "its first line is not that of a backup of Mitigauge") from None
    raise refused(
        name,
        f"it was written by Mitigauge {clean_text(anybodys.version)}, in format {anybodys.format}; "
        f"this version reads {FORMAT}",
    )


class _Plain:
    """A file's unpacked bytes, from its beginning, under limits."""

    def __init__(self, stream: BinaryIO, name: str, size: int) -> None:
        self._file, self._size, self._name = stream, size, name
        stream.seek(0)
        self._limit = MOST_UNPACKED * size + UNPACKED_ANYWAY
        self._read = 0
        self.latest = b""
        decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
        # Across frames: what stands behind the end is found, not overlooked.
        plain = decompressor.stream_reader(stream, closefd=False, read_across_frames=True)
        self._stream = io.BufferedReader(plain, PIECE_BYTES)

    def refused(self, reason: str) -> InvalidInput:
        return refused(self._name, reason)

    def line(self) -> bytes:
        """The next line, with its end."""
        self.latest = self._taken(lambda: self._stream.readline(LONGEST_LINE))
        if not self.latest.endswith(b"\n"):
            raise self.refused(
                "a line of it is too long" if len(self.latest) >= LONGEST_LINE else "it is cut off"
            )
        return self.latest

    def parsed(self) -> Line:
        """The next line, as what it is."""
        line = self.line()
        try:
            return _LINE.validate_json(line)
        except ValidationError:
            raise self.refused("it has a line that no backup has") from None

    def pieces(self) -> Iterator[bytes]:
        """Content of the section that begins here."""
        while length := int.from_bytes(self._exactly(LENGTH_BYTES)):
            if length > LONGEST_PIECE:
                raise self.refused(f"a piece of it has {length:,} bytes")
            yield self._exactly(length)

    def require_trailer(self) -> None:
        """Raise for a file whose end is missing, before all of it is read."""
        place = self._file.tell()
        self._file.seek(max(self._size - len(TRAILER), 0))
        found = self._file.read(len(TRAILER))
        self._file.seek(place)
        if found != TRAILER:
            raise self.refused("it is cut off: its end is missing")

    def require_end(self) -> None:
        """Raise where anything stands behind."""
        if self._taken(lambda: self._stream.read(1)):
            raise self.refused("something stands behind its end")

    def _exactly(self, count: int) -> bytes:
        found = self._taken(lambda: self._stream.read(count))
        if len(found) < count:
            raise self.refused("it is cut off")
        return found

    def _taken(self, read: Callable[[], bytes]) -> bytes:
        try:
            found = read()
        except zstandard.ZstdError as error:
            said = quoted(str(error), 200)
            raise self.refused(f"it is damaged, or no zstd file: {said}") from None
        self._read += len(found)
        if self._read > self._limit:
            raise self.refused(f"it unpacks to more than {MOST_UNPACKED} times its size")
        return found
