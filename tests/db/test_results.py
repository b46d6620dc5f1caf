"""Bad results are refused clearly and nothing is stored; good ones are stored once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.intake import Failure, TakenResult, store_failures, store_results
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.submission import submit
from mitigauge.reporting.pages.boot import show_boot
from mitigauge.storage.database.engine import transaction
from pipelines.steps.parser import checked, timed_pass
from tests.specs import CATALOG, HOSTS, SPEC, inventory

Measuring = tuple[int, int]


@pytest.fixture
def measuring(engine: Engine, home: Path) -> Measuring:
    """(boot, case) of a boot that is proven and being measured."""
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        planned = submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))
        experiment = experiment_rows.experiment(session, planned)
        boot = run_rows.boots_of(session, [run.id for run in run_rows.runs_of(session, planned)])[0]
        boot.state = BootState.MEASURING
        return boot.id, experiment.comparisons[0].cases[0].id


def body(case: int, **changes: Any) -> dict[str, Any]:
    good = {
        "schema": "mitigauge.result/1",
        "workload": "spin",
        "case_id": str(case),
        "parameters": {"size": 1},
        "started_at": "2026-01-01T00:00:00Z",
        "finished_at": "2026-01-01T00:00:09Z",
        "metrics": {
            "time": {"unit": "ns", "direction": "lower", "warmup": [9.0], "values": [1.0, 2.0, 3.0]}
        },
    }
    return {**good, **changes}


def store(engine: Engine, measuring: Measuring, content: bytes) -> bool:
    with transaction(engine) as session:
        boot = run_rows.boot(session, measuring[0])
        case = next(c for c in boot.run.comparison.cases if c.id == measuring[1])
        result = checked(content, timed_pass(case))
        return store_results(session, boot, [TakenResult(case.id, result)]) == 1


def encoded(case: int, **changes: Any) -> bytes:
    return json.dumps(body(case, **changes)).encode()


def stored(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        results = connection.execute(text("select count(*) from result")).scalar_one()
        values = connection.execute(
            text("select coalesce(sum(cardinality(counted || warmup)), 0) from measurement")
        ).scalar_one()
    return results, values


def test_a_result_is_stored_once_however_often_it_comes(
    engine: Engine, measuring: Measuring
) -> None:
    content = encoded(measuring[1])
    assert store(engine, measuring, content) is True
    assert store(engine, measuring, content) is False
    assert stored(engine) == (1, 4)


@pytest.mark.parametrize("operations", [3_000_000, 0.5, None])
def test_a_result_may_count_its_operations(
    engine: Engine, measuring: Measuring, operations: float | None
) -> None:
    assert store(engine, measuring, encoded(measuring[1], operations=operations))


def test_another_result_for_the_same_case_is_a_conflict(
    engine: Engine, measuring: Measuring
) -> None:
    store(engine, measuring, encoded(measuring[1]))
    with pytest.raises(Conflict, match="another result"):
        store(engine, measuring, encoded(measuring[1], tools={"spin": "2"}))
    assert stored(engine) == (1, 4)


METRIC = {"unit": "ns", "direction": "lower", "warmup": [9.0], "values": [1.0, 2.0, 3.0]}
PACE = {"limit": 1.15, "values": [1.0, 1.1, 1.3], "disturbed": [1.9, 2.1]}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"metrics": {}}, "missing metrics: time"),
        ({"metrics": {"time": METRIC, "tmie": METRIC}}, "unknown metrics: tmie"),
        ({"metrics": {"time": {**METRIC, "unit": "us"}}}, "declared are ns"),
        ({"metrics": {"time": {**METRIC, "direction": "higher"}}}, "declared are ns, lower"),
        ({"metrics": {"time": {**METRIC, "values": [1.0]}}}, "1 iterations, the plan asks for 3"),
        ({"metrics": {"time": {**METRIC, "warmup": []}}}, "0 warm-ups, the plan asks for 1"),
        ({"parameters": {"size": 2}}, "parameters"),
        ({"metrics": {"time": {**METRIC, "values": [1e101, 2.0, 3.0]}}}, "metrics.time.values.0"),
        ({"metrics": {"time": {**METRIC, "values": []}}}, "metrics.time.values"),
        ({"metrics": {"time": {**METRIC, "values": [1, None, 3]}}}, "metrics.time.values.1"),
        ({"metrics": {"time": {**METRIC, "disturbed": [4.0]}}}, "no pace says why"),
        ({"pace": PACE}, "2 disturbed, but metric time has 3 and 0"),
        ({"pace": {**PACE, "disturbed": [], "values": [1.0]}}, "1 values and 0 disturbed"),
        ({"pace": {**PACE, "limit": 0.9}}, "pace.limit"),
        ({"pace": {**PACE, "values": [1.0, 0.5, 1.0]}}, "pace.values.1"),
        ({"pace": {**PACE, "disturbed": [None, 2.0]}}, "pace.disturbed.0"),
        ({"workload": "iperf"}, "the result is of iperf"),
        ({"case_id": "9999"}, "case 9999"),
        ({"schema": "mitigauge.result/2"}, "schema"),
        ({"operations": 0}, "operations"),
        ({"operations": -5}, "operations"),
        ({"operations": True}, "operations"),
        ({"operations": "1000"}, "operations"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_result_is_refused_by_name(
    engine: Engine, measuring: Measuring, changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        store(engine, measuring, encoded(measuring[1], **changes))
    assert complaint in refused.value.message
    assert refused.value.hint
    assert stored(engine) == (0, 0)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_finite_number_is_refused(
    engine: Engine, measuring: Measuring, word: str
) -> None:
    value = json.dumps(body(measuring[1])).replace("2.0", word).encode()
    with pytest.raises(InvalidInput, match=r"JSON|finite"):
        store(engine, measuring, value)
    counted = json.dumps(body(measuring[1], operations=4.0)).replace("4.0", word).encode()
    with pytest.raises(InvalidInput, match=r"JSON|finite"):
        store(engine, measuring, counted)
    assert stored(engine) == (0, 0)


def test_disturbed_iterations_are_kept_but_in_no_mean(engine: Engine, measuring: Measuring) -> None:
    metric = {**METRIC, "disturbed": [7.0, 8.0]}
    assert store(engine, measuring, encoded(measuring[1], metrics={"time": metric}, pace=PACE))
    with transaction(engine) as session:
        boot = show_boot(session, measuring[0])
    shown = next(r for r in boot.results if r.case_id == measuring[1]).metrics["time"]
    assert shown.mean == 2.0
    assert (shown.values, shown.disturbed) == ([1.0, 2.0, 3.0], [7.0, 8.0])
    assert (shown.slowdowns, shown.disturbed_slowdowns) == ([1.0, 1.1, 1.3], [1.9, 2.1])
    assert shown.slowdown_limit == 1.15


def test_what_is_not_whole_or_no_text_is_refused(engine: Engine, measuring: Measuring) -> None:
    for content in (encoded(measuring[1])[:-20], b"", b"\xff\xfe\x00"):
        with pytest.raises(InvalidInput, match="not whole, valid JSON"):
            store(engine, measuring, content)
    assert stored(engine) == (0, 0)


def test_a_boot_that_is_not_measuring_takes_no_results(
    engine: Engine, measuring: Measuring
) -> None:
    with pytest.raises(Conflict, match="planned, not measuring"):
        store(engine, (measuring[0] + 1, measuring[1]), encoded(measuring[1]))
    assert stored(engine) == (0, 0)


def test_a_failure_is_noted_once_and_replaces_no_result(
    engine: Engine, measuring: Measuring
) -> None:
    store(engine, measuring, encoded(measuring[1]))
    with transaction(engine) as session:
        store_failures(session, measuring[0], [Failure(measuring[1], "failed", "too late")])
    assert stored(engine) == (1, 4)
    with transaction(engine) as session:
        assert show_boot(session, measuring[0]).results[0].state == "measured"
