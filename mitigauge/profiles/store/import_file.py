"""A file with one profile: folded stacks, or perf's own text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import BinaryIO

from mitigauge.errors import InvalidInput
from mitigauge.profiles.capture.capture import Pass
from mitigauge.profiles.capture.collapse import Collapse
from mitigauge.profiles.capture.decompress import pieces
from mitigauge.profiles.capture.folded_text import check_stacks, read_folded

# A folded line: no leading space, frames, one space, a count.
_FOLDED = re.compile(rb"[^\s#][^\n]* -?[\d.]+\s*(?:\n|\Z)")
# What perf prints about a sample before its frames ends with the event and a colon, or
# begins with a comment.
_CAPTURE = re.compile(rb"#|\S.*\s\d+.*:\s*(?:\n|\Z)")


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
    head = first.lstrip(b"\n")[: 1 << 16]
    if _CAPTURE.match(head):
        return _captured(whole, name, digest, event)
    if _FOLDED.match(head):
        stacks = read_folded(whole, name=name)
        return stacks, Pass(event or "samples", digest, samples=sum(stacks.values()), tool="folded")
    raise InvalidInput(
        f"{name}:1: neither folded stacks nor what `perf script` prints"
        if head
        else f"{name} is empty",
        hint="Give `frame;frame;… count` a line, or the text of `perf script`.",
    )


def _captured(
    text: Iterator[bytes], name: str, digest: str, event: str
) -> tuple[dict[bytes, int], Pass]:
    collapse = Collapse(event=event, strict=True, name=name)
    for piece in text:
        collapse.feed(piece)
    result = collapse.finish()
    stacks = result.stacks()
    check_stacks(stacks, name=name)
    counted = result.event.decode(errors="replace") or "samples"
    return stacks, Pass(counted, digest, samples=result.samples, tool="perf script")
