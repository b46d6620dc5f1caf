"""How often we are wrong, over HTTP and by the command, counted by hand beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.core.stats.rates import rate_interval
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service
from mitigauge.tracking.regressions.confirmation_service import confirm
from mitigauge.tracking.regressions.schemas import RegressionChange
from mitigauge.tracking.regressions.states import RegressionState
from tests.commands import Command
from tests.confirmations_made import LEVEL, run_experiments, suspicions

URL = "/api/error-rates"


def rates(client: TestClient) -> dict[tuple[str, bool], dict[str, Any]]:
    answer = client.get(URL)
    assert answer.status_code == 200
    return {(each["name"], each["emulated"]): each for each in answer.json()}


def said(engine: Engine, number: int, state: RegressionState) -> None:
    with transaction(engine) as session:
        version = service.show_regression(session, number).version
        change = RegressionChange(version=version, state=state, note="looked at")
        service.change_regression(session, number, change, by="mira")


def test_without_anything_said_no_rate_is_told(client: TestClient) -> None:
    found = rates(client)
    assert {name for name, _ in found} == {
        "confirmed", "suspicions", "judged", "aa", "slowed", "opposite",
    }  # fmt: skip
    for each in found.values():
        assert (each["of"], each["percent"], each["low"], each["high"]) == (0, None, None, None)


def test_a_person_s_word_counts_and_a_worker_s_does_not(client: TestClient, engine: Engine) -> None:
    one, other = suspicions(engine)
    confirm(engine, 1000)
    run_experiments(engine, {"before": LEVEL, "after": 1.05 * LEVEL})
    confirm(engine, 1000)
    # Fresh boots made both "confirmed": nobody judged them.
    for name in ("judged", "confirmed"):
        unseen = rates(client)[name, True]
        assert (unseen["of"], unseen["looked_at"], unseen["percent"]) == (2, 0, None)
        assert unseen["sentence"] == "0 of 0; of 2 that were said, 0 were looked at"
    said(engine, one, RegressionState.FALSE)
    seen = rates(client)["confirmed", True]
    # What nobody looked at is not taken for right.
    assert (seen["percent"], seen["low"]) == (100.0, pytest.approx(2.5, abs=0.01))
    assert seen["sentence"] == "1 of 1; of 2 that were said, 1 were looked at"
    said(engine, other, RegressionState.NOT_WORTH_IT)
    found = rates(client)
    assert (found["judged", True]["of"], found["judged", True]["wrong"]) == (2, 1)
    assert (found["confirmed", True]["of"], found["confirmed", True]["wrong"]) == (2, 1)
    # Clopper and Pearson's for 1 of 2, from a table.
    assert found["judged", True]["low"] == pytest.approx(1.26, abs=0.01)
    assert found["judged", True]["high"] == pytest.approx(98.74, abs=0.01)


def test_to_take_a_regression_is_no_word_on_it_and_a_duplicate_has_the_word_of_the_other(
    client: TestClient, engine: Engine
) -> None:
    one, other = suspicions(engine)
    confirm(engine, 1000)
    run_experiments(engine, {"before": LEVEL, "after": 1.05 * LEVEL})
    confirm(engine, 1000)

    def change(number: int, **values: object) -> dict[str, Any]:
        with transaction(engine) as session:
            version = service.show_regression(session, number).version
            told = RegressionChange.model_validate({"version": version, **values})
            service.change_regression(session, number, told, by="mira")
        return rates(client)["confirmed", True]

    taken = change(one, state="assigned", owner="bob")
    assert (taken["of"], taken["looked_at"], taken["wrong"]) == (2, 0, 0)
    false = change(other, state="false", note="noise")
    assert (false["looked_at"], false["wrong"]) == (1, 1)
    joined = change(one, state="duplicate", duplicate_of=other)
    assert (joined["of"], joined["looked_at"], joined["wrong"]) == (2, 2, 2)
    # A word that was taken back is none.
    again = change(other, state="new", note="looked wrong")
    assert (again["looked_at"], again["wrong"]) == (0, 0)


def test_what_fresh_boots_refuted_is_counted_by_kind_of_host(
    client: TestClient, engine: Engine
) -> None:
    suspicions(engine)
    confirm(engine, 1000)
    run_experiments(engine, {"before": LEVEL, "after": LEVEL})
    confirm(engine, 1000)
    with engine.begin() as connection:
        connection.execute(text("update regression set emulated = (id % 2 = 0)"))
    found = rates(client)
    for emulated in (False, True):
        each = found["suspicions", emulated]
        assert (each["of"], each["wrong"], each["percent"]) == (1, 1, 100.0)


def test_an_arm_against_itself_that_differs_is_wrong(client: TestClient, engine: Engine) -> None:
    suspicions(engine)
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into aa_outcome (run_id, case_id, metric, verdict, blocks)"
                " select run_id, min(case_id), 'm',"
                " case run_id when (select min(run_id) from verdict) then 'worse' else 'same' end,"
                " 4 from verdict group by run_id"
            )
        )
        of = connection.scalar(text("select count(*) from aa_outcome"))
        later = "update run set concluded_at = concluded_at + interval '1 day' where id % 2 = 0"
        connection.execute(text(later))
        days = connection.scalar(
            text("select count(distinct (host_id, concluded_at::date)) from run")
        )
    each = rates(client)["aa", True]
    assert (each["of"], each["wrong"]) == (of, 1)
    # Cases of one day may be alike: an interval by them would promise too much.
    assert 1 < days < of
    low, high = rate_interval(1, of, groups=days)
    assert (each["low"], each["high"]) == (pytest.approx(100 * low), pytest.approx(100 * high))
    assert each["high"] > 100 * rate_interval(1, of)[1]


def test_a_known_slow_down_that_is_not_called_worse_is_wrong(
    client: TestClient, engine: Engine
) -> None:
    suspicions(engine)
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into aa_outcome (run_id, case_id, metric, slowed_percent, verdict, blocks)"
                " select v.run_id, min(v.case_id), given, 2, given, 4"
                " from verdict v, unnest(array['better', 'worse', 'same', 'undecided']) as given"
                " where v.run_id = (select min(run_id) from verdict) group by 1, 3"
            )
        )
    found = rates(client)
    assert (found["slowed", True]["of"], found["slowed", True]["wrong"]) == (4, 3)
    assert found["slowed", True]["sentence"] == "3 of 4; 1 undecided"
    assert ("aa", True) not in found


def test_the_command_prints_them(engine: Engine, database_url: str, tmp_path: Path) -> None:
    said = Command(tmp_path, database_url).run("regression", "error-rates").stdout
    assert "Tries of fresh boots at suspicions, refuted" in " ".join(said.split())
    assert "none yet" in said
