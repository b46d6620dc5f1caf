"""Mails and patches as files: mailboxes, single ones, folders of both, quilt's folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mitigauge.errors import InvalidInput, NotFound
from mitigauge.mails.mail import Mail
from mitigauge.mails.mailbox import split
from mitigauge.mails.reader import read_all

LARGEST_BYTES = 64 << 20
MOST_FILES = 1000
MOST_MAILS = 2000
SUFFIXES = {".patch", ".diff", ".mbox", ".mbx", ".eml", ".txt", ""}
# Where quilt says which patches are applied, and in which order.
QUILT = "series"
QUILT_BYTES = 1 << 20
_LINE = re.compile(r"(?P<name>[^\s#]\S*)(?:\s+-p(?P<strip>\S+))?\s*(?:#.*)?")


@dataclass(frozen=True, slots=True)
class Sent:
    """One mail, or a patch without heads, and what errors call it."""

    name: str
    mail: Mail


def read_mails(paths: Sequence[Path]) -> list[Mail]:
    """All mails of files and folders, as :func:`read_files` finds them."""
    return [sent.mail for path in paths for sent in read_files(path)]


def read_files(path: Path) -> list[Sent]:
    """All mails of a file or a folder, in the order of names, or of quilt's file ``series``.

    Raises NotFound for a path that is not there, InvalidInput for more than 64 MiB, 1,000 files
    or 2,000 mails, and for a ``series`` that cannot be followed.
    """
    files = list(_files(path))
    if len(files) > MOST_FILES:
        raise InvalidInput(f"{len(files)} files", hint="Give the mails of one series.")
    if sum(file.stat().st_size for file in files) > LARGEST_BYTES:
        raise InvalidInput("more than 64 MiB of mails", hint="Give the mails of one series.")
    named: list[tuple[str, bytes]] = []
    for file in files:
        raws = list(split(file.read_bytes()))
        several = len(raws) > 1
        named += [
            (f"{file.name}, mail {number}" if several else file.name, raw)
            for number, raw in enumerate(raws, 1)
        ]
    if len(named) > MOST_MAILS:
        raise InvalidInput(f"more than {MOST_MAILS} mails", hint="Give the mails of one series.")
    mails = read_all([raw for _, raw in named])
    return [Sent(name, mail) for (name, _), mail in zip(named, mails, strict=True)]


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from _of_quilt(path) if (path / QUILT).is_file() else _of_folder(path)
    elif path.is_file():
        yield path
    else:
        raise NotFound(
            f"{path} is not there",
            hint="Give a message-id, a mailbox, a patch, or a folder of mails or patches.",
        )


def _of_folder(path: Path) -> list[Path]:
    found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
    files = [file for file in found if file.is_file() and not file.is_symlink()]
    if not files:
        raise InvalidInput(
            f"{path} has no mails or patches", hint="Give what `git format-patch` wrote."
        )
    return files


def _of_quilt(path: Path) -> Iterator[Path]:
    """The patches that quilt applies, in its order."""
    file = path / QUILT
    if file.stat().st_size > QUILT_BYTES:
        raise InvalidInput(f"{file} is larger than 1 MiB", hint="It names patches, one a line.")
    text = file.read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None or found["strip"] not in (None, "1"):
            raise InvalidInput(
                f"{file}, line {number}: {line.strip()[:80]!r} is not followed here",
                hint="A line is a patch's name; patches are applied by -p1 alone.",
            )
        yield _named_by_quilt(path, found["name"], number)


def _named_by_quilt(path: Path, name: str, number: int) -> Path:
    patch = path / name
    below = ".." not in Path(name).parts and not Path(name).is_absolute()
    if not below or not patch.is_file() or patch.is_symlink():
        raise InvalidInput(
            f"{path / QUILT}, line {number}: {name[:80]!r} is no file below {path}",
            hint="quilt's own `series` names the patches that are applied.",
        )
    return patch
