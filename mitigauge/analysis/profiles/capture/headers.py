"""What `perf script` prints of a sample before its frames: command, period, event. Pure.

Nothing is tried twice (possessive quantifiers; a command ends where spaces begin): a line may be
written to make that take for ever.
"""

from __future__ import annotations

import re

# A command's name holds anything, spaces and numbers too: it ends where a process' number, perhaps
# a processor, and a time follow. Only where no time is printed, at the first number.
_COMM = rb"(\S(?:.*?\S)??)"
# Numbers that perf does not know are -1.
_PID = rb"\s++-?+\d++(?:/++-?+\d*+)?+\s++"
# Between a processor and the time, letters may say where the sample was taken (`-F +misc`).
_CPU = rb"(?:\[-?+\d++\]\s++(?:[A-Za-z]{1,4}+\s++)?+)?+"
_TIME = _CPU + rb"\d++\.\d++:"
_TIMED = re.compile(_COMM + _PID + _TIME)
_UNTIMED = re.compile(_COMM + _PID)
# Period and event behind a time; what a tracepoint or `-F +addr` says follows the event's colon.
_EVENT = re.compile(rb"\s++(?:(\d++)\s++)?+(\S+):(?:\s|$)")
_UNTIMED_EVENT = re.compile(_CPU + rb"(?:(\d++)\s++)?+(\S+):\s*+$")
_PERIOD = re.compile(rb"\s*+(\d++)\s*+$")
# The first group is atomic: where the command ends must not depend on what follows.
_USUAL = re.compile(rb"(?>" + _COMM + _PID + _TIME + rb")\s++(?:(\d++)\s++)?(\S+):\s*+$")
# Without call chains, a sample is one line with its only frame at the end.
_ONE_LINE = re.compile(
    rb"\s*+(?>" + _COMM + _PID + _TIME + rb")"
    rb"\s++((?:\d++\s++)?+\S++)(?<=:)\s++(?:[0-9a-f]++\s++(?=[0-9a-f]{8,16}+\s))?+"
    rb"([0-9a-f]++ .+ \(.*\))\s*+$"
)
# Processors with two kinds of cores count an event on each by a name of its own.
_OF_CORES = re.compile(rb"cpu_(?:core|atom|lowpower)/([^/:]+)/([A-Za-z]*)")
# Whether an address is exact, which changes nothing of what is counted.
_PRECISION = b"pP"
_MODIFIERS = b"ukhGHpP"


def is_comment(line: bytes) -> bool:
    """Whether a line before the first sample or stack says something of the recording."""
    return line[:1] == b"#" and not line[1:2].strip()


def command_of(line: bytes) -> bytes | None:
    """The command of a sample's first line; ``None`` for a line that is none."""
    found = _TIMED.match(line) or _UNTIMED.match(line)
    return found[1] if found else None


def is_timed(line: bytes) -> bool:
    """Whether a command, a process and a time stand at its head."""
    return _TIMED.match(line) is not None


def command_of_usual(line: bytes) -> bytes | None:
    """The same, where period and event are printed as they mostly are."""
    found = _USUAL.match(line)
    return found[1] if found else None


def period_and_event(line: bytes) -> tuple[bytes, bytes] | None:
    """Digits of the period, empty where none is printed, and the event; ``None`` without one."""
    timed = _TIMED.match(line)
    if timed is not None:
        found = _EVENT.match(line, timed.end())
    else:
        untimed = _UNTIMED.match(line)
        found = _UNTIMED_EVENT.match(line, untimed.end()) if untimed else None
    return (found[1] or b"", found[2]) if found else None


def period_alone(line: bytes) -> bytes:
    """Digits of the period of a line without an event, where nothing else follows its time."""
    timed = _TIMED.match(line) or _UNTIMED.match(line)
    found = _PERIOD.match(line, timed.end()) if timed else None
    return found[1] if found else b""


def one_line_sample(line: bytes) -> tuple[bytes, bytes] | None:
    """A sample that is one line: its first part as others have it, and its frame."""
    found = _ONE_LINE.match(line)
    return (line[: found.end(2)].lstrip(), found[3]) if found else None


def one_name(event: bytes) -> bytes:
    """`cycles` of `cpu_core/cycles/P` and `cpu_atom/cycles/P`: what runs on either is one cost."""
    found = _OF_CORES.fullmatch(event)
    if found is None:
        return event
    kept = found[2].translate(None, _PRECISION)
    return found[1] + (b":" + kept if kept else b"")


def without_privilege(event: bytes) -> bytes:
    """`cycles` of `cycles:u`: perf gives one recording both, where it may not see the kernel."""
    name, _, kept = event.rpartition(b":")
    return name if name and not kept.strip(_MODIFIERS) else event
