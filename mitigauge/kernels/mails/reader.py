"""The one reader of mails: everything from outside goes through it, in a process with limits.

Nothing is raised for a mail that is wrong, however wrong it is: it says so itself (`Mail.fault`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.mails.mail import LARGEST_MAIL, Address, Mail
from mitigauge.kernels.mails.mailbox import line_of_another, split
from mitigauge.storage.files.confinement import Limits, run_confined

PROGRAM = Path(__file__).with_name("_read.py")
# Of a process: seconds of processor time, bytes of memory. A loaded machine is waited for longer.
LIMITS = Limits(seconds=2.0, memory_bytes=300 << 20, output_bytes=64 << 20, wall_seconds=20.0)
# What one process reads.
AT_ONCE_BYTES, AT_ONCE = 1 << 20, 64
# So many of one mailbox may end their process; each has had two.
MOST_FAULTS = 50
LONGEST_FAULT = 300


def mails_of(content: bytes) -> list[Mail]:
    """The mails of a mailbox, or the one of a file that holds one."""
    return read_split(list(split(content)))


def mail_of(raw: bytes) -> Mail:
    """One mail, without the line that begins it in a mailbox."""
    return read_all([raw])[0]


def read_split(raws: Sequence[bytes]) -> list[Mail]:
    """Each of the mails of a mailbox; one that seems to hold others is not read."""
    lines = [line_of_another(raw) for raw in raws]
    return [
        _unread(mail.raw, f"its line {line} begins another mail, in a form that is not read here")
        if line
        else mail
        for line, mail in zip(lines, read_all(raws), strict=True)
    ]


def read_all(raws: Sequence[bytes]) -> list[Mail]:
    """Each of these mails, in their order."""
    found: list[Mail] = []
    faults = 0
    for some in _portions(raws):
        mails = _several(some) if faults < MOST_FAULTS else [_unread(r, "too many") for r in some]
        faults += sum(bool(mail.fault) for mail in mails)
        found += mails
    return found


def _portions(raws: Sequence[bytes]) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    size = 0
    for raw in raws:
        if some and (size + len(raw) > AT_ONCE_BYTES or len(some) == AT_ONCE):
            yield some
            some, size = [], 0
        some.append(raw)
        size += len(raw)
    if some:
        yield some


def _several(raws: Sequence[bytes]) -> list[Mail]:
    """Mails by one process; where it fails, each by one of its own."""
    if all(len(raw) <= LARGEST_MAIL for raw in raws):
        try:
            return _read(raws)
        except InvalidInput:
            pass
    return [_alone(raw) for raw in raws]


def _alone(raw: bytes) -> Mail:
    if len(raw) > LARGEST_MAIL:
        return _unread(raw, "it is larger than 4 MiB")
    try:
        return _read([raw])[0]
    except InvalidInput as error:
        return _unread(raw, error.message)


def _read(raws: Sequence[bytes]) -> list[Mail]:
    """What the program says of them. Raises InvalidInput where it says nothing of one."""
    given = b"".join(b"%d\n%b" % (len(raw), raw) for raw in raws)
    said = run_confined(PROGRAM, [], name="a mail", limits=LIMITS, given=given)
    lines = said.removesuffix(b"\n").split(b"\n")
    if len(lines) != len(raws):
        raise InvalidInput("a mail has no answer of its reader", hint="It is set aside.")
    return [_mail(json.loads(line), raw) for line, raw in zip(lines, raws, strict=True)]


def _mail(values: Mapping[str, Any], raw: bytes) -> Mail:
    if "fault" in values:
        return _unread(raw, values["fault"])
    return Mail(
        message_id=clean_text(values["message_id"]),
        parent=clean_text(values["parent"]),
        references=tuple(map(clean_text, values["references"])),
        subject=clean_text(values["subject"]),
        sender=_address(values["sender"]),
        sent_at=_moment(values["date"]),
        to=tuple(map(_address, values["to"])),
        cc=tuple(map(_address, values["cc"])),
        body=values["body"],
        raw=raw,
        attached=tuple(values["attached"]),
        left_out=tuple(map(clean_text, values["left_out"])),
        kinds=tuple(values["kinds"]),
        heads=tuple((name, clean_text(value)) for name, value in values["heads"]),
    )


def _address(said: Sequence[str]) -> Address:
    return Address(clean_text(said[0]), said[1])


def _unread(raw: bytes, why: str) -> Mail:
    return Mail(raw=raw, fault=clean_text(why)[:LONGEST_FAULT])


def _moment(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
        return None
