"""Bodies of results, and what every workload's parser reads, through what takes them in."""

from __future__ import annotations

import json
import random
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from mitigauge.core.hostile_text import HOSTILE
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Case
from pipelines.steps.parser import checked, result_in, timed_pass
from tests.fuzz.builders import spin_case
from tests.fuzz.mutations import as_json, odd_bytes, odd_json

SHARE = 10.0

BODY: dict[str, Any] = {
    "schema": "mitigauge.result/1", "workload": "spin", "case_id": "1", "parameters": {"size": 1},
    "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:01Z",
    "metrics": {"time": {"unit": "ns", "direction": "lower", "warmup": [1.0],
                         "values": [1.0, 2.0, 3.0], "disturbed": [4.0]}},
    "operations": 3000, "lab_faults": [{"kind": "k", "attempt": 1, "detail": "d"}],
    "tools": {"spin": "1"}, "pace": {"limit": 1.1, "values": [1.0] * 3, "disturbed": [2.0]},
}  # fmt: skip


def once(rng: random.Random, scratch: Path) -> str:
    """One body, or rarely, since each is a process, one directory for a parser."""
    if rng.random() < 0.01:
        return _parsed(rng, scratch)
    changed = odd_json(rng, BODY, rng.choice([1, 1, 2, 5])) if rng.random() < 0.95 else BODY
    result = checked(as_json(rng, changed), timed_pass(spin_case())).body
    _check_clean(result.model_dump(exclude={"parameters"}))
    return "taken"


def _parsed(rng: random.Random, scratch: Path) -> str:
    """Recorded raw files of a workload, some of them changed."""
    workload, recorded = rng.choice(recordings())
    directory = scratch / "case"
    shutil.copytree(recorded, directory)
    for _ in range(rng.choice([0, 1, 1, 2])):
        path = rng.choice(sorted(directory.iterdir()))
        if rng.random() < 0.1:
            path.unlink()
        elif path.suffix == ".json" and rng.random() < 0.7:
            # As it was recorded: it may have been changed already.
            content = json.loads((recorded / path.name).read_bytes())
            path.write_bytes(as_json(rng, odd_json(rng, content, 2)))
        else:
            path.write_bytes(odd_bytes(rng, path.read_bytes()))
    case = _case(workload, json.loads((recorded / "case.json").read_text()))
    result = result_in(directory, timed_pass(case), catalog()).body
    _check_clean(result.model_dump(exclude={"parameters"}))
    return "taken"


def _case(workload: str, said: dict[str, Any]) -> Case:
    known = catalog().workloads[workload]
    metrics = {
        name: CaseMetric(metric.unit, metric.direction, metric.title, metric.primary)
        for name, metric in known.metrics_of(said["parameters"]).items()
    }
    return spin_case(
        workload=workload, parameters=said["parameters"], iterations=said["iterations"],
        warmup=said["warmup"], metrics=metrics, id=said["case_id"], profile_hz=None,
    )  # fmt: skip


def _check_clean(value: Any) -> None:
    """Nothing that PostgreSQL refuses or a terminal obeys has come through."""
    if isinstance(value, str):
        assert not HOSTILE.search(value), ascii(value)
    elif isinstance(value, dict):
        _check_clean([*value, *value.values()])
    elif isinstance(value, list):
        for item in value:
            _check_clean(item)
    elif isinstance(value, float):
        assert abs(value) <= 1e100


@cache
def catalog() -> Catalog:
    """The project's own workloads."""
    return Catalog()


@cache
def recordings() -> list[tuple[str, Path]]:
    """Every workload's recorded directories."""
    found = sorted(REPOSITORY.glob("workloads/*/fixtures/*/case.json"))
    return [(path.parents[2].name, path.parent) for path in found]
