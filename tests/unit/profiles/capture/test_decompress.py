"""Compressed, damaged and hostile files, read in pieces."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable

import pytest
import zstandard

from mitigauge.analysis.profiles.capture import decompress
from mitigauge.analysis.profiles.capture.decompress import pieces
from mitigauge.core.errors import InvalidInput

TEXT = b"perf;main;f 3\nperf;main;g 4\n"


class Dripping(io.BytesIO):
    """As a pipe whose writer is slow: a byte at a time."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(1, size or 0))


def read(data: bytes) -> bytes:
    return b"".join(pieces(io.BytesIO(data), name="file"))


@pytest.mark.parametrize(
    "pack",
    [
        bytes,
        gzip.compress,
        zstandard.compress,
        lambda data: gzip.compress(data[:10]) + gzip.compress(data[10:]),
        lambda data: zstandard.compress(data[:10]) + zstandard.compress(data[10:]),
    ],
    ids=["plain", "gzip", "zstd", "two gzip members", "two zstd frames"],
)
def test_compressed_files_are_read_like_plain_ones(pack: Callable[[bytes], bytes]) -> None:
    assert read(pack(TEXT)) == TEXT


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_pipe_may_give_a_byte_at_a_time(pack: Callable[[bytes], bytes]) -> None:
    dripping = Dripping(pack(TEXT))
    assert b"".join(pieces(dripping, name="-")) == TEXT


def test_what_a_pipe_holds_is_given_before_it_ends() -> None:
    given = pieces(Dripping(TEXT), name="-")
    # The head, by which compressed files are known, and what came with the next read.
    assert next(given) == TEXT[:5]
    assert next(given) == TEXT[5:6]


@pytest.mark.parametrize("data", [gzip.compress(TEXT)[:-5], b"\x28\xb5\x2f\xfd" + b"\xff" * 40])
def test_damaged_files_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="file is damaged"):
        read(data)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_refused_before_it_fills_the_memory(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompress, "UNSUSPICIOUS", 1 << 20)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        read(pack(bytes(50 << 20)))
