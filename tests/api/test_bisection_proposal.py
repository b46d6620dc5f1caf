"""A bisection is started from a regression or a cell with one press."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from tests.clients import bearer, token_of
from tests.regressions_made import decided_cell, found_regressions

ARMS = (
    "arms:\n- {name: a, mode: spectre-bhi/off}\n- {name: b, mode: spectre-bhi/loop}\n"
    "- {name: c, mode: spectre-bhi/loop, kernel: 7.2.1}\n"
)


@pytest.fixture
def headers(engine: Engine) -> dict[str, str]:
    return bearer(token_of(engine, "submitter", "sam"))


def proposal(client: TestClient, headers: dict[str, str], **asked: Any) -> Any:
    return client.get("/api/bisections/proposal", headers=headers, params=asked)


def of_cell(cell: dict[str, Any]) -> dict[str, Any]:
    asked = {name: cell[name] for name in ("host", "arm", "metric")}
    return asked | {"experiment": cell["experiment_id"], "case": cell["case_id"]}


def test_a_cell_of_one_kernel_is_one_change(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    cell = decided_cell(engine)
    found = proposal(stranger, headers, **of_cell(cell)).json()
    assert found["hosts"] == [cell["host"]]
    assert found["changes"] == 1
    arms = yaml.safe_load(found["arms"])["arms"]
    assert arms[-1]["name"] == cell["arm"]
    assert "there is nothing to search" in found["why"]


def test_arms_of_several_kernels_are_the_candidates_in_their_order(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    cell = decided_cell(engine)
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO arm (comparison_id, position, name, family, mode, title, "
                "family_title, kernel, is_baseline, is_aa, settings, expect, lab_cmdline, events) "
                "SELECT comparison_id, 90 + n, 'k' || n, family, mode, title, family_title, "
                "'7.2.' || n, false, false, settings, expect, lab_cmdline, events "
                "FROM arm, generate_series(1, 4) n WHERE name = :arm AND comparison_id = "
                "(SELECT comparison_id FROM benchmark_case WHERE id = :case)"
            ),
            {"arm": cell["arm"], "case": cell["case_id"]},
        )
        connection.execute(
            text(
                "UPDATE verdict SET arm_id = (SELECT id FROM arm WHERE name = 'k3') WHERE arm_id = "
                "(SELECT a.id FROM arm a JOIN benchmark_case c USING (comparison_id) "
                "WHERE c.id = :case AND a.name = :arm)"
            ),
            {"arm": cell["arm"], "case": cell["case_id"]},
        )
    found = proposal(stranger, headers, **of_cell(cell | {"arm": "k3"})).json()
    kernels = [arm.get("kernel", "") for arm in yaml.safe_load(found["arms"])["arms"]]
    # k4 stands behind the arm that is worse.
    assert kernels[-3:] == ["7.2.1", "7.2.2", "7.2.3"]
    assert found["changes"] == len(kernels) - 1


def test_a_regression_is_proposed_with_its_case_and_started_once_asked(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    regression = found_regressions(engine)[0]
    shown = stranger.get(f"/api/regressions/{regression}", headers=headers).json()
    found = proposal(stranger, headers, regression=regression)
    assert found.status_code == 200, found.text
    proposed = found.json()
    assert (proposed["workload"], proposed["metric"]) == (shown["workload"], shown["metric"])
    assert proposed["mode"] == shown["mode"]
    assert set(proposed["hosts"]) <= set(shown["hosts"])
    assert proposed["regression_id"] == regression


@pytest.mark.parametrize(
    "asked", [{}, {"experiment": 1}, {"regression": 1, "experiment": 1}, {"host": "alpha"}]
)
def test_what_is_worse_has_to_be_named(
    stranger: TestClient, headers: dict[str, str], asked: dict[str, Any]
) -> None:
    answer = proposal(stranger, headers, **asked)
    assert answer.status_code == 422
    assert "regression=NUMBER" in answer.json()["hint"]


def test_what_is_not_there_is_said(stranger: TestClient, headers: dict[str, str]) -> None:
    assert proposal(stranger, headers, regression=77).status_code == 404
    asked = {"experiment": 7, "case": 1, "host": "h", "arm": "a", "metric": "m"}
    assert proposal(stranger, headers, **asked).status_code == 404


def start(client: TestClient, headers: dict[str, str], regression: int) -> Any:
    body = {
        "arms": ARMS, "hosts": ["lab-intel"], "environment": "lab", "workload": "syscall",
        "parameters": {"test": "basic", "loops": 300000}, "regression": regression,
    }  # fmt: skip
    return client.post("/api/bisections", headers=headers, json=body)


def test_the_regression_says_which_bisection_was_started_from_it(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    regression = found_regressions(engine)[0]
    before = stranger.get(f"/api/regressions/{regression}", headers=headers).json()
    started = start(stranger, headers, regression)
    assert started.status_code == 202, started.text
    after = stranger.get(f"/api/regressions/{regression}", headers=headers).json()
    assert after["bisection_id"] == started.json()["id"]
    assert after["version"] > before["version"]
    assert [entry["kind"] for entry in after["history"]][-1] == "bisection"
    assert after["history"][-1]["by"] == "sam"


def test_nothing_is_started_for_a_regression_that_is_not_there(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    assert start(stranger, headers, 4711).status_code == 404
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM bisection")).scalar() == 0


def test_the_same_search_is_begun_once(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    one, two = found_regressions(engine)[:2]
    running = start(stranger, headers, one).json()["id"]
    again = start(stranger, headers, two)
    assert again.status_code == 409
    assert f"bisection {running} is running" in again.json()["message"]
    stranger.post(f"/api/bisections/{running}/cancel", headers=headers)
    assert start(stranger, headers, two).status_code == 202


def test_what_is_proposed_with_one_candidate_is_refused(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    proposed = proposal(stranger, headers, **of_cell(decided_cell(engine))).json()
    body = {
        "arms": ARMS.rsplit("- ", 1)[0], "hosts": ["lab-intel"], "environment": "lab",
        "workload": "syscall", "parameters": {"test": "basic"},
    }  # fmt: skip
    refused = stranger.post("/api/bisections", headers=headers, json=body)
    assert proposed["changes"] == 1
    assert refused.status_code == 422
    assert "'a to b'" in refused.json()["message"]
    assert "experiment submit" in refused.json()["hint"]
