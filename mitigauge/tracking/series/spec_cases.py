"""The cases of a filled spec whose question is what differs between kernels. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from mitigauge.analysis.profiles.exact.coverage import CountedCase, case_key
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.experiments.spec_model import WorkloadSpec, cases_of
from mitigauge.measurement.workloads.definitions import Value, Workload

Workloads = Mapping[str, Workload]


@dataclass(frozen=True, slots=True)
class SpecCase:
    """A case: where its workload stands in its comparison, and its parameters as a text."""

    entry: int
    title: str
    parameters: str


@dataclass(frozen=True, slots=True)
class KernelComparison:
    """A comparison whose arms differ in their kernel alone; *kernels*: the baseline's first."""

    name: str
    kernels: tuple[str, ...]
    cases: Mapping[SpecCase, Sequence[CountedCase]]


def kernel_comparisons(text: str, workloads: Workloads) -> list[KernelComparison]:
    """Those of a spec whose arms are in one and the same mode, on several kernels.

    Where modes differ, the question is the mode, whatever a patch touches. What is no proper spec
    is left for its check to say.
    """
    data = parse_yaml(text, "spec").data
    found = []
    for comparison in data.get("comparisons", []):
        arms = comparison.get("arms", [])
        alike = {(arm.get("mode"), arm.get("boot")) for arm in arms}
        kernels = _baseline_first(comparison)
        planned = comparison.get("cross") or comparison.get("factorial")
        if planned or len(alike) != 1 or len(kernels) < 2:
            continue
        cases = dict(_cases(comparison, str(data.get("environment", "")), workloads))
        if cases:
            found.append(KernelComparison(str(comparison["name"]), kernels, cases))
    return found


def _baseline_first(comparison: Mapping[str, Any]) -> tuple[str, ...]:
    """Its kernels, each once."""
    baseline = comparison.get("baseline")
    arms = sorted(comparison.get("arms", []), key=lambda arm: arm.get("name") != baseline)
    return tuple(dict.fromkeys(str(arm.get("kernel", "")) for arm in arms))


def _cases(
    comparison: Mapping[str, Any], environment: str, workloads: Workloads
) -> Iterator[tuple[SpecCase, list[CountedCase]]]:
    """Its cases, each with what it is on each host; none where an entry is not proper."""
    mode = str(comparison["arms"][0].get("mode"))
    for number, entry in enumerate(comparison.get("workloads", [])):
        for parameters in _points(entry, workloads):
            workload = workloads[entry["workload"]]
            key = case_key(parameters)
            case = SpecCase(number, workload.title_of(parameters), key)
            yield (
                case,
                [
                    CountedCase(workload.name, key, mode, environment, str(host))
                    for host in comparison.get("hosts", [])
                ],
            )


def _points(entry: Mapping[str, Any], workloads: Workloads) -> list[dict[str, Value]]:
    try:
        wanted = WorkloadSpec.model_validate(entry)
    except ValidationError:
        return []
    workload = workloads.get(wanted.workload)
    return cases_of(workload, wanted) if workload else []


def without_cases(
    text: str, left_out: Mapping[str, Collection[SpecCase]], workloads: Workloads
) -> str:
    """The spec without those cases, by comparison; empty where none is left.

    A comparison without any case is left out.
    """
    data = parse_yaml(text, "spec").data
    comparisons = []
    for comparison in data.get("comparisons", []):
        gone = left_out.get(str(comparison.get("name", "")), ())
        kept = list(_entries_left(comparison.get("workloads", []), gone, workloads))
        if kept:
            comparisons.append({**comparison, "workloads": kept})
    if not comparisons:
        return ""
    whole = {**data, "comparisons": comparisons}
    return str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=96))


def _entries_left(
    entries: Sequence[Mapping[str, Any]], gone: Collection[SpecCase], workloads: Workloads
) -> Iterator[Mapping[str, Any]]:
    """The workloads of a comparison, with the cases that are left of each."""
    for number, entry in enumerate(entries):
        keys = {case.parameters for case in gone if case.entry == number}
        points = _points(entry, workloads) if keys else []
        if not keys:
            yield entry
            continue
        left = [point for point in points if case_key(point) not in keys]
        named = {name for _, point in WorkloadSpec.model_validate(entry).points() for name in point}
        if left:
            cases = [{name: point[name] for name in point if name in named} for point in left]
            yield {**entry, "cases": cases}
