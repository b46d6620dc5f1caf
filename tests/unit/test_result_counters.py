"""A result may lack a counter that its host does not have, and nothing else."""

from __future__ import annotations

import orjson
import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.results.schema import check_against_case, read_result

TIME = {"unit": "ns", "direction": "lower", "warmup": [], "values": [1.0, 2.0]}
DECLARED = {
    "time": CaseMetric("ns", "lower", "Time", primary=True),
    "cycles": CaseMetric("cycles/op", "lower", "Cycles", primary=False, counter=True),
}


def check(**metrics: object) -> None:
    body = {
        "schema": "mitigauge.result/1", "workload": "w", "case_id": "1", "parameters": {},
        "started_at": "2026-11-24T07:00:00Z", "finished_at": "2026-11-24T07:00:01Z",
        "metrics": metrics,
    }  # fmt: skip
    check_against_case(
        read_result(orjson.dumps(body)).body, workload="w", case_id=1, metrics=DECLARED,
        iterations=2, parameters={}, warmup=0, guest={},
    )  # fmt: skip


def test_a_counter_may_be_absent() -> None:
    check(time=TIME)
    check(time=TIME, cycles={**TIME, "unit": "cycles/op"})


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"cycles": {**TIME, "unit": "cycles/op"}}, "missing metrics: time"),
        ({"time": TIME, "cycles": TIME}, "declared are cycles/op"),
        ({"time": TIME, "cycles": {**TIME, "unit": "cycles/op", "values": [1.0]}}, "1 iterations"),
        ({"time": TIME, "other": TIME}, "unknown metrics: other"),
    ],
)
def test_what_is_there_must_be_right(metrics: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        check(**metrics)
