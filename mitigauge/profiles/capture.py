"""A profiled pass as a host left it: profile.json and perf's text, read into a capture.

Nothing here writes or asks the time. Whatever a host sends is hostile: sizes, names
and figures are checked before they are used.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from mitigauge.errors import InvalidInput, TooLarge
from mitigauge.hostile import clean_text
from mitigauge.profiles import nmi
from mitigauge.profiles.apart import Bounds, fold_apart
from mitigauge.profiles.folded import check_stacks

PROFILE_FILE = "profile.json"
LONGEST_PROFILE_FILE = 1 << 20
LONGEST_DETAIL = 600
LONGEST_PASS_S = 1e7
# Of a hardware counter, all processors together; its square's square is still a number.
LARGEST_COUNT = 1e20

_Word = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,64}$")]


@dataclass(frozen=True, slots=True)
class Capture:
    """What one profiled pass of a case within one boot gave."""

    event: str
    """``cycles``; where none are counted, ``cpu-clock`` or an emulator's NMIs."""
    hz: int
    """Samples asked for, per second and processor."""
    stacks: dict[bytes, int]
    """Folded stack, ``comm;caller;…;leaf``, to the sum of its periods: cycles or nanoseconds."""
    samples: int
    lost: int
    """Samples dropped on the host; with an old perf a lower bound."""
    operations: float | None
    """Work done during the pass; None where the workload does not count it."""
    overhead_percent: float | None
    """First primary metric against the timed pass; positive is slower, or worse."""
    seconds: float
    """From the start of the recording to its end."""
    counters: dict[str, float]
    """Event to count over all processors; one that was not counted is absent."""
    raw_sha256: str
    """Of the compressed text, by which the blob store has it."""
    tool: str
    """``perf`` with its version."""


class _Host(BaseModel):
    """profile.json of a pass that worked; its other fields are for people."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    event: _Word
    hz: int = Field(ge=1, le=1_000_000)
    # Of events that tell no period: the time between two.
    period_ns: int | None = Field(default=None, ge=1, le=10**10)
    perf: _Word
    seconds: float = Field(ge=0, le=LONGEST_PASS_S)
    lost: int = Field(ge=0, lt=1 << 53)
    counters: dict[_Word, Annotated[float, Field(ge=0, le=LARGEST_COUNT)]] = Field(
        default_factory=dict, max_length=100
    )
    # No other name: it becomes a path.
    capture: Literal["perf.script.zst", "perf.script.gz"]


class _State(BaseModel):
    """The part of profile.json that is always there."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    state: Literal["ok", "failed"]
    detail: str = ""


def read_capture(
    directory: Path,
    *,
    limit_bytes: int,
    operations: float | None = None,
    overhead_percent: float | None = None,
    bounds: Bounds | None = None,
) -> Capture:
    """The capture in *directory*, whose compressed text has at most *limit_bytes*.

    It is folded in a process of its own, within *bounds*.

    Raises :class:`InvalidInput` saying why there is none: the host's own reason, a file
    that is missing or damaged, text that is no capture; :class:`TooLarge` past the limit.
    """
    host = _host(directory)
    path = capture_text(directory, limit_bytes=limit_bytes)
    folded = fold_apart(path, bounds or Bounds())
    stacks = _weighed(folded.stacks, host)
    check_stacks(stacks, name=path.name)
    return Capture(
        event=host.event,
        hz=host.hz,
        stacks=stacks,
        samples=folded.samples,
        lost=host.lost,
        operations=operations,
        overhead_percent=overhead_percent,
        seconds=host.seconds,
        counters=dict(host.counters),
        raw_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        tool=f"perf {host.perf}",
    )


def overhead_percent(
    direction: Literal["lower", "higher"], timed: Sequence[float], profiled: Sequence[float]
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


def capture_text(directory: Path, *, limit_bytes: int) -> Path:
    """The file in *directory* with perf's compressed text, not read yet.

    Raises :class:`InvalidInput` where the pass or the file is missing or failed,
    :class:`TooLarge` past the limit.
    """
    path = directory / _host(directory).capture
    if not path.is_file():
        raise InvalidInput(
            f"{path.name} is not in the job's archive, perhaps over workload_archive_limit_bytes",
            hint="Captures that do not fit are left out: raise it, or profile with a lower hz.",
        )
    size = path.stat().st_size
    if size > limit_bytes:
        raise TooLarge(
            f"{path.name} has {size} bytes, over {limit_bytes}",
            hint="Profile with a lower hz, or a shorter iteration.",
        )
    return path


def _host(directory: Path) -> _Host:
    path = directory / PROFILE_FILE
    if not path.is_file() or path.stat().st_size > LONGEST_PROFILE_FILE:
        raise InvalidInput(
            f"the job left no {PROFILE_FILE} of a plausible size",
            hint="The profiled pass was cut off; see the job's log on the host.",
        )
    try:
        text = path.read_bytes()
        state = _State.model_validate_json(text)
        if state.state == "failed":
            raise InvalidInput(
                clean_text(state.detail[:LONGEST_DETAIL]) or "the host does not say why",
                hint="The timed result is not touched by it.",
            )
        return _Host.model_validate_json(text)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"])) or "content"
        raise InvalidInput(
            clean_text(f"{PROFILE_FILE}: {field}: {fault['msg']}")[:LONGEST_DETAIL],
            hint="Stage the workloads again.",
        ) from error


def _weighed(stacks: dict[bytes, int], host: _Host) -> dict[bytes, int]:
    """*stacks* with periods for weights, which NMIs do not tell."""
    if host.event != nmi.EVENT:
        return stacks
    if host.period_ns is None:
        raise InvalidInput(
            f"{PROFILE_FILE}: period_ns is missing, which {host.event} needs",
            hint="Stage the workloads again.",
        )
    return nmi.by_time(stacks, host.period_ns)
