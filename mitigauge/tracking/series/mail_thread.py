"""Mails of a thread → revisions of a series, whole or with what is wrong with them. Pure."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.diff import words_before
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.subject import PatchSubject, patch_subject
from mitigauge.kernels.patch import MOST_PATCHES, Patch, patch_in, why_no_diff
from mitigauge.tracking.series import letter

MOST_MAILS = 2000
MOST_FAULTS = 10


@dataclass(frozen=True, slots=True)
class SentPatch:
    """One patch with the mail that brought it."""

    mail: Mail
    patch: Patch


@dataclass(frozen=True, slots=True)
class FoundRevision:
    """One revision. *faults*: why it is not whole; *strays*: mails that were left out, and why.

    *first*: the mail that all others answer: the cover letter, else the first patch, be it one
    that cannot be read.
    """

    version: int
    title: str
    first: Mail
    patches: tuple[SentPatch, ...]
    faults: tuple[str, ...]
    strays: tuple[str, ...]

    @property
    def letter(self) -> str:
        """The text that speaks for the whole: the cover letter, or a single patch's message."""
        return words_before(self.first.body)

    @property
    def change_id(self) -> str:
        """The series' id, where it names one."""
        return letter.change_id(self.letter)

    @property
    def digest(self) -> str:
        """SHA-256 over its patches in their order."""
        said = "".join(sent.patch.sha256 for sent in self.patches)
        return hashlib.sha256(said.encode()).hexdigest()


def revisions(mails: Iterable[Mail]) -> list[FoundRevision]:
    """All revisions that the mails hold, in the order of their versions.

    Raises InvalidInput where there is none, and for more mails than a thread has.
    """
    by_version: dict[int, list[tuple[PatchSubject, Mail]]] = defaultdict(list)
    unread: list[str] = []
    for count, mail in enumerate(mails, 1):
        if count > MOST_MAILS:
            raise InvalidInput(
                f"more than {MOST_MAILS} mails", hint="Give the mails of one series."
            )
        subject = patch_subject(mail.subject)
        if mail.fault:
            unread.append(f"mail {count} cannot be read: {mail.fault}")
        elif subject and (subject.unread or subject.minor):
            unread.append(f"{mail.named} is of {subject.label}: versions are whole numbers here")
        elif subject and (subject.says or subject.position == 0 or _brings_diff(mail)):
            by_version[subject.version].append((subject, mail))
    if not by_version:
        more = f" ({'; '.join(unread[:MOST_FAULTS])})" if unread else ""
        raise InvalidInput(
            f"no mail of these is a patch{more}", hint="Subjects of patches begin with [PATCH …]."
        )
    return [_revision(version, found, unread) for version, found in sorted(by_version.items())]


def _brings_diff(mail: Mail) -> bool:
    """Whether a diff is in it, be it a damaged one."""
    try:
        return patch_in(mail, "a mail") is not None
    except InvalidInput:
        return True


def _revision(
    version: int, found: list[tuple[PatchSubject, Mail]], unread: Sequence[str]
) -> FoundRevision:
    """One revision of the mails that name its version.

    Whoever sent the first of its mails sends all of it: anybody can answer a thread with a mail
    that says it is a patch of it.
    """
    first = min(found, key=lambda pair: (pair[0].position, _when(pair[1])))
    sender = first[1].sender.address
    own = [pair for pair in found if pair[1].sender.address == sender]
    strays = [f"{m.named} is from {m.sender.address}" for _, m in found
              if m.sender.address != sender]  # fmt: skip
    strays += unread
    places: dict[int, Mail] = {}
    faults = list(_sorted_in(own, places))
    total = max(subject.total for subject, _ in own)
    lead = places[min(places)]
    places.pop(0, None)
    faults += _missing(places, total)
    patches: list[SentPatch] = []
    for position, mail in sorted(places.items()):
        if len(patches) == MOST_PATCHES:
            break
        try:
            patches.append(SentPatch(mail, _patch(mail, f"patch {position}/{total}")))
        except InvalidInput as error:
            faults.append(error.message)
    return FoundRevision(
        version,
        first[0].title,
        lead,
        tuple(patches),
        tuple(faults[:MOST_FAULTS]),
        tuple(strays[:MOST_FAULTS]),
    )


def _sorted_in(own: list[tuple[PatchSubject, Mail]], places: dict[int, Mail]) -> Iterator[str]:
    """Put each mail in its place; what is wrong with that."""
    totals = sorted({subject.total for subject, _ in own})
    if len(totals) > 1:
        yield f"its mails say {' and '.join(map(str, totals))} patches in all"
    for subject, mail in sorted(own, key=lambda pair: _when(pair[1])):
        there = places.setdefault(subject.position, mail)
        if there.body == mail.body and there.attached == mail.attached:
            continue
        if subject.position and (not _brings_diff(mail) or _is_resent(there, mail)):
            continue
        if subject.position and not _brings_diff(there):
            # A word about a patch, under its subject.
            places[subject.position] = mail
            continue
        yield (
            f"two mails stand as {subject.position}/{subject.total}: {there.named} and {mail.named}"
        )


def _is_resent(there: Mail, mail: Mail) -> bool:
    """Whether both bring the same patch, whatever words stand around it."""
    try:
        first, second = patch_in(there, "a mail"), patch_in(mail, "a mail")
    except InvalidInput:
        return False
    return first is not None and second is not None and first.text == second.text


def _missing(places: dict[int, Mail], total: int) -> list[str]:
    if total > MOST_PATCHES:
        return [f"{total} patches; at most {MOST_PATCHES} are taken"]
    absent = [str(number) for number in range(1, total + 1) if number not in places]
    beyond = [str(number) for number in sorted(places) if number > total]
    return [
        *([f"patch {', '.join(absent)} of {total} is missing"] if absent else []),
        *([f"patch {', '.join(beyond)} of {total} is one too many"] if beyond else []),
    ]


def _patch(mail: Mail, name: str) -> Patch:
    """The diff alone under its title: what is built does not depend on the mail around it."""
    patch = patch_in(mail, name)
    if patch is None:
        raise InvalidInput(
            f"{name} has no hunk of a diff: {why_no_diff(mail)}",
            hint="Give a file of `git format-patch`.",
        )
    return patch


def _when(mail: Mail) -> float:
    return mail.sent_at.timestamp() if mail.sent_at else 0.0
