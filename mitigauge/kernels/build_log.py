"""What a failed build says, in one sentence. Pure.

A log is its author's text, up to 64 MiB of it: it is gone through once, line by line, each line
cut, and no pattern is looked for in more than that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LONGEST_WORDS = 400
LONGEST_LINE = 1000
MOST_LINES = 1_000_000
# As the C library says it, in any program's message.
DISK_FULL = "No space left on device"
# Without a compiler cache a place is whole: below /build, as a sandbox has it.
_PLACE = re.compile(
    r"(?:\.\./|/build/)?(?:source/)?(?P<file>[\w./+-]+\.[chSs]):(?P<line>\d+):(?:\d+:)?"
)
_KCONFIG = re.compile(r"(?P<file>[\w./+-]++):(?P<line>\d+): (?P<words>.+)")
_MAKE = re.compile(r"make(?:\[\d+\])?: \*\*\* (?P<words>.+)")
_REFUSED_HUNK = re.compile(r"error: patch failed: (?P<file>[^\n:]+):(?P<line>\d+)")
_UNDEFINED = "undefined reference to "
_COMPILER, _ASSEMBLER = (" error: ", " fatal error: "), (" Error: ",)
_WARNING = (" warning: ",)


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a build failed: *file* is below the source tree, *line* counts from 1; 0: not said."""

    words: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return place + self.words


def compile_failure(log: Iterable[str]) -> Failure:
    """The first error of the compiler, else the assembler's, the linker's, Kconfig's or make's."""
    first: dict[int, Failure] = {}
    last = ""
    for line in _lines(log):
        last = line if line.strip() else last
        for rank, found in _causes(line):
            first.setdefault(rank, found)
        if 0 in first:
            break
    if first:
        return first[min(first)]
    return Failure(last.strip()[:LONGEST_WORDS] or "it said nothing")


def apply_failure(log: Iterable[str]) -> Failure:
    """Why a patch does not apply, from what ``git apply`` said."""
    last = ""
    for line in _lines(log):
        last = line if line.strip() else last
        hunk = _REFUSED_HUNK.fullmatch(line)
        if hunk:
            return Failure("the patch does not apply here", hunk["file"], int(hunk["line"][:9]))
        if line.startswith("error: "):
            return Failure(line.removeprefix("error: ")[:LONGEST_WORDS])
    return Failure(last.strip()[:LONGEST_WORDS] or "it said nothing")


def compiler_warnings(log: Iterable[str]) -> dict[tuple[str, str], int]:
    """File and words of each warning → one of its lines; those of a macro are told where it is."""
    found: dict[tuple[str, str], int] = {}
    for line in _lines(log):
        warning = _placed(line, _WARNING)
        if warning:
            found.setdefault((warning.file, warning.words), warning.line)
    return found


def says_disk_is_full(log: Iterable[str]) -> bool:
    """Whether a program of the build met a disk that is full."""
    return any(DISK_FULL in line for line in _lines(log))


def _lines(log: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(log):
        if number >= MOST_LINES:
            return
        yield line[:LONGEST_LINE].rstrip("\n")


def _causes(line: str) -> Iterator[tuple[int, Failure]]:
    """(rank, cause) of each kind that a line may tell; 0 says most."""
    compiler = _placed(line, _COMPILER)
    if compiler:
        yield 0, compiler
    assembler = _placed(line, _ASSEMBLER)
    if assembler:
        yield 1, assembler
    at = line.find(_UNDEFINED)
    if at >= 0:
        yield 2, Failure(line[at : at + LONGEST_WORDS])
    kconfig = _KCONFIG.fullmatch(line) if "Kconfig" in line else None
    if kconfig and "Kconfig" in kconfig["file"].rpartition("/")[2]:
        yield (
            3,
            Failure(kconfig["words"][:LONGEST_WORDS], kconfig["file"], int(kconfig["line"][:9])),
        )
    make = _MAKE.fullmatch(line)
    if make:
        yield 4, Failure(make["words"][:LONGEST_WORDS])


def _placed(line: str, signs: Iterable[str]) -> Failure | None:
    """``FILE:LINE:COLUMN: error: WORDS``, the place before the first such sign."""
    for sign in signs:
        place, found, words = line.partition(sign)
        named = _PLACE.fullmatch(place) if found else None
        if named:
            return Failure(words[:LONGEST_WORDS], named["file"], int(named["line"][:9]))
    return None
