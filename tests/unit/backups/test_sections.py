"""A backup's file: read as it was written, and refused by name where it is anything else."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
from contextlib import suppress
from datetime import UTC, datetime

import pytest
import zstandard

from mitigauge.core.errors import InvalidInput
from mitigauge.upkeep.backups import sections
from mitigauge.upkeep.backups.sections import (
    BlobHead,
    Header,
    KeyHead,
    Manifest,
    TableHead,
    Writer,
    check,
    read_header,
)

NAME = "a.mitigauge-backup"
HEADER = Header(
    format=sections.FORMAT,
    version="0.1.0",
    revision="0045",
    taken_at=datetime(2026, 1, 1, tzinfo=UTC),
)
KEY = bytes(range(32))
BLOBS = sorted((b"", b"raw", b"x" * 3_000_000), key=lambda raw: hashlib.sha256(raw).digest())


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def written(
    *,
    header: Header = HEADER,
    parts: list | None = None,
    end: bool = True,
    **manifest: object,
) -> bytes:
    """A file of these *parts* (head and content), whose manifest says something else on demand."""
    stream = io.BytesIO()
    writer = Writer(stream, header)
    tables, blobs = {}, []
    for head, content in parts if parts is not None else PARTS:
        figures = writer.add(head, [content])
        if isinstance(head, TableHead):
            tables[head.table] = figures
        elif isinstance(head, BlobHead):
            blobs.append(figures.bytes)
    values = {
        "tables": tables, "sequences": {"host_id_seq": 3}, "blobs": len(blobs),
        "blob_bytes": sum(blobs), "left_out_blobs": 0, "unsound_blobs": 0, "unsound": [],
        "has_key": any(isinstance(head, KeyHead) for head, _ in parts or PARTS), "inventories": {},
    }  # fmt: skip
    said = Manifest.model_construct(**(values | manifest))
    if end:
        writer.close(said)
    else:
        writer._out.close()
    return stream.getvalue()


PARTS = [
    (TableHead(table="host", columns=["id", "name"]), b"1\ta\n2\tb\n"),
    (TableHead(table="run", columns=["id"]), b""),
    (KeyHead(), KEY),
    *((BlobHead(blob=sha256(raw)), raw) for raw in BLOBS),
]


def checked(file: bytes) -> Manifest:
    return check(io.BytesIO(file), NAME, len(file))[1]


def refusal(file: bytes) -> str:
    with pytest.raises(InvalidInput) as refused:
        checked(file)
    assert NAME in refused.value.message
    assert "Nothing was changed" in refused.value.hint
    return refused.value.message


def packed(plain: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(plain) + sections.TRAILER


def named(head: type, **names: object) -> bytes:
    """A file with a head that this program would not write."""
    return written(parts=[(head.model_construct(**names), b"")])


def plain(file: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(file)


def test_what_was_written_is_read() -> None:
    file = written()
    manifest = checked(file)
    assert (manifest.rows, manifest.blobs, manifest.blob_bytes) == (2, 3, 3_000_003)
    assert read_header(io.BytesIO(file), NAME, len(file)) == HEADER
    found = [
        (section.head, b"".join(section.pieces))
        for section in sections.sections(io.BytesIO(file), NAME, len(file))
    ]
    assert found == PARTS


def test_a_section_that_nobody_reads_is_skipped() -> None:
    file = written()
    heads = [s.head for s in sections.sections(io.BytesIO(file), NAME, len(file))]
    assert heads == [head for head, _ in PARTS]


def test_one_that_is_cut_off_anywhere_is_refused() -> None:
    file = written(parts=PARTS[:4])
    for length in range(len(file)):
        assert refusal(file[:length])


def test_one_byte_of_damage_anywhere_is_refused() -> None:
    file = written(parts=PARTS[:4])
    # Behind zstd's magic number stands which window it is unpacked in: that is no content.
    window = range(4, 6)
    for place in range(len(file)):
        damaged = bytearray(file)
        damaged[place] ^= 0x41
        if place in window:
            with suppress(InvalidInput):
                assert checked(bytes(damaged)) == checked(file)
        else:
            assert refusal(bytes(damaged))


def test_one_that_was_changed_and_packed_anew_is_refused() -> None:
    changed = plain(written()).replace(b"1\ta\n", b"1\tb\n")
    assert "checksum" in refusal(packed(changed))


def test_a_newer_format_is_named_whatever_else_it_has() -> None:
    newer = (
        plain(written())
        .replace(b'"format":1', b'"format":2,"more":[]')
        .replace(b'"version":"0.1.0"', b'"version":"3.0"')
    )
    assert "Mitigauge 3.0, in format 2; this version reads 1" in refusal(packed(newer))


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"", "cut off"),
        (b"no zstd at all", "no zstd file"),
        (packed(b"{}\n"), "not that of a backup"),
        (packed(b'{"kind":"mitigauge experiment","format":1}\n'), "not that of a backup"),
        (written() + b"more", "end is missing"),
        (written() + packed(b"more"), "behind its end"),
        (written(end=False), "cut off"),
        (written(has_key=False), "not those of its manifest"),
        (written(blobs=2), "not those of its manifest"),
        (written(tables={}), "not those of its manifest"),
        (written(parts=[*PARTS, PARTS[-1]]), "stands twice"),
        (written(parts=[PARTS[0], PARTS[0]]), "stands twice"),
        (written(parts=[PARTS[-1], PARTS[0]]), "too late"),
        (written(parts=[(KeyHead(), b"short")]), "access key"),
        (written(parts=[(BlobHead(blob=sha256(b"a")), b"b")]), "other content"),
        (named(TableHead, table="../x", columns=[]), "no backup has"),
        (named(TableHead, table='h"; drop', columns=[]), "no backup has"),
        (named(BlobHead, blob="../../etc/passwd"), "no backup has"),
        (named(KeyHead, key="/etc/shadow"), "no backup has"),
        (packed(HEADER.model_dump_json().encode() + b"\n" + b"[" * (1 << 20) + b"\n"), "no backup"),
        (packed(b"x" * (sections.LONGEST_LINE + 9)), "too long"),
    ],
)  # fmt: skip
def test_what_is_no_backup_is_refused_by_name(file: bytes, reason: str) -> None:
    said = refusal(file)
    assert reason in said


def test_a_piece_that_would_fill_the_memory_is_refused_before_it_is_read() -> None:
    head = HEADER.model_dump_json() + "\n" + PARTS[0][0].model_dump_json() + "\n"
    file = packed(head.encode() + (0xFFFF_FFF0).to_bytes(4) + b"x" * 100)
    tracemalloc.start()
    assert "4,294,967,280 bytes" in refusal(file)
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


def test_one_that_unpacks_to_far_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "UNPACKED_ANYWAY", 1 << 20)
    monkeypatch.setattr(sections, "MOST_UNPACKED", 100)
    zeros = bytes(50 << 20)
    file = written(parts=[(BlobHead(blob=sha256(zeros)), zeros)])
    assert "more than 100 times" in refusal(file)


def test_what_a_terminal_would_obey_is_not_said_as_it_is() -> None:
    hostile = HEADER.model_copy(update={"version": "\x1b[2J", "format": 9})
    assert "\x1b" not in refusal(written(header=hostile))
