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
# Lines that say nothing: a mail's head follows them all the same.
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*+\r?\n)*+")
# Parts of a mail may be mails.
_OF_PARTS = re.compile(
    rb"^content-type[ \t]*:[ \t]*(?:multipart|message)/", re.MULTILINE | re.IGNORECASE
)
# What looks like the begin of another mail in a form that is not split at.
_LIKE = re.compile(
    rb"^From [^\n]{1,200}\n(?:(?:from|subject|date|message-id|return-path|received"
    rb"|delivered-to)[ \t]*:)",
    re.MULTILINE | re.IGNORECASE,
)


def without_blank_head(content: bytes) -> bytes:
    """*content* without a byte order mark and empty lines before its first line."""
    found = _BLANK.match(content)
    return content[found.end() :] if found else content


def split(content: bytes) -> Iterator[bytes]:
    """The mails of a mailbox without the lines that begin them, or the one of any other file.

    What stands before the first of those lines is a mail of its own, unless it has parts: what was
    attached to a mail stays in it.
    """
    content = without_blank_head(content)
    begins = list(_BEGIN.finditer(content))
    before = content[: begins[0].start()] if begins else content
    if not begins or _OF_PARTS.search(before):
        yield content
        return
    if before.strip():
        yield before
    quotes = content.startswith(_QUOTES)
    ends = [*(begin.start() for begin in begins[1:]), len(content)]
    for begin, end in zip(begins, ends, strict=True):
        mail = content[begin.end() : end]
        yield _QUOTED.sub(rb"\1", mail) if quotes else mail


def line_of_another(mail: bytes) -> int:
    """The line at which another mail seems to begin, in a form that is not split at; 0: none."""
    found = _LIKE.search(mail, 1)
    if found is None or _OF_PARTS.search(mail[: found.start()]):
        return 0
    return mail.count(b"\n", 0, found.start()) + 1
