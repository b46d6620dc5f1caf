"""A limit that a spec sets on a metric. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field, model_validator

from mitigauge.core.field_types import Closed, Name, Text
from mitigauge.core.hostile_text import quoted
from mitigauge.measurement.workloads.definitions import Value, Workload


class MetricLimit(Closed):
    """One line: which figures, and what they must not pass."""

    workload: Name
    metric: Name
    case: dict[Name, Value] = Field(default_factory=dict, max_length=50)
    """Parameters that the case has; others may be any."""
    mode: Text = ""
    """family/mode; empty: every arm, and against the baseline all but that."""
    host_class: Text = ""
    """Words within the name of the host class; empty: any."""
    at_most: float | None = Field(None, allow_inf_nan=False)
    """In the metric's unit."""
    at_least: float | None = Field(None, allow_inf_nan=False)
    worse_by_percent: float | None = Field(None, ge=0, le=1000, allow_inf_nan=False)
    """How much worse than the baseline it may be."""
    than: Text = ""
    """Of a change: the baseline's name, as ``before`` in a series' spec; empty: any baseline."""
    because: Text = ""

    @model_validator(mode="after")
    def _has_one_limit(self) -> MetricLimit:
        given = [self.at_most, self.at_least, self.worse_by_percent]
        if sum(each is not None for each in given) != 1:
            raise ValueError("give one of at_most, at_least and worse_by_percent")
        if self.than and self.worse_by_percent is None:
            raise ValueError("`than` names the baseline of a change: give worse_by_percent with it")
        return self

    def in_words(self, unit: str = "") -> str:
        """``syscall/time_per_call at most 120 ns``."""
        name = f"{self.workload}/{self.metric}"
        if self.at_most is not None:
            return f"{name} at most {self.at_most:g} {unit}".rstrip()
        if self.at_least is not None:
            return f"{name} at least {self.at_least:g} {unit}".rstrip()
        than = f" than {self.than}" if self.than else ""
        return f"{name} worse{than} by at most {self.worse_by_percent:g} %"

    def is_of(self, parameters: dict[str, Value]) -> bool:
        """Whether a case with these parameters is meant."""
        return all(parameters.get(name) == value for name, value in self.case.items())


def unknown_in(
    limit: MetricLimit, workloads: Mapping[str, Workload], modes: list[str]
) -> Iterator[tuple[str, str]]:
    """Fields of a limit that name what there is not, each with what is wrong."""
    if limit.mode and limit.mode not in modes:
        yield "mode", f"there is no mode {quoted(limit.mode, 80)}; modes are FAMILY/MODE"
    workload = workloads.get(limit.workload)
    if workload is None:
        yield "workload", f"there is no workload {limit.workload}; known: {', '.join(workloads)}"
        return
    if limit.metric not in workload.metrics:
        known = ", ".join(workload.metrics)
        yield "metric", f"{workload.name} has no metric {limit.metric}; known: {known}"
    for name, value in limit.case.items():
        parameter = workload.parameters.get(name)
        if parameter is None:
            known = ", ".join(workload.parameters) or "none"
            yield "case", f"{workload.name} has no parameter {name}; known: {known}"
        elif problem := parameter.refuse(value):
            yield "case", f"{name} is never {quoted(value, 80)}: {problem}"
