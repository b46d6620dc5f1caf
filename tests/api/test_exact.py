"""Exact counts over the API and as a command: stored once, compared by boots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select
from typer.testing import CliRunner

from cli.profile import app as command
from mitigauge.analysis.profiles.exact.ledger import Branches, Ledger
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.analysis.profiles.exact.tables import ExactCount
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.states import BootState
from mitigauge.storage.database.engine import transaction
from tests.postgres import filled
from tests.unit.exact.ledgers import function, ledger

PLAIN = {"pushq %rbx": 1, "popq %rbx": 1}
PATCHED = {"pushq %rbx": 1, "callq clear_bhb_loop": 1, "popq %rbx": 1}
TICKS = {"off": (0.1, 0.12), "on": (0.3, 0.34)}


def counts(arm: str, block: int) -> Ledger:
    """A boot of an arm: in `on` a call and what it calls are new."""
    tick = function("tick", {"incq %rax": TICKS[arm][block % 2]})
    if arm == "off":
        branches = Branches(taken=2, indirect=1, returns=2)
        return ledger(function("do_syscall_64", PLAIN), tick, branches=branches)
    new = function("clear_bhb_loop", {"subl $1, %ecx": 5})
    branches = Branches(taken=7, indirect=1, returns=3)
    return ledger(function("do_syscall_64", PATCHED), new, tick, lines=12, branches=branches)


@pytest.fixture
def asked(engine: Engine, experiment_id: int) -> dict[str, Any]:
    """What names a case and both arms; all boots are effective, none is counted."""
    return filled(engine, make_effective, experiment_id)


def make_effective(engine: Engine, experiment_id: int) -> dict[str, Any]:
    with transaction(engine) as session:
        case = experiment_rows.experiment(session, experiment_id).comparisons[0].cases[0]
        runs = [run.id for run in run_rows.runs_of(session, experiment_id)]
        for boot in run_rows.boots_of(session, runs):
            boot.state = BootState.EFFECTIVE
        place = {"experiment": experiment_id, "case": case.id, "host": "alpha"}
    return {**place, "a": "off", "b": "on"}


@pytest.fixture
def counted(engine: Engine, asked: dict[str, Any]) -> dict[str, Any]:
    """The same, with counts in every boot of both arms."""
    filled(engine, store_all, asked["experiment"], asked["case"])
    return asked


def store_all(engine: Engine, experiment: int, case: int) -> None:
    store(engine, {"experiment": experiment, "case": case}, {})


def store(engine: Engine, asked: Mapping[str, Any], instead: Mapping[str, str]) -> None:
    """Count every boot; those of an arm in *instead* have that reason for having none."""
    with transaction(engine) as session:
        runs = [run.id for run in run_rows.runs_of(session, asked["experiment"])]
        for boot in run_rows.boots_of(session, runs):
            arm = boot.arm.name
            if arm not in TICKS:
                continue
            found = CountedPass(detail=instead[arm]) if arm in instead else CountedPass(
                counts(arm, boot.block)
            )  # fmt: skip
            store_counts(session, boot.id, asked["case"], found)


def table(client: TestClient, asked: Mapping[str, Any], function: str = "") -> dict[str, Any]:
    answer = client.get("/api/profiles/exact", params={**asked, "function": function})
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


def test_what_each_operation_runs_is_compared_to_the_instruction(
    client: TestClient, counted: dict[str, Any]
) -> None:
    said = table(client, counted, "do_syscall_64")
    assert (said["why_none"], said["exact"]) == ("", 6)
    assert said["difference"] == pytest.approx(6.21)
    assert said["low"] < 6.21 < said["high"]
    assert [side["steady"] for side in (said["a"], said["b"])] == [2, 8]
    assert said["b"]["counted_ns"] == pytest.approx(said["b"]["measured_ns"])
    assert (said["a"]["lines"], said["b"]["lines"], said["b"]["boots"]) == (10, 12, 2)
    rows = {row["function"]: (row["mark"], row["exact"]) for row in said["functions"]}
    assert rows == {"clear_bhb_loop": ("new", 5), "do_syscall_64": ("", 1), "tick": ("", None)}
    assert [(row["mark"], row["text_b"], row["b"]) for row in said["instructions"]] == [
        ("", "pushq %rbx", 1),
        ("new", "callq clear_bhb_loop", 1),
        ("", "popq %rbx", 1),
    ]


def test_the_footprint_is_told_before_and_after(
    client: TestClient, counted: dict[str, Any]
) -> None:
    rows = table(client, counted)["footprint"]
    assert {row["figure"]: (row["a"], row["b"], row["exact"]) for row in rows} == {
        "lines": (10, 12, 2),
        "pages": (3, 3, 0),
        "taken": (2, 7, 5),
        "indirect": (1, 1, 0),
        "returns": (2, 3, 1),
    }


def test_without_a_function_no_instructions_are_listed(
    client: TestClient, counted: dict[str, Any]
) -> None:
    assert table(client, counted)["instructions"] == []


def test_an_arm_compared_with_itself_runs_the_same(
    client: TestClient, counted: dict[str, Any]
) -> None:
    said = table(client, {**counted, "b": "off"})
    assert (said["exact"], said["difference"]) == (0, 0)


@pytest.mark.parametrize(
    ("instead", "why"),
    [
        ({"on": "the emulator has no plugin"}, "No exact counts of on: the emulator has no plugin"),
        (None, "No exact counts of off and on: only the first boots"),
    ],
)
def test_where_there_are_none_the_answer_says_why(
    client: TestClient,
    engine: Engine,
    asked: dict[str, Any],
    instead: Mapping[str, str] | None,
    why: str,
) -> None:
    if instead is not None:
        store(engine, asked, instead)
    said = table(client, asked)
    assert said["why_none"].startswith(why)
    assert said["functions"] == []


def test_what_is_stored_of_a_boot_stays(engine: Engine, counted: dict[str, Any]) -> None:
    store(engine, counted, {"off": "later"})
    with transaction(engine) as session:
        kept = session.scalar(select(func.count()).where(ExactCount.ledger.is_not(None)))
    assert kept == 4


def test_what_cannot_be_compared_is_refused(client: TestClient, counted: dict[str, Any]) -> None:
    for wrong, status in (({"a": "nothing"}, 404), ({"case": 99}, 404), ({"host": ""}, 404)):
        answer = client.get("/api/profiles/exact", params={**counted, **wrong})
        assert answer.status_code == status, answer.text


def test_the_command_says_the_same(
    engine: Engine, counted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    monkeypatch.setattr(
        "mitigauge.storage.database.engine.transaction", lambda: transaction(engine)
    )

    def said(*more: str) -> str:
        words = ["exact", "off", "on", "--experiment", str(counted["experiment"]), "--case"]
        done = CliRunner().invoke(
            command, [*words, str(counted["case"]), *more], catch_exceptions=False,
            env={"COLUMNS": "200"},
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        return done.stdout

    text = said()
    assert "EMULATED, counted time" in text
    assert "each operation: +6 in on; with all that ran beside it +6.21 (95 %:" in text
    [new] = [line for line in text.splitlines() if "clear_bhb_loop" in line]
    assert new.split() == ["0.00", "5.00", "+5", "new", "clear_bhb_loop"]
    [taken] = [line for line in text.splitlines() if "taken branches" in line]
    assert taken.split()[:3] == ["2.00", "7.00", "+5"]
    assert "+4 callq clear_bhb_loop" in said("--function", "do_syscall_64")
    assert json.loads(said("--json"))["exact"] == 6
