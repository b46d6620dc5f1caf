"""A job's archive as a host left it: looked through under limits, then unpacked in part.

The host may be hostile, so nothing it says is believed. What its packer could not have made
(names that lead outside, the same name twice, sparse files, headers of kilobytes or chains of
them) makes the whole archive a lab fault. What is well-formed but was not asked for (links,
devices, directories of other cases, captures of cases without a profile) is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.settings import Settings
from mitigauge.core.wire import exact, profile
from mitigauge.core.wire.job import STATE_FILE
from mitigauge.measurement.experiments.tables import Case
from pipelines.host_control import LabFault

# What a boot's job may hold besides the cases: links and others that are left out included.
MEMBERS = 5_000
MEMBERS_A_CASE = 200
# Of an iteration and what was taken again; each run of a `best_of` leaves a file.
MEMBERS_AN_ITERATION = 120
DEEPEST = 12
LONGEST_NAME = 1_024
LONGEST_PART = 200
# Python's own packer writes one of these before a member whose time has a fraction.
LONGEST_HEADER = 8 << 10
MOST_HEADERS = 4
# Texts shrink by 5 to 60 times; a file of zeros by a thousand.
HIGHEST_RATIO = 200
UNSUSPICIOUS = 16 << 20
SECONDS = 60.0
LATEST = 1 << 33  # a time in the year 2242
PIECE = 1 << 16
_PART = re.compile(r"[\x20-\x7e]+")
# Raw text of profiles, in <case>/profile, and what an emulator counted, in <case>/exact; each is
# kept as a blob of its own.
_CAPTURE = re.compile(
    rf"{profile.DIRECTORY}/({profile.GUEST}/|{profile.OFF_CPU}/)?{re.escape(profile.TEXT)}\.\w{{1,8}}"
    rf"|{exact.DIRECTORY}/{exact.WINDOW.format('[0-9]')}"
)
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_EXTENDED = (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_REFUSED = (tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_SPARSE)
# What tarfile and zlib raise for bytes that are no archive.
_DAMAGE = (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large an archive and what is in it may be."""

    packed_bytes: int
    files_bytes: int
    """Unpacked: of all files but captures, and of these with the captures that are kept."""
    members: int
    seconds: float = SECONDS

    @classmethod
    def of(cls, cases: Sequence[Case], settings: Settings) -> Bounds:
        """The bounds of a job over *cases*."""
        rounds = sum(case.iterations + case.warmup for case in cases)
        return cls(
            packed_bytes=settings.archive_limit_bytes,
            files_bytes=settings.job_files_limit_bytes,
            members=MEMBERS + MEMBERS_A_CASE * len(cases) + MEMBERS_AN_ITERATION * rounds,
        )

    @property
    def text_bytes(self) -> int:
        """Unpacked, of everything: captures are compressed in themselves and grow no more."""
        return self.files_bytes + 2 * self.packed_bytes + 4 * tarfile.BLOCKSIZE * self.members


@dataclass(slots=True)
class _Listing:
    """What one look through the archive found worth unpacking."""

    root: str = ""
    files: set[str] = field(default_factory=set)
    files_bytes: int = 0
    captures: dict[str, int] = field(default_factory=dict)


def unpacked(archive: Path, into: Path, cases: Sequence[Case], settings: Settings) -> Path:
    """Unpack into *into* what *cases* were asked for; returns the job's directory there.

    Captures are taken as far as they fit, the smallest first: figures must not be lost to a
    large profile. Times are kept, so that a case packed again is the same bytes. Raises
    :class:`LabFault` for an archive that is not what a host's packer makes.
    """
    bounds = Bounds.of(cases, settings)
    if archive.is_symlink() or not archive.is_file():
        raise _fault("is missing")
    size = archive.stat().st_size
    if size > bounds.packed_bytes:
        raise _fault(f"has {size} bytes, over {bounds.packed_bytes}")
    try:
        listing = _looked_through(archive, {str(case.id): case for case in cases}, bounds)
        _write(archive, into, bounds, listing.files | _fitting(listing, bounds))
    except _DAMAGE as error:
        raise _fault(f"cannot be read: {clean_text(str(error))[:300]}") from error
    return into / listing.root


def is_capture(inside: str) -> bool:
    """Whether *inside*, a path within a case's directory, is a raw capture of a pass."""
    return _CAPTURE.fullmatch(inside) is not None


def _looked_through(archive: Path, cases: Mapping[str, Case], bounds: Bounds) -> _Listing:
    """Every header is seen, in the order in which they come; nothing is written yet."""
    listing, seen = _Listing(), set()
    with _members(archive, bounds) as (_, members):
        for member in members:
            name = _checked_name(member)
            if name in seen:
                raise _fault(f"names {name!a} twice")
            seen.add(name)
            listing.root = listing.root or name.partition("/")[0]
            if not _is_wanted(member, listing.root, cases):
                continue
            if is_capture(name.split("/", 2)[-1]):
                listing.captures[name] = member.size
                continue
            listing.files.add(name)
            listing.files_bytes += member.size
            if listing.files_bytes > bounds.files_bytes:
                raise _fault(f"unpacks to more than {bounds.files_bytes} bytes")
    return listing


def _checked_name(member: tarfile.TarInfo) -> str:
    """The member's name, if it can be a path inside the job's directory."""
    name = member.name
    parts = name[: LONGEST_NAME + 1].split("/")
    if (
        len(name) > LONGEST_NAME
        or len(parts) > DEEPEST
        or not all(_PART.fullmatch(part) and len(part) <= LONGEST_PART for part in parts)
        or not {".", ".."}.isdisjoint(parts)
    ):
        raise _fault(f"names {name[:100]!a}")
    if member.issparse():
        raise _fault(f"has a sparse file, {name[:100]!a}")
    return name


def _is_wanted(member: tarfile.TarInfo, root: str, cases: Mapping[str, Case]) -> bool:
    """Whether it is the job's state, or a file or directory of a case that was asked for."""
    plain = member.type in _PLAIN
    match member.name.split("/"):
        case [top, name] if name == STATE_FILE:
            return top == root and plain
        case [top, of_case, *inside] if top == root and of_case in cases:
            return (plain or member.isdir()) and _of_pass(inside, cases[of_case])
    return False


def _of_pass(inside: Sequence[str], case: Case) -> bool:
    """Whether that path in a case's directory is of a pass that was asked for."""
    if inside[:1] != [profile.DIRECTORY]:
        return True
    asked: dict[str, bool] = {
        profile.GUEST: case.profile_guest,
        profile.OFF_CPU: case.profile_off_cpu,
    }
    return bool(case.profile_hz) and bool(asked.get("".join(inside[1:2]), True))


def _fitting(listing: _Listing, bounds: Bounds) -> set[str]:
    """The smallest of the captures that fit beside the other files."""
    room, kept = bounds.files_bytes - listing.files_bytes, set()
    for name, size in sorted(listing.captures.items(), key=lambda found: (found[1], found[0])):
        room -= size
        if room >= 0:
            kept.add(name)
    return kept


def _write(archive: Path, into: Path, bounds: Bounds, names: set[str]) -> None:
    with _members(archive, bounds) as (tar, members):
        for member in members:
            path = into / member.name
            if member.name not in names:
                continue
            if member.isdir():
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content
            with content, path.open("xb") as file:
                shutil.copyfileobj(content, file)
            path.chmod(0o600 | member.mode & 0o755)
            moment = member.mtime if 0 <= member.mtime < LATEST else 0
            os.utime(path, (moment, moment))


@contextmanager
def _members(
    archive: Path, bounds: Bounds
) -> Iterator[tuple[tarfile.TarFile, Iterator[tarfile.TarInfo]]]:
    """The archive and its members, one by one; whatever they come to, within *bounds*."""
    with archive.open("rb") as packed:
        stream = _Inflated(packed, bounds)
        # A stream: nothing of it is held but the member at hand.
        with _Tar.open(  # type: ignore[call-overload]
            mode="r|", fileobj=stream, bufsize=PIECE, tarinfo=_Member, errorlevel=2
        ) as tar:
            yield tar, _counted(tar, bounds)
            _require_end(tar.fileobj)
        stream.drain()


def _require_end(stream: IO[bytes]) -> None:
    """Nothing but zeros is left: tarfile takes a header that it cannot read for the end."""
    while piece := stream.read(PIECE):
        if piece.strip(b"\0"):
            raise _fault("has a header that cannot be read")


def _counted(tar: tarfile.TarFile, bounds: Bounds) -> Iterator[tarfile.TarInfo]:
    for number, member in enumerate(tar, start=1):
        if number > bounds.members:
            raise _fault(f"has more than {bounds.members} members")
        yield member


class _Tar(tarfile.TarFile):
    """Knows how many headers came for the member at hand."""

    headers = 0


class _Member(tarfile.TarInfo):
    """Refuses headers by their size, before they are read."""

    def _proc_member(self, tarfile: Any) -> Any:
        if self.type in _REFUSED:
            raise _fault(f"has a header of kind {self.type!r}")
        tarfile.headers = tarfile.headers + 1 if self.type in _EXTENDED else 0
        if tarfile.headers > MOST_HEADERS or (tarfile.headers and self.size > LONGEST_HEADER):
            raise _fault(f"has headers of {self.size} bytes, or {tarfile.headers} for one member")
        return super()._proc_member(tarfile)  # type: ignore[misc]


class _Inflated:
    """gzip's content as a stream, within *bounds* for bytes, ratio and time."""

    def __init__(self, packed: IO[bytes], bounds: Bounds) -> None:
        self._packed, self._bounds = packed, bounds
        self._zlib = zlib.decompressobj(wbits=31)
        self._ahead = b""
        self._given = 0
        self._deadline = time.monotonic() + bounds.seconds

    def read(self, size: int) -> bytes:
        """So many bytes at most; none at the end. Raises :class:`LabFault` past a limit."""
        given = b""
        while not given and not self._zlib.eof:
            ahead = self._ahead or self._packed.read(PIECE)
            if not ahead:
                raise EOFError("it is cut off")
            given = self._zlib.decompress(ahead, size)
            self._ahead = self._zlib.unconsumed_tail
        self._given += len(given)
        most = self._bounds.text_bytes
        if self._given > UNSUSPICIOUS:
            most = min(most, HIGHEST_RATIO * self._packed.tell())
        if self._given > most:
            raise _fault(f"unpacks to more than {most} bytes")
        if time.monotonic() > self._deadline:
            raise _fault(f"takes more than {self._bounds.seconds:g} s to read")
        return given

    def drain(self) -> None:
        """Read to the end, whose checksum tells whether all of it was right."""
        while self.read(PIECE):
            pass


def _fault(what: str) -> LabFault:
    return LabFault(f"the job's archive {what}", hint="The boot is made again.")
