"""Functions of an ELF file by where their bytes lie in it. Standard library only."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

# Of a file that is looked at, and of what its tables may hold.
LARGEST_FILE = 512 << 20
MOST_SYMBOLS = 500_000

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
LOADED, FULL, DYNAMIC = 1, 2, 11
FUNCTION, INDIRECT = 2, 10


def functions_of(path: Path) -> list[tuple[int, int, str]]:
    """Where each function begins and ends in the file, and its name, in order; none known: none."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            return []
        return sorted(named(path.read_bytes()))
    except (OSError, struct.error, IndexError, ValueError):
        return []


def named(data: bytes) -> set[tuple[int, int, str]]:
    """The same of a file's bytes."""
    ident, *_, segments_at, sections_at, _, _, size, count, section_size, section_count, _ = (
        HEADER.unpack_from(data)
    )
    if ident[:5] != b"\x7fELF\x02" or size != SEGMENT.size or section_size != SECTION.size:
        return set()
    segments = [SEGMENT.unpack_from(data, segments_at + i * size) for i in range(count)]
    sections = [SECTION.unpack_from(data, sections_at + i * SECTION.size)
                for i in range(section_count)]  # fmt: skip
    tables = [each for each in sections if each[1] in {FULL, DYNAMIC}]
    found: dict[tuple[int, int], str] = {}
    for table in tables:
        for value, length, name in symbols_in(data, table, sections):
            place = place_in_file(value, segments)
            if place is not None:
                # The first of several names, so that it is the same each time.
                found.setdefault((place, place + length), name)
    return {(start, end, name) for (start, end), name in found.items()}


def symbols_in(
    data: bytes, table: Sequence[int], sections: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int, str]]:
    """Address, length and name of the functions in one table of symbols."""
    at, length, names_of = table[4], table[5], table[6]
    names_at = sections[names_of][4]
    for place in range(at, at + min(length, MOST_SYMBOLS * SYMBOL.size), SYMBOL.size):
        name, info, _, section, value, size = SYMBOL.unpack_from(data, place)
        if section and size and info & 15 in {FUNCTION, INDIRECT}:
            end = data.index(b"\0", names_at + name)
            yield value, size, data[names_at + name : end].decode("ascii", "replace")


def place_in_file(address: int, segments: Sequence[Sequence[int]]) -> int | None:
    """Where in the file the byte lies that is loaded at an address."""
    for kind, _, offset, virtual, _, in_file, _, _ in segments:
        if kind == LOADED and virtual <= address < virtual + in_file:
            return address - virtual + offset
    return None
