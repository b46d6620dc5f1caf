"""Claim files: ``experiments/claims/<name>.yml``, checked whole before anything is stored."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mitigauge.core.errors import InvalidInput
from mitigauge.core.field_types import located_errors
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.workloads.definitions import Value

CLAIMS = REPOSITORY / "experiments" / "claims"


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ClaimEntry(_Closed):
    """One figure: the change of a metric in a mode, in percent of the baseline mode."""

    case: dict[str, Value] = Field(default_factory=dict, description="only what the source says")
    metric: str
    mode: str = Field("", description="family/mode; empty: none that can be set up is this one")
    without: str = Field("", description="why no mode is this one")
    change: float | tuple[float, float] = Field(description="percent, or its lowest and highest")
    arm: str = Field("", description="the arm's name, where kernels differ and not modes")
    processor: str = Field("", description="pattern of the model name; empty: the file's")
    note: str = ""

    @field_validator("processor")
    @classmethod
    def _is_pattern(cls, value: str) -> str:
        return _checked_pattern(value)

    @property
    def low(self) -> float:
        """The lowest change claimed, percent."""
        return self.change if isinstance(self.change, float) else self.change[0]

    @property
    def high(self) -> float:
        """The highest change claimed, percent."""
        return self.change if isinstance(self.change, float) else self.change[1]

    @model_validator(mode="after")
    def _has_a_mode_or_says_why_not(self) -> ClaimEntry:
        if bool(self.mode) == bool(self.without):
            raise ValueError("mode: give one, or say in `without` why nothing measures it")
        return self

    @model_validator(mode="after")
    def _in_order(self) -> ClaimEntry:
        if self.low > self.high:
            raise ValueError(f"change: {self.low} is above {self.high}")
        return self


class ClaimFile(_Closed):
    """What one source claims."""

    name: str
    title: str
    citation: str
    published: date | None = None
    workload: str
    baseline: str = Field(description="family/mode that the changes are against")
    baseline_arm: str = Field("", description="its arm's name, where kernels differ")
    processor: str = Field("", description="pattern of the model name; empty: not said")
    spec: str = Field("", description="the ready-made spec that measures them; empty: of its name")
    claims: list[ClaimEntry] = Field(min_length=1)

    @field_validator("processor")
    @classmethod
    def _is_pattern(cls, value: str) -> str:
        return _checked_pattern(value)


def claim_files(path: Path = CLAIMS) -> list[Path]:
    """The claim files of a folder, without one of those that come with the project; *path* itself
    where it is no folder. Raises :class:`InvalidInput` for a folder without any.
    """
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.yml"))
    if not files:
        raise InvalidInput(f"{path} has no claim file", hint="Their names end with .yml.")
    return files


def spec_of(name: str) -> str:
    """Name of the ready-made spec that measures the claims of that name; *name* itself where no
    claims are called so.
    """
    path = next((path for path in claim_files() if path.stem == name), None)
    return (read_claims(path).spec or name) if path else name


def read_claims(path: Path) -> ClaimFile:
    """Read one file. Raises :class:`InvalidInput` naming file, line and field."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}", hint=f"Claim files are in {CLAIMS}."
        ) from error
    document = parse_yaml(text, str(path))
    try:
        found = ClaimFile.model_validate(document.data)
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(located_errors(document, error)), hint="Correct the file."
        ) from error
    if found.name != path.stem:
        raise InvalidInput(
            f"{path}: is named {found.name!r} inside", hint="Give file and name the same word."
        )
    return found


def _checked_pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is no regular expression: {error}") from error
    return value
