"""Functions over arms: what each costs, what differs, and how the table is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, delete, select, update
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.compare import BootProfile, diff_functions
from mitigauge.analysis.profiles.diff.over_arms import functions_over
from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.measurement.runs.tables import Boot
from tests.api.test_profiles import store_profiles
from tests.postgres import filled


@pytest.fixture
def case_id(engine: Engine, experiment_id: int) -> int:
    return filled(engine, store_profiles, experiment_id)


@pytest.fixture
def asked(experiment_id: int, case_id: int) -> dict[str, Any]:
    return {"experiment": experiment_id, "case": case_id, "host": "alpha"}


def names(client: TestClient, asked: dict[str, Any], **more: Any) -> list[str]:
    answer = client.get("/api/profiles/functions", params=asked | more)
    assert answer.status_code == 200, answer.text
    return [row["function"] for row in answer.json()["functions"]]


def test_each_function_has_its_cost_in_every_arm(client: TestClient, asked: dict[str, Any]) -> None:
    shown = client.get("/api/profiles/functions", params=asked).json()
    assert (shown["unit"], shown["basis"], shown["event"]) == ("ns/op", "operation", "cpu-clock")
    assert [arm["arm"] for arm in shown["arms"]] == ["off", "on"]
    assert [arm["profiles"] for arm in shown["arms"]] == [2, 2]
    assert shown["found"] == len(shown["functions"])
    first = shown["functions"][0]
    # The largest difference by itself comes first.
    assert first["function"] == "clear_bhb_loop"
    off, on = first["cells"]
    assert (off["own"], off["difference"]) == (0, None)
    assert on["own"] == on["difference"] == pytest.approx(40.45)
    assert on["low"] < 40.45 < on["high"]
    assert shown["most"] >= on["own"]


def test_totals_are_of_all_that_a_function_calls(client: TestClient, asked: dict[str, Any]) -> None:
    shown = client.get(
        "/api/profiles/functions", params=asked | {"measure": "total", "search": "do_syscall"}
    ).json()
    [row] = shown["functions"]
    assert row["cells"][1]["difference"] == pytest.approx(40.45, abs=0.1)


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ({"sort": "cost"}, "do_syscall_64"),
        ({"sort": "name"}, "bench"),
        ({"sort": "difference", "arm": "on"}, "clear_bhb_loop"),
    ],
)
def test_the_table_is_sorted(
    client: TestClient, asked: dict[str, Any], order: dict[str, str], first: str
) -> None:
    shown = names(client, asked, **order)
    assert shown[0] == first
    turned = names(client, asked, **order, upwards=True)
    assert turned[0] != first
    assert sorted(turned) == sorted(shown)


def test_pages_follow_one_another_without_gap(client: TestClient, asked: dict[str, Any]) -> None:
    whole = names(client, asked)
    pages = [names(client, asked, offset=at, limit=2) for at in range(0, len(whole), 2)]
    assert [name for page in pages for name in page] == whole
    assert names(client, asked, offset=1000) == []


def test_a_search_is_of_any_part_of_the_name(client: TestClient, asked: dict[str, Any]) -> None:
    assert names(client, asked, search="BHB") == ["clear_bhb_loop"]
    assert names(client, asked, search="(") == []


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ({"arm": "none"}, 404, "there is no arm 'none'"),
        ({"host": "beta"}, 404, "not planned on host"),
        ({"limit": 201}, 422, "limit"),
        ({"sort": "size"}, 422, "sort"),
        ({"search": 201 * "a"}, 422, "search"),
    ],
)
def test_what_cannot_be_is_refused(
    client: TestClient, asked: dict[str, Any], more: dict[str, Any], status: int, said: str
) -> None:
    answer = client.get("/api/profiles/functions", params=asked | more)
    assert answer.status_code == status
    assert said in answer.text


def test_an_arm_without_profiles_has_no_cells(
    client: TestClient, engine: Engine, asked: dict[str, Any]
) -> None:
    with Session(engine) as session:
        arm = session.scalars(select(Boot)).first().arm.comparison_id  # type: ignore[union-attr]
        assert arm
        of_on = [b.id for b in session.scalars(select(Boot)) if b.arm.name == "on"]
        session.execute(delete(Profile).where(Profile.boot_id.in_(of_on)))
        session.commit()
    shown = client.get("/api/profiles/functions", params=asked).json()
    assert [arm["profiles"] for arm in shown["arms"]] == [2, 0]
    assert all(row["cells"][1] is None for row in shown["functions"])
    assert shown["functions"]


def test_a_case_without_any_profile_is_empty(
    client: TestClient, engine: Engine, asked: dict[str, Any]
) -> None:
    with Session(engine) as session:
        session.execute(delete(Profile))
        session.commit()
    shown = client.get("/api/profiles/functions", params=asked).json()
    assert (shown["event"], shown["functions"], shown["found"]) == ("", [], 0)


def test_profiles_of_other_events_are_not_mixed(
    client: TestClient, engine: Engine, asked: dict[str, Any]
) -> None:
    with Session(engine) as session:
        one = session.scalars(select(Profile.id)).first()
        session.execute(update(Profile).where(Profile.id == one).values(event="cycles"))
        session.commit()
    answer = client.get("/api/profiles/functions", params=asked)
    assert answer.status_code == 422
    assert "different events" in answer.text


def boots(rng: np.random.Generator, means: np.ndarray, count: int) -> list[BootProfile]:
    symbols = np.arange(len(means), dtype=np.int64)
    found = []
    for _ in range(count):
        costs = np.maximum(1, means * np.exp(rng.normal(0, 0.02, len(means)))).astype(np.int64)
        found.append(BootProfile(symbols, costs, symbols, costs, costs, operations=10.0))
    return found


def test_three_arms_without_a_difference_show_no_more_false_ones_than_one() -> None:
    rng = np.random.default_rng(5)
    means = rng.uniform(1e4, 1e5, 200)
    shown = [0, 0]
    for _ in range(40):
        groups = [boots(rng, means, 6) for _ in range(4)]
        over = functions_over(groups[0], groups[1:], basis="operation")
        together = min(float(np.nanmin(one.q)) for one in over.own if one is not None)
        pairs = [diff_functions(groups[0], group, basis="operation") for group in groups[1:]]
        apart = min(float(np.nanmin(pair.own.q)) for pair in pairs)
        shown[0] += together <= 0.05
        shown[1] += apart <= 0.05
    assert shown[0] <= shown[1]
    assert shown[0] <= 6


def test_a_function_of_one_arm_alone_stands_in_all_of_them() -> None:
    rng = np.random.default_rng(6)
    base = boots(rng, np.array([1e5, 2e5]), 4)
    more = boots(rng, np.array([1e5, 2e5, 3e4]), 4)
    over = functions_over(base, [base, more, []], basis="operation")
    assert over.symbol.tolist() == [0, 1, 2]
    assert over.baseline_own[2] == 0
    first, second, third = over.own
    assert first is not None
    assert second is not None
    assert third is None
    assert (first.b[2], second.a[2]) == (0, 0)
    assert second.b[2] == pytest.approx(3e3, rel=0.05)
    assert second.q[2] < 0.01
