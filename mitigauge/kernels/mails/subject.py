"""Subjects of patch mails: ``[PATCH RFC v3 02/10] area: title``. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_TITLE = 200
# What is read of a subject; git and mail programs write some hundred characters.
LONGEST_SUBJECT = 2000
LONGEST_VERSION = 40
_TAGS = re.compile(r"^(?:[\s:]*+\[[^\]]{0,80}\])++\s*+")
_EACH = re.compile(r"\[([^\]]{0,80})\]")
_PATCH = re.compile(r"\bPATCH|\bRFC\b", re.IGNORECASE)
# Words that stand before a version's number, or run into it.
_VERSION = re.compile(
    r"(?:(?<![A-Za-z0-9.])|(?<=PATCH)|(?<=RFC)|(?<=RESEND)|(?<=NEXT)|(?<=\d/\d)|(?<=\d/\d\d))"
    r"(?:v ?|(?:ver|version|rev|revision|take|try|round)[ .]{0,2}#?)"
    r"(?P<said>\d[\w.+]*(?:-(?:rc|rt|cip|stable)\w*)?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<major>\d{1,3})(?:\.(?P<minor>\d{1,2}))?", re.ASCII)
# v5.10, v6.1.y and v5.15.3 are names of trees: those that are maintained for long, and all whose
# second number no revision has.
_TREE = re.compile(
    r"(?:2\.6|[3-9]\.\d\d|5\.4|6\.[16])(?:[.+-]\w+)*|[3-9]\.\d{1,2}(?:[.-]\w+)+|\d{1,2}x",
    re.ASCII | re.IGNORECASE,
)
# Subsystems whose names begin like a version.
_SUBSYSTEM = re.compile(r"(?:4l|9fs)\w*", re.IGNORECASE)
# Names of trees, 5.10/5.15, are no count, nor is x86/64.
_COUNT = re.compile(
    r"(?:(?<![\w./])|(?<=PATCH))(\d{1,4})(?:/| of )(\d{1,4})(?![\d./])", re.IGNORECASE
)
# Patchwork takes the word PATCH out and puts commas between the others: [net,v2,1/2].
_PATCHWORK = re.compile(
    r"\[(?:[^\[\],\s]{1,30},)*+(?:v\d{1,3}(?:,\d{1,4}/\d{1,4})?|\d{1,4}/\d{1,4})\]"
)


@dataclass(frozen=True, slots=True)
class PatchSubject:
    """*position* 0 is a cover letter; a patch alone is 1 of 1. *says*: the word PATCH or RFC.

    *minor*: of v2.1. *unread*: what stands for a version and is none that is read here.
    """

    version: int
    position: int
    total: int
    title: str
    says: bool = True
    minor: int = 0
    unread: str = ""

    @property
    def label(self) -> str:
        """``v2``, ``v2.1``, or what could not be read."""
        return self.unread or f"v{self.version}" + (f".{self.minor}" if self.minor else "")


def patch_subject(subject: str) -> PatchSubject | None:
    """What a subject says, or None for one of an answer or of no patch."""
    subject = subject[:LONGEST_SUBJECT]
    tags = _TAGS.match(subject)
    if not tags:
        return None
    words = " ".join(_EACH.findall(tags.group(0)))
    says = bool(_PATCH.search(words))
    if not says and not _PATCHWORK.match(subject):
        return None
    position, total = _place(words)
    version, minor, unread = _version(words)
    title = _bare(subject[tags.end() :])
    return PatchSubject(version, position, total, title, says, minor, unread)


def _place(words: str) -> tuple[int, int]:
    """Number and count; `git format-patch` puts them last."""
    counts = [(int(found[1]), int(found[2])) for found in _COUNT.finditer(words)]
    fitting = [count for count in counts if count[0] <= count[1]]
    return (fitting or counts or [(1, 1)])[-1]


def _version(words: str) -> tuple[int, int, str]:
    """The version's number, the number behind its point, and what of it cannot be read."""
    said = [found["said"].rstrip(".") for found in _VERSION.finditer(words)]
    own = [each for each in said if not _TREE.fullmatch(each) and not _SUBSYSTEM.match(each)]
    plain = [each for each in own if each.isdecimal()]
    if not own:
        return 1, 0, ""
    # Beside a whole number, v6.9 is a tree as well.
    chosen = (plain or own)[0]
    number = _NUMBER.fullmatch(chosen)
    if number is None or len(set(plain or own)) > 1:
        return 1, 0, f"v{' v'.join(dict.fromkeys(plain or own))}"[:LONGEST_VERSION]
    return int(number["major"]), int(number["minor"] or 0), ""


def title_of(subject: str) -> str:
    """A subject without the brackets before it."""
    tags = _TAGS.match(subject)
    return _bare(subject[tags.end() :] if tags else subject)


def _bare(title: str) -> str:
    """*title* without colons and blanks before it, which git takes off as well."""
    return title.lstrip(": \t\n").strip()[:LONGEST_TITLE]
