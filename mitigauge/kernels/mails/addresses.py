"""Addresses in the heads of mails. Pure, standard library alone, and linear in their length.

The standard library's own reader recurses into comments, so that brackets alone end it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_ADDRESSES = 60
LONGEST = 20_000
_TOKEN = re.compile(r'\\.|"(?:[^"\\]|\\.){0,2000}"|[()<>,;:]|[^\\"()<>,;:]+|.', re.DOTALL)
ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,120}@[A-Za-z0-9.-]{1,120}")
_IN_WORDS = re.compile(
    r"(?P<user>[^\s@()<>\"]{1,120}) at (?P<host>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})"
    r"(?:[ \t]{1,20}\((?P<name>[^()]{0,200})\))?"
)


def addresses_in(text: str) -> list[tuple[str, str]]:
    """(name, address) of at most 60; the name as it stands, the address in small letters."""
    found = []
    for words, comment, inside in _pieces(text[:LONGEST]):
        address = (words if inside is None else inside).strip()
        # Without brackets a name may stand in the comment behind.
        name = comment if inside is None else words
        if ADDRESS.fullmatch(address):
            found.append((" ".join(name.split()), address.lower()))
        if len(found) == MOST_ADDRESSES:
            break
    return found


def address_in_words(text: str) -> list[str]:
    """Name and address of ``user at host (Name)``, as archives of Mailman write who sent a mail.

    Both are empty where *text* is none.
    """
    written = _IN_WORDS.fullmatch(text[:LONGEST].strip())
    address = f"{written['user']}@{written['host']}" if written else ""
    if written is None or not ADDRESS.fullmatch(address):
        return ["", ""]
    return [" ".join((written["name"] or "").split())[:120], address.lower()]


class _Piece:
    """What stands between two commas: words, comment, and what is in ``<>`` (None: nothing is)."""

    def __init__(self) -> None:
        self.words, self.comment = "", ""
        self.inside: str | None = None
        self.depth, self.angled = 0, False

    def take(self, token: str) -> None:
        """One token that ends no piece."""
        if self.depth or token == "(":
            self.depth += (token == "(") - (token == ")")
            self.comment += token if token not in "()" else ""
        elif self.angled:
            self._take_inside(token)
        elif token == "<" and self.inside is None:
            self.inside, self.angled = "", True
        elif token == ":":
            # What is before it names a group.
            self.words = ""
        else:
            self.words += _bare(token)

    def _take_inside(self, token: str) -> None:
        inside = self.inside or ""
        self.angled = token != ">"
        if self.angled:
            self.inside = inside + token
        elif not ADDRESS.fullmatch(inside.strip()):
            # Brackets in a name.
            self.words, self.inside = f"{self.words}<{inside}>", None


def _pieces(text: str) -> Iterator[tuple[str, str, str | None]]:
    piece = _Piece()
    for token in _TOKEN.findall(text):
        if token in ",;" and not piece.depth and not piece.angled:
            yield piece.words, piece.comment, piece.inside
            piece = _Piece()
        else:
            piece.take(token)
    yield piece.words, piece.comment, piece.inside


def _bare(token: str) -> str:
    """A quoted string without its quotes."""
    quoted = len(token) > 1 and token[0] == token[-1] == '"'
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if quoted else token.removeprefix("\\")
