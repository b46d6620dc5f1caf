"""Text that says format=flowed, as it was before it was sent (RFC 3676). Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Who stuffs puts a blank before lines that begin with a blank, a quote's mark or "From ".
_STUFFED = re.compile(r" (?:[ >]|From |$)")


def unflowed(text: str, *, delsp: bool) -> str:
    """*text* without the blanks that stuffed its lines, and with wrapped lines made one.

    *delsp*: the blank at which a line was wrapped is none of its own. Quotes stay as they are. A
    text with a line that begins with one blank only says that it is flowed, and is not: programs
    that put the word there and leave the text as it was would lose a diff's context otherwise.
    """
    lines = text.split("\n")
    if any(line.startswith(" ") and not _STUFFED.match(line) for line in lines):
        return text
    return "\n".join(_joined(lines, delsp=delsp))


def _joined(lines: list[str], *, delsp: bool) -> Iterator[str]:
    held: list[str] = []
    for line in lines:
        own = line if line.startswith(">") else line.removeprefix(" ")
        # Quotes stay; the line above a signature ends with a blank, and so does an empty line of
        # context.
        alone = line.startswith(">") or own == "-- " or not own.strip()
        if alone and held:
            yield "".join(held)
            held = []
        if own.endswith(" ") and not alone:
            held.append(own[:-1] if delsp else own)
        else:
            yield "".join((*held, own))
            held = []
    if held:
        yield "".join(held)
