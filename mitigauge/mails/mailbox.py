"""A mailbox, split into its mails as `git mailsplit` splits it. Pure, linear in its length."""

from __future__ import annotations

import re
from collections.abc import Iterator

# How a mailbox begins a mail: git writes a fixed date, archives the moment. Anything else that
# begins a line with "From " is somebody's words: programs do not always quote it.
_BEGIN = re.compile(
    rb"^From [^\n]{1,200}[ \d]\d:\d\d(?::\d\d)?(?: [A-Z+-][A-Za-z0-9]{1,5})? (?:19|20)\d\d"
    rb"(?: [+-]\d{4})?[ \t]*\r?\n(?=[!-9;-~]{1,100}[ \t]*:|>?From )",
    re.MULTILINE,
)
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
# What public-inbox begins mails with: lines of their text that begin so are quoted then.
_QUOTES = b"From mboxrd@z "


def split(content: bytes) -> Iterator[bytes]:
    """The mails of a mailbox without the lines that begin them, or the one of any other file."""
    begins = list(_BEGIN.finditer(content))
    if not begins or begins[0].start() != 0:
        yield content
        return
    quotes = content.startswith(_QUOTES)
    ends = [*(begin.start() for begin in begins[1:]), len(content)]
    for begin, end in zip(begins, ends, strict=True):
        mail = content[begin.end() : end]
        yield _QUOTED.sub(rb"\1", mail) if quotes else mail
