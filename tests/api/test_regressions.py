"""Regressions over HTTP: from a trend's change to who looks after it."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import repository, service
from mitigauge.tracking.regressions.schemas import RegressionChange
from mitigauge.tracking.trends import service as trends
from mitigauge.tracking.trends.update import update
from tests.clients import bearer, token_of
from tests.postgres import filled
from tests.regressions_made import decided_cell, found_regressions
from tests.trends_made import weeks

URL = "/api/regressions"
BUG = "https://bugzilla.kernel.org/show_bug.cgi?id=17"


def take_in(engine: Engine) -> list[int]:
    update(engine)
    with transaction(engine) as session:
        return service.take_in(session)


@pytest.fixture
def found(engine: Engine) -> list[int]:
    """Regressions of a step of 5 %."""
    return filled(engine, found_regressions)


@pytest.fixture
def headers(engine: Engine) -> dict[str, str]:
    return bearer(token_of(engine, "submitter"))


def changed(
    client: TestClient, headers: dict[str, str], number: int, code: int = 200, **more: Any
) -> Any:
    version = more.pop("version", None) or client.get(f"{URL}/{number}").json()["version"]
    said = client.post(f"{URL}/{number}", json={"version": version, **more}, headers=headers)
    assert said.status_code == code, said.text
    return said.json()


def test_a_lasting_change_for_the_worse_is_a_regression_once(
    client: TestClient, engine: Engine, found: list[int]
) -> None:
    assert found
    assert take_in(engine) == []
    page = client.get(URL).json()
    assert page["total"] == len(found)
    assert page["counts"] == {"new": len(found)}
    one = client.get(f"{URL}/{found[0]}").json()
    change = client.get(f"/api/trends/{one['trend_id']}").json()["changes"][0]
    assert change["id"] == one["change_id"]
    assert one["effect_percent"] == change["effect_percent"] == pytest.approx(5, abs=0.5)
    assert one["experiment_id"] == change["experiment_after"]
    assert [(each["by"], each["kind"]) for each in one["history"]] == [("mitigauge", "found")]
    assert one["case"] == change["case"]


def test_what_became_better_or_is_exploratory_is_none(engine: Engine) -> None:
    weeks(engine, [1.0] * 10 + [0.95] * 8)
    assert take_in(engine) == []
    weeks(engine, [1.05] * 8, first=18)
    update(engine)
    with engine.begin() as connection:
        connection.execute(text("update trend set is_primary = false"))
    assert take_in(engine) == []


def test_from_new_to_fixed_with_who_said_so(
    client: TestClient, headers: dict[str, str], found: list[int]
) -> None:
    number = found[0]
    changed(client, headers, number, owner="alice")
    changed(client, headers, number, state="known", bug=BUG, note="the new allocator")
    view = changed(client, headers, number, state="fixed", note="by 0123abcd")
    assert (view["state"], view["owner"], view["bug"]) == ("fixed", "alice", BUG)
    told = [(each["kind"], each["before"], each["after"]) for each in view["history"][1:]]
    assert told == [
        ("state", "new", "assigned"), ("owner", "", "alice"), ("state", "assigned", "known"),
        ("bug", "", BUG), ("state", "known", "fixed"),
    ]  # fmt: skip
    assert len({each["by"] for each in view["history"][1:]}) == 1
    assert view["history"][1]["by"].startswith("submitter")
    assert client.get(URL, params={"state": "fixed"}).json()["total"] == 1


def test_whoever_comes_second_is_told_and_loses_nothing(
    client: TestClient, headers: dict[str, str], found: list[int]
) -> None:
    version = client.get(f"{URL}/{found[0]}").json()["version"]
    changed(client, headers, found[0], owner="alice")
    said = changed(client, headers, found[0], 409, version=version, owner="bob")
    assert "changed since it was shown: submitter" in said["message"]
    assert said["message"].endswith("owner alice")
    assert client.get(f"{URL}/{found[0]}").json()["owner"] == "alice"


def test_who_may_only_read_changes_nothing(
    client: TestClient, engine: Engine, found: list[int]
) -> None:
    viewer = bearer(token_of(engine, "viewer"))
    changed(client, viewer, found[0], 403, owner="me")
    assert client.post(URL, json={}, headers=viewer).status_code in (403, 422)


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        ({"state": "assigned"}, 422, "assigned to nobody"),
        ({"duplicate_of": 2147483647}, 422, "cannot join"),
        ({"bisection_id": 2147483647}, 404, "no bisection"),
        ({"owner": "a b"}, 422, "nobody can be called"),
        ({"assignee": "me"}, 422, "assignee"),
        ({"note": "x" * 4001}, 422, "4000"),
        ({}, 422, "nothing would change"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    client: TestClient, headers: dict[str, str], found: list[int], more: dict[str, Any], code: int,
    said: str,
) -> None:  # fmt: skip
    before = client.get(f"{URL}/{found[0]}").json()
    assert said in str(changed(client, headers, found[0], code, **more))
    assert client.get(f"{URL}/{found[0]}").json() == before


def test_duplicates_join_and_never_in_a_circle(
    client: TestClient, headers: dict[str, str], found: list[int]
) -> None:
    one, other, third = found[:3]
    changed(client, headers, other, duplicate_of=one)
    assert client.get(f"{URL}/{one}").json()["duplicates"] == [other]
    for number, to in ((one, one), (one, third), (third, other)):
        changed(client, headers, number, 422, duplicate_of=to)
    changed(client, headers, third, duplicate_of=one)
    assert client.get(f"{URL}/{one}").json()["duplicates"] == [other, third]


def test_what_went_away_is_fixed_and_what_was_accepted_is_known(
    client: TestClient, engine: Engine, headers: dict[str, str], found: list[int]
) -> None:
    one, other, third = found[:3]
    changed(client, headers, third, state="not-worth-it", note="a lab's")
    change = client.get(f"{URL}/{one}").json()["change_id"]
    with transaction(engine) as session:
        trends.accept(session, change, by="carol", text="the price of it")
    with engine.begin() as connection:
        connection.execute(
            text("update trend_change set kind = 'went_away' where id in"
                 " (select change_id from regression where id in (:a, :b))"),
            {"a": other, "b": third},
        )  # fmt: skip
    with transaction(engine) as session:
        assert service.take_in(session) == []
    views = {number: client.get(f"{URL}/{number}").json() for number in (one, other, third)}
    assert [views[number]["state"] for number in (one, other, third)] == [
        "known", "fixed", "not-worth-it",
    ]  # fmt: skip
    last = views[one]["history"][-1]
    assert (last["by"], last["text"]) == ("carol", "accepted: the price of it")
    assert views[other]["history"][-1]["by"] == "mitigauge"


def test_they_are_found_by_words_state_owner_and_time(
    client: TestClient, headers: dict[str, str], found: list[int]
) -> None:
    one = client.get(f"{URL}/{found[0]}").json()
    changed(client, headers, found[0], owner="alice")

    def ids(**asked: Any) -> list[int]:
        return [each["id"] for each in client.get(URL, params=asked).json()["regressions"]]

    assert ids(owner="alice") == [found[0]]
    assert set(ids(owner="")) == set(found[1:])
    assert set(ids(state=["new", "assigned"])) == set(found)
    assert ids(state="fixed") == []
    assert found[0] in ids(find=f"{one['case'].split()[0]} {one['mode']}")
    assert ids(find="%") == ids(find="_x_") == []
    assert set(ids(find="   ")) == set(found)
    assert ids(since="2100-01-01T00:00:00Z") == []
    assert client.get(URL, params={"find": "x" * 10_000}).status_code == 422
    page = client.get(URL, params={"limit": 1}).json()
    assert page["next"] == 1
    assert page["total"] == len(found)


def test_every_change_is_in_the_audit_log(
    client: TestClient, engine: Engine, headers: dict[str, str], found: list[int]
) -> None:
    changed(client, headers, found[0], owner="alice")
    with transaction(engine) as session:
        rows = session.execute(
            text("select actor, way, subject, before, after from audit_entry"
                 " where action = 'regression.change'")
        ).all()  # fmt: skip
    assert [(row[0].partition("-")[0], *row[1:]) for row in rows] == [
        ("submitter", "api", str(found[0]), {"state": "new", "owner": ""},
         {"state": "assigned", "owner": "alice"}),
    ]  # fmt: skip


def test_a_cell_that_is_worse_is_filed_once_and_is_confirmed_by_who_files_it(
    client: TestClient, engine: Engine, headers: dict[str, str]
) -> None:
    cell = decided_cell(engine)
    made = client.post(URL, json={**cell, "note": "seen in the report"}, headers=headers)
    assert made.status_code == 201, made.text
    view = made.json()
    assert (view["state"], view["origin"], view["arm"]) == ("confirmed", "cell", cell["arm"])
    assert (view["hosts"], view["case_id"]) == ([cell["host"]], cell["case_id"])
    assert [each["text"] for each in view["history"]][-1] == "seen in the report"
    again = client.post(URL, json=cell, headers=headers)
    assert again.status_code == 409
    assert again.json()["message"].endswith(f"as regression {view['id']}")
    # Trends know nothing of it, and leave it alone.
    assert take_in(engine) == []


@pytest.mark.parametrize("verdict", ["better", "same", "undecided"])
def test_what_is_not_worse_is_no_regression(
    client: TestClient, engine: Engine, headers: dict[str, str], verdict: str
) -> None:
    said = client.post(URL, json=decided_cell(engine, verdict), headers=headers)
    assert (said.status_code, f"is {verdict}, not worse" in said.text) == (422, True)


def test_a_cell_that_is_not_there_is_said(
    client: TestClient, engine: Engine, headers: dict[str, str]
) -> None:
    cell = decided_cell(engine)
    for wrong in ({"host": "nobody"}, {"arm": "x"}, {"metric": "x"}, {"case_id": 2**31 - 1}):
        said = client.post(URL, json={**cell, **wrong}, headers=headers)
        assert said.status_code == 404
    wrong_owner = client.post(URL, json={**cell, "owner": "a b"}, headers=headers)
    assert wrong_owner.status_code == 422
    assert client.get(URL).json()["total"] == 0


def test_a_full_history_takes_no_more_whoever_writes(
    engine: Engine, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_ENTRIES", 3)
    with transaction(engine) as session:
        for said in range(5):
            row = service._find(session, found[0], lock=True)
            change = RegressionChange(version=row.version, note=f"note {said}")
            service._apply(session, row, change, by="alice")
        assert repository.entries_of(session, found[0]) == 3
