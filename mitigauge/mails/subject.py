"""Subjects of patch mails: ``[PATCH RFC v3 02/10] area: title``. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_TITLE = 200
_TAGS = re.compile(r"^(?:\s*\[(?P<words>[^\]]{0,80})\])+\s*")
_EACH = re.compile(r"\[([^\]]{0,80})\]")
_PATCH = re.compile(r"\bPATCH|\bRFC\b", re.IGNORECASE)
# v5.10 is a tree's name, not a revision.
_VERSION = re.compile(r"(?:(?<![\w.])|(?<=PATCH))v(\d{1,3})(?![\w.])", re.IGNORECASE)
_COUNT = re.compile(r"\b(\d{1,4})/(\d{1,4})\b")
# Patchwork takes the word PATCH out and puts commas between the others: [net,v2,1/2].
_PATCHWORK = re.compile(
    r"\[(?:[^\],\s]{1,30},)*(?:v\d{1,3}(?:,\d{1,4}/\d{1,4})?|\d{1,4}/\d{1,4})\]"
)


@dataclass(frozen=True, slots=True)
class PatchSubject:
    """*position* 0 is a cover letter; a patch alone is 1 of 1. *says*: the word PATCH or RFC."""

    version: int
    position: int
    total: int
    title: str
    says: bool = True


def patch_subject(subject: str) -> PatchSubject | None:
    """What a subject says, or None for one of an answer or of no patch."""
    tags = _TAGS.match(subject)
    if not tags:
        return None
    words = " ".join(_EACH.findall(tags.group(0)))
    says = bool(_PATCH.search(words))
    if not says and not _PATCHWORK.match(subject):
        return None
    version, count = _VERSION.search(words), _COUNT.search(words)
    position, total = (int(count[1]), int(count[2])) if count else (1, 1)
    title = subject[tags.end() :].strip()[:LONGEST_TITLE]
    return PatchSubject(int(version[1]) if version else 1, position, total, title, says)


def title_of(subject: str) -> str:
    """A subject without the brackets before it."""
    tags = _TAGS.match(subject)
    return (subject[tags.end() :] if tags else subject).strip()[:LONGEST_TITLE]
