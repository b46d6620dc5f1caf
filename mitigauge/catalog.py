"""What can be asked for: workloads and modes, read from their files.

To add one is to add files under ``workloads/`` or ``modes/``; nothing here
knows their names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mitigauge.errors import InvalidInput
from mitigauge.settings import REPOSITORY
from mitigauge.stats.case import DELTA_PERCENT
from mitigauge.yaml_file import YamlDocument, parse_yaml

Value = str | int | float
# perf's own part of a profiled pass: looking at the processor, and its text with symbols.
PROFILE_WRITING_S = 3.0
_Model = TypeVar("_Model", bound=BaseModel)


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Expectation(_Closed):
    """One form of the state that proves a mode to be in force.

    ``file`` is under /sys/devices/system/cpu/vulnerabilities; ``field`` picks the
    part ``FIELD: text`` of its ``;``-separated text, none takes the whole text.
    """

    file: str = ""
    field: str = ""
    equals: str
    source: str = Field("", description="which kernels say it so, for example 'v8 of the series'")

    def describe(self) -> str:
        """The state as a person reads it."""
        return f"{self.file}: {self.field + ': ' if self.field else ''}{self.equals}"


class Mode(_Closed):
    """A named setting under test."""

    title: str = ""
    help: str = ""
    cmdline: tuple[str, ...] = ()
    expect: tuple[Expectation, ...] = Field(min_length=1)


class LabAdditions(_Closed):
    """What an emulated host needs besides, kept apart because it changes what is measured."""

    cmdline: tuple[str, ...] = ()
    why: str = ""


class ModeFamily(_Closed):
    """One file of ``modes/``: a knob and its settings."""

    family: str
    title: str
    help: str = ""
    file: str = Field(description="default vulnerability file of the expectations")
    modes: dict[str, Mode] = Field(min_length=1)
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

    title: str = ""
    help: str = ""
    values: tuple[Value, ...] = ()
    default: Value | None = None
    minimum: float | None = None
    maximum: float | None = None

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

    unit: str
    direction: Literal["lower", "higher"]
    title: str = ""
    help: str = ""
    primary: bool = False
    delta_percent: float = Field(
        DELTA_PERCENT, gt=0, lt=100, description="the largest change that is still 'same'"
    )
    when: dict[str, Value] = Field(default_factory=dict)

    def applies(self, parameters: Mapping[str, Value]) -> bool:
        """Whether a case with these parameters reports the metric."""
        return all(parameters.get(name) == value for name, value in self.when.items())


class WorkloadDefaults(_Closed):
    """Used where a spec says nothing."""

    iterations: int = Field(3, ge=1, le=1000)
    warmup: int = Field(1, ge=0, le=1000)
    timeout_s: int = Field(300, ge=1)


class Workload(_Closed):
    """A benchmark, as ``workloads/<name>/workload.yml`` declares it."""

    name: str
    title: str
    help: str = ""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    case_title: str
    metrics: dict[str, Metric] = Field(min_length=1)
    needs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    profiles_guest: bool = False
    defaults: WorkloadDefaults = WorkloadDefaults()
    seconds_per_case: float = 10
    seconds_per_iteration: float = 2

    def metrics_of(self, parameters: Mapping[str, Value]) -> dict[str, Metric]:
        """The metrics a case with these parameters reports."""
        return {name: m for name, m in self.metrics.items() if m.applies(parameters)}

    def expand(self, wanted: Mapping[str, Any]) -> list[dict[str, Value]]:
        """All points of the parameter space that *wanted* names, in the workload's order.

        A value may be one value or a list; a parameter not named takes its fallback.
        """
        axes = [
            [(name, value) for value in _as_list(wanted.get(name, parameter.fallback))]
            for name, parameter in self.parameters.items()
        ]
        return [dict(point) for point in itertools.product(*axes)]

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
    """Each of pydantic's complaints with ``file:line`` and the key's path."""
    for problem in error.errors():
        path = problem["loc"]
        dotted = ".".join(str(part) for part in path) or "document"
        yield f"{document.where(path)}: {dotted}: {problem['msg']}"


def _must_match(path: Path, name: str, expected: str) -> None:
    if name != expected:
        raise InvalidInput(
            f"{path}: is named {name!r} but lies in a place named {expected!r}",
            hint="Give both the same name.",
        )
