"""What `perf script` prints of a sample before its frames: command, period, event. Pure.

Nothing is tried twice (possessive quantifiers; a command ends where spaces begin): a line may be
written to make that take for ever.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Before a command, of recordings into which a guest's was put: QEMU's process and the processor.
_GUEST = rb"(?:VM:\s*+-?+\d++\s++)?+(?:VCPU:\s*+-?+\d++\s++)?+"
# A command's name holds anything, spaces and numbers too: it ends where a process' number, perhaps
# a processor, and a time follow. Only where no time is printed, at the first number.
_COMM = _GUEST + rb"(\S(?:.*?\S)??)"
# Numbers that perf does not know are -1.
_PID = rb"\s++-?+\d++(?:/++-?+\d*+)?+\s++"
# Between a processor and the time, letters may say where the sample was taken (`-F +misc`).
_CPU = rb"(?:\[-?+\d++\]\s++(?:[A-Za-z]{1,4}+\s++)?+)?+"
# The time of day (`-F +tod`) comes before perf's own time.
_DAY = rb"\d{4}+-\d\d-\d\d\s++\d\d:\d\d:\d\d(?:\.\d++)?+"
_TIME = _CPU + rb"(?:" + _DAY + rb"\s++)?+\d++\.\d++:"
_TIMED = re.compile(_COMM + _PID + _TIME)
_UNTIMED = re.compile(_COMM + _PID)
# What stands before period and event where perf's own time is not printed.
_BEFORE_PERIOD = re.compile(_CPU + rb"(?:" + _DAY + rb"(?:\s++|$))?+")
# Period and event behind a time; what a tracepoint or `-F +addr` says follows the event's colon.
_EVENT = re.compile(rb"\s++(?:(\d++)\s++)?+(\S+):(?:\s|$)")
_UNTIMED_EVENT = re.compile(rb"(?:(\d++)\s++)?+(\S+):\s*+$")
_PERIOD = re.compile(rb"\s*+(\d*+)\s*+$")
# perf prints what happened between two samples as a line of its own (`--show-mmap-events`).
_RECORD = re.compile(rb"\s*+(PERF_RECORD_[A-Z0-9_]++)")
# The first group is atomic: where the command ends must not depend on what follows.
_USUAL = re.compile(rb"(?>" + _COMM + _PID + _TIME + rb")\s++(?:(\d++)\s++)?(\S+):\s*+$")
# Without call chains, a sample is one line with its only frame at the end.
_ONE_LINE = re.compile(
    rb"\s*+(?>" + _COMM + _PID + _TIME + rb")"
    rb"\s++((?:\d++\s++)?+\S++)(?<=:)\s++(?:[0-9a-f]++\s++(?=[0-9a-f]{8,16}+\s))?+"
    rb"([0-9a-f]++ .*\))\s*+$"
)
# Processors with two kinds of cores count an event on each by a name of its own; releases of perf
# put the modifiers behind the last slash or before it.
_OF_CORES = re.compile(
    rb"(?:cpu_(?:core|atom|lowpower)|armv\d_\w++)/([^/:]++)(?::([A-Za-z]*+))?+/:?+([A-Za-z]*+)"
)
# Two names of perf for one event.
_SAME_EVENT = {b"cpu-cycles": b"cycles", b"branch-instructions": b"branches"}
# Whether an address is exact, which changes nothing of what is counted.
_PRECISION = b"pP"
_MODIFIERS = b"ukhGHpP"


@dataclass(frozen=True, slots=True)
class Header:
    """A sample's first line: its command, the period's digits, and its event.

    *digits*: empty where no period is printed. *event*: empty where perf printed none, and nothing
    but a process, a processor, a time and a period stands in the line. *timed*: whether perf's own
    time does.
    """

    command: bytes
    digits: bytes
    event: bytes
    timed: bool

    @property
    def begins_sample(self) -> bool:
        """Whether a time or an event tells it from a message of a word and a number."""
        return self.timed or bool(self.event)


def is_comment(line: bytes) -> bool:
    """Whether a line before the first sample or stack says something of the recording."""
    return line[:1] == b"#" and not line[1:2].strip()


def command_of(line: bytes) -> bytes | None:
    """The command of a line with a command and a process; ``None`` for a line that is none."""
    found = _TIMED.match(line) or _UNTIMED.match(line)
    return found[1] if found else None


def record_of(line: bytes) -> bytes:
    """``PERF_RECORD_…`` of a line that tells of something else than a sample; empty for others."""
    found = _RECORD.match(line, _past_head(line)[1])
    return found[1] if found else b""


def header_of(line: bytes) -> Header | None:
    """A sample's first line; ``None`` for a line that is none, whatever it begins with."""
    head, begin = _past_head(line)
    if head is None:
        return None
    timed = head.re is _TIMED
    found = _EVENT.match(line, begin) if timed else _UNTIMED_EVENT.match(line, begin)
    if found is not None:
        return Header(head[1], found[1] or b"", found[2], timed)
    alone = _PERIOD.match(line, begin)
    return Header(head[1], alone[1], b"", timed) if alone else None


def command_of_usual(line: bytes) -> bytes | None:
    """The command, where period and event are printed as they mostly are."""
    found = _USUAL.match(line)
    return found[1] if found else None


def one_line_sample(line: bytes) -> tuple[bytes, bytes] | None:
    """A sample that is one line: its first part as others have it, and its frame."""
    found = _ONE_LINE.match(line)
    # A file in brackets stands behind the frame's address or name.
    if found is None or b" (" not in found[3]:
        return None
    address, _, rest = found[3].partition(b" ")
    # As perf fills addresses up in a line of their own, where a short one is known by that.
    return line[: found.end(2)].lstrip(), b"\t%16b %b" % (address, rest)


def one_name(event: bytes) -> bytes:
    """`cycles` of `cpu_core/cycles/P` and `cpu_atom/cycles:P/`: what runs on either is one cost."""
    found = _OF_CORES.fullmatch(event)
    if found is None:
        return event
    name = _SAME_EVENT.get(found[1], found[1])
    kept = ((found[2] or b"") + found[3]).translate(None, _PRECISION)
    return name + (b":" + kept if kept else b"")


def without_privilege(event: bytes) -> bytes:
    """`cycles` of `cycles:u`: perf gives one recording both, where it may not see the kernel."""
    name, _, kept = event.rpartition(b":")
    return name if name and not kept.strip(_MODIFIERS) else event


def _past_head(line: bytes) -> tuple[re.Match[bytes] | None, int]:
    """Command and process, and where period and event begin behind them, or 0."""
    timed = _TIMED.match(line)
    if timed is not None:
        return timed, timed.end()
    head = _UNTIMED.match(line)
    before = _BEFORE_PERIOD.match(line, head.end()) if head else None
    return head, before.end() if before else 0
