"""Two experiments beside each other: what is matched, said, filtered and refused."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from tests.made import Made, make
from tests.measured_again import measure_again
from tests.postgres import filled
from tests.recording import load

COUNTED = {"run": {"clock": "counted"}}


@pytest.fixture
def made(engine: Engine) -> Made:
    """An experiment of two cases and an arm that takes 10 % longer."""
    return filled(engine, make)


@pytest.fixture
def slower(engine: Engine, made: Made) -> int:
    """The same once more; the arm takes another fifth longer in the first case."""
    return filled(engine, measure_slower, made.experiment)


def measure_slower(engine: Engine, experiment: int) -> int:
    return measure_again(
        engine, experiment, factor=lambda arm, case: 1.2 if (arm, case) == (1, 0) else 1.0
    )


def shown(client: TestClient, a: int, b: int, more: str = "") -> dict[str, Any]:
    answer = client.get(f"/api/pairs?a={a}&b={b}{more}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_row_that_became_slower_is_the_answer(
    client: TestClient, made: Made, slower: int
) -> None:
    view = shown(client, made.experiment, slower)
    assert (view["matched"], view["compared"], view["differing"]) == (2, 2, 1)
    assert view["sentence"].startswith("1 of 2 rows differs; largest: mode-1, load 0 size 0, +20.")
    first, second = view["rows"]
    assert (first["judgement"], second["judgement"]) == ("differs", "no-difference-seen")
    assert first["difference_percent"] == pytest.approx(20.0, abs=0.5)
    assert first["low_percent"] < 20 < first["high_percent"]
    assert second["difference_percent"] == pytest.approx(0.0, abs=1e-6)
    assert second["detectable_percent"] > 0
    assert (first["a"]["effect_percent"] + 0.0) == pytest.approx(10.1, abs=1.5)


def test_levels_stand_beside_the_difference_for_arm_and_baseline(
    client: TestClient, made: Made, slower: int
) -> None:
    row = shown(client, made.experiment, slower)["rows"][0]
    assert row["level"]["percent"] == pytest.approx(20.0, abs=0.01)
    assert row["level"]["low_percent"] < 20 < row["level"]["high_percent"]
    assert row["baseline_level"]["percent"] == pytest.approx(0.0, abs=1e-6)
    assert "Levels are of other boots" in " ".join(
        shown(client, made.experiment, slower)["notices"]
    )


def test_sides_turned_round_turn_the_difference_round(
    client: TestClient, made: Made, slower: int
) -> None:
    row = shown(client, slower, made.experiment)["rows"][0]
    assert row["difference_percent"] == pytest.approx(100 * (1 / 1.2 - 1), abs=0.5)


def test_filters_choose_rows_and_change_no_verdict(
    client: TestClient, made: Made, slower: int
) -> None:
    a, b = made.experiment, slower
    whole = {row["case"]: row["q"] for row in shown(client, a, b)["rows"]}
    for more, cases in (
        ("&only=differs", ["load 0 size 0"]),
        ("&find=WORKLOAD-1", ["load 1 size 1"]),
        ("&workload=workload-1", ["load 1 size 1"]),
        ("&find=nothing", []),
        ("&limit=1&offset=1", ["load 1 size 1"]),
        ("&sort=plan", ["load 0 size 0", "load 1 size 1"]),
        ("&sort=q", ["load 0 size 0", "load 1 size 1"]),
    ):
        view = shown(client, a, b, more)
        assert [row["case"] for row in view["rows"]] == cases, more
        assert (view["compared"], view["differing"]) == (2, 1), more
        assert all(row["q"] == whole[row["case"]] for row in view["rows"])
    assert shown(client, a, b, "&limit=1")["next_offset"] == 1
    assert shown(client, a, b, "&limit=2")["next_offset"] is None


def test_counted_time_is_never_set_beside_measured(
    client: TestClient, engine: Engine, made: Made
) -> None:
    other = measure_again(engine, made.experiment, change=COUNTED)
    view = shown(client, made.experiment, other)
    assert view["rows"] == []
    assert view["unmatched"] == [{"reason": "other-clock", "rows": 2}]
    assert view["sentence"] == (
        "The experiments have no row in common: comparisons, arms and hosts are matched by "
        "name, cases by workload and parameters."
    )


def test_what_differs_between_both_comes_first(
    client: TestClient, engine: Engine, made: Made
) -> None:
    other = measure_again(engine, made.experiment, change={"arm": {"kernel": "7.3.0"}})
    facts = shown(client, made.experiment, other)["facts"]
    differing = [fact for fact in facts if fact["differs"]]
    assert facts[: len(differing)] == differing
    assert {
        "what": "kernel of every arm", "a": "the host's own", "b": "7.3.0", "differs": True,
    } in differing  # fmt: skip


def test_hosts_are_paired_as_asked(client: TestClient, engine: Engine) -> None:
    load(engine)
    with engine.begin() as connection:
        experiment = connection.execute(text("select min(id) from experiment")).scalar_one()
    other = measure_again(engine, experiment)
    view = shown(client, experiment, other)
    assert [(h["a"], h["b"], h["how"]) for h in view["hosts"]] == [
        ("lab-intel", "lab-intel", "same"), ("lab-amd", "lab-amd", "same"),
    ]  # fmt: skip
    turned = shown(client, experiment, other, "&hosts=lab-intel:lab-amd&hosts=lab-amd:lab-intel")
    assert {h["how"] for h in turned["hosts"]} == {"asked"}
    assert turned["rows"] == []
    # What was not in force has no difference, and says why.
    [note] = {row["note"] for row in view["rows"] if row["a"]["state"] == "not_effective"}
    assert note == "mode not in force in A and B"


def test_profiles_of_both_experiments_make_one_flame_graph(
    client: TestClient, engine: Engine
) -> None:
    load(engine)
    with engine.begin() as connection:
        experiment = connection.execute(text("select min(id) from experiment")).scalar_one()
    other = measure_again(engine, experiment)
    row = next(row for row in shown(client, experiment, other)["rows"] if row["a"]["profiled"])
    a, b = row["a"], row["b"]
    asked = {
        "experiment": experiment, "case": a["case_id"], "host": a["host"], "a": a["arm"],
        "b_experiment": other, "b_case": b["case_id"], "b_host": b["host"], "b": b["arm"],
    }  # fmt: skip
    answer = client.get("/api/profiles/diff", params=asked)
    assert answer.status_code == 200, answer.text
    assert f"in experiment {other}".encode() in answer.content


def test_what_is_not_there_is_named(client: TestClient, made: Made) -> None:
    for query in (f"a={made.experiment}&b=77", f"a=77&b={made.experiment}"):
        answer = client.get(f"/api/pairs?{query}")
        assert answer.status_code == 404
        assert "there is no experiment 77" in answer.json()["message"]


def test_one_experiment_twice_and_hosts_in_another_form_are_refused(
    client: TestClient, made: Made, slower: int
) -> None:
    same = client.get(f"/api/pairs?a={made.experiment}&b={made.experiment}")
    assert same.status_code == 422
    assert "cannot be compared with itself" in same.json()["message"]
    assert same.json()["hint"]
    for hosts, said in (("alone", "no pair of hosts"), ("nobody:host-1", "no host 'nobody'")):
        answer = client.get(f"/api/pairs?a={made.experiment}&b={slower}&hosts={hosts}")
        assert answer.status_code == 422
        assert said in answer.json()["message"]
        assert answer.json()["hint"]


def test_an_answer_is_kept_until_either_experiment_changes(
    client: TestClient, engine: Engine, made: Made, slower: int
) -> None:
    path = f"/api/pairs?a={made.experiment}&b={slower}"
    etag = client.get(path).headers["etag"]
    assert client.get(path, headers={"If-None-Match": etag}).status_code == 304
    for number in (made.experiment, slower):
        with engine.begin() as connection:
            connection.execute(
                text("update experiment set name = 'renamed' where id = :id"), {"id": number}
            )
        fresh = client.get(path, headers={"If-None-Match": etag})
        assert fresh.status_code == 200
        etag = fresh.headers["etag"]


def test_an_experiment_that_is_only_planned_has_rows_without_figures(
    client: TestClient, engine: Engine, experiment_id: int, later_id: int
) -> None:
    view = shown(client, experiment_id, later_id)
    assert view["matched"] > 0
    assert view["compared"] == 0
    assert "none has effects with intervals" in view["sentence"]
    assert {row["judgement"] for row in view["rows"]} == {"not-compared"}
