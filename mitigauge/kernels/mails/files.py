"""Mails and patches as files: mailboxes, single ones, folders of both, Maildirs, quilt's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.mailbox import split
from mitigauge.kernels.mails.reader import read_split
from mitigauge.kernels.mails.unpack import NotUnpacked, unpacked

LARGEST_BYTES = 64 << 20
MOST_FILES = 1000
MOST_MAILS = 2000
SUFFIXES = {".patch", ".diff", ".mbox", ".mbx", ".eml", ".txt", ""}
# Of packed files, behind one of those.
PACKED = {".gz", ".bz2", ".xz", ".zst"}
# Folders of a Maildir with mails that have come; those in tmp are still being delivered.
MAILDIR = ("cur", "new")
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
    named: list[tuple[str, bytes | str]] = []
    room, is_maildir = LARGEST_BYTES, _is_maildir(path)
    for file in files:
        raws = _mails_in(file, room, is_one=is_maildir)
        room -= sum(len(raw) for raw in raws)
        several = len(raws) > 1
        named += [
            (f"{file.name}, mail {number}" if several else file.name, raw)
            for number, raw in enumerate(raws, 1)
        ]
    if len(named) > MOST_MAILS:
        raise InvalidInput(f"more than {MOST_MAILS} mails", hint="Give the mails of one series.")
    read = iter(read_split([raw for _, raw in named if isinstance(raw, bytes)]))
    return [
        Sent(name, next(read) if isinstance(raw, bytes) else Mail(fault=raw)) for name, raw in named
    ]


def _mails_in(file: Path, room: int, *, is_one: bool) -> Sequence[bytes | str]:
    """The mails of a file, or the one that it *is*; why it has none that can be read instead."""
    try:
        content = unpacked(file.read_bytes(), max(0, room))
        return [content] if is_one else list(split(content))
    except NotUnpacked as error:
        return [str(error)]
    except OSError as error:
        return [error.strerror or str(error)]


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from _of_directory(path)
    elif path.is_file():
        yield path
    else:
        raise NotFound(
            f"{path} is not there",
            hint="Give a message-id, a mailbox, a patch, or a folder of mails or patches.",
        )


def _of_directory(path: Path) -> Iterator[Path]:
    if (path / QUILT).is_file():
        return _of_quilt(path)
    if _is_maildir(path):
        return iter(_of_maildir(path))
    return iter(_of_folder(path))


def _is_maildir(path: Path) -> bool:
    return all((path / name).is_dir() for name in MAILDIR) and not (path / QUILT).is_file()


def _of_folder(path: Path) -> list[Path]:
    return _regular(path, (file for file in path.rglob("*") if _is_named_as_mail(file)))


def _is_named_as_mail(file: Path) -> bool:
    plain = file.with_suffix("") if file.suffix in PACKED else file
    return plain.suffix in SUFFIXES


def _of_maildir(path: Path) -> list[Path]:
    """Its mails in the order in which they came, whatever their files are called."""
    mails = (file for name in MAILDIR for file in (path / name).iterdir())
    found = _regular(path, (file for file in mails if not file.name.startswith(".")))
    return sorted(found, key=lambda file: natural_order(file.name))


def _regular(path: Path, files: Iterator[Path]) -> list[Path]:
    ordered = sorted(files, key=lambda file: natural_order(str(file)))
    found = [file for file in ordered if file.is_file() and not file.is_symlink()]
    if not found:
        raise InvalidInput(
            f"{path} has no mails or patches", hint="Give what `git format-patch` wrote."
        )
    return found


def _of_quilt(path: Path) -> Iterator[Path]:
    """The patches that quilt applies, in its order."""
    file = path / QUILT
    if file.stat().st_size > QUILT_BYTES:
        raise InvalidInput(f"{file} is larger than 1 MiB", hint="It names patches, one a line.")
    text = file.read_text(encoding="utf-8-sig", errors="replace")
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
