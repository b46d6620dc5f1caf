"""Workloads as their ``workload.yml`` declares them: parameters, metrics, durations."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Mapping
from typing import Any

from pydantic import (
    Field,
    model_validator,
)

from mitigauge.core.field_types import Closed, Name, Package, Text
from mitigauge.core.hostile_text import quoted
from mitigauge.core.stats.domain import Domain, domain_of
from mitigauge.core.stats.terms import DELTA_PERCENT
from mitigauge.core.wire.result import Direction
from mitigauge.measurement.workloads.details import Details

Value = str | int | float
# perf's own part of a profiled pass: looking at the processor, and its text with symbols.
PROFILE_WRITING_S = 3.0
LONGEST_CASE_S = 24 * 3600
# A number of a parameter that names no bounds of its own.
LARGEST_NUMBER = 10**12


class Parameter(Closed):
    """One parameter of a workload: a list of values, or a number within bounds."""

    title: Text = ""
    help: Text = ""
    values: tuple[Text | int | float, ...] = Field((), max_length=100)
    default: Text | int | float | None = None
    minimum: float | None = Field(None, allow_inf_nan=False)
    maximum: float | None = Field(None, allow_inf_nan=False)
    added: bool = Field(
        False,
        description="came when cases of the workload were stored already: a case at its fallback "
        "does not name it, and so stays the case that it was",
    )

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


class Metric(Closed):
    """A named quantity a workload reports."""

    unit: Text
    direction: Direction
    title: Text = ""
    help: Text = ""
    primary: bool = False
    delta_percent: float = Field(
        DELTA_PERCENT, gt=0, lt=100, description="the largest change that is still 'same'"
    )
    when: dict[Name, Value] = Field(default_factory=dict)
    unless: dict[Name, Value] = Field(
        default_factory=dict, description="a case with any of these does not report it"
    )
    counter: bool = Field(
        False,
        description="counted by processor or kernel beside the work: absent where a host has no "
        "such counter, and shown in the counter table",
    )

    threads: bool = Field(
        False,
        description="wake-ups of the load's own threads: the result then has a table of threads by "
        "name, with those among them",
    )

    domain: Domain | None = Field(
        None,
        description="which values it can have, where the unit does not tell: of percent, `share` "
        "(0 to 100) or `change`; `wait` for a time that may be 0",
    )

    @model_validator(mode="after")
    def _has_a_domain(self) -> Metric:
        if self.domain is None and domain_of(self.unit) is None:
            raise ValueError(f"{self.unit} of what? give `domain: share` or `domain: change`")
        return self

    @model_validator(mode="after")
    def _decides_nothing_where_it_may_be_absent(self) -> Metric:
        if self.counter and self.primary:
            raise ValueError("a counter may be absent, so it cannot be primary")
        return self

    def applies(self, parameters: Mapping[str, Value]) -> bool:
        """Whether a case with these parameters, every one filled in, reports the metric."""
        return all(parameters.get(name) == value for name, value in self.when.items()) and not any(
            parameters.get(name) == value for name, value in self.unless.items()
        )


class CostOf(Closed):
    """What the workload's primary metric is the cost of, in ns each: something that is counted."""

    rate: str = Field(
        pattern=r"^[a-z-]{1,40}/[A-Za-z0-9_.]{1,40}$",
        description="COLLECTOR/COLUMN of what comes so often a second",
    )
    when: dict[Name, Value] = Field(
        default_factory=dict, description="parameters of the cases that measure this cost"
    )

    def measured_by(self, parameters: Mapping[str, Value]) -> bool:
        """Whether a case with these parameters measures it."""
        return all(parameters.get(name) == value for name, value in self.when.items())


class WorkloadDefaults(Closed):
    """Used where a spec says nothing."""

    iterations: int = Field(3, ge=1, le=1000)
    warmup: int = Field(1, ge=0, le=1000)
    timeout_s: int = Field(300, ge=1, le=LONGEST_CASE_S)


class Workload(Closed):
    """A benchmark, as ``workloads/<name>/workload.yml`` declares it."""

    name: Name
    title: Text
    help: Text = ""
    parameters: dict[Name, Parameter] = Field(default_factory=dict, max_length=32)
    case_title: Text = Field(description="its {parameter}s are filled in with a case's values")
    by_hand: Text = Field(
        "", description="how to measure the same with nothing of ours, for people"
    )
    metrics: dict[Name, Metric] = Field(min_length=1, max_length=64)
    needs: tuple[Name, ...] = ()
    packages: tuple[Package, ...] = ()
    cost_of: tuple[CostOf, ...] = Field((), max_length=16)
    details: Details | None = Field(
        None, description="what a pass tells besides its metrics: a curve over a load, breakdowns"
    )
    guest: bool = Field(False, description="boots a guest system, that of role guest")
    profiles_guest: bool = False
    exact: bool = Field(
        False,
        description="`run` can mark its operations, so that the emulator of a host in counted time "
        "counts what each runs",
    )
    guest_settings: tuple[Name, ...] = Field(
        (), description="what an arm may set of its guest; `run` says in run.json what it got"
    )
    defaults: WorkloadDefaults = WorkloadDefaults()
    seconds_per_case: float = Field(10, ge=0, le=LONGEST_CASE_S)
    seconds_per_iteration: float = Field(2, ge=0, le=LONGEST_CASE_S)

    @model_validator(mode="after")
    def _threshold_is_a_parameter(self) -> Workload:
        curve = self.details.curve if self.details else None
        if curve and curve.threshold is not None and curve.threshold not in self.parameters:
            known = ", ".join(self.parameters) or "none"
            raise ValueError(
                f"details.curve.threshold: {quoted(curve.threshold)} is no parameter; "
                f"known: {known}"
            )
        return self

    @model_validator(mode="after")
    def _title_names_parameters(self) -> Workload:
        """A field of a format may ask for attributes of a value, or for a width of gigabytes."""
        for _, name, form, conversion in string.Formatter().parse(self.case_title):
            if name is not None and (name not in self.parameters or form or conversion):
                known = ", ".join(f"{{{parameter}}}" for parameter in self.parameters)
                raise ValueError(f"case_title: {quoted(name)} is no parameter; known: {known}")
        return self

    def metrics_of(self, parameters: Mapping[str, Value]) -> dict[str, Metric]:
        """The metrics a case with these parameters reports."""
        filled = {**self._fallbacks(), **parameters}
        return {name: m for name, m in self.metrics.items() if m.applies(filled)}

    def expand(self, wanted: Mapping[str, Any]) -> list[dict[str, Value]]:
        """All points of the parameter space that *wanted* names, in the workload's order.

        A value may be one value or a list; a parameter not named takes its fallback.
        """
        return [
            {
                name: value
                for (name, parameter), value in zip(self.parameters.items(), values, strict=True)
                if not parameter.added or self._is_added(name, value)
            }
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
        """How long a case should take: its start, and what its runs add to `seconds`."""
        each = self.seconds_per_iteration + float(parameters.get("seconds", 0))
        return self.seconds_per_case + each * iterations

    def profiled_seconds_of(self, parameters: Mapping[str, Value], iterations: int) -> float:
        """How long a profiled pass adds: its iterations, and writing out what was sampled."""
        return self.seconds_of(parameters, iterations) + PROFILE_WRITING_S

    def title_of(self, parameters: Mapping[str, Value]) -> str:
        """A case's name for people; what was added to the workload since comes after the rest."""
        added = [
            f", {name} {value}" for name, value in parameters.items() if self._is_added(name, value)
        ]
        return self.case_title.format(**{**self._fallbacks(), **parameters}) + "".join(added)

    def _is_added(self, name: str, value: Value) -> bool:
        parameter = self.parameters.get(name)
        return parameter is not None and parameter.added and value != parameter.fallback

    def _fallbacks(self) -> dict[str, Value]:
        return {name: parameter.fallback for name, parameter in self.parameters.items()}


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
