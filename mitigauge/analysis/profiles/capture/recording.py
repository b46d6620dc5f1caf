"""A recording as a host left it: profile.json, read once, and the file with perf's text.

A host is hostile: sizes, names and figures are checked before they are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from mitigauge.core.errors import InvalidInput, TooLarge
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.limits import LARGEST_WHOLE, LONGEST_DETAIL
from mitigauge.core.wire.profile import FILE, CaptureName, Failed, Ok

LONGEST_FILE = 1 << 20
LONGEST_PASS_S = 1e7
# Of a hardware counter, all processors together. A comparison squares it twice.
LARGEST_COUNT = 1e20

_Word = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,64}$")]


class Recorded(BaseModel):
    """profile.json of a pass that worked; its other fields are for people."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    state: Ok
    event: _Word
    hz: int = Field(ge=1, le=1_000_000)
    # Of events that tell no period: the time between two.
    period_ns: int | None = Field(default=None, ge=1, le=10**10)
    perf: _Word
    seconds: float = Field(ge=0, le=LONGEST_PASS_S)
    lost: int = Field(ge=0, lt=LARGEST_WHOLE)
    counters: dict[_Word, Annotated[float, Field(ge=0, le=LARGEST_COUNT)]] = Field(
        default_factory=dict, max_length=100
    )
    # A closed list of names, because the name becomes a path.
    capture: CaptureName


class _Failed(BaseModel):
    """profile.json of a pass that did not work."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    state: Failed
    detail: str = ""


_PROFILE_JSON: TypeAdapter[Recorded | _Failed] = TypeAdapter(
    Annotated[Recorded | _Failed, Field(discriminator="state")]
)


@dataclass(frozen=True, slots=True)
class Recording:
    """What the host says of a profiled pass, and where perf's text is."""

    said: Recorded
    text: Path
    """Compressed; it is there, is no larger than allowed, and was not opened yet."""


def find_recording(directory: Path, *, limit_bytes: int) -> Recording:
    """The recording in *directory*, whose compressed text has at most *limit_bytes*.

    Raises :class:`InvalidInput` with the reason for which there is none: the host's own, or
    a file that is missing or malformed; :class:`TooLarge` past the limit.
    """
    said = _read_record(directory)
    text = directory / said.capture
    if not text.is_file():
        raise InvalidInput(
            f"{text.name} is not in the job's archive, perhaps over workload_archive_limit_bytes",
            hint="A capture that does not fit is left out: raise that limit, or profile with a "
            "lower hz.",
        )
    size = text.stat().st_size
    if size > limit_bytes:
        raise TooLarge(
            f"{text.name} has {size} bytes, over {limit_bytes}",
            hint="Profile with a lower hz, or a shorter iteration.",
        )
    return Recording(said, text)


def _read_record(directory: Path) -> Recorded:
    path = directory / FILE
    if not path.is_file() or path.stat().st_size > LONGEST_FILE:
        raise InvalidInput(
            f"the job left no {FILE} of a plausible size",
            hint="The profiled pass was cut off; see the job's log on the host.",
        )
    try:
        said = _PROFILE_JSON.validate_json(path.read_bytes())
    except ValidationError as error:
        raise _refusal(error) from error
    if isinstance(said, _Failed):
        raise InvalidInput(
            clean_text(said.detail[:LONGEST_DETAIL]) or "the host does not say why",
            hint="The timed result stays valid.",
        )
    return said


def _refusal(error: ValidationError) -> InvalidInput:
    fault = error.errors(include_url=False)[0]
    # The first part of a place says which of both forms was read, or nothing was.
    field = ".".join(map(str, fault["loc"][1:]))
    if fault["type"].startswith("union_tag"):
        field = "state"
    return InvalidInput(
        clean_text(f"{FILE}: {field or 'content'}: {fault['msg']}")[:LONGEST_DETAIL],
        hint="Stage the workloads again.",
    )
