"""One profiled pass as stacks with all that is known of it.

Nothing here writes or asks the time.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mitigauge.analysis.profiles.capture import nmi
from mitigauge.analysis.profiles.capture.fold import Bounds, fold_apart
from mitigauge.analysis.profiles.capture.folded_text import check_stacks
from mitigauge.analysis.profiles.capture.instructions import Instructions, read_instructions
from mitigauge.analysis.profiles.capture.recording import Recorded, Recording
from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire.profile import FILE, NMI_EVENT
from mitigauge.core.wire.result import Direction


@dataclass(frozen=True, slots=True)
class Pass:
    """What is known of a profiled pass beside its stacks."""

    event: str
    """``cycles``; where none are counted, ``cpu-clock`` or an emulator's NMIs."""
    raw_sha256: str
    """Of the file as it was read, by which the blob store has a host's."""
    samples: int
    hz: int | None = None
    """Samples asked for, per second and processor."""
    lost: int = 0
    """Samples dropped on the host; with an old perf a lower bound."""
    operations: float | None = None
    """Work done during the pass; None where the workload does not count it."""
    overhead_percent: float | None = None
    """First primary metric against the timed pass; positive is slower, or worse."""
    seconds: float | None = None
    """From the start of the recording to its end."""
    counters: Mapping[str, float] = field(default_factory=dict)
    """Event to count over all processors; one that was not counted is absent."""
    tool: str = ""
    """``perf`` with its version."""


@dataclass(frozen=True, slots=True)
class Capture(Pass):
    """A profiled pass with its stacks."""

    stacks: dict[bytes, int] = field(kw_only=True)
    """Folded stack, ``comm;caller;…;leaf``, to the sum of its periods: cycles or nanoseconds."""
    instructions: Instructions = field(default_factory=Instructions)
    """Of the hottest functions of the kernel."""


def read_capture(
    recording: Recording,
    *,
    operations: float | None = None,
    overhead_percent: float | None = None,
    bounds: Bounds | None = None,
) -> Capture:
    """The stacks of *recording*, folded in a process of its own within *bounds*.

    Raises :class:`InvalidInput` for text that is damaged, too large or no capture.
    """
    said, path = recording.said, recording.text
    folded = fold_apart(path, bounds or Bounds())
    stacks = _weighed(folded.stacks, said)
    check_stacks(stacks, name=path.name)
    return Capture(
        event=said.event,
        raw_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        samples=folded.samples,
        hz=said.hz,
        lost=said.lost,
        operations=operations,
        overhead_percent=overhead_percent,
        seconds=said.seconds,
        counters=said.counters,
        tool=f"perf {said.perf}",
        stacks=stacks,
        instructions=read_instructions(path.parent, period=_period_ns(said) or 1),
    )


def overhead_percent(
    direction: Direction, timed: Sequence[float], profiled: Sequence[float]
) -> float | None:
    """How much worse the profiled values are than the timed ones, in percent of the better.

    Positive is worse in either direction: a time twice as long and a rate half as high
    are both +100 %. None where a mean is not above 0, as with a count of losses, and where
    one is so much larger that the ratio is no number.
    """
    before, during = statistics.fmean(timed), statistics.fmean(profiled)
    if before <= 0 or during <= 0:
        return None
    ratio = during / before if direction == "lower" else before / during
    percent = 100 * (ratio - 1)
    return percent if math.isfinite(percent) else None


def _weighed(stacks: dict[bytes, int], said: Recorded) -> dict[bytes, int]:
    """*stacks* with periods for weights, which NMIs do not tell."""
    period_ns = _period_ns(said)
    return stacks if period_ns is None else nmi.by_time(stacks, period_ns)


def _period_ns(said: Recorded) -> int | None:
    """Nanoseconds that each sample stands for; None where samples have periods of their own."""
    if said.event != NMI_EVENT:
        return None
    if said.period_ns is None:
        raise InvalidInput(
            f"{FILE}: period_ns is missing, which {said.event} needs",
            hint="Stage the workloads again.",
        )
    return said.period_ns
