"""Feeds as Atom 1.0 (RFC 4287). Pure.

The same entries give the same bytes, so that a reader that asks again is told that it has it.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from mitigauge.core.hostile_text import REPLACEMENT, clean_text

NAMESPACE: Final = "http://www.w3.org/2005/Atom"
MEDIA_TYPE: Final = "application/atom+xml"
NAME: Final = "Mitigauge"
# When tags were first made; a part of each of them.
YEAR: Final = "2026"
# A feed without entries has to say a time.
BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)
LONGEST: Final = 1000
# What XML 1.0 cannot hold, however it is escaped.
_NO_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One thing. *path*: its page, from / on, which is also what names it."""

    path: str
    title: str
    summary: str
    updated: datetime
    by: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed. *page*: of the dashboard, *path*: of the feed itself with its query, from / on."""

    title: str
    page: str
    path: str
    entries: Sequence[FeedEntry]


def render(feed: Feed, base: str) -> bytes:
    """The feed with links to *base*, an address without a slash at its end."""
    # An attribute and not a registered prefix, which would be the whole process's.
    root = ET.Element("feed", {"xmlns": NAMESPACE})
    _add(root, "id", _tag(base, feed.path))
    _add(root, "title", feed.title)
    newest = max((entry.updated for entry in feed.entries), default=BEGINNING)
    _add(root, "updated", _moment(newest))
    ET.SubElement(root, "link", {"rel": "self", "type": MEDIA_TYPE, "href": base + feed.path})
    ET.SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": base + feed.page})
    _add(ET.SubElement(root, "author"), "name", NAME)
    for entry in feed.entries:
        _add_entry(root, entry, base)
    made: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return made


def _add_entry(root: ET.Element, entry: FeedEntry, base: str) -> None:
    element = ET.SubElement(root, "entry")
    _add(element, "id", _tag(base, entry.path))
    _add(element, "title", entry.title)
    _add(element, "updated", _moment(entry.updated))
    href = base + entry.path
    ET.SubElement(element, "link", {"rel": "alternate", "type": "text/html", "href": href})
    _add(element, "summary", entry.summary)
    if entry.by:
        _add(ET.SubElement(element, "author"), "name", entry.by)


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = _NO_XML.sub(REPLACEMENT, clean_text(text))[:LONGEST]


def _tag(base: str, path: str) -> str:
    """A name that stays, whatever port or scheme the service is reached by (RFC 4151)."""
    return f"tag:{urlsplit(base).hostname or 'mitigauge.invalid'},{YEAR}:{path}"


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
