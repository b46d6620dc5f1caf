"""The weekly report from real rows: made once, stored, versioned, and sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.analysis.verdicts.noise import note_noise
from mitigauge.core.errors import NotFound
from mitigauge.core.settings import Settings
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.reporting.letters.weekly import service
from mitigauge.reporting.letters.weekly.data import Fate
from mitigauge.reporting.letters.weekly.week import Week
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service as regressions
from mitigauge.tracking.regressions.schemas import RegressionChange
from mitigauge.tracking.regressions.states import RegressionState
from pipelines.weekly import report_week
from tests import postgres, recording
from tests.made import make
from tests.mail_server import mail_server
from tests.regressions_made import found_regressions
from tests.trends_made import FACTS, weeks
from tests.weeks_made import Fleet, fill

SMALL = Fleet(hosts=21, cases=20, weeks=3)
WEEK = SMALL.last


@pytest.fixture
def filled(engine: Engine) -> Engine:
    """Three weeks of 21 hosts."""
    postgres.filled(engine, fill, SMALL)
    return engine


def change(engine: Engine, statement: str, **values: Any) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement), values)


def test_a_change_is_new_in_its_week_and_open_in_the_next(filled: Engine) -> None:
    report = service.make(filled, WEEK)
    new = [f for f in report.data.findings if f.fate is Fate.NEW]
    assert [(f.case, f.arm.mode) for f in new] == [
        ("load 2 size 10", "vmscape/clear-bhb"),
        ("load 2 size 10", "vmscape/ibpb"),
    ]
    assert {f.on for f in new} == {21}
    assert new[0].hosts[0].before is not None
    assert len(new[0].history) == SMALL.weeks
    following = service.make(filled, Week(2026, 48))
    [still] = [f for f in following.data.findings if f.case == new[0].case and f.on][:1]
    assert still.fate is Fate.OPEN
    assert following.data.compared == []


def test_a_newer_kernel_makes_no_old_difference_new(filled: Engine) -> None:
    """Modes are compared; the kernel is what the values were measured on."""
    before = service.make(filled, WEEK).data
    change(
        filled,
        "update arm set kernel = case when r.started_at < :start then '7.2.11' else '7.2.12' end"
        " from run r where r.comparison_id = arm.comparison_id",
        start=WEEK.start,
    )
    after = service.make(filled, WEEK).data
    assert after.found == before.found
    assert [f.fate for f in after.findings] == [f.fate for f in before.findings]
    assert {f.arm.kernel for f in after.findings if f.fate is Fate.NEW} == {"7.2.12"}


def test_kernels_that_are_compared_are_what_a_finding_is_about(filled: Engine) -> None:
    change(
        filled,
        "update arm set kernel = case when is_baseline then '7.2.11' else '7.2.12' end"
        " from run r where r.comparison_id = arm.comparison_id and r.started_at < :start",
        start=WEEK.start,
    )
    found = service.make(filled, WEEK).data.findings
    # What the week before compared is another question, and stays open.
    assert {f.arm.kernel for f in found if f.fate is Fate.OPEN} == {"7.2.12"}
    assert {f.arm.kernel for f in found if f.fate is Fate.NEW} == {""}


def test_other_microcode_is_told_as_drift_and_as_the_suspected_cause(filled: Engine) -> None:
    report = service.make(filled, WEEK)
    assert [of.host for of in report.data.drift] == ["host-000", "host-020"]
    assert [c.name for c in report.data.drift[0].changed] == ["microcode", "packages.linux-perf"]
    change(
        filled,
        "update verdict set effect_percent = effect_percent + 20 from run, host, benchmark_case c"
        " where run.id = run_id and host.id = host_id and host.name = 'host-020'"
        " and verdict = 'worse' and c.id = case_id and c.position = 10",
    )
    again = service.make(filled, WEEK)
    first = next(f for f in again.data.findings if f.fate is Fate.NEW)
    assert first.hosts[0].host == "host-020"
    assert first.hosts[0].cause[0] == "microcode: 0xa101 → 0xa102"


def test_made_again_it_is_the_same_bytes_and_no_new_version(filled: Engine) -> None:
    first = service.make(filled, WEEK)
    second = service.make(filled, WEEK)
    assert (first.version, second.version) == (1, 1)
    for form in service.FORMATS:
        assert first.rendered(form) == second.rendered(form)


def test_later_data_make_a_next_version_and_the_first_stays(filled: Engine) -> None:
    service.make(filled, WEEK)
    change(filled, "update verdict set verdict = 'same', effect_percent = 0")
    assert service.make(filled, WEEK).version == 2
    with filled.connect() as connection:
        rows = connection.execute(
            text("select version, superseded_at is null from weekly_report order by version")
        ).all()
    assert [tuple(row) for row in rows] == [(1, False), (2, True)]


def test_what_comes_after_the_week_changes_nothing_of_it(filled: Engine) -> None:
    first = service.make(filled, WEEK)
    made = make(filled)
    change(
        filled,
        "update run set started_at = now(), finished_at = now() where id = :run",
        run=made.run,
    )
    change(
        filled,
        "update boot set started_at = now(), verified_at = now(), finished_at = now()"
        " where run_id = :run",
        run=made.run,
    )
    conclude_closed(filled)
    assert service.make(filled, WEEK).rendered("json") == first.rendered("json")


def test_the_week_under_way_is_replaced(engine: Engine) -> None:
    make(engine)
    conclude_closed(engine)
    with transaction(engine) as session:
        week = service.default_week(session)
    first = service.make(engine, week)
    assert not first.data.complete
    assert first.data.until is not None
    change(engine, "update verdict set effect_percent = effect_percent * 2 where n > 0")
    assert service.make(engine, week).version == 1
    with engine.connect() as connection:
        assert connection.execute(text("select count(*) from weekly_report")).scalar_one() == 1


def test_the_demo_is_told_with_its_marks(engine: Engine) -> None:
    postgres.filled(engine, recording.load)
    conclude_closed(engine)
    with transaction(engine) as session:
        week = service.default_week(session)
    said = " ".join(service.make(engine, week).rendered("text").decode().split())
    assert "spectre-bhi/loop with spectre-bhi/off" in said
    assert "worse [emulated]" in said
    assert "setting was not in force" in said
    assert "boots" in said


def test_noise_is_worked_out_once_and_is_that_of_the_case_page(engine: Engine) -> None:
    made = make(engine)
    conclude_closed(engine)
    assert note_noise(engine) == 1
    assert note_noise(engine) == 0
    with engine.connect() as connection:
        rows = connection.execute(text("select * from case_noise order by case_id")).all()
    assert len(rows) == made.cases
    assert all(0 < row.iteration_percent < 2 for row in rows)
    assert {row.boots for row in rows} == {16}


def test_hosts_that_were_set_aside_lost_time(filled: Engine) -> None:
    with transaction(filled) as session:
        host = fleet.host_named(session, "rack", "host-003")
        absences.set_aside(session, host.id, "it does not answer")
        absences.bring_back(session, host.id)
    start = WEEK.start
    change(
        filled,
        "update host_absence set began_at = :a, ended_at = :b",
        a=start - timedelta(hours=5),
        b=start + timedelta(hours=7),
    )
    report = service.make(filled, WEEK)
    [aside] = report.data.aside
    assert (aside.host, aside.seconds) == ("host-003", 7 * 3600)
    [hours] = [of for of in report.data.hours if of.host == "host-003"]
    assert hours.lost_s == 7 * 3600
    assert hours.held_s == 9 * 3600
    assert "it does not answer" in " ".join(report.rendered("text").decode().split())


def last_week(engine: Engine) -> Week:
    with transaction(engine) as session:
        now: datetime = session.execute(text("select now()")).scalar_one()
    return Week.of(now).earlier()


def shifted(engine: Engine) -> Week:
    """Let the fleet's last week be the one that is over now; its name."""
    week = last_week(engine)
    by = week.start - WEEK.start
    change(engine, "update verdict set given_at = given_at + :by", by=by)
    for table, columns in (("run", ("started_at", "concluded_at")), ("boot", ("started_at",))):
        for column in columns:
            change(engine, f"update {table} set {column} = {column} + :by", by=by)
    return week


def test_the_timer_makes_a_report_once_and_sends_it_to_nobody_unless_told(filled: Engine) -> None:
    week = shifted(filled)
    with mail_server() as server:
        where = f"127.0.0.1:{server.port}"
        report_week(filled, Settings(mail_server=where, mail_from="fleet@example.org"))
        with transaction(filled) as session:
            made = service.find(session, week)
        assert made.data.complete
        assert server.handler.mails == []
        told = Settings(
            mail_server=where, mail_from="fleet@example.org", mail_encrypted=False,
            weekly_to="a@example.org, b@example.org",
        )  # fmt: skip
        report_week(filled, told)
        report_week(filled, told)
        [mail] = server.handler.mails
    assert mail["To"] == "a@example.org, b@example.org"
    assert f"[{week}] 0 confirmed regressions, 0 suspicions" in mail["Subject"]
    assert "2 newly worse" in " ".join(mail["Subject"].split())
    assert mail.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in mail.get_payload()] == ["text/plain", "text/html"]


def test_a_mail_that_is_not_taken_is_sent_later(filled: Engine) -> None:
    week = shifted(filled)
    told = Settings(
        mail_server="127.0.0.1:1", mail_from="fleet@example.org", mail_encrypted=False,
        weekly_to="a@example.org",
    )  # fmt: skip
    report_week(filled, told)
    with transaction(filled) as session:
        waiting = service.unsent(session)
    assert [each.late for each in waiting] == [False]
    with mail_server() as server:
        report_week(filled, told.model_copy(update={"mail_server": f"127.0.0.1:{server.port}"}))
        assert len(server.handler.mails) == 1
    with transaction(filled) as session:
        assert service.unsent(session) == []
        assert [line.week for line in service.listed(session)] == [str(week)]


def told_through(server: str, to: str = "a@example.org, b@example.org") -> Settings:
    return Settings(
        mail_server=server, mail_from="fleet@example.org", mail_encrypted=False, weekly_to=to
    )


def test_a_report_whose_week_went_by_is_sent_late_and_says_so(filled: Engine) -> None:
    week = shifted(filled)
    report_week(filled, told_through("127.0.0.1:1"))
    # Two weeks later; the server was away all the time.
    for table, columns in (("weekly_report", ("made_at",)), ("mail_delivery", ("begun_at",))):
        for column in columns:
            change(filled, f"update {table} set {column} = {column} - interval '14 days'")
    earlier = str(week.earlier(2))
    change(filled, "update weekly_report set week = :w", w=earlier)
    change(filled, "update mail_delivery set mail = :m", m=f"weekly-{earlier}")
    change(filled, "update weekly_report set data = jsonb_set(data::jsonb, '{week}', :w)",
           w=f'"{earlier}"')  # fmt: skip
    with mail_server() as server:
        for _ in range(3):
            report_week(filled, told_through(f"127.0.0.1:{server.port}"))
        late, in_time = server.handler.mails
    assert late["Subject"].endswith("(sent late)")
    text = late.get_payload()[0].get_payload(decode=True).decode()
    assert "Sent late: this week ended on" in text
    assert "late" not in in_time["Subject"]


def test_weeks_that_nobody_was_there_for_are_told_once_somebody_is(filled: Engine) -> None:
    week = shifted(filled)
    with mail_server() as server:
        report_week(filled, told_through(f"127.0.0.1:{server.port}"))
        change(filled, "update weekly_report set week = :w", w=str(week.earlier(3)))
        with transaction(filled) as session:
            assert [str(each) for each in [service.due(session)]] == [str(week.earlier(2))]
        report_week(filled, told_through(f"127.0.0.1:{server.port}"))
        report_week(filled, told_through(f"127.0.0.1:{server.port}"))
        late = [mail["Subject"].endswith("(sent late)") for mail in server.handler.mails]
    # The first of these is the week itself, under another name; it was handed over already.
    assert late == [False, True, True]


def test_a_receiver_who_is_refused_does_not_make_the_others_get_a_report_again(
    filled: Engine,
) -> None:
    shifted(filled)
    with mail_server(refuses={"b@example.org": "550 no such user"}) as server:
        for _ in range(5):
            report_week(filled, told_through(f"127.0.0.1:{server.port}"))
        assert [mail["X-RcptTo"] for mail in server.handler.mails] == ["a@example.org"]
    with transaction(filled) as session:
        assert service.unsent(session) == []


def test_an_empty_service_makes_no_report_and_says_which_there_are(engine: Engine) -> None:
    assert service.make_if_due(engine) is None
    with transaction(engine) as session, pytest.raises(NotFound, match="2026-W47") as refused:
        service.find(session, WEEK)
    assert "mitigauge report weekly 2026-W47" in refused.value.hint


def test_the_command_writes_sends_and_lists(
    filled: Engine, home: Path, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    from cli import report
    from mitigauge.storage.database import engine as database

    monkeypatch.setattr(database, "get_engine", lambda: filled)
    run = CliRunner().invoke
    file = home / "week.html"
    wrote = run(report.app, ["weekly", "--week", "2026-W47", "--format", "html", "--to", str(file)])
    assert wrote.exit_code == 0, wrote.output
    assert "of comparisons 2 newly worse" in " ".join(wrote.output.split())
    assert "newly worse" in file.read_text()
    with mail_server() as server:
        sent = run(
            report.app,
            ["weekly", "--week", "2026-W47", "--send", "a@example.org", "--plain",
             "--server", f"127.0.0.1:{server.port}", "--from", "Fleet <fleet@example.org>"],
        )  # fmt: skip
        assert sent.exit_code == 0, sent.output
        assert len(server.handler.mails) == 1
    listed = run(report.app, ["weekly", "--list"])
    assert "2026-W47" in listed.output
    unsent = run(report.app, ["weekly", "--send", "a@example.org"])
    assert "no server takes it" in str(unsent.exception)


def test_change_points_are_told_with_what_changed_then_and_a_picture(engine: Engine) -> None:
    weeks(engine, [1.0] * 10)
    newer = {**FACTS, "microcode": "0x2"}
    weeks(engine, [1.05] * 8, first=10, facts=newer)
    with transaction(engine) as session:
        week = service.default_week(session)
    report = service.make(engine, week)
    new = [line for line in report.data.trends if line.is_new]
    assert len(new) == 4
    assert {line.verdict for line in new} == {"worse"}
    said = " ".join(report.rendered("text").decode().split())
    assert "Changes over time (4 new, 0 still open)" in said
    assert "microcode: 0x1 → 0x2" in said
    pictured = [
        entry.picture
        for section in report.document.sections
        for entry in section.entries
        if entry.picture is not None and entry.picture.id.startswith("trend-")
    ]
    assert len(pictured) == 4
    assert pictured[0].changed_at == new[0].at
    following = service.make(engine, Week.of(week.end))
    assert [line.is_new for line in following.data.trends] == [False] * 4


def decided(engine: Engine, number: int, **change: Any) -> None:
    with transaction(engine) as session:
        version = regressions.show_regression(session, number).version
        wanted = RegressionChange(version=version, **change)
        regressions.change_regression(session, number, wanted, by="ann")


def test_a_regression_is_told_with_whose_it_is_and_what_is_known_is_no_news(
    engine: Engine,
) -> None:
    found = found_regressions(engine)
    decided(engine, found[0], state=RegressionState.CONFIRMED)
    decided(engine, found[0], owner="alice", bug="https://example.org/17")
    decided(engine, found[1], state=RegressionState.KNOWN, bug="https://example.org/18")
    with transaction(engine) as session:
        week = service.default_week(session)
    first = service.make(engine, week)
    assert {line.id for line in first.data.regressions} == set(found) - {found[1]}
    assert all(line.is_new for line in first.data.regressions)
    said = " ".join(first.rendered("text").decode().split())
    assert f"regression {found[0]}: assigned, alice, bug https://example.org/17" in said
    assert f"regression {found[2]}: new, nobody's yet" in said
    known = [line for line in first.data.trends if not line.is_new]
    assert [line.regression.id for line in known if line.regression] == [found[1]]
    assert "Confirmed regressions (1)" in said
    assert f"Suspicions ({len(found) - 2})" in said
    assert f"1 confirmed regression, {len(found) - 2} suspicions" in first.document.subject
    # What is decided afterwards is no other version of a week that is over.
    decided(engine, found[2], state=RegressionState.FALSE, note="noise")
    assert service.make(engine, week).version == first.version
    following = service.make(engine, Week.of(week.end))
    assert not any(line.is_new for line in following.data.regressions)
    assert found[2] not in {line.id for line in following.data.regressions}


def test_a_report_and_the_list_of_regressions_say_the_same_owners(engine: Engine) -> None:
    found = found_regressions(engine)
    decided(engine, found[0], owner="proxy:alice")
    decided(engine, found[1], owner="proxy:bob@example.org")
    decided(engine, found[2], state=RegressionState.DUPLICATE, duplicate_of=found[0])
    with transaction(engine) as session:
        week = service.default_week(session)
        page = regressions.list_regressions(session, limit=100)
    report = service.make(engine, week)
    listed = {of.id: (of.state, of.owner_name) for of in page.regressions}
    told = {line.id: (line.state, line.owner) for line in report.data.regressions}
    assert told == {number: listed[number] for number in told}
    assert {owner for _, owner in told.values()} == {"alice", "bob@example.org", ""}
    said = " ".join(report.rendered("text").decode().split())
    assert "proxy:" not in said
    # What joined another one is that one's.
    assert f"regression {found[2]}: duplicate" not in said
