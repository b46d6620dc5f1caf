"""What can be asked for: workloads and modes, read from their files.

To add one is to add files under ``workloads/`` or ``modes/``; nothing here
knows their names.
"""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from mitigauge.errors import InvalidInput
from mitigauge.hostile import HOSTILE, clean_text, shown
from mitigauge.settings import REPOSITORY
from mitigauge.stats.case import DELTA_PERCENT
from mitigauge.yaml_file import YamlDocument, parse_yaml

Value = str | int | float
# perf's own part of a profiled pass: looking at the processor, and its text with symbols.
PROFILE_WRITING_S = 3.0
LONGEST_CASE_S = 24 * 3600
# A number of a parameter that names no bounds of its own.
LARGEST_NUMBER = 10**12
MAX_PROBLEMS = 20
MAX_PROBLEM_LENGTH = 400
_Model = TypeVar("_Model", bound=BaseModel)


def formed(pattern: str, form: str) -> AfterValidator:
    """Takes a text that matches *pattern* as a whole; *form* says in an error what was meant."""
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(f"{shown(text)} is not {form}")
        return text

    return AfterValidator(check)


def _plain(text: str) -> str:
    found = HOSTILE.search(text)
    if found:
        raise ValueError(f"has the character U+{ord(found[0]):04X}, which is not taken")
    return text


Name = Annotated[
    str,
    formed(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
        "a name: at most 63 letters, digits and . _ -, beginning with a letter or digit",
    ),
]
# A word of a kernel's command line that GRUB hands on as it stands.
Option = Annotated[str, formed(r"[\w.,:=/+@%~^-]{1,200}", "an option of a kernel's command line")]
Package = Annotated[str, formed(r"[a-z0-9][a-z0-9+.-]{0,100}", "a Debian package's name")]
# For people; it reaches no command and no play.
Text = Annotated[str, Field(max_length=2000), AfterValidator(_plain)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Expectation(_Closed):
    """One form of the state that proves a mode to be in force.

    ``file`` is under /sys/devices/system/cpu/vulnerabilities; ``field`` picks the
    part ``FIELD: text`` of its ``;``-separated text, none takes the whole text.
    """

    file: Name | Literal[""] = ""
    field: Text = ""
    equals: Text
    source: Text = Field("", description="which kernels say it so, for example 'v8 of the series'")

    def describe(self) -> str:
        """The state as a person reads it."""
        return f"{self.file}: {self.field + ': ' if self.field else ''}{self.equals}"


class Mode(_Closed):
    """A named setting under test."""

    title: Text = ""
    help: Text = ""
    cmdline: tuple[Option, ...] = ()
    expect: tuple[Expectation, ...] = Field(min_length=1)


class LabAdditions(_Closed):
    """What an emulated host needs besides, kept apart because it changes what is measured."""

    cmdline: tuple[Option, ...] = ()
    why: Text = ""


class ModeFamily(_Closed):
    """One file of ``modes/``: a knob and its settings."""

    family: Name
    title: Text
    help: Text = ""
    file: Name = Field(description="default vulnerability file of the expectations")
    modes: dict[Name, Mode] = Field(min_length=1)
    emulated: LabAdditions = LabAdditions()

    @model_validator(mode="after")
    def _fill_default_file(self) -> ModeFamily:
        for name, mode in self.modes.items():
            expect = tuple(
                e if e.file else e.model_copy(update={"file": self.file}) for e in mode.expect
            )
            self.modes[name] = mode.model_copy(update={"expect": expect})
        return self


class Parameter(_Closed):
    """One parameter of a workload: a list of values, or a number within bounds."""

    title: Text = ""
    help: Text = ""
    values: tuple[Text | int | float, ...] = Field((), max_length=100)
    default: Text | int | float | None = None
    minimum: float | None = Field(None, allow_inf_nan=False)
    maximum: float | None = Field(None, allow_inf_nan=False)

    @property
    def fallback(self) -> Value:
        """The value of a case that does not name this parameter."""
        if self.default is not None:
            return self.default
        return self.values[0]

    def refuse(self, value: object) -> str:
        """Why *value* cannot be taken; empty when it can."""
        if self.values:
            known = ", ".join(str(v) for v in self.values)
            return "" if value in self.values else f"known values: {known}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "must be a number"
        if not math.isfinite(value) or abs(value) > LARGEST_NUMBER:
            return f"must be a number of at most {LARGEST_NUMBER:g}"
        if self.minimum is not None and value < self.minimum:
            return f"must be at least {self.minimum:g}"
        if self.maximum is not None and value > self.maximum:
            return f"must be at most {self.maximum:g}"
        return ""

    @model_validator(mode="after")
    def _has_a_fallback(self) -> Parameter:
        if not self.values and self.default is None:
            raise ValueError("a parameter needs values or a default")
        return self


class Metric(_Closed):
    """A named quantity a workload reports."""

    unit: Text
    direction: Literal["lower", "higher"]
    title: Text = ""
    help: Text = ""
    primary: bool = False
    delta_percent: float = Field(
        DELTA_PERCENT, gt=0, lt=100, description="the largest change that is still 'same'"
    )
    when: dict[Name, Value] = Field(default_factory=dict)

    def applies(self, parameters: Mapping[str, Value]) -> bool:
        """Whether a case with these parameters reports the metric."""
        return all(parameters.get(name) == value for name, value in self.when.items())


class WorkloadDefaults(_Closed):
    """Used where a spec says nothing."""

    iterations: int = Field(3, ge=1, le=1000)
    warmup: int = Field(1, ge=0, le=1000)
    timeout_s: int = Field(300, ge=1, le=LONGEST_CASE_S)


class Workload(_Closed):
    """A benchmark, as ``workloads/<name>/workload.yml`` declares it."""

    name: Name
    title: Text
    help: Text = ""
    parameters: dict[Name, Parameter] = Field(default_factory=dict, max_length=32)
    case_title: Text = Field(description="its {parameter}s are filled in with a case's values")
    metrics: dict[Name, Metric] = Field(min_length=1, max_length=32)
    needs: tuple[Name, ...] = ()
    packages: tuple[Package, ...] = ()
    profiles_guest: bool = False
    defaults: WorkloadDefaults = WorkloadDefaults()
    seconds_per_case: float = Field(10, ge=0, le=LONGEST_CASE_S)
    seconds_per_iteration: float = Field(2, ge=0, le=LONGEST_CASE_S)

    @model_validator(mode="after")
    def _title_names_parameters(self) -> Workload:
        """A field of a format may ask for attributes of a value, or for a width of gigabytes."""
        for _, name, form, conversion in string.Formatter().parse(self.case_title):
            if name is not None and (name not in self.parameters or form or conversion):
                known = ", ".join(f"{{{parameter}}}" for parameter in self.parameters)
                raise ValueError(f"case_title: {shown(name)} is no parameter; known: {known}")
        return self

    def metrics_of(self, parameters: Mapping[str, Value]) -> dict[str, Metric]:
        """The metrics a case with these parameters reports."""
        return {name: m for name, m in self.metrics.items() if m.applies(parameters)}

    def expand(self, wanted: Mapping[str, Any]) -> list[dict[str, Value]]:
        """All points of the parameter space that *wanted* names, in the workload's order.

        A value may be one value or a list; a parameter not named takes its fallback.
        """
        names = list(self.parameters)
        return [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*self._axes(wanted))
        ]

    def count(self, wanted: Mapping[str, Any]) -> int:
        """How many points :meth:`expand` would make, without making them."""
        return math.prod(len(axis) for axis in self._axes(wanted))

    def _axes(self, wanted: Mapping[str, Any]) -> list[list[Value]]:
        """The distinct values of each parameter."""
        return [
            list(dict.fromkeys(_as_list(wanted.get(name, parameter.fallback))))
            for name, parameter in self.parameters.items()
        ]

    def seconds_of(self, parameters: Mapping[str, Value], iterations: int) -> float:
        """How long a case should take: its start, and what its runs add to `seconds`.

        A workload with `best_of` runs each iteration so often.
        """
        each = self.seconds_per_iteration + float(parameters.get("seconds", 0))
        return self.seconds_per_case + each * iterations * float(parameters.get("best_of", 1))

    def profiled_seconds_of(self, parameters: Mapping[str, Value], iterations: int) -> float:
        """How long a profiled pass adds: its iterations, and writing out what was sampled."""
        return self.seconds_of(parameters, iterations) + PROFILE_WRITING_S

    def title_of(self, parameters: Mapping[str, Value]) -> str:
        """A case's name for people."""
        return self.case_title.format(**parameters)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


@dataclass(frozen=True)
class Catalog:
    """Every workload and mode family under one root directory."""

    root: Path = REPOSITORY

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """By name. Raises :class:`InvalidInput` naming file and line of a bad one."""
        found = {}
        for path in sorted(self.root.glob("workloads/*/workload.yml")):
            workload = _read(path, Workload, self.root)
            _must_match(path, workload.name, path.parent.name)
            found[workload.name] = workload
        return found

    @cached_property
    def families(self) -> dict[str, ModeFamily]:
        """Mode families by name. Raises :class:`InvalidInput` naming file and line."""
        found = {}
        for path in sorted(self.root.glob("modes/*.yml")):
            family = _read(path, ModeFamily, self.root)
            _must_match(path, family.family, path.stem)
            found[family.family] = family
        return found

    @property
    def mode_names(self) -> list[str]:
        """All modes as ``family/mode``."""
        return [f"{f.family}/{name}" for f in self.families.values() for name in f.modes]

    def workload_directory(self, name: str) -> Path:
        """Where the workload's ``run`` and ``parse.py`` are."""
        return self.root / "workloads" / name


def _read(path: Path, model: type[_Model], root: Path) -> _Model:
    document = parse_yaml(path.read_text(), str(path.relative_to(root)))
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(located_errors(document, error)), hint="Correct the file."
        ) from error


def located_errors(document: YamlDocument, error: ValidationError) -> Iterable[str]:
    """The first 20 of pydantic's complaints, with ``file:line`` and the key's path."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    for problem in problems[:MAX_PROBLEMS]:
        path = problem["loc"]
        said = clean_text(problem["msg"].removeprefix("Value error, "))
        yield f"{document.where(path)}: {document.dotted(path)}: {said}"[:MAX_PROBLEM_LENGTH]
    if len(problems) > MAX_PROBLEMS:
        yield f"and {len(problems) - MAX_PROBLEMS} more"


def _must_match(path: Path, name: str, expected: str) -> None:
    if name != expected:
        raise InvalidInput(
            f"{path}: is named {name!r} but lies in a place named {expected!r}",
            hint="Give both the same name.",
        )
