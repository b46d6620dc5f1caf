"""What a failed build says, in one sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

LONGEST_WORDS = 400
_COMPILER = re.compile(
    r"^(?P<file>[\w./+-]+\.[chSs]):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<words>.+)$",
    re.MULTILINE,
)
_ASSEMBLER = re.compile(
    r"^(?P<file>[\w./+-]+\.[chSs]):(?P<line>\d+): Error: (?P<words>.+)$", re.MULTILINE
)
_UNDEFINED = re.compile(
    r"^(?:ld(?:\.\w+)?: )?(?P<file>[\w./+-]+\.[cSo])?:?.*(?P<words>undefined reference to .+)$",
    re.MULTILINE,
)
_KCONFIG = re.compile(
    r"^(?P<file>[\w./+-]*Kconfig[\w.]*):(?P<line>\d+): (?P<words>.+)$", re.MULTILINE
)
_MAKE = re.compile(r"^make(?:\[\d+\])?: \*\*\* (?P<words>.+)$", re.MULTILINE)
_APPLY = re.compile(r"^error: (?:patch failed: (?P<file>[^\n:]+):(?P<line>\d+)|(?P<words>.+))$",
                    re.MULTILINE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a build failed: *file* is below the source tree, *line* counts from 1; 0: not said."""

    words: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return place + self.words


def compile_failure(log: str) -> Failure:
    """The first error of the compiler, else the assembler's, the linker's, Kconfig's or make's."""
    for pattern in (_COMPILER, _ASSEMBLER, _UNDEFINED, _KCONFIG):
        match = pattern.search(log)
        if match:
            return _failure(match)
    match = _MAKE.search(log)
    if match:
        return Failure(match["words"][:LONGEST_WORDS])
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "it said nothing")
    return Failure(last.strip()[:LONGEST_WORDS])


def apply_failure(log: str) -> Failure:
    """Why a patch does not apply, from what ``git apply`` said."""
    found: Iterable[re.Match[str]] = _APPLY.finditer(log)
    for match in found:
        if match["file"]:
            return Failure("the patch does not apply here", match["file"], int(match["line"]))
        return Failure(match["words"][:LONGEST_WORDS])
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "it said nothing")
    return Failure(last.strip()[:LONGEST_WORDS])


def _failure(match: re.Match[str]) -> Failure:
    named = match.groupdict()
    file = (named.get("file") or "").removeprefix("../").removeprefix("source/")
    return Failure(named["words"][:LONGEST_WORDS], file, int(named.get("line") or 0))
