"""What a build left, read as a stranger's: regular files of a limited size, and no others."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from mitigauge.core.hostile_text import clean_text
from pipelines.kernel_order import BuildFailed

SHA256_OF_NOTHING = hashlib.sha256(b"").hexdigest()
WORD_LIMIT = 200
_SHA256 = re.compile(r"[0-9a-f]{64}")


def regular(file: Path, limit: int) -> bytes:
    """A regular file's content. Raises :class:`BuildFailed` for anything else, or more."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BuildFailed(
            f"{file.name} is missing: {error.strerror}", hint="See its log."
        ) from error
    with os.fdopen(descriptor, "rb") as opened:
        content = opened.read(limit + 1)
    if len(content) > limit:
        raise BuildFailed(f"{file.name} has more than {limit} bytes", hint="See its log.")
    return content


def word_in(folder: Path, name: str, form: re.Pattern[str]) -> str:
    """The one word of a small file below *folder*. Raises :class:`BuildFailed` for another one."""
    word = regular(folder / name, WORD_LIMIT).decode(errors="replace").strip()
    if not form.fullmatch(word):
        raise BuildFailed(f"{name} holds {clean_text(word)!r}", hint="See the build's log.")
    return word


def content_digest(content: bytes) -> str:
    """SHA-256 over the parts that boot and run, as `kernel_scripts/package` lists them.

    Raises :class:`BuildFailed` where a part has no digest or nothing in it, or one is missing: of
    two kernels of which nothing was read nobody may say that they are the same.
    """
    lines = content.decode(errors="replace").splitlines()
    parts = {name: digest for digest, _, name in (line.partition(" ") for line in lines)}
    missing = sorted({"vmlinux", "setup", "machinery"} - parts.keys())
    empty = [n for n, d in parts.items() if not _SHA256.fullmatch(d) or d == SHA256_OF_NOTHING]
    if missing or empty or len(parts) != len(lines):
        wrong = clean_text(", ".join([*missing, *empty])[:200]) or "a part that is there twice"
        raise BuildFailed(
            f"the package's list of what boots is not whole: {wrong}", hint="See the build's log."
        )
    return hashlib.sha256(content).hexdigest()
