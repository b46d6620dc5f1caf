"""Mails that a command is given: files, or a message-id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from mitigauge.kernels.mails.mail import Mail
    from mitigauge.kernels.patch import Patch

LONGEST_SENT_TITLE = 300
LORE = "https://lore.kernel.org/all"


def is_message_id(words: Sequence[str]) -> bool:
    """Whether one word is given that is no file, and looks like a message-id."""
    return len(words) == 1 and "@" in words[0] and not Path(words[0]).exists()


def mails_from(words: Sequence[str], archive: str) -> list[Mail]:
    """The mails of files, or of the thread of a message-id in *archive*."""
    from mitigauge.kernels.mails.files import read_mails
    from mitigauge.kernels.mails.reader import mails_of
    from pipelines.adapters.archive import Archive

    if not is_message_id(words):
        return read_mails([Path(word) for word in words])
    return mails_of(Archive(archive).thread(words[0]))


def patches_from(paths: Sequence[Path]) -> list[Patch]:
    """The patches of files, mailboxes and folders; what is left out of them is told beside."""
    from cli.output import remark
    from mitigauge.kernels.patch_files import read_patches

    return read_patches(paths, remark)


def patches_of(words: Sequence[str], archive: str) -> list[Patch]:
    """The patches of files, or of the latest revision in the thread of a message-id.

    Raises :class:`InvalidInput` for a revision that is not whole.
    """
    if not is_message_id(words):
        return patches_from([Path(word) for word in words])
    from mitigauge.core.errors import InvalidInput
    from mitigauge.tracking.series.mail_thread import revisions

    revision = revisions(mails_from(words, archive))[-1]
    if revision.faults:
        raise InvalidInput(
            f"v{revision.version} of that thread is not whole: {'; '.join(revision.faults)}",
            hint="Give the patches as files, in their order.",
        )
    return [mail.patch for mail in revision.patches]


def sent(patches: Sequence[Patch]) -> list[dict[str, str]]:
    """Patches as the API takes them."""
    return [{"title": each.title[:LONGEST_SENT_TITLE], "text": each.text} for each in patches]
