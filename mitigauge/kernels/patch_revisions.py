"""Mails of one mailbox or folder that are revisions of the same patches: the newest is taken. Pure.

Mails hang together where one patch has the same title in both, where one names the other in its
heads, by the change-id of the series, and where they are numbered: one mailbox or folder holds one
numbered series.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.mails.files import Sent
from mitigauge.kernels.mails.subject import PatchSubject
from mitigauge.kernels.patch import Patch

Tell = Callable[[str], object]
_HINT = "Give the patches of one series, or each as a file of its own, in their order."
_CHANGE_ID = re.compile(r"^change-id: (\S{4,120})[ \t]*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MailedPatch:
    """A mail and what it brought: a patch, why there is none that can be read, None for a letter.

    *subject*: None where it says nothing of a patch.
    """

    sent: Sent
    subject: PatchSubject | None
    brought: Patch | InvalidInput | None

    @property
    def brings_patch(self) -> bool:
        """Whether it is a patch, be it one that cannot be read."""
        return self.brought is not None

    @property
    def version(self) -> tuple[int, int]:
        """What revisions are ordered by. Raises InvalidInput for one that cannot be read."""
        if self.subject is None:
            return (1, 0)
        if self.subject.unread:
            raise InvalidInput(
                f"{self.sent.name} is of {self.subject.unread}, which is no version that is read",
                hint=_HINT,
            )
        return (self.subject.version, self.subject.minor)

    @property
    def label(self) -> str:
        """Its revision in words."""
        return self.subject.label if self.subject else "v1"

    @property
    def position(self) -> int:
        """Its number in its revision."""
        return self.subject.position if self.subject else 1

    def patch(self) -> Patch:
        """What it brought. Raises InvalidInput as reading it did."""
        if isinstance(self.brought, Patch):
            return self.brought
        raise self.brought or InvalidInput(f"{self.sent.name} is a cover letter", hint=_HINT)

    def ties(self, versions: Mapping[str, tuple[int, int]]) -> Iterator[str]:
        """Words that it has in common with other revisions of it, and with others of its series.

        *versions*: of each mail by its id. Patches of one revision may answer each other without
        being one.
        """
        mail, subject = self.sent.mail, self.subject
        if subject is None:
            return
        if title := " ".join(subject.title.casefold().split()):
            yield f"title {title}"
        if subject.total > 1 or subject.position != 1:
            yield "numbered"
        yield f"mail {mail.message_id}" if mail.message_id else f"file {self.sent.name}"
        for other in {mail.parent, *mail.references}:
            if versions.get(other, self.version) != self.version:
                yield f"mail {other}"
        yield from (f"change {each}" for each in _CHANGE_ID.findall(mail.body))


def newest_of_each(path: Path, found: Sequence[MailedPatch], tell: Tell) -> list[MailedPatch]:
    """The patches to apply: of all that hangs together, the newest revision.

    *tell* hears what is left out. Raises InvalidInput unless each revision that is taken is whole,
    and can be read.
    """
    groups = _groups(found)
    versions = {each.version for group in groups for each in group if each.subject}
    if len(groups) > 1 and len(versions) > 1:
        tell(f"note: {path} has revisions of {len(groups)} patches or series: each is applied")
    ordered = [each for group in groups for each in _ordered(path, group, tell)]
    for each in ordered:
        each.patch()
    return ordered


def _groups(found: Sequence[MailedPatch]) -> list[list[MailedPatch]]:
    """What hangs together, in the order of the first of each."""
    versions = {each.sent.mail.message_id: each.version for each in found if each.subject}
    groups: list[tuple[set[str], list[int]]] = []
    for place, each in enumerate(found):
        ties, places = set(each.ties(versions)), [place]
        for other in [group for group in groups if group[0] & ties]:
            groups.remove(other)
            ties |= other[0]
            places += other[1]
        groups.append((ties, places))
    ordered = sorted(sorted(places) for _, places in groups)
    return [[found[place] for place in places] for places in ordered]


def _ordered(path: Path, group: Sequence[MailedPatch], tell: Tell) -> list[MailedPatch]:
    """The newest revision in the order of its numbers. Raises InvalidInput unless it is whole."""
    if not any(each.brings_patch for each in group):
        for each in group:
            tell(f"left out: {each.sent.name}: it is the cover letter")
        return []
    newest = max(group, key=lambda each: each.version)
    places: dict[int, MailedPatch] = {}
    total = 1
    for each in group:
        if each.version != newest.version:
            tell(f"left out: {each.sent.name}: it is of {each.label}, and {newest.label} is there")
        elif isinstance(each.brought, InvalidInput):
            raise each.brought
        elif not _is_from(each, newest):
            local, own = (
                one.sent.mail.sender.address or "somebody without an address"
                for one in (each, newest)
            )
            tell(f"left out: {each.sent.name}: it is from {local}, not from {own}")
        else:
            total = max(total, each.subject.total if each.subject else 1)
            _take_place(path, places, each, tell)
    places.pop(0, None)
    missing = [str(number) for number in range(1, total + 1) if number not in places]
    if missing:
        raise InvalidInput(
            f"{path}: patch {', '.join(missing[:10])} of {total} of {newest.label} is missing"
            + _elsewhere(group, newest, missing),
            hint="To build without it, or with another revision's, give the patches as files, "
            "one by one.",
        )
    return [each for _, each in sorted(places.items())]


def _elsewhere(group: Sequence[MailedPatch], newest: MailedPatch, missing: Sequence[str]) -> str:
    """Where each missing patch stands in the same earlier revision; empty: in none."""
    earlier = [each for each in group if each.version < newest.version and _is_from(each, newest)]
    for before in sorted(earlier, key=lambda each: each.version, reverse=True):
        own = {str(each.position) for each in earlier if each.version == before.version}
        if set(missing) <= own:
            return f": it was not sent again or did not arrive; {before.label} has one"
    return ""


def _is_from(each: MailedPatch, other: MailedPatch) -> bool:
    return each.sent.mail.is_from(other.sent.mail)


def _take_place(path: Path, places: dict[int, MailedPatch], each: MailedPatch, tell: Tell) -> None:
    """Put a mail where its number says. Raises InvalidInput for another patch in that place."""
    there = places.setdefault(each.position, each)
    if there is each or each.position == 0:
        return
    if there.patch().text != each.patch().text:
        raise InvalidInput(
            f"{path}: {there.sent.name} and {each.sent.name} both are patch {each.position} "
            f"of {each.label}",
            hint=_HINT,
        )
    tell(f"left out: {each.sent.name}: it is the same patch as {there.sent.name}")
