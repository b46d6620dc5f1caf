"""Hostile text made harmless, and text laid out by the columns it takes."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")
_LINE_START = re.compile(r"^(\d+)([.)])(?=\s|$)|^([-+=])(?=[-=\s]|$)")

# What `git am`, mbox files and readers of mail look for where a line begins.
_MAIL_STRUCTURE = re.compile(
    r">|--( |-|$)|\+\+\+|@@|From |diff |Index: |=+$"
    r"|(Subject|From|To|Cc|Date|Fixes|Link|Closes|Message-Id|In-Reply-To|References|[\w-]+-by): ",
    re.IGNORECASE,
)


def neutralise(text: str, limit: int = 400) -> str:
    """*text* on one line, without terminal sequences, control or direction characters.

    Names, kernel strings and errors come from outside; none of them may forge a
    line of a report or drive the reader's terminal. Longer than *limit* is cut.
    """
    shown = _ESCAPE_SEQUENCE.sub("", text)
    # Categories C*: control, format (bidi overrides, zero width), surrogate, private use.
    kept = "".join(
        " "
        if character.isspace()
        else ""
        if unicodedata.category(character)[0] == "C"
        else character
        for character in shown
    )
    line = " ".join(kept.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def markdown(text: str, limit: int = 400) -> str:
    """*text* neutralised and escaped, so that Markdown and HTML show it as it is."""
    escaped = _MARKDOWN.sub(r"\\\1", neutralise(text, limit))
    # HTML entities as well: not every renderer honours a backslash before a bracket.
    escaped = escaped.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")
    return _LINE_START.sub(_escape_marker, escaped)


def _escape_marker(found: re.Match[str]) -> str:
    number, dot, bullet = found.groups()
    return f"\\{bullet}" if bullet else f"{number}\\{dot}"


def width(text: str) -> int:
    """Columns that *text* takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """*text* filled with spaces to *columns*; *right* aligns it right."""
    space = " " * max(0, columns - width(text))
    return space + text if right else text + space


def wrap(text: str, columns: int) -> list[str]:
    """*text* in lines of at most *columns*, broken at spaces, within a word only if it must."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        for piece in _pieces(word, columns):
            joined = f"{line} {piece}" if line else piece
            if width(joined) <= columns:
                line = joined
            else:
                lines.append(line)
                line = piece
    return [*lines, line] if line or not lines else lines


def paragraph(text: str, columns: int, limit: int = 400) -> list[str]:
    """*text* neutralised and wrapped, no line of which a mail's reader takes for structure."""
    return [unstructured(line) for line in wrap(neutralise(text, limit), columns - 1)]


def unstructured(line: str) -> str:
    """*line* with a space before what would begin a quotation, a signature, a patch or a mail."""
    return f" {line}" if _MAIL_STRUCTURE.match(line) else line


def _pieces(word: str, columns: int) -> list[str]:
    pieces, piece = [], ""
    for character in word:
        if piece and width(piece + character) > columns:
            pieces.append(piece)
            piece = ""
        piece += character
    return [*pieces, piece]


def indented(head: str, text: str, columns: int) -> list[str]:
    """*text* wrapped behind *head*, later lines below the first one's text."""
    margin = width(head)
    lines = wrap(text, max(1, columns - margin))
    return [(head if index == 0 else " " * margin) + line for index, line in enumerate(lines)]
