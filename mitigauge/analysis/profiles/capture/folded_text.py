"""Folded text, ``frame;frame;… count`` a line: what every FlameGraph tool reads and writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO

from mitigauge.analysis.profiles.capture.headers import is_comment
from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire.limits import LARGEST_WHOLE

# perf records 127 frames unless somebody raises kernel.perf_event_max_stack.
DEEPEST = 1024
LONGEST_LINE = 1 << 20
# Sums stay exact in every reader of ours, JavaScript included.
LARGEST_COUNT = LARGEST_WHOLE - 1
# Of all different stacks together, where nothing else is said.
MOST_BYTES = 4 << 30
_COUNT = re.compile(rb"-?\d{1,30}")


def write_folded(stacks: Mapping[bytes, int], stream: BinaryIO) -> None:
    """Write *stacks* in order of their bytes, as stackcollapse-perf.pl does."""
    for stack in sorted(stacks):
        stream.write(b"%b %d\n" % (stack, stacks[stack]))


def read_folded(
    pieces: Iterable[bytes], *, name: str, most_bytes: int = MOST_BYTES
) -> dict[bytes, int]:
    """Counts by stack; the counts of a repeated stack are added up, comments skipped.

    Raises :class:`InvalidInput` naming the line.
    """
    stacks: dict[bytes, int] = {}
    room = most_bytes
    for number, line in enumerate(_lines(pieces, name), start=1):
        if line.strip() and not is_comment(line):
            stack, count = _entry(line.rstrip(b"\r"), name, number)
            known = stacks.get(stack)
            stacks[stack] = (known or 0) + count
            room -= 0 if known else len(stack)
            if room < 0:
                raise _refusal(name, number, f"more than {most_bytes} bytes of different stacks")
    if not stacks:
        raise InvalidInput(
            f"{name} has no stack", hint="Write one stack on each line: `frame;frame;… count`."
        )
    check_stacks(stacks, name=name)
    return stacks


def check_stacks(stacks: Mapping[bytes, int], *, name: str) -> None:
    """Raise :class:`InvalidInput` for a stack or a sum that no profile has."""
    for stack in stacks:
        depth = stack.count(b";") + 1
        if depth > DEEPEST:
            raise InvalidInput(
                f"{name}: a stack of {depth} frames, {_quoted(stack)}",
                hint=f"At most {DEEPEST} frames are taken. Nothing was stored.",
            )
    if sum(stacks.values()) > LARGEST_COUNT:
        raise InvalidInput(
            f"{name}: the counts add up to more than {LARGEST_COUNT}",
            hint="Count samples, or use a coarser unit. Nothing was stored.",
        )


def require_few(stacks: Iterable[bytes], *, name: str, symbols: int, frames: int) -> None:
    """Refuse more names and frames than that: a frame becomes a node of a tree, a name a row.

    Raises :class:`InvalidInput`.
    """
    different: set[bytes] = set()
    total = 0
    for stack in stacks:
        names = stack.split(b";")
        different.update(names)
        total += len(names)
        if len(different) > symbols or total > frames:
            raise InvalidInput(
                f"{name} has more than {symbols} different names, or {frames} "
                f"frames in all its different stacks",
                hint="A kernel and its programs have some thousands. Nothing was stored.",
            )


def _lines(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    rest, number = b"", 0
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        number += len(whole)
        if len(rest) > LONGEST_LINE:
            raise _refusal(name, number + 1, f"more than {LONGEST_LINE} characters in one line")
    if rest:
        yield rest


def _entry(line: bytes, name: str, number: int) -> tuple[bytes, int]:
    stack, _, count = line.rpartition(b" ")
    if b"\r" in line:
        raise _refusal(name, number, "a carriage return within a line: its lines end in two ways")
    if not stack or len(line) > LONGEST_LINE:
        raise _refusal(name, number, f"no `stack count`: {_quoted(line)}")
    if not _COUNT.fullmatch(count):
        raise _refusal(name, number, f"{_quoted(count)} is no count")
    value = int(count)
    if not 0 < value <= LARGEST_COUNT:
        raise _refusal(name, number, f"a count of {_quoted(count)}")
    return stack, value


def _refusal(name: str, line: int, reason: str) -> InvalidInput:
    return InvalidInput(
        f"{name}:{line}: {reason}",
        hint="Folded text has `frame;frame;… count` a line. Nothing was stored.",
    )


def _quoted(text: bytes) -> str:
    shown = ascii(text[:60].decode(errors="replace"))
    return shown + "…" if len(text) > 60 else shown
