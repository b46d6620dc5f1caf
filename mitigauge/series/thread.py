"""Mails of a thread → revisions of a series, whole or with what is wrong with them. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mitigauge.errors import InvalidInput
from mitigauge.kernels.patch import MOST_PATCHES, Patch, read_patch
from mitigauge.series import letter
from mitigauge.series.mail import Mail
from mitigauge.series.subject import PatchSubject, patch_subject

MOST_MAILS = 2000
# No line of a diff begins with a digit.
_SIGNATURE = re.compile(r"\n-- ?\n[0-9][^\n]{0,60}\n*\Z")
MOST_FAULTS = 10


@dataclass(frozen=True, slots=True)
class SentPatch:
    """One patch with the mail that brought it."""

    mail: Mail
    patch: Patch


@dataclass(frozen=True, slots=True)
class FoundRevision:
    """One revision. *faults*: why it is not whole; *strays*: mails that were left out, and why."""

    version: int
    title: str
    cover: Mail | None
    patches: tuple[SentPatch, ...]
    faults: tuple[str, ...]
    strays: tuple[str, ...]

    @property
    def first(self) -> Mail:
        """The mail that all others answer: the cover letter, else the first patch."""
        return self.cover or self.patches[0].mail

    @property
    def letter(self) -> str:
        """The text that speaks for the whole: the cover letter, or a single patch's message."""
        return self.first.body.split("\ndiff --git ", 1)[0]

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
    for count, mail in enumerate(mails, 1):
        if count > MOST_MAILS:
            raise InvalidInput(
                f"more than {MOST_MAILS} mails", hint="Give the mails of one series."
            )
        subject = patch_subject(mail.subject)
        if subject and (subject.position == 0 or "\ndiff --git " in f"\n{mail.body}"):
            by_version[subject.version].append((subject, mail))
    if not by_version:
        raise InvalidInput(
            "no mail of these is a patch", hint="Subjects of patches begin with [PATCH …]."
        )
    return [_revision(version, found) for version, found in sorted(by_version.items())]


def _revision(version: int, found: list[tuple[PatchSubject, Mail]]) -> FoundRevision:
    """One revision of the mails that name its version.

    Whoever sent the first of its mails sends all of it: anybody can answer a thread with a mail
    that says it is a patch of it.
    """
    first = min(found, key=lambda pair: (pair[0].position, _when(pair[1])))
    sender = first[1].sender.address
    own = [pair for pair in found if pair[1].sender.address == sender]
    strays = [f"{_named(m)} is from {m.sender.address}" for _, m in found
              if m.sender.address != sender]  # fmt: skip
    places: dict[int, Mail] = {}
    faults = list(_sorted_in(own, places))
    total = max(subject.total for subject, _ in own)
    cover = places.pop(0, None)
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
        cover,
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
        if there.body != mail.body:
            yield (
                f"two mails stand as {subject.position}/{subject.total}: {_named(there)} "
                f"and {_named(mail)}"
            )


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
    if "\0" in mail.body:
        raise InvalidInput(f"{name} has a NUL byte", hint="A kernel's patch is text.")
    whole = read_patch(f"Subject: {mail.subject}\n\n{mail.body}", name)
    diff = whole.text[whole.text.index("\ndiff --git ") + 1 :]
    # A mailbox adds an empty line, and git its version.
    return Patch(whole.title, _SIGNATURE.sub("", diff).rstrip("\n") + "\n")


def _named(mail: Mail) -> str:
    return mail.message_id or repr(mail.subject[:60])


def _when(mail: Mail) -> float:
    return mail.sent_at.timestamp() if mail.sent_at else 0.0
