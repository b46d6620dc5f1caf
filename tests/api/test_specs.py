"""Ready-made specs, and what a spec would plan."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.core.settings import REPOSITORY
from tests.clients import bearer, token_of

SPEC = (REPOSITORY / "experiments" / "lab-demo.yml").read_text()
YAML = {"Content-Type": "application/yaml"}


@pytest.fixture
def headers(engine: Engine) -> dict[str, str]:
    return bearer(token_of(engine, "submitter", "sam")) | YAML


def check(client: TestClient, headers: dict[str, str], spec: str) -> Any:
    return client.post("/api/forecasts", headers=headers, content=spec)


def test_every_ready_made_spec_is_listed_with_its_question(
    stranger: TestClient, headers: dict[str, str]
) -> None:
    listed = stranger.get("/api/specs", headers=headers).json()
    files = sorted(path.stem for path in (REPOSITORY / "experiments").glob("*.yml"))
    assert [each["name"] for each in listed] == files
    assert all(each["question"] and "\n" not in each["question"] for each in listed)


def test_a_ready_made_spec_is_given_as_it_stands_in_its_file(
    stranger: TestClient, headers: dict[str, str]
) -> None:
    found = stranger.get("/api/specs/lab-demo", headers=headers).json()
    assert found["text"] == SPEC
    assert found["environment"] == "lab"


@pytest.mark.parametrize("name", ["nothing", "..", "%2e%2e%2fREADME", "claims%2fvmscape-fio"])
def test_no_other_file_is_given(stranger: TestClient, headers: dict[str, str], name: str) -> None:
    answer = stranger.get(f"/api/specs/{name}", headers=headers)
    assert answer.status_code in (200, 404)
    if answer.status_code == 200:  # the address was made shorter by the client: the list
        assert isinstance(answer.json(), list)


def test_a_check_says_what_submission_then_plans(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    said = check(stranger, headers, SPEC).json()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM experiment")).scalar() == 0
    made = stranger.post("/api/experiments", headers=headers, content=SPEC).json()
    assert said["boots"] == made["boots_total"] == 20
    assert {host["host"]: host["boots"] for host in said["hosts"]} == {
        "lab-intel": 8,
        "lab-amd": 12,
    }
    with engine.connect() as connection:
        planned = connection.execute(
            text(
                "SELECT h.name, sum(c.expected_s) FROM boot b JOIN run r ON r.id = b.run_id "
                "JOIN host h ON h.id = r.host_id JOIN benchmark_case c "
                "ON c.comparison_id = r.comparison_id GROUP BY h.name"
            )
        )
        expected = {name: float(seconds) for name, seconds in planned}
    assert {host["host"]: host["measuring_s"] for host in said["hosts"]} == pytest.approx(expected)


def test_time_is_told_by_boots_of_the_same_host_and_else_not(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    assert check(stranger, headers, SPEC).json()["takes_s"] is None
    stranger.post("/api/experiments", headers=headers, content=SPEC)
    with engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE boot SET state = 'effective', started_at = now() - interval '1000 s', "
                "finished_at = now()"
            )
        )
    said = check(stranger, headers, SPEC).json()
    assert {host["host"]: host["takes_s"] for host in said["hosts"]} == pytest.approx(
        {"lab-intel": 8000, "lab-amd": 12000}
    )
    assert said["takes_s"] == pytest.approx(12000)
    assert [host["waiting"] for host in said["hosts"]] == [1, 1]


def test_what_is_wrong_is_said_as_at_submission_with_its_line(
    stranger: TestClient, headers: dict[str, str]
) -> None:
    wrong = SPEC.replace("vmscape/ibpb", "vmscape/ibpd")
    line = next(at for at, each in enumerate(wrong.splitlines(), 1) if "ibpd" in each)
    answers = [
        check(stranger, headers, wrong),
        stranger.post("/api/experiments", headers=headers, content=wrong),
    ]
    assert [answer.status_code for answer in answers] == [422, 422]
    said, refused = (answer.json() for answer in answers)
    assert (said["message"], said["hint"]) == (refused["message"], refused["hint"])
    assert f":{line}" in said["message"]


def test_a_kernel_that_was_not_built_is_missed_before_submission(
    stranger: TestClient, headers: dict[str, str]
) -> None:
    wanted = SPEC.replace("mode: spectre-bhi/loop", "mode: spectre-bhi/loop, kernel: built/mine")
    answer = check(stranger, headers, wanted)
    assert answer.status_code == 404
    assert "mine" in answer.json()["message"]
