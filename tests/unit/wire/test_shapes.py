"""What reads a part of the contract has that part's names."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.wire import (
    case,
    clock,
    collectors,
    details,
    exact,
    job,
    profile,
    result,
    run_record,
    threads,
)
from tests.loading import load

# (file, class) → the shape that it reads, and fields of its own.
READERS: Mapping[tuple[str, str], tuple[type, set[str]]] = {
    ("workloads/_kit/results.py", "PaceRecord"): (run_record.PaceRecord, set()),
    ("workloads/_kit/threads.py", "Activity"): (threads.Activity, set()),
    ("mitigauge/measurement/collectors/samples.py", "Summary"): (collectors.Summary, set()),
    ("mitigauge/measurement/collectors/samples.py", "_Head"): (collectors.Head, set()),
    ("mitigauge/analysis/profiles/capture/recording.py", "Recorded"): (profile.Profile, set()),
    ("mitigauge/analysis/profiles/capture/recording.py", "_Failed"): (profile.Profile, set()),
    ("mitigauge/analysis/profiles/exact/reading.py", "_Said"): (exact.Exact, set()),
    ("mitigauge/measurement/results/details.py", "Point"): (details.Point, set()),
    ("mitigauge/measurement/results/details.py", "Reached"): (details.Reached, set()),
    ("mitigauge/measurement/results/details.py", "PassDetails"): (details.PassDetails, set()),
    ("mitigauge/measurement/results/schema.py", "MetricBody"): (result.Metric, set()),
    ("mitigauge/measurement/results/schema.py", "LabFault"): (result.LabFault, set()),
    ("mitigauge/measurement/results/schema.py", "PaceBody"): (result.Pace, set()),
    ("mitigauge/measurement/results/schema.py", "ResultBody"): (result.Result, set()),
    ("mitigauge/measurement/results/threads.py", "ActivityBody"): (threads.Activity, set()),
    ("mitigauge/measurement/results/threads.py", "NameBody"): (threads.Row, set()),
    ("mitigauge/measurement/results/threads.py", "OthersBody"): (threads.Others, set()),
    ("mitigauge/measurement/results/threads.py", "ThreadsBody"): (threads.Threads, set()),
    ("pipelines/adapters/host_answers.py", "JobAnswer"): (job.Report, set()),
    # Where its archive lies is said on this side.
    ("pipelines/steps/measure.py", "JobReport"): (job.Report, {"archive"}),
    ("pipelines/steps/measure.py", "_FinishedCase"): (job.FinishedCase, set()),
    ("pipelines/steps/measure.py", "_FinishedJob"): (job.JobState, set()),
    ("pipelines/steps/host_evidence.py", "Gates"): (job.Gates, set()),
}
# They read some of what there is; all others read everything.
PARTIAL = {"PaceRecord", "Recorded", "_Failed", "_FinishedCase", "_FinishedJob", "_Said"}


@pytest.mark.parametrize(("place", "shape"), READERS.items(), ids=lambda one: str(one[1]))
def test_a_reader_has_the_names_of_its_shape(
    place: tuple[str, str], shape: tuple[type, set[str]]
) -> None:
    known, own = shape
    names = fields_of(class_of(*place)) - own
    assert names <= set(known.__annotations__)
    assert place[1] in PARTIAL or names == set(known.__annotations__)


def class_of(path: str, name: str) -> Any:
    """The class in that file."""
    if path.startswith("workloads"):
        return getattr(load(path), name)
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    return getattr(module, name)


def fields_of(reader: Any) -> set[str]:
    """Names as they are on the wire."""
    if issubclass(reader, BaseModel):
        return {field.alias or name for name, field in reader.model_fields.items()}
    return {field.name for field in dataclasses.fields(reader)}


def test_a_shape_and_its_tables_agree() -> None:
    assert set(case.REQUIRED) == case.Measured.__required_keys__
    assert list(threads.ACTIVITY) == list(threads.Activity.__annotations__)
    assert get_args(result.Schema) == (result.SCHEMA,)
    assert {job.RUNNING, job.FINISHED, job.FAILED, job.MISSING} == set(get_args(job.State))
    assert {profile.HOST, profile.GUEST, profile.OFF_CPU} == set(get_args(profile.System))
    captures = {f"{profile.TEXT}.{suffix}" for suffix in profile.SUFFIXES.values()}
    assert captures == set(get_args(profile.CaptureName))
    assert collectors.COLUMNS.keys() == set(collectors.NAMES) > set(collectors.CHEAP)


def test_the_roles_declare_the_same_case_and_clocks() -> None:
    """YAML imports nothing."""
    role = REPOSITORY / "ansible/roles/workload"
    declared = yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"]
    options = declared["start"]["options"]
    fields = options["workload_cases"]["options"]
    assert set(fields) == set(case.Case.__annotations__)
    assert {name for name in fields if fields[name].get("required")} == set(case.REQUIRED)
    assert options["workload_clock"]["choices"] == list(clock.CLOCKS)
    for module in ("workload/library/workload_job.py", "fingerprint/library/host_fingerprint.py"):
        described = yaml.safe_load(load(f"ansible/roles/{module}").DOCUMENTATION)["options"]
        assert described["clock"]["choices"] == list(clock.CLOCKS)
    defaults = yaml.safe_load((role / "defaults/main.yml").read_text())
    limit = options["workload_archive_limit_bytes"]["default"]
    assert limit == defaults["workload_archive_limit_bytes"]


def test_each_reader_lies_where_it_is_said_to() -> None:
    for path, name in READERS:
        assert f"class {name}" in (REPOSITORY / path).read_text()
