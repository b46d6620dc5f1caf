"""Patches as files, folders, mailboxes and quilt's folders: what a command is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mitigauge.errors import InvalidInput
from mitigauge.kernels.patch import MOST_PATCHES, Patch, patch_in, why_no_diff
from mitigauge.mails.files import Sent, read_files
from mitigauge.mails.subject import PatchSubject, patch_subject

Tell = Callable[[str], object]
_WHOLE = "To build without it, give the patches as files, one by one."


@dataclass(frozen=True, slots=True)
class _NumberedPatch:
    """One patch with the mail that brought it; *subject*: None where it numbers none."""

    sent: Sent
    subject: PatchSubject | None
    patch: Patch


def read_patches(paths: Sequence[Path], tell: Tell = lambda _line: None) -> list[Patch]:
    """The patches of files, mailboxes and folders, in their order.

    Of a mailbox or folder whose mails are numbered: the newest revision, in the order of its
    numbers. *tell* hears of each mail that is left out, and why. Raises NotFound for a path that
    is not there, InvalidInput for what is no patch, for a revision that is not whole, and for more
    patches than a kernel may have.
    """
    found = [patch for path in paths for patch in _of(path, tell, beside=len(paths) > 1)]
    if paths and not found:
        raise InvalidInput(
            "these are cover letters, without a patch", hint="Give the patches as well."
        )
    if len(found) > MOST_PATCHES:
        raise InvalidInput(
            f"{len(found)} patches", hint=f"A kernel may have up to {MOST_PATCHES}; build a tree."
        )
    return found


def _of(path: Path, tell: Tell, *, beside: bool) -> list[Patch]:
    """The patches of one path; *beside* others it may be a cover letter, which has none."""
    sent = read_files(path)
    if beside and len(sent) == 1 and _is_cover_letter(sent[0]):
        tell(f"left out: {sent[0].name}: it is the cover letter")
        return []
    found = [each for one in sent if (each := _taken(one, tell, alone=len(sent) == 1))]
    if not found:
        raise InvalidInput(f"{path} has no patch", hint="Give what `git format-patch` wrote.")
    numbered = [each for each in found if each.subject and each.subject.total > 1]
    if len(sent) == 1 or len(numbered) < len(found):
        return [each.patch for each in found]
    return [each.patch for each in _ordered(path, found, tell)]


def _is_cover_letter(sent: Sent) -> bool:
    subject = patch_subject(sent.mail.subject)
    return subject is not None and subject.position == 0 and not sent.mail.fault


def _taken(sent: Sent, tell: Tell, *, alone: bool) -> _NumberedPatch | None:
    """The patch of one mail; None for a cover letter and for talk, which is told of."""
    mail = sent.mail
    subject = patch_subject(mail.subject)
    if mail.fault:
        raise InvalidInput(f"{sent.name} cannot be read: {mail.fault}", hint=_WHOLE)
    if subject is not None and subject.position == 0:
        return None
    if subject is None and mail.parent and not alone:
        tell(f"left out: {sent.name}, {mail.named}: it answers another mail")
        return None
    patch = patch_in(mail, sent.name)
    if patch is not None:
        return _NumberedPatch(sent, subject, patch)
    if alone or (subject is not None and subject.says):
        raise InvalidInput(
            f"{sent.name} has no hunk of a diff: {why_no_diff(mail)}",
            hint="Give a file of `git format-patch`.",
        )
    tell(f"left out: {sent.name}, {mail.named}: {why_no_diff(mail)}")
    return None


def _ordered(path: Path, found: Sequence[_NumberedPatch], tell: Tell) -> list[_NumberedPatch]:
    """The newest revision in the order of its numbers. Raises InvalidInput unless it is whole."""
    newest = max(each.subject.version for each in found if each.subject)
    places: dict[int, _NumberedPatch] = {}
    first = next(each for each in found if each.subject and each.subject.version == newest)
    for each in found:
        subject = each.subject
        assert subject
        sender, wanted = each.sent.mail.sender.address, first.sent.mail.sender.address
        if subject.version != newest:
            tell(f"left out: {each.sent.name}: it is of v{subject.version}, and v{newest} is there")
        elif sender != wanted:
            tell(f"left out: {each.sent.name}: it is from {sender or 'nobody'}, not from {wanted}")
        elif places.setdefault(subject.position, each).patch.text != each.patch.text:
            raise InvalidInput(
                f"{path}: {places[subject.position].sent.name} and {each.sent.name} both are patch "
                f"{subject.position} of v{newest}",
                hint="Give the patches of one series.",
            )
    total = max(each.subject.total for each in places.values() if each.subject)
    missing = [str(number) for number in range(1, total + 1) if number not in places]
    if missing:
        raise InvalidInput(
            f"{path}: patch {', '.join(missing[:10])} of {total} of v{newest} is missing",
            hint=_WHOLE,
        )
    return [each for _, each in sorted(places.items())]
