"""Bad results get a clear 4xx and nothing is stored; good ones are stored once."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
import zstandard
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.experiments.upload_token import token_for
from mitigauge.settings import get_settings

Measuring = tuple[int, int]


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


def put(
    client: TestClient, measuring: Measuring, content: bytes, **headers: str
) -> tuple[int, dict[str, Any]]:
    boot_id, case_id = measuring
    answer = client.put(
        f"/api/boots/{boot_id}/cases/{case_id}/result",
        content=content,
        headers={"Authorization": f"Bearer {token_for(boot_id)}", **headers},
    )
    return answer.status_code, answer.json()


def stored(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        results = connection.execute(text("select count(*) from result")).scalar_one()
        values = connection.execute(text("select count(*) from iteration")).scalar_one()
    return results, values


def test_a_result_is_stored_once_however_often_it_is_sent(
    client: TestClient, engine: Engine, measuring: Measuring
) -> None:
    content = json.dumps(body(measuring[1])).encode()
    assert put(client, measuring, content)[0] == 201
    assert put(client, measuring, content) == (
        200,
        {"stored": False, "detail": "the same result is there already"},
    )
    assert stored(engine) == (1, 4)


@pytest.mark.parametrize("operations", [3_000_000, 0.5, None])
def test_a_result_may_count_its_operations(
    client: TestClient, measuring: Measuring, operations: float | None
) -> None:
    content = json.dumps(body(measuring[1], operations=operations)).encode()
    assert put(client, measuring, content)[0] == 201


def test_another_result_for_the_same_case_is_a_conflict(
    client: TestClient, engine: Engine, measuring: Measuring
) -> None:
    put(client, measuring, json.dumps(body(measuring[1])).encode())
    other = body(measuring[1], tools={"spin": "2"})
    status, problem = put(client, measuring, json.dumps(other).encode())
    assert status == 409
    assert "another result" in problem["message"]
    assert stored(engine) == (1, 4)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress), ("zstd", zstandard.ZstdCompressor().compress)],
)
def test_compressed_results_are_taken(
    client: TestClient, measuring: Measuring, encoding: str, packed: Any
) -> None:
    content = packed(json.dumps(body(measuring[1])).encode())
    assert put(client, measuring, content, **{"Content-Encoding": encoding})[0] == 201


METRIC = {"unit": "ns", "direction": "lower", "warmup": [], "values": [1.0, 2.0, 3.0]}
PACE = {"limit": 1.15, "values": [1.0, 1.1, 1.3], "disturbed": [1.9, 2.1]}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"metrics": {}}, "missing metrics: time"),
        ({"metrics": {"time": METRIC, "tmie": METRIC}}, "unknown metrics: tmie"),
        ({"metrics": {"time": {**METRIC, "unit": "us"}}}, "declared are ns"),
        ({"metrics": {"time": {**METRIC, "direction": "higher"}}}, "declared are ns, lower"),
        ({"metrics": {"time": {**METRIC, "values": [1.0]}}}, "1 iterations, the plan asks for 3"),
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
    client: TestClient,
    engine: Engine,
    measuring: Measuring,
    changes: dict[str, Any],
    complaint: str,
) -> None:
    content = json.dumps(body(measuring[1], **changes)).encode()
    status, problem = put(client, measuring, content)
    assert status == 422
    assert complaint in problem["message"]
    assert problem["hint"]
    assert stored(engine) == (0, 0)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_finite_number_is_refused(
    client: TestClient, engine: Engine, measuring: Measuring, word: str
) -> None:
    content = json.dumps(body(measuring[1])).replace("2.0", word).encode()
    status, problem = put(client, measuring, content)
    assert status == 422
    counted = json.dumps(body(measuring[1], operations=4.0)).replace("4.0", word).encode()
    assert put(client, measuring, counted)[0] == 422
    assert "JSON" in problem["message"] or "finite" in problem["message"]
    assert stored(engine) == (0, 0)


def test_disturbed_iterations_are_kept_but_in_no_mean(
    client: TestClient, measuring: Measuring
) -> None:
    metric = {**METRIC, "disturbed": [7.0, 8.0]}
    content = json.dumps(body(measuring[1], metrics={"time": metric}, pace=PACE)).encode()
    assert put(client, measuring, content)[0] == 201
    boot = client.get(f"/api/boots/{measuring[0]}").json()
    shown = next(r for r in boot["results"] if r["case_id"] == measuring[1])["metrics"]["time"]
    assert shown["mean"] == 2.0
    assert (shown["values"], shown["disturbed"]) == ([1.0, 2.0, 3.0], [7.0, 8.0])
    assert (shown["slowdowns"], shown["disturbed_slowdowns"]) == ([1.0, 1.1, 1.3], [1.9, 2.1])
    assert shown["slowdown_limit"] == 1.15


def test_truncated_uploads_are_refused(
    client: TestClient, engine: Engine, measuring: Measuring
) -> None:
    whole = json.dumps(body(measuring[1])).encode()
    for content, headers in (
        (whole[:-20], {}),
        (gzip.compress(whole)[:-9], {"Content-Encoding": "gzip"}),
        (zstandard.ZstdCompressor().compress(whole)[:-5], {"Content-Encoding": "zstd"}),
        (b"", {}),
        (b"\xff\xfe\x00", {}),
        (whole, {"Content-Encoding": "gzip"}),
        (whole, {"Content-Encoding": "br"}),
    ):
        status, problem = put(client, measuring, content, **headers)
        assert status == 422, (headers, problem)
    assert stored(engine) == (0, 0)


def test_oversized_uploads_are_refused_before_and_after_inflating(
    client: TestClient, engine: Engine, measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_UPLOAD_LIMIT_BYTES", "2000")
    monkeypatch.setenv("MITIGAUGE_UPLOAD_INFLATED_LIMIT_BYTES", "100000")
    get_settings.cache_clear()
    assert put(client, measuring, b" " * 3000)[0] == 413
    bomb = b" " * 10_000_000
    for encoding, packed in (
        ("gzip", gzip.compress(bomb[:1_000_000])),
        ("zstd", zstandard.ZstdCompressor().compress(bomb)),
    ):
        assert len(packed) < 2000
        status, problem = put(client, measuring, packed, **{"Content-Encoding": encoding})
        assert status == 413
        assert "100000 bytes" in problem["message"]
    assert stored(engine) == (0, 0)


def test_a_boot_that_is_not_measuring_takes_no_results(
    client: TestClient, engine: Engine, measuring: Measuring
) -> None:
    other = measuring[0] + 1
    status, problem = put(client, (other, measuring[1]), json.dumps(body(measuring[1])).encode())
    assert status == 409
    assert "planned, not measuring" in problem["message"]
    assert stored(engine) == (0, 0)


def test_a_token_of_another_boot_is_refused(
    client: TestClient, engine: Engine, measuring: Measuring
) -> None:
    content = json.dumps(body(measuring[1])).encode()
    for token in ("", "Bearer ", f"Bearer {token_for(measuring[0] + 1)}", "Bearer \u00e9".encode()):
        status, _ = put(client, measuring, content, Authorization=token)  # type: ignore[arg-type]
        assert status == 403
    assert stored(engine) == (0, 0)
