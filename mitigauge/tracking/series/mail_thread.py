"""Mails of a thread → revisions of a series, whole or with what is wrong with them. Pure."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

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
    that cannot be read. *series*: by what other revisions of the same mails are of one series with
    it, where they say so otherwise than by its id and title; *answers*: ids of mails that its own
    answer.
    """

    version: int
    title: str
    first: Mail
    patches: tuple[SentPatch, ...]
    faults: tuple[str, ...]
    strays: tuple[str, ...]
    positions: frozenset[int] = frozenset()
    total: int = 1
    answers: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    series: str = ""

    @property
    def key(self) -> str:
        """What stays from revision to revision."""
        return self.series or self.change_id or f"{self.first.sender.address}: {self.title}"

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
    found = [_revision(version, mails, unread) for version, mails in sorted(by_version.items())]
    return [_with_what_is_not_sent_again(each, found) for each in _joined(found)]


def of_one_series(found: Sequence[FoundRevision]) -> tuple[list[FoundRevision], list[str]]:
    """The revisions of one series, and what is left out: those of others that are not whole.

    Mails of several whole series are left as they are.
    """
    whole = {each.key for each in found if not each.faults}
    if len(whole) != 1:
        return list(found), []
    own = [each for each in found if each.key in whole]
    others = [each for each in found if each.key not in whole]
    return own, [f"v{each.version}, {each.title!r}: {'; '.join(each.faults)}" for each in others]


def _joined(found: Sequence[FoundRevision]) -> list[FoundRevision]:
    """Revisions of one sender as one series, where one answers the other or has a patch of it.

    A title and an id are a mail's own: one patch that is sent again alone has others.
    """
    joined: list[FoundRevision] = []
    for each in found:
        related = [other for other in joined if _is_revision_of(each, other)]
        keys = {other.key for other in related}
        ids = {other.change_id for other in (*related, each)} - {""}
        if len(keys) == 1 and len(ids) < 2:
            key = min(ids) if ids else min(keys)
            joined = [replace(o, series=key) if o.key in keys else o for o in joined]
            joined.append(replace(each, series=key))
        else:
            joined.append(each)
    return joined


def _is_revision_of(one: FoundRevision, other: FoundRevision) -> bool:
    sender = one.first.sender.address
    if not sender or sender != other.first.sender.address:
        return False
    titles = ({sent.patch.title.casefold() for sent in each.patches} for each in (one, other))
    has_patch = bool(set.intersection(*titles) - {""})
    return has_patch or bool(one.answers & other.ids) or bool(other.answers & one.ids)


def _with_what_is_not_sent_again(
    found: FoundRevision, all_found: Sequence[FoundRevision]
) -> FoundRevision:
    """A revision of some patches of a series: what is missing, and which revision has it."""
    missing = set(range(1, found.total + 1)) - found.positions
    earlier = [each for each in all_found if each.version < found.version]
    before = [
        each for each in earlier
        if each.total == found.total and missing <= each.positions
        and _is_revision_of(found, each)
    ]  # fmt: skip
    if not missing or not before:
        return found
    faults = tuple(
        f"{fault}: it was not sent again or did not arrive; v{before[-1].version} has one"
        if fault.endswith(f" of {found.total} is missing")
        else fault
        for fault in found.faults
    )
    return replace(found, faults=faults)


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
    own = [pair for pair in found if _is_same_sender(pair[1], first[1])]
    strays = [
        f"{mail.named} is from {mail.sender.address or 'somebody without an address'}"
        for _, mail in found
        if not _is_same_sender(mail, first[1])
    ]
    strays += unread
    places: dict[int, Mail] = {}
    faults = list(_sorted_in(own, places))
    total = max(subject.total for subject, _ in own)
    lead = places[min(places)]
    places.pop(0, None)
    answers = {each for _, mail in own for each in (mail.parent, *mail.references)}
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
        frozenset(places),
        total,
        frozenset(answers - {""}),
        frozenset(mail.message_id for _, mail in own) - {""},
    )


def _is_same_sender(mail: Mail, first: Mail) -> bool:
    """Whether one sent both. Who sent a mail without an address cannot be told."""
    return mail is first or (
        mail.sender.address == first.sender.address and bool(mail.sender.address)
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
