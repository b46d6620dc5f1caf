"""Mails as bytes from anywhere, made plain text. Pure.

Nothing here raises for a mail that is wrong: what cannot be read is empty, and a patch that is
damaged by it is refused where patches are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import getaddresses, parsedate_to_datetime
from itertools import islice

from mitigauge.hostile import clean_text

LARGEST_MAIL = 4 << 20
LONGEST_HEADER = 2000
MOST_ADDRESSES = 60
MOST_PARTS = 10
TEXT = frozenset({"text/plain", "text/x-patch", "text/x-diff"})
# How a mailbox begins a mail: git writes a fixed date, archives the moment.
_BEGIN = re.compile(rb"^From [^\n]{1,200}\d\d:\d\d:\d\d[^\n]{0,40}\n", re.MULTILINE)
_ID = re.compile(r"<([^<>\s]{1,250})>")
_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,120}@[A-Za-z0-9.-]{1,120}")


@dataclass(frozen=True, slots=True)
class Address:
    """A name, which may be empty, and an address in small letters."""

    name: str
    address: str

    @property
    def shown(self) -> str:
        """``Name <address>``, or the address alone."""
        return f"{self.name} <{self.address}>" if self.name else self.address


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail; ids without ``<>``."""

    message_id: str
    parent: str
    references: tuple[str, ...]
    subject: str
    sender: Address
    sent_at: datetime | None
    to: tuple[Address, ...]
    cc: tuple[Address, ...]
    body: str
    raw: bytes = field(default=b"", repr=False, compare=False)
    attached: tuple[str, ...] = ()
    """Further parts of text, as a patch is attached."""


def mails_of(content: bytes) -> Iterator[Mail]:
    """The mails of a mailbox, or the one of a file that holds one."""
    for raw in _split(content):
        if len(raw) <= LARGEST_MAIL:
            yield mail_of(raw)


def mail_of(raw: bytes) -> Mail:
    """One mail, without the line that begins it in a mailbox."""
    message = parsed(raw)
    ids = _ids(message, "Message-ID")
    parents = _ids(message, "In-Reply-To")
    senders = _addresses(message, "From")
    texts = list(islice(_texts(message), MOST_PARTS))
    return Mail(
        message_id=ids[0] if ids else "",
        parent=parents[0] if parents else "",
        references=_ids(message, "References"),
        subject=" ".join(_header(message, "Subject").split()),
        sender=senders[0] if senders else Address("", ""),
        sent_at=_moment(message),
        to=_addresses(message, "To"),
        cc=_addresses(message, "Cc"),
        body=texts[0] if texts else "",
        raw=raw,
        attached=tuple(texts[1:]),
    )


def parsed(raw: bytes) -> Message:
    """A mail with its parts; without them where they lie in each other too deep to be read."""
    try:
        message = message_from_bytes(raw)
        for _ in message.walk():
            pass
    except RecursionError:
        return BytesHeaderParser().parsebytes(raw)
    return message


def _split(content: bytes) -> Iterator[bytes]:
    begins = list(_BEGIN.finditer(content))
    if not begins or begins[0].start() != 0:
        yield content
        return
    ends = [*(begin.start() for begin in begins[1:]), len(content)]
    for begin, end in zip(begins, ends, strict=True):
        yield content[begin.end() : end]


def _header(message: Message, name: str) -> str:
    raw = str(message.get(name, ""))[:LONGEST_HEADER]
    try:
        return clean_text(str(make_header(decode_header(raw))).replace("\n", " "))
    except (LookupError, UnicodeError, ValueError):
        return clean_text(raw.replace("\n", " "))


def _ids(message: Message, name: str) -> tuple[str, ...]:
    raw = " ".join(str(value) for value in message.get_all(name, []))
    return tuple(clean_text(found) for found in _ID.findall(raw[: 20 * LONGEST_HEADER]))


def _addresses(message: Message, name: str) -> tuple[Address, ...]:
    raw = [str(value)[: 10 * LONGEST_HEADER] for value in message.get_all(name, [])]
    found = []
    for shown, address in getaddresses(raw)[:MOST_ADDRESSES]:
        if _ADDRESS.fullmatch(address):
            found.append(Address(_words(shown), address.lower()))
    return tuple(found)


def address_of(text: str) -> Address | None:
    """The first address in *text*, as ``Name <address>`` or alone; None where there is none."""
    for shown, address in getaddresses([text[:LONGEST_HEADER]]):
        if _ADDRESS.fullmatch(address):
            return Address(_words(shown), address.lower())
    return None


def _words(raw: str) -> str:
    try:
        said = str(make_header(decode_header(raw)))
    except (LookupError, UnicodeError, ValueError):
        said = raw
    return clean_text(" ".join(said.split()))[:120]


def _moment(message: Message) -> datetime | None:
    try:
        found = parsedate_to_datetime(str(message.get("Date", "")))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _texts(message: Message) -> Iterator[str]:
    """The parts that are plain text, or a patch in a type of its own."""
    for part in message.walk():
        if part.get_content_type() not in TEXT:
            continue
        content = part.get_payload(decode=True)
        if isinstance(content, bytes):
            yield _decoded(content, part.get_content_charset() or "utf-8")


def _decoded(content: bytes, charset: str) -> str:
    """*content* in the charset it names, else in UTF-8, else byte by byte."""
    for name in (charset, "utf-8"):
        try:
            text = content.decode(name)
            # Some charsets can say half of a character, which can be stored nowhere.
            text.encode()
        except (LookupError, ValueError):
            continue
        return text.replace("\r\n", "\n")
    return content.decode("latin-1").replace("\r\n", "\n")
