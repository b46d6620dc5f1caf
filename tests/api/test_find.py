"""Finding things: the filters of the list, the search over all, and what no route knows."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from bench.store.fill import Size
from bench.store.fill import fill as fill_one
from mitigauge.analysis.verdicts.repository import primary_verdicts
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison, Experiment
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import transaction
from tests.postgres import filled

LIST = "/api/experiments"
A_DAY = "2026-11-{:02d}T12:00:00Z"


def made(engine: Engine, number: int, **facts: Any) -> int:
    """An experiment of one case on one host, which differs from all others in each respect."""
    filled = fill_one(engine, Size(cases=1, arms=2, blocks=1, iterations=1), seed=number)
    changes = {
        "name": f"name-{number}", "question": f"What of {number}?", "state": "finished",
        "submitted_by": f"person-{number}", "created_at": A_DAY.format(number),
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(
            text(
                "update experiment set name = :name, question = :question, state = :state,"
                " submitted_by = :submitted_by, created_at = :created_at where id = :id"
            ),
            {**changes, **facts, "id": filled.experiment},
        )
        for statement in (
            f"update benchmark_case set workload = 'workload-{number}' where id = :case",
            f"update arm set family = 'family-{number}' where comparison_id ="
            " (select comparison_id from benchmark_case where id = :case)",
        ):
            connection.execute(text(statement), {"case": filled.cases[0]})
    return filled.experiment


def judged(engine: Engine, experiment: int, verdict: str, **facts: Any) -> None:
    """Give the experiment's second arm a verdict."""
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into verdict (run_id, case_id, metric, arm_id, version, state, n, blocks,"
                " verdict, note, boots, disturbed, unsteady, rules, reason, superseded_at)"
                " select run.id, b.id, 'time', arm.id, :version, 'measured', 4, 4, :verdict, '',"
                " '{}', 0, 0, 1, '', :superseded_at from run"
                " join benchmark_case b on b.comparison_id = run.comparison_id"
                " join arm on arm.comparison_id = run.comparison_id and not arm.is_baseline"
                " where run.experiment_id = :experiment"
            ),
            {
                "experiment": experiment, "verdict": verdict, "version": 1, "superseded_at": None,
                **facts,
            },
        )  # fmt: skip


def keep_verdicts(engine: Engine) -> None:
    """Have every run keep its verdicts, as it does where it is judged."""
    with transaction(engine) as session:
        for run in session.query(Run):
            run.verdicts = primary_verdicts(session, run.id)


@pytest.fixture
def three(engine: Engine) -> list[int]:
    """Three experiments that have nothing in common but their kind."""
    return filled(engine, make_three)


def make_three(engine: Engine) -> list[int]:
    return [
        made(engine, 1, state="running"),
        made(engine, 2, state="failed"),
        made(engine, 3),
    ]


def found(client: TestClient, **asked: Any) -> list[int]:
    """Ids of what the list answers, in its order; its total is their number."""
    answer = client.get(LIST, params=asked)
    assert answer.status_code == 200, answer.text
    page = answer.json()
    ids = [each["id"] for each in page["experiments"]]
    assert page["total"] >= len(ids)
    return ids


@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ({}, [2, 1, 0]),
        ({"find": "name-1"}, [0]),
        ({"find": "NAME-1"}, [0]),
        ({"find": "what of 2?"}, [1]),
        ({"find": "person-3"}, [2]),
        ({"find": "name person"}, [2, 1, 0]),
        ({"find": "name-1 person-2"}, []),
        ({"find": "   "}, [2, 1, 0]),
        ({"find": "%"}, []),
        ({"find": "name_1"}, []),
        ({"find": "\\"}, []),
        ({"find": "\\name"}, []),
        ({"state": "running"}, [0]),
        ({"state": ["running", "failed"]}, [1, 0]),
        ({"who": "person-2"}, [1]),
        ({"who": "person"}, []),
        ({"since": "2026-11-02"}, [2, 1]),
        ({"since": "2026-11-02T12:00:01Z"}, [2]),
        ({"since": "2026-11-02T13:00:00+01:00"}, [2, 1]),
        ({"until": "2026-11-02"}, [1, 0]),
        ({"until": "2026-11-02T12:00:00Z"}, [0]),
        ({"since": "2026-11-02", "until": "2026-11-02"}, [1]),
        ({"host": "host-2"}, [1]),
        ({"host": "host"}, []),
        ({"workload": "workload-3"}, [2]),
        ({"mode": "family-1"}, [0]),
        ({"mode": "family-1/mode-1"}, [0]),
        ({"mode": "family-1/mode-9"}, []),
        ({"mode": "family-1+family-2"}, []),
        ({"find": "name", "state": "running", "host": "host-1"}, [0]),
        ({"find": "name", "state": "running", "host": "host-2"}, []),
        ({"sort": "oldest"}, [0, 1, 2]),
        ({"who": "", "host": "", "since": ""}, [2, 1, 0]),
        ({"offset": 1}, [1, 0]),
        ({"offset": 1, "limit": 1}, [1]),
        ({"offset": 99}, []),
    ],
)
def test_each_filter_leaves_out_what_is_not_so(
    client: TestClient, three: list[int], asked: dict[str, Any], places: list[int]
) -> None:
    assert found(client, **asked) == [three[place] for place in places]


def test_numbers_find_their_experiment_and_names_that_hold_them(
    client: TestClient, engine: Engine, three: list[int]
) -> None:
    other = made(engine, 4, name=f"as experiment {three[0]}")
    assert found(client, find=f"#{three[0]}") == [three[0]]
    assert {three[0], other} <= set(found(client, find=str(three[0])))
    assert found(client, find="9999999999") == []


def test_names_are_sorted_whatever_their_case(client: TestClient, engine: Engine) -> None:
    ids = [made(engine, n, name=name) for n, name in ((1, "b"), (2, "A"), (3, "C"))]
    assert found(client, sort="name") == [ids[1], ids[0], ids[2]]


def test_names_are_sorted_as_people_count(client: TestClient, engine: Engine) -> None:
    numbers = (10, 2, 1, 100)
    ids = {n: made(engine, at, name=f"bhb-v{n}-x") for at, n in enumerate(numbers, 1)}
    assert found(client, sort="name") == [ids[n] for n in sorted(numbers)]


def test_the_worst_effect_comes_first_and_experiments_without_one_last(
    client: TestClient, engine: Engine, three: list[int]
) -> None:
    for experiment, effect in zip(three, (3.0, -40.0, None), strict=True):
        with transaction(engine) as session:
            session.get_one(Experiment, experiment).worst_effect_percent = effect
    assert found(client, sort="effect") == [three[1], three[0], three[2]]
    page = client.get(LIST, params={"sort": "effect", "limit": 2}).json()
    assert [e["worst_effect_percent"] for e in page["experiments"]] == [-40.0, 3.0]
    assert (page["next"], page["next_offset"]) == (None, 2)


def test_a_verdict_counts_while_it_is_current_primary_and_not_of_an_aa_arm(
    client: TestClient, engine: Engine, three: list[int]
) -> None:
    worse, superseded, other = three
    judged(engine, worse, "worse")
    judged(engine, superseded, "worse", superseded_at=A_DAY.format(9))
    judged(engine, superseded, "same", version=2)
    judged(engine, other, "worse")
    keep_verdicts(engine)
    assert found(client, verdict="worse") == [other, worse]
    assert found(client, verdict="same") == [superseded]
    assert found(client, verdict="better") == []
    with transaction(engine) as session:
        of = session.query(Comparison).filter_by(experiment_id=other).one()
        session.query(Case).filter_by(comparison_id=of.id).update(
            {"metrics": {"time": CaseMetric("ns", "lower", "T", primary=False)}}
        )
    keep_verdicts(engine)
    assert found(client, verdict="worse") == [worse]
    with transaction(engine) as session:
        of = session.query(Comparison).filter_by(experiment_id=worse).one()
        session.query(Arm).filter_by(comparison_id=of.id).update({"is_aa": True})
    keep_verdicts(engine)
    assert found(client, verdict="worse") == []


def test_a_mode_is_found_where_an_arm_joins_it_with_another(
    client: TestClient, engine: Engine, three: list[int]
) -> None:
    with transaction(engine) as session:
        of = session.query(Comparison).filter_by(experiment_id=three[0]).one()
        session.query(Arm).filter_by(comparison_id=of.id).update(
            {"family": "retbleed+spectre-bhi", "mode": "off+loop"}
        )
    assert found(client, mode="spectre-bhi") == [three[0]]
    assert found(client, mode="spectre-bhi/loop") == [three[0]]
    assert found(client, mode="spectre-bhi/loop+retbleed/off") == [three[0]]
    assert found(client, mode="spectre-bhi/off") == []


def test_pages_by_offset_and_by_number_leave_nothing_out(
    client: TestClient, three: list[int]
) -> None:
    first = client.get(LIST, params={"limit": 2, "find": "name"}).json()
    assert (first["total"], first["offset"], first["next"], first["next_offset"]) == (
        3, 0, three[1], 2,
    )  # fmt: skip
    for rest in ({"before": first["next"]}, {"offset": first["next_offset"]}):
        second = client.get(LIST, params={"limit": 2, "find": "name", **rest}).json()
        assert [e["id"] for e in second["experiments"]] == [three[0]]
        assert (second["total"], second["next"], second["next_offset"]) == (3, None, None)
    by_name = client.get(LIST, params={"limit": 2, "sort": "name"}).json()
    assert (by_name["next"], by_name["next_offset"]) == (None, 2)
    beyond = client.get(LIST, params={"offset": 9}).json()
    assert (beyond["experiments"], beyond["total"]) == ([], 3)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"find": 10_000 * "x"}, "200"),
        ({"who": 201 * "x"}, "200"),
        ({"state": "done"}, "queued"),
        ({"verdict": "bad"}, "worse"),
        ({"sort": "best"}, "newest"),
        ({"since": "yesterday"}, "since: 'yesterday' is neither"),
        ({"since": "2026-02-30"}, "since: '2026-02-30' is neither"),
        ({"since": "20261125"}, "neither"),
        ({"since": "1764000000"}, "neither"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "neither"),
        ({"until": "9999-12-31"}, "neither"),
        ({"until": "2026-11-25T18:00:00"}, "neither"),
        ({"since": "2026-11-25", "until": "2026-11-24"}, "before since"),
        ({"mode": "a/b/c"}, "FAMILY"),
        ({"mode": "a/"}, "FAMILY"),
        ({"offset": -1}, "offset"),
        ({"limit": 201}, "limit"),
    ],
)
def test_what_says_nothing_is_refused(client: TestClient, asked: dict[str, Any], said: str) -> None:
    answer = client.get(LIST, params=asked)
    assert answer.status_code == 422, answer.text
    assert said in answer.json()["message"] + answer.json()["hint"]


def test_choices_are_what_there_is(client: TestClient, three: list[int], engine: Engine) -> None:
    choices = client.get(f"{LIST}/choices").json()
    assert choices["who"] == ["person-1", "person-2", "person-3"]
    assert choices["hosts"] == ["host-1", "host-2", "host-3"]
    assert choices["workloads"] == ["workload-1", "workload-2", "workload-3"]
    assert "family-2/mode-1" in choices["modes"]
    made(engine, 4)
    assert "person-4" in client.get(f"{LIST}/choices").json()["who"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/experiments?fnd=x",
        "/api/experiments?find=x&status=running",
        "/api/experiments/{id}?verbose=1",
        "/api/experiments/{id}/matrix?x",
        "/api/experiments/{id}/cases/1?Host=a",
        "/api/trends?q=x",
        "/api/regressions?status=new",
        "/api/search?q=x&kind=host",
        "/api/hosts?find_=x",
        "/api/health/live?x=1",
        "/api/openapi.json?x=1",
    ],
)
def test_a_parameter_that_no_route_knows_is_refused(
    client: TestClient, experiment_id: int, path: str
) -> None:
    answer = client.get(path.format(id=experiment_id))
    assert answer.status_code == 422, answer.text
    name = path.rpartition("&")[2].rpartition("?")[2].partition("=")[0]
    assert repr(name) in answer.json()["message"]
    assert answer.json()["hint"].startswith("It takes ")


def test_the_refusal_names_what_is_taken_and_is_short(client: TestClient) -> None:
    answer = client.get("/api/experiments", params={f"p{n}{500 * 'x'}": "1" for n in range(9)})
    assert answer.status_code == 422
    assert "before, find, host, limit, mode, offset" in answer.json()["hint"]
    assert len(answer.content) < 1_500


def test_a_stranger_does_not_learn_the_parameters(stranger: TestClient) -> None:
    assert stranger.get("/api/experiments?fnd=x").status_code == 401


def test_pages_of_the_dashboard_take_any_parameter(client: TestClient) -> None:
    assert client.get("/experiments?anything=1").status_code != 422


# One search over everything.


@pytest.fixture
def everything(engine: Engine, three: list[int]) -> list[int]:
    """One of each kind that has the word needle, and of each one that has not."""
    statements = [
        "insert into series (name, key, title, spec, base, profile, archive) values"
        " ('needle-series', 'k1', 'x86: One', '', '', '', ''),"
        " ('hay', 'k2', 'x86: Two', '', '', '', '')",
        "insert into kernel (release, digest, state, label, imported, base, profile, toolchain,"
        " layout, patches, config_refused) values"
        " ('6.12.0-needle', 'd1', 'failed', 'one', false, '', '', '', '', '[]', '[]')",
        "insert into host (environment, name, host_class, machine, emulated, capabilities) values"
        " ('lab', 'needle/host', 'c', 'm', true, '[]')",
        "insert into bisection (id, kind, title, state, why, environment, hosts, counted, emulated,"
        " workload, parameters, case_title, metric, unit, higher_is_worse, minimum_effect,"
        " confidence, budget_boots, budget_s, source, answer) values"
        " (77, 'patches', 'Which one', 'finished', '', 'lab', '[]', false, true, 'w', '{}', 'c',"
        " 'time', 'ns', true, 1, 0.99, 9, 9, '{}', '{\"kind\": \"found\", \"candidates\": [1]}')",
        "insert into bisection_candidate (bisection_id, position, name, title, prior) values"
        " (77, 0, 'a', 'x86: Innocent haystack', 0.5), (77, 1, 'b', 'x86: Guilty needle', 0.5)",
        "insert into trend (id, environment, host_class, emulated, clock, workload, case_key,"
        " case_title, metric, unit, mode, line, metric_title, direction, is_primary, delta_percent)"
        " values (88, 'lab', 'c', true, 'real', 'w', 'k', 'needle udp', 'time', 'ns', 'm', 'l',"
        " 'Time', 'lower', true, 1)",
        "insert into regression (id, origin, environment, host_class, hosts, emulated, clock,"
        " workload, case_title, metric, metric_title, mode, before, happened_at, state, trend_id,"
        " change_id)"
        " values (99, 'trend', 'lab', 'c', '[]', true, 'real', 'w', 'needle tcp', 'time', 'Time',"
        " 'm', 'b', now(), 'new', 88, 1)",
        "insert into weekly_report (week, version, complete, digest, data, document, made_at)"
        " values ('2026-W47', 1, true, 'd', '{}', '{}', now())",
    ]
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement.replace(":", "\\:")))
        connection.execute(
            text("update experiment set question = 'A needle?' where id = :id"), {"id": three[0]}
        )
    return three


def searched(client: TestClient, q: str, **more: Any) -> dict[str, list[str]]:
    """Ids by kind."""
    answer = client.get("/api/search", params={"q": q, **more})
    assert answer.status_code == 200, answer.text
    return {of["kind"]: [each["id"] for each in of["found"]] for of in answer.json()["groups"]}


def test_the_search_finds_one_of_each_kind(client: TestClient, everything: list[int]) -> None:
    assert searched(client, "Needle") == {
        "experiment": [str(everything[0])],
        "regression": ["99"],
        "bisection": ["77"],
        "series": ["needle-series"],
        "trend": ["88"],
        "host": ["needle/host"],
        "kernel": ["6.12.0-needle"],
    }
    assert searched(client, "2026-W47") == {"week": ["2026-W47"]}
    assert searched(client, "innocent") == {}
    assert searched(client, "needle guilty") == {"bisection": ["77"]}


def test_a_number_finds_what_has_it_first(
    client: TestClient, engine: Engine, everything: list[int]
) -> None:
    assert searched(client, "#99") == {"regression": ["99"]}
    assert searched(client, "77") == {"bisection": ["77"]}
    newer = made(engine, 4, name=f"as experiment {everything[0]}")
    ids = searched(client, str(everything[0]))["experiment"]
    assert ids[0] == str(everything[0])
    assert str(newer) in ids


def test_what_is_found_leads_to_its_page(client: TestClient, everything: list[int]) -> None:
    groups = client.get("/api/search", params={"q": "needle"}).json()["groups"]
    assert {of["found"][0]["kind"]: of["found"][0]["href"] for of in groups} == {
        "experiment": f"/experiments/{everything[0]}", "regression": "/regressions/99",
        "bisection": "/bisections/77", "series": "/series/needle-series", "trend": "/trends/88",
        "host": "/hosts/needle%2Fhost", "kernel": None,
    }  # fmt: skip


def test_the_best_few_come_with_how_many_there_are(client: TestClient, three: list[int]) -> None:
    (group,) = client.get("/api/search", params={"q": "name-", "limit": 2}).json()["groups"]
    assert (group["kind"], group["total"]) == ("experiment", 3)
    assert [each["id"] for each in group["found"]] == [str(three[2]), str(three[1])]


def test_the_newest_come_first_by_their_number_not_its_digits(
    client: TestClient, engine: Engine
) -> None:
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into experiment (name, question, environment, seed, spec_text, state)"
                " select 'counted', '', 'lab', 1, '', 'queued' from generate_series(1, 12)"
            )
        )
    numbers = [int(each) for each in searched(client, "counted")["experiment"]]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == 12


@pytest.mark.parametrize("q", ["", "   ", "%", "_", "\\", "'", "nothing at all"])
def test_a_search_for_nothing_finds_nothing(
    client: TestClient, everything: list[int], q: str
) -> None:
    assert searched(client, q) == {}


@pytest.mark.parametrize(
    "asked", [{}, {"q": 10_000 * "x"}, {"q": "x", "limit": 0}, {"q": "x", "limit": 51}]
)
def test_a_search_that_cannot_be_is_refused(client: TestClient, asked: dict[str, Any]) -> None:
    assert client.get("/api/search", params=asked).status_code == 422
