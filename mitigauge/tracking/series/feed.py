"""The Atom feed of a list archive: which mails are new. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from mitigauge.core.hostile_text import clean_text

ATOM = "{http://www.w3.org/2005/Atom}"
MOST_ENTRIES = 500
LONGEST = 1000


class NoFeed(ValueError):
    """What came is no feed; says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One mail of a feed."""

    message_id: str
    subject: str
    sender: str


def entries(content: bytes) -> list[Entry]:
    """The mails of a feed in its order, newest first; at most 500.

    Raises NoFeed for anything that is no Atom feed, or that declares a document type: entities
    are what a small file becomes large by.
    """
    if b"\0" in content or b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise NoFeed("it declares a document type, or is no UTF-8")
    try:
        root = ET.fromstring(content)
    except ET.ParseError as error:
        raise NoFeed(f"it is no XML: {error}") from error
    except (LookupError, ValueError) as error:
        raise NoFeed(f"its encoding is not known: {error}") from error
    if root.tag != f"{ATOM}feed":
        raise NoFeed(f"it is <{clean_text(str(root.tag))[:60]}>, not an Atom feed")
    found = (_entry(each) for each in root.findall(f"{ATOM}entry")[:MOST_ENTRIES])
    return [entry for entry in found if entry.message_id]


def _entry(element: ET.Element) -> Entry:
    link = element.find(f"{ATOM}link")
    address = link.get("href", "") if link is not None else ""
    return Entry(
        message_id=_message_id(address[:LONGEST]),
        subject=_text(element, "title"),
        sender=_text(element, "author", "email").lower(),
    )


def _message_id(address: str) -> str:
    """The last part of an address such as ``https://lore.kernel.org/all/ID/``."""
    try:
        path = urlsplit(address).path
    except ValueError:
        return ""
    last = unquote(path.rstrip("/").rsplit("/", 1)[-1])
    return clean_text(last) if "@" in last else ""


def _text(element: ET.Element, *names: str) -> str:
    for name in names:
        below = element.find(f"{ATOM}{name}")
        if below is None:
            return ""
        element = below
    return clean_text(" ".join((element.text or "").split()))[:LONGEST]
