"""The heads of a mail: split, decoded. Pure, standard library alone, linear in their length."""

from __future__ import annotations

import binascii
import re

LARGEST_HEADS = 256 << 10
MOST_HEADS = 2000
_HEAD = re.compile(rb"([!-9;-~]{1,100})[ \t]*:[ \t]*(.*)", re.DOTALL)
# An encoded word; programs leave blanks in it that should not be there.
_ENCODED = re.compile(
    r"=\?([A-Za-z0-9][\w.:-]{0,39})(?:\*[\w-]{0,20})?\?([bBqQ])\?([^?\r\n]{0,4000})\?="
)
# Charsets of mails. Others can take minutes, make much of little, or are no charsets at all.
CHARSETS = re.compile(
    r"utf-?8|us-ascii|ascii|iso-?8859-?\d{1,2}|(?:windows|cp)-?(?:125\d|874|932|936|949|950)"
    r"|koi8-[ru]|gb2312|gbk|gb18030|big5|euc-(?:jp|kr)|iso-2022-(?:jp|kr)|shift[_-]jis|latin-?1",
    re.IGNORECASE,
)

_NO_BASE64 = re.sub(rb"[A-Za-z0-9+/]", b"", bytes(range(256)))

Heads = list[tuple[str, str]]


class NoMail(ValueError):
    """What cannot be read as a mail; says why."""


def heads_of(raw: bytes) -> tuple[Heads, bytes]:
    """The heads, names in small letters and values in one line, and all that follows.

    What begins with no head has none. Raises NoMail for heads over 256 KiB or 2,000 lines.
    """
    heads: list[tuple[str, list[bytes]]] = []
    at = 0
    while at < len(raw):
        end = raw.find(b"\n", at, LARGEST_HEADS + 2)
        if end < 0 and len(raw) > LARGEST_HEADS:
            raise NoMail("its heads are larger than 256 KiB")
        end = len(raw) if end < 0 else end
        line = raw[at:end].removesuffix(b"\r")
        found = _HEAD.fullmatch(line)
        if not line:
            return _decoded(heads), raw[end + 1 :]
        if line[:1] in b" \t" and heads:
            heads[-1][1].append(line)
        elif found:
            heads.append((found[1].decode().lower(), [found[2]]))
        elif not (at == 0 and line.startswith((b"From ", b">From "))):
            return _decoded(heads), raw[at:]
        if len(heads) > MOST_HEADS:
            raise NoMail(f"it has more than {MOST_HEADS} heads")
        at = end + 1
    return _decoded(heads), b""


def _decoded(heads: list[tuple[str, list[bytes]]]) -> Heads:
    return [(name, text_of(b"".join(lines)).replace("\r", " ")) for name, lines in heads]


def text_of(content: bytes, charset: str = "utf-8") -> str:
    """*content* in the charset it names where that is one of mails, else in UTF-8, else by byte."""
    for name in (charset, "utf-8"):
        if not CHARSETS.fullmatch(name):
            continue
        try:
            text = content.decode(name)
            # Some charsets can say half of a character, which can be stored nowhere.
            text.encode()
        except (LookupError, ValueError):
            continue
        return text
    return content.decode("latin-1")


def words_of(text: str) -> str:
    """*text* with its encoded words (RFC 2047) read, as far as they can be."""
    said: list[str] = []
    held, charset, at = b"", "", 0
    for found in _ENCODED.finditer(text):
        between = text[at : found.start()]
        content = _content(found[2], found[3])
        # Blanks between two words are none; a character may be cut in two by them.
        if between.strip() or found[1].lower() != charset or content is None:
            said.append(text_of(held, charset) if held else "")
            held = b""
            said.append(between if between.strip() or not charset else "")
        held += content or b""
        charset = found[1].lower() if content is not None else ""
        if content is None:
            said.append(found[0])
        at = found.end()
    said.append(text_of(held, charset) if held else "")
    return "".join(said) + text[at:]


def _content(kind: str, text: str) -> bytes | None:
    """The bytes of an encoded word; None where it is none."""
    raw = text.encode(errors="replace")
    if kind in "qQ":
        return binascii.a2b_qp(raw, header=True)
    return base64_of(raw)


def base64_of(raw: bytes) -> bytes | None:
    """What base64 says, as far as it can be read; None where nothing can."""
    # What follows its end is a list's footer; who pads each line has many ends.
    known = (raw.partition(b"=")[0] if raw.count(b"=") < 3 else raw).translate(None, _NO_BASE64)
    whole = len(known) - (len(known) % 4 == 1)
    try:
        return binascii.a2b_base64(known[:whole] + b"==") if whole else None
    except binascii.Error:
        return None
