"""A file with one profile: folded stacks, or perf's own text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.capture.collapse import Collapse, Most
from mitigauge.analysis.profiles.capture.decompress import pieces
from mitigauge.analysis.profiles.capture.folded_text import check_stacks, read_folded, require_few
from mitigauge.analysis.profiles.capture.headers import (
    header_of,
    is_comment,
    one_line_sample,
    record_of,
)
from mitigauge.core.errors import InvalidInput

# A folded line: no leading space, frames, one space, a count.
_FOLDED = re.compile(rb"\S[^\n]* -?[\d.]+\s*")
LONGEST_HEAD = 1 << 16
# Of one file; a host's own capture is allowed less. 61 MB of different stacks take some 180 MiB.
MOST_BYTES = 256 << 20
MOST_STACKS = 2_000_000
MOST_SYMBOLS = 200_000
MOST_FRAMES = 40_000_000


def read_profile(
    stream: BinaryIO, *, name: str, digest: str, event: str = ""
) -> tuple[dict[bytes, int], Pass]:
    """Stacks of *stream*, and what is known of the pass; *digest* is the file's SHA-256.

    Raises :class:`InvalidInput` naming the line, for damaged files, and for what is
    neither folded nor perf's.
    """
    text = pieces(stream, name=name)
    first = next(text, b"")
    whole = itertools.chain([first], text)
    number, line = _first_line(first)
    if (first.strip() and not line) or _is_capture(line):
        return _captured(whole, name, digest, event)
    if _FOLDED.fullmatch(line):
        stacks = read_folded(whole, name=name, most_bytes=MOST_BYTES)
        require_few(stacks, name=name, symbols=MOST_SYMBOLS, frames=MOST_FRAMES)
        _require_one_count(stacks, line, f"{name}:{number}")
        return stacks, Pass(event or "samples", digest, samples=sum(stacks.values()), tool="folded")
    raise InvalidInput(
        f"{name}:{number}: neither folded stacks nor what `perf script` prints"
        if line
        else f"{name} is empty",
        hint="Give `frame;frame;… count` a line, or the text of `perf script`.",
    )


def _is_capture(line: bytes) -> bool:
    """Whether perf printed it: a sample's first line has a time or an event, a record its name."""
    if one_line_sample(line) is not None or record_of(line):
        return True
    header = header_of(line)
    return header is not None and header.begins_sample


def _first_line(text: bytes) -> tuple[int, bytes]:
    """The first line that is no comment, and its number; empty where there is none."""
    for number, line in enumerate(text[:LONGEST_HEAD].split(b"\n"), start=1):
        if line.strip() and not is_comment(line):
            return number, line
    return 1, b""


def _require_one_count(stacks: Mapping[bytes, int], line: bytes, location: str) -> None:
    """Refuse a difference of two profiles, whose first count would be part of a function's name.

    A thread's name may end in a number, and now and then a function's; not all functions' names.
    """
    first = _first_of_two_counts(line.rstrip().rpartition(b" ")[0])
    if first and all(_first_of_two_counts(stack) for stack in stacks if b";" in stack):
        counts = f"{first.decode()[:20]} and {line.split()[-1].decode()[:20]}"
        raise InvalidInput(
            f"{location}: two counts, {counts}, as difffolded.pl writes them",
            hint="Import both profiles that it compared, each in a group of its own.",
        )


def _first_of_two_counts(stack: bytes) -> bytes:
    """What may be a count behind a stack's last frame: difffolded.pl writes one of either side."""
    frames, _, count = stack.rpartition(b" ")
    return count if b";" in frames and count.isdigit() else b""


def _captured(
    text: Iterator[bytes], name: str, digest: str, event: str
) -> tuple[dict[bytes, int], Pass]:
    collapse = Collapse(event=event, strict=True, name=name, most=Most(MOST_STACKS, MOST_BYTES))
    for piece in text:
        collapse.feed(piece)
    result = collapse.finish()
    stacks = result.stacks()
    check_stacks(stacks, name=name)
    require_few(stacks, name=name, symbols=MOST_SYMBOLS, frames=MOST_FRAMES)
    counted = result.event.decode(errors="replace") or "samples"
    return stacks, Pass(counted, digest, samples=result.samples, tool="perf script")
