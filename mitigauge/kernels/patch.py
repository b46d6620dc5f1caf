"""Patches as text: what they would touch, refused where they reach beyond the tree. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string
from email.header import decode_header, make_header

from mitigauge.errors import InvalidInput

MOST_PATCHES = 150
LARGEST_BYTES = 4 << 20
LONGEST_TITLE = 200
_FILE = re.compile(r"^(?:---|\+\+\+) (?P<path>[^\t\n]+)", re.MULTILINE)
_GIT = re.compile(r"^diff --git (?P<old>\S+) (?P<new>\S+)$", re.MULTILINE)
_RENAME = re.compile(r"^(?:rename|copy) (?:from|to) (?P<path>.+)$", re.MULTILINE)
_MODE = re.compile(
    r"^(?:new file mode|old mode|new mode|deleted file mode|index \S+) ?(?P<mode>\d{6})?$",
    re.MULTILINE,
)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_BINARY = re.compile(r"^GIT binary patch$", re.MULTILINE)
REGULAR = {"100644", "100755"}


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
        return sorted(set(_paths(self.text)))


def read_patch(text: str, name: str) -> Patch:
    """A patch or a mail with one. *name* is what errors call it.

    Raises InvalidInput for one that is no patch, or that would touch anything but regular files
    below the tree.
    """
    if len(text) > LARGEST_BYTES:
        raise InvalidInput(f"{name} is larger than 4 MiB", hint="Give a patch of the kernel.")
    if not _HUNK.search(text) and not _MODE.search(text):
        raise InvalidInput(
            f"{name} has no hunk of a diff", hint="Give a file of `git format-patch`."
        )
    if _BINARY.search(text):
        raise InvalidInput(f"{name} has a binary diff", hint="A kernel's patch is text.")
    for mode in _MODE.finditer(text):
        if mode["mode"] and mode["mode"] not in REGULAR:
            kind = {"120000": "a symbolic link", "160000": "a submodule"}.get(
                mode["mode"], mode["mode"]
            )
            raise InvalidInput(f"{name} has {kind}", hint="Only regular files may be changed.")
    for path in _paths(text):
        _require_below(path, name)
    return Patch(_title(text) or name, text if text.endswith("\n") else text + "\n")


def _paths(text: str) -> Iterator[str]:
    """Every path that a diff names, without the first folder that git puts before it."""
    for match in _FILE.finditer(text):
        path = match["path"].strip()
        if path != "/dev/null":
            yield path.split("/", 1)[-1] if path.startswith(("a/", "b/")) else path
    for match in _GIT.finditer(text):
        for path in (match["old"], match["new"]):
            yield path.split("/", 1)[-1] if path.startswith(("a/", "b/")) else path
    for match in _RENAME.finditer(text):
        yield match["path"].strip()


def _require_below(path: str, name: str) -> None:
    parts = path.split("/")
    if path.startswith(("/", '"', "~")) or ".." in parts or ".git" in parts or "" in parts:
        raise InvalidInput(f"{name} touches {path!r}", hint="A patch stays below the source tree.")


def _title(text: str) -> str:
    """The subject without its ``[PATCH …]``; empty where there is none."""
    if not text.startswith(("From ", "Subject:", "From:", "Date:", "Message-I", "Return-Path")):
        return ""
    mail = message_from_string(text.split("\n---\n", 1)[0])
    raw = mail.get("Subject", "")
    try:
        subject = str(make_header(decode_header(raw)))
    except (LookupError, UnicodeError):
        subject = raw
    subject = " ".join(subject.split())
    return re.sub(r"^(\[[^\]]*\]\s*)+", "", subject)[:LONGEST_TITLE]
