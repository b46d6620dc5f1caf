"""Patches: the diff that is applied, what it touches, and how it is called. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.diff import diff_in
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.subject import LONGEST_TITLE, title_of

MOST_PATCHES = 150
LARGEST_BYTES = 4 << 20
# By what, and how, a kernel is built; not what is built.
_MACHINERY = re.compile(
    r"(?:scripts|tools|arch/x86/(?:tools|boot))/.*|(?:.*/)?(?:Make|Kbuild|Kconfig)[^/]*|.*\.ld[^/]*"
)


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch: its title, and its text as it is applied."""

    title: str
    text: str

    @property
    def sha256(self) -> str:
        """Of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def files(self) -> list[str]:
        """What it touches, below the tree."""
        return list(diff_in(self.text).paths)


def is_machinery(file: str) -> bool:
    """Whether a file of the tree decides how others are compiled or linked."""
    return _MACHINERY.fullmatch(file) is not None


def read_patch(text: str, name: str, title: str = "") -> Patch:
    """The diff in *text*, under *title* or else *name*, which is what errors call it.

    Raises InvalidInput where there is none, and for one that would touch anything but regular
    files below the tree.
    """
    if len(text) > LARGEST_BYTES:
        raise InvalidInput(f"{name} is larger than 4 MiB", hint="Give a patch of the kernel.")
    found = diff_in(text, name)
    if not found.text:
        raise InvalidInput(
            f"{name} has no hunk of a diff", hint="Give a file of `git format-patch`."
        )
    if "\0" in found.text:
        raise InvalidInput(f"{name} has a NUL byte", hint="A kernel's patch is text.")
    return Patch((title or name)[:LONGEST_TITLE], found.text)


def patch_in(mail: Mail, name: str) -> Patch | None:
    """The patch that *mail* brings in its text or attached; None where it has no diff.

    The same diff twice, inline and attached, is one. Raises InvalidInput as
    :func:`read_patch` does, and for a mail that could not be read.
    """
    if mail.fault:
        raise InvalidInput(f"{name} cannot be read: {mail.fault}", hint="Give it as a file.")
    diffs: list[str] = []
    for text in (mail.body, *mail.attached):
        if len(text) > LARGEST_BYTES:
            raise InvalidInput(f"{name} is larger than 4 MiB", hint="Give a patch of the kernel.")
        found = diff_in(text, name).text
        if found and found not in diffs:
            diffs.append(found)
    if not diffs:
        return None
    return read_patch("".join(diffs), name, clean_text(title_of(mail.subject)))


def why_no_diff(mail: Mail) -> str:
    """What a mail without a diff has instead, for whoever expected one."""
    left = f"; not read of it: {', '.join(mail.left_out)}" if mail.left_out else ""
    html = "its text is HTML" if not mail.body.strip() and "text/html" in mail.kinds else ""
    return (html or "no diff is in it") + left
