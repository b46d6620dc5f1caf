"""One mail as bytes, made plain values. Pure, standard library alone, linear in its length.

What is deeper, more or larger than a person's mail ever is, is not read, and named.
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass, field
from typing import Any

from mitigauge.kernels.mails.addresses import address_in_words, addresses_in
from mitigauge.kernels.mails.flowed import unflowed
from mitigauge.kernels.mails.heads import Heads, base64_of, heads_of, text_of, words_of
from mitigauge.kernels.mails.mailbox import without_blank_head

LONGEST_HEAD = 2000
MOST_DEEP = 8
MOST_PARTS = 100
MOST_TEXTS = 10
MOST_REFERENCES = 200
TEXT = frozenset({"text/plain", "text/x-patch", "text/x-diff"})
# Heads that say who sent a mail, beside those that every mail has.
KEPT = (
    "from", "return-path", "precedence", "auto-submitted", "list-id", "list-post", "x-autoreply",
    "x-autorespond", "x-auto-reply", "x-auto-response-suppress", "x-loop", "x-vacation",
    "x-developer-signature",
)  # fmt: skip
_ID = re.compile(r"<([^<>\s]{1,250})>")
_PARAMETER = r"(?:^|[;\s]){}\s*=\s*(?:\"([^\"]{{1,200}})\"|([^\s;\"]{{1,200}}))"
_BOUNDARY, _CHARSET, _NAME, _FILE, _FORMAT, _DELSP = (
    re.compile(_PARAMETER.format(name), re.IGNORECASE)
    for name in ("boundary", "charset", "name", "filename", "format", "delsp")
)
_KIND = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,80}")


@dataclass
class _MailTexts:
    """Texts of a mail, and what of it was not read."""

    texts: list[str] = field(default_factory=list)
    has_body: bool = False
    """Whether the first text is the sender's own: no file that came with it, no mail in it."""
    left_out: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    parts: int = 0


def values_of(raw: bytes) -> dict[str, Any]:
    """All that is read of a mail, as JSON holds it. Raises NoMail."""
    heads, content = heads_of(without_blank_head(raw))
    found = _MailTexts()
    _read(heads, content, 0, found, is_own=True)
    ids, parents = _ids(heads, "message-id"), _ids(heads, "in-reply-to")
    senders = _addresses(heads, "from")
    return {
        "message_id": ids[0] if ids else "",
        "parent": parents[0] if parents else "",
        "references": _ids(heads, "references"),
        "subject": " ".join(words_of(_first(heads, "subject")[:LONGEST_HEAD]).split()),
        "sender": senders[0] if senders else address_in_words(_first(heads, "from")[:LONGEST_HEAD]),
        "date": _first(heads, "date")[:100],
        "to": _addresses(heads, "to"),
        "cc": _addresses(heads, "cc"),
        "body": found.texts[0] if found.has_body else "",
        "attached": found.texts[found.has_body :],
        "left_out": found.left_out[:MOST_TEXTS],
        "kinds": sorted(set(found.kinds)),
        "heads": [[name, value[: 5 * LONGEST_HEAD]] for name, value in heads if name in KEPT][:50],
    }


def _first(heads: Heads, name: str) -> str:
    return next((value for said, value in heads if said == name), "")


def _all(heads: Heads, name: str) -> str:
    return " ".join(value for said, value in heads if said == name)


def _ids(heads: Heads, name: str) -> list[str]:
    return _ID.findall(_all(heads, name)[: 20 * LONGEST_HEAD])[-MOST_REFERENCES:]


def _addresses(heads: Heads, name: str) -> list[list[str]]:
    raw = ", ".join(value for said, value in heads if said == name)[: 10 * LONGEST_HEAD]
    return [[" ".join(words_of(shown).split())[:120], it] for shown, it in addresses_in(raw)]


def _read(heads: Heads, content: bytes, depth: int, found: _MailTexts, *, is_own: bool) -> None:
    """Put the texts of one part, and of those in it, into *found*. *is_own*: in no other mail."""
    said = _first(heads, "content-type")[:LONGEST_HEAD]
    kind = said.split(";")[0].strip().lower()
    kind = kind if _KIND.fullmatch(kind) else "text/plain"
    found.parts += 1
    found.kinds.append(kind)
    if found.parts > MOST_PARTS:
        _leave(found, f"its parts after the first {MOST_PARTS}")
    elif kind.startswith(("multipart/", "message/")) and depth >= MOST_DEEP:
        _leave(found, f"parts that lie more than {MOST_DEEP} deep")
    elif kind == "message/rfc822":
        _read(*heads_of(content), depth + 1, found, is_own=False)
    elif kind.startswith("multipart/"):
        for part in _parts(content, _first_match(_BOUNDARY, said)):
            _read(*heads_of(part), depth + 1, found, is_own=is_own)
            if found.parts > MOST_PARTS:
                return
    else:
        _take(heads, content, kind, said, found, is_own=is_own)


def _take(
    heads: Heads, content: bytes, kind: str, said: str, found: _MailTexts, *, is_own: bool
) -> None:
    """One part without others in it."""
    disposition = _first(heads, "content-disposition")[:LONGEST_HEAD]
    name = _first_match(_FILE, disposition) or _first_match(_NAME, said)
    if kind not in TEXT and not name.lower().endswith((".patch", ".diff")):
        if kind != "text/html":
            _leave(found, f"a part of type {kind}" + (f", {name}" if name else ""))
        return
    if len(found.texts) == MOST_TEXTS:
        _leave(found, f"texts after the first {MOST_TEXTS}")
        return
    plain = _unpacked(content, _first(heads, "content-transfer-encoding").strip().lower())
    text = text_of(plain, _first_match(_CHARSET, said) or "utf-8")
    text = text.replace("\r\n", "\n")
    if _first_match(_FORMAT, said).lower() == "flowed":
        text = unflowed(text, delsp=_first_match(_DELSP, said).lower() == "yes")
    if not found.texts:
        found.has_body = is_own and not disposition.strip().lower().startswith("attachment")
    found.texts.append(text)


def _unpacked(content: bytes, way: str) -> bytes:
    if way == "quoted-printable":
        return binascii.a2b_qp(content)
    if way == "base64":
        plain = base64_of(content)
        return content if plain is None else plain
    return content


def _parts(content: bytes, boundary: str) -> list[bytes]:
    """What stands between lines of the boundary; nothing where it names none."""
    if not boundary:
        return []
    line = re.compile(
        rb"^--" + re.escape(boundary.encode()) + rb"(--)?[ \t]*\r?(?:\n|\Z)", re.MULTILINE
    )
    parts: list[bytes] = []
    begin: int | None = None
    for found in line.finditer(content):
        if begin is not None:
            # The end of the line before belongs to the boundary, but git keeps it: where a program
            # took the blank off a diff's last line of context, nothing else is left of that line.
            parts.append(content[begin : found.start()])
        begin = found.end()
        if found[1] or len(parts) > MOST_PARTS:
            return parts
    return parts if begin is None else [*parts, content[begin:]]


def _first_match(name: re.Pattern[str], text: str) -> str:
    found = name.search(text)
    return (found[1] or found[2]) if found else ""


def _leave(found: _MailTexts, what: str) -> None:
    if what not in found.left_out and len(found.left_out) < MOST_TEXTS:
        found.left_out.append(what)
