"""An experiment beside limits: over HTTP and as a command with its exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.tracking.regressions.confirmation_service import confirm
from tests.clients import bearer, token_of
from tests.commands import Command
from tests.confirmations_made import LEVEL, run_experiments, suspicions

FIGURE = {"workload": "syscall", "metric": "time_per_call"}
Rows = list[dict[str, Any]]


@pytest.fixture
def experiment(engine: Engine) -> int:
    """Two kernels; the second takes 3 % more of 100 ns."""
    suspicions(engine)
    confirm(engine, 40)
    run_experiments(engine, {"before": LEVEL, "after": 1.03 * LEVEL})
    with engine.connect() as connection:
        number = connection.scalar(
            text("select experiment_id from confirmation where experiment_id is not null")
        )
    assert number
    return int(number)


def judged(client: TestClient, engine: Engine, experiment: int, **line: Any) -> Rows:
    answer = client.post(
        f"/api/experiments/{experiment}/limits",
        json={"limits": "ours", "lines": [{**FIGURE, **line}]},
        headers=bearer(token_of(engine, "viewer")),
    )
    assert answer.status_code == 200, answer.text
    rows: Rows = answer.json()
    return rows


def test_levels_and_changes_are_judged_by_arm(
    client: TestClient, engine: Engine, experiment: int
) -> None:
    by_arm = {row["arm"]: row for row in judged(client, engine, experiment, at_most=101)}
    assert {arm: row["kept"] for arm, row in by_arm.items()} == {"before": "pass", "after": "fail"}
    assert by_arm["after"]["value"] == pytest.approx(103, abs=0.5)
    assert by_arm["after"]["unit"] == "ns"
    [change] = judged(client, engine, experiment, worse_by_percent=1)
    assert (change["arm"], change["kept"], change["unit"]) == ("after", "fail", "%")
    [change] = judged(client, engine, experiment, worse_by_percent=5)
    assert change["kept"] == "pass"


@pytest.mark.parametrize(
    "line", [{"case": {"test": "fork"}}, {"mode": "vmscape/off"}, {"host_class": "nowhere"}]
)
def test_a_limit_of_no_figure_cannot_be_told(
    client: TestClient, engine: Engine, experiment: int, line: dict[str, Any]
) -> None:
    [row] = judged(client, engine, experiment, at_most=101, **line)
    assert (row["kept"], row["why"]) == ("cannot_tell", "no figure of the experiment is meant")


@pytest.mark.parametrize(
    ("limit", "code", "said"),
    [
        ("at_most: 200", 0, "pass"),
        ("at_most: 101", 3, "fail"),
        ("worse_by_percent: 3", 4, "cannot"),
    ],
)
def test_the_command_ends_as_ci_wants_it(
    database_url: str, experiment: int, tmp_path: Path, limit: str, code: int, said: str
) -> None:
    file = tmp_path / "limits.yml"
    file.write_text(
        f"limits: ours\nlines:\n- workload: syscall\n  metric: time_per_call\n  {limit}\n"
    )
    command = Command(tmp_path, database_url)
    done = command.run("experiment", "limits", str(experiment), "--file", str(file), code=code)
    assert said in done.stdout


def test_a_file_that_is_none_is_refused_by_its_line(
    database_url: str, experiment: int, tmp_path: Path
) -> None:
    file = tmp_path / "limits.yml"
    file.write_text("limits: ours\nlines:\n- workload: syscall\n  metric: time_per_call\n")
    command = Command(tmp_path, database_url)
    done = command.run("experiment", "limits", str(experiment), "--file", str(file), code=1)
    assert "limits.yml:3" in done.stderr
    assert "give one of at_most, at_least and worse_by_percent" in done.stderr
