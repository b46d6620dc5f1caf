"""The campaign's checks: each finds what it is there to find, and nothing in a run that is well."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import Engine

from mitigauge.storage.database.engine import transaction
from pipelines.host_control import POWER_CYCLE
from tests.crash.checks import LOST, STALE, STUCK, TWICE, UNEXPLAINED, Rows, violations
from tests.crash.fault_points import Hit
from tests.crash.simulated_host import new_world

T0 = datetime(2026, 1, 1, tzinfo=timezone.utc)  # noqa: UP017 as the database's rows have it


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def attempt(step: str, epoch: int, outcome: str = "done", boot: int | None = 1) -> dict[str, Any]:
    ended = None if outcome == "started" else at(10 * epoch + 5)
    return {
        "run_id": 1, "boot_id": boot, "step": step, "epoch": epoch, "outcome": outcome,
        "detail": "", "started_at": at(10 * epoch), "finished_at": ended,
    }  # fmt: skip


def boot(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": number, "run_id": 1, "block": 1, "arm_id": number, "attempt": 1,
        "nonce": f"n{number}", "state": "effective", "job_try": 1,
        "power_cycled": False, "revived": False, "reason": "", **more,
    }  # fmt: skip


def well() -> tuple[Rows, dict[str, Any]]:
    """The rows and the world of a run of one boot that went well."""
    rows = Rows(
        experiment={"state": "finished"},
        runs=[{"id": 1, "state": "finished", "error": ""}],
        boots=[boot(1)],
        attempts=[attempt("prepare", 1, boot=None), attempt("boot.arm", 2),
                  attempt("restore", 3, boot=None), attempt("finish", 4, boot=None)],
        events=[],
        leases=[{"run_id": 1, "released_at": at(60)}],
        results=[{"boot_id": 1}],
        cases=1,
    )  # fmt: skip
    return rows, new_world(did=["prepare", "boot n1", "job boot1-n1-1", "restore"])


def found(
    engine: Engine, rows: Rows, world: dict[str, Any], *hits: Hit, whole: bool = True
) -> list[str]:
    with transaction(engine) as session:
        return [v.kind for v in violations(session, rows, world, hits, whole=whole)]


def hit(step: str, moment: str, epoch: int) -> Hit:
    return Hit(step, moment, 1, epoch, 4711, 0.0)


def test_a_run_that_is_well_has_nothing_wrong(engine: Engine) -> None:
    assert found(engine, *well()) == []
    assert found(engine, *well(), hit("boot.arm", "after", 2), hit("boot.arm", "cut", 2)) == []


def lose(rows: Rows, world: dict[str, Any]) -> Rows:
    return dataclasses.replace(rows, boots=[boot(1, state="lab_fault")])


def stay_open(rows: Rows, world: dict[str, Any]) -> Rows:
    return dataclasses.replace(rows, boots=[boot(1), boot(2, state="planned", arm_id=1)])


def lose_a_result(rows: Rows, world: dict[str, Any]) -> Rows:
    return dataclasses.replace(rows, results=[])


def count_twice(rows: Rows, world: dict[str, Any]) -> Rows:
    world["did"] += ["boot n2", "job boot2-n2-1"]
    return dataclasses.replace(
        rows, boots=[boot(1), boot(2, arm_id=1)], results=[{"boot_id": 1}, {"boot_id": 2}]
    )


def boot_twice(rows: Rows, world: dict[str, Any]) -> Rows:
    world["did"] += ["boot n1"]
    return dataclasses.replace(rows, boots=[boot(1, state="did_not_boot"), boot(3, arm_id=1)])


def cycle_twice(rows: Rows, world: dict[str, Any]) -> Rows:
    world["power_cycles"] = ["n1", "n1"]
    return announced(dataclasses.replace(rows, boots=[boot(1, power_cycled=True)]), 2)


def cycle_unrecorded(rows: Rows, world: dict[str, Any]) -> Rows:
    world["power_cycles"] = ["n1"]
    return announced(rows, 1)


def announced(rows: Rows, power_cycles: int) -> Rows:
    """*rows* with the events that stand before so many power cycles."""
    more = [{"kind": "power", "text": POWER_CYCLE} for _ in range(power_cycles)]
    return dataclasses.replace(rows, events=[*rows.events, *more])


def cycle_unannounced(rows: Rows, world: dict[str, Any]) -> Rows:
    world["power_cycles"] = ["n1"]
    return dataclasses.replace(rows, boots=[boot(1, power_cycled=True)])


def hold(rows: Rows, world: dict[str, Any]) -> Rows:
    return dataclasses.replace(rows, leases=[{"run_id": 1, "released_at": None}])


def stay_tuned(rows: Rows, world: dict[str, Any]) -> Rows:
    world["tuned"] = True
    return rows


def come_late(rows: Rows, world: dict[str, Any]) -> Rows:
    late = {**attempt("boot.arm", 2), "finished_at": at(35)}
    return dataclasses.replace(rows, attempts=[late, attempt("restore", 3, boot=None)])


def refuse_silently(rows: Rows, world: dict[str, Any]) -> Rows:
    return dataclasses.replace(rows, attempts=[*rows.attempts, attempt("finish", 5, "refused")])


def end_slowly(rows: Rows, world: dict[str, Any]) -> Rows:
    asked = {"at": at(5), "text": "cancel requested; hosts", "kind": "cancelled", "run_id": None}
    return dataclasses.replace(rows, events=[asked])


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lose, LOST), (stay_open, LOST), (lose_a_result, LOST), (count_twice, TWICE),
        (boot_twice, TWICE), (cycle_twice, TWICE), (cycle_unrecorded, LOST),
        (cycle_unannounced, UNEXPLAINED), (hold, STUCK),
        (stay_tuned, STUCK), (come_late, STALE), (refuse_silently, STALE), (end_slowly, STUCK),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)  # fmt: skip
def test_what_is_wrong_is_found(
    engine: Engine, spoil: Callable[[Rows, dict[str, Any]], Rows], kind: str
) -> None:
    rows, world = well()
    assert kind in found(engine, spoil(rows, world), world)


@pytest.mark.parametrize(
    ("moment", "outcome", "kind"),
    [
        ("before", "done", STALE),
        ("taken", "done", STALE),
        ("pause", "done", STALE),
        ("doze", "done", STALE),
        ("after", "started", UNEXPLAINED),
        ("cut", "refused", UNEXPLAINED),
    ],
)
def test_a_fault_whose_step_is_booked_wrongly_is_found(
    engine: Engine, moment: str, outcome: str, kind: str
) -> None:
    rows, world = well()
    rows = dataclasses.replace(rows, attempts=[attempt("boot.arm", 2, outcome)])
    assert kind in found(engine, rows, world, hit("boot.arm", moment, 2))


def test_a_worker_that_was_killed_before_its_refusal_is_booked_as_lost(engine: Engine) -> None:
    rows, world = well()
    rows = dataclasses.replace(rows, attempts=[*rows.attempts, attempt("boot.arm", 9, "lost")])
    assert STALE not in found(engine, rows, world, hit("boot.arm", "pause", 9))


def test_a_fault_of_which_no_attempt_tells_is_found(engine: Engine) -> None:
    assert found(engine, *well(), hit("boot.arm", "before", 9)) == [UNEXPLAINED]


def test_a_boot_that_fell_back_and_whose_worker_died_may_be_made_again(engine: Engine) -> None:
    rows, world = well()
    world["did"] += ["boot n1"]
    world["fell_back"] = ["n1"]
    attempts = [attempt("boot.arm", 2, "started"), attempt("boot.arm", 3)]
    rows = dataclasses.replace(
        rows, boots=[boot(1, state="did_not_boot")], attempts=attempts, results=[]
    )
    assert found(engine, rows, world, whole=False) == []
