"""Patches as files, folders, mailboxes and quilt's folders: what a command is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.mails.files import Sent, read_files
from mitigauge.kernels.mails.subject import patch_subject
from mitigauge.kernels.patch import MOST_PATCHES, Patch, patch_in, why_no_diff
from mitigauge.kernels.patch_revisions import MailedPatch, newest_of_each

Tell = Callable[[str], object]
_WHOLE = "To build without it, give the patches as files, one by one."


def read_patches(paths: Sequence[Path], tell: Tell = lambda _line: None) -> list[Patch]:
    """The patches of files, mailboxes and folders, in their order.

    Of mails in one mailbox or folder that are revisions of one patch or series: the newest, in the
    order of its numbers. *tell* hears of each mail that is left out, and why. Raises NotFound for a
    path that is not there, InvalidInput for what is no patch, for a revision that is not whole, and
    for more patches than a kernel may have.
    """
    found = [each for path in paths for each in _patches_at(path, tell, beside=len(paths) > 1)]
    if paths and not found:
        raise InvalidInput(
            "these are cover letters, without a patch", hint="Give the patches as well."
        )
    if len(found) > MOST_PATCHES:
        raise InvalidInput(
            f"{len(found)} patches", hint=f"A kernel may have up to {MOST_PATCHES}; build a tree."
        )
    if len(paths) > 1:
        _tell_of_revisions(found, tell)
    return [each.patch() for each in found]


def _tell_of_revisions(found: Sequence[MailedPatch], tell: Tell) -> None:
    """Say which patches, given one by one, are revisions of one: they are applied as given."""
    by_title: dict[str, MailedPatch] = {}
    for each in found:
        title = each.subject.title if each.subject else ""
        first = by_title.setdefault(title, each) if title else each
        if first.label != each.label:
            tell(
                f"note: {first.sent.name} is {first.label} and {each.sent.name} {each.label} of "
                f"{title!r}: both are applied, as they were given one by one"
            )


def _patches_at(path: Path, tell: Tell, *, beside: bool) -> list[MailedPatch]:
    """The patches of one path; *beside* others it may be a cover letter, which has none."""
    sent = read_files(path)
    if beside and len(sent) == 1 and _is_cover_letter(sent[0]):
        tell(f"left out: {sent[0].name}: it is the cover letter")
        return []
    found = [each for one in sent if (each := _taken(one, tell, alone=len(sent) == 1))]
    if not any(each.brings_patch for each in found):
        raise InvalidInput(f"{path} has no patch", hint="Give what `git format-patch` wrote.")
    if len(sent) == 1:
        found[0].patch()
        return found
    return newest_of_each(path, found, tell)


def _is_cover_letter(sent: Sent) -> bool:
    subject = patch_subject(sent.mail.subject)
    return subject is not None and subject.position == 0 and not sent.mail.fault


def _taken(sent: Sent, tell: Tell, *, alone: bool) -> MailedPatch | None:
    """What one mail brings; None for talk, which is told of."""
    mail = sent.mail
    subject = patch_subject(mail.subject)
    if mail.fault:
        raise InvalidInput(f"{sent.name} cannot be read: {mail.fault}", hint=_WHOLE)
    if subject is not None and subject.position == 0:
        return MailedPatch(sent, subject, None)
    if subject is None and mail.parent and not alone:
        tell(f"left out: {sent.name}, {mail.named}: it answers another mail")
        return None
    try:
        patch = patch_in(mail, sent.name)
    except InvalidInput as error:
        # Of a revision that is left out, nothing is asked.
        return MailedPatch(sent, subject, error)
    if patch is not None:
        return MailedPatch(sent, subject, patch)
    if alone or (subject is not None and subject.says):
        missing = InvalidInput(
            f"{sent.name} has no hunk of a diff: {why_no_diff(mail)}",
            hint="Give a file of `git format-patch`.",
        )
        return MailedPatch(sent, subject, missing)
    tell(f"left out: {sent.name}, {mail.named}: {why_no_diff(mail)}")
    return None
