"""Patches as files, folders and mailboxes."""

from __future__ import annotations

import mailbox
from collections.abc import Sequence
from email.message import Message
from pathlib import Path

from mitigauge.errors import InvalidInput, NotFound
from mitigauge.kernels.patch import LARGEST_BYTES, MOST_PATCHES, Patch, read_patch

MBOX_LIMIT = MOST_PATCHES * (1 << 20)


def read_patches(paths: Sequence[Path]) -> list[Patch]:
    """The patches of files, mailboxes and folders of files, in their order.

    Raises NotFound for a path that is not there, InvalidInput for what is no patch and for more
    patches than a kernel may have.
    """
    found: list[Patch] = []
    for path in paths:
        found += _of(path)
    if len(found) > MOST_PATCHES:
        raise InvalidInput(
            f"{len(found)} patches", hint=f"A kernel may have up to {MOST_PATCHES}; build a tree."
        )
    return found


def _of(path: Path) -> list[Patch]:
    if path.is_dir():
        files = sorted(file for file in path.glob("*.patch") if "cover-letter" not in file.name)
        if not files:
            raise InvalidInput(f"{path} has no *.patch", hint="Give what `git format-patch` wrote.")
        return [patch for file in files for patch in _of(file)]
    if not path.is_file():
        raise NotFound(
            f"{path} is not there", hint="Give a patch, a mailbox or a folder of patches."
        )
    if path.stat().st_size > MBOX_LIMIT:
        raise InvalidInput(f"{path} is too large", hint="Give the patches of one series.")
    with path.open("rb") as file:
        begins = file.read(5)
    if begins == b"From ":
        return _of_mailbox(path)
    return [read_patch(_decoded(path.read_bytes()), path.name)]


def _of_mailbox(path: Path) -> list[Patch]:
    box = mailbox.mbox(path, create=False)
    try:
        mails = [(number, mail) for number, mail in enumerate(box, 1)]
    finally:
        box.close()
    texts = [(f"{path.name}, mail {number}", _text_of(mail)) for number, mail in mails]
    patches = [read_patch(text, name) for name, text in texts if "\ndiff --git " in text]
    if not patches:
        raise InvalidInput(f"{path} has no mail with a patch", hint="Give a series' mailbox.")
    return patches


def _text_of(mail: Message) -> str:
    """Subject and decoded body of a mail, as one text."""
    body = mail.get_payload(decode=True)
    if not isinstance(body, bytes) or len(body) > LARGEST_BYTES:
        return ""
    return f"Subject: {mail.get('Subject', '')}\n\n{_decoded(body)}"


def _decoded(content: bytes) -> str:
    try:
        return content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return content.decode("latin-1").replace("\r\n", "\n")
