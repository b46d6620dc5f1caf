"""Subscribers hear of each thing once: whatever dies, whoever works beside, however often."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.orm import Session
from standardwebhooks import Webhook

from mitigauge.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from mitigauge.core.settings import Settings
from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.states import Ability, JobKind
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.reporting.deliveries.states import DeliveryAnswer, DeliveryState
from mitigauge.reporting.subscriptions import digest_service, service
from mitigauge.reporting.subscriptions.digest_service import make_digests, pause_after
from mitigauge.reporting.subscriptions.schemas import (
    AddedSubscription,
    NewSubscription,
    SubscriptionView,
)
from mitigauge.reporting.subscriptions.webhook_url import read_networks
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service as regressions
from mitigauge.tracking.regressions.schemas import RegressionChange
from pipelines import digest_post
from pipelines.digest_post import DigestPost
from pipelines.jobs import begin_standing_jobs, runners_of
from pipelines.jobs.engine import JobAdvancer
from tests.api.conftest import planned
from tests.api.test_series import stored as store_series
from tests.audit_entries import entries
from tests.db.test_bisections import Kill, Killed
from tests.hook_server import HookServer, hook_server
from tests.mail_server import mail_server
from tests.regressions_made import found_regressions
from tests.slow_server import bad_server

HERE = "127.0.0.0/8"
NETWORKS = read_networks(HERE)
BASE = "https://mitigauge.example.org"
MAIL = "alice@example.org"


@pytest.fixture(autouse=True)
def own_key(home: Path) -> Path:
    """A key of the test's own."""
    return home


def subscribe(engine: Engine, kind: str, owner: str = "alice", **words: Any) -> AddedSubscription:
    wanted = {"way": "webhook", "address": "http://127.0.0.1:9/x", "at_once": True} | words
    with transaction(engine) as session:
        new = NewSubscription.model_validate({"kind": kind} | wanted)
        return service.add(session, new, owner=owner, networks=NETWORKS)


def hook(engine: Engine, server: HookServer, kind: str, **words: Any) -> AddedSubscription:
    return subscribe(engine, kind, address=server.url, **words)


def settings(**words: Any) -> Settings:
    return Settings(webhook_networks=HERE, public_url=BASE + "/", **words)


def made(engine: Engine) -> list[int]:
    with transaction(engine) as session:
        return make_digests(session)


def tell(engine: Engine, **words: Any) -> None:
    """What the job does in a step, in this thread."""
    made(engine)
    sender = DigestPost(engine, settings(**words))
    while sender.send_next():
        pass


def titles(server: HookServer) -> list[str]:
    return [
        f"{each['title'].split(':')[0]}: {each['said']}"
        for got in server.received
        for each in json.loads(got.body)["notices"]
    ]


def execute(engine: Engine, statement: str, **values: Any) -> Any:
    with engine.begin() as connection:
        done = connection.execute(text(statement), values)
        return done.scalar() if done.returns_rows else None


def earlier(engine: Engine, by: str) -> None:
    """Let what is stored be older by that much."""
    for table, columns in {
        "notice": ("taken_at",),
        "digest": ("made_at", "next_at", "first_at", "begun_at", "ended_at"),
        "mail_delivery": ("begun_at",),
    }.items():
        said = ", ".join(f"{column} = {column} - interval '{by}'" for column in columns)
        execute(engine, f"update {table} set {said}")


def listed(engine: Engine, owner: str | None = "alice") -> list[SubscriptionView]:
    with transaction(engine) as session:
        return service.list_subscriptions(session, owner)


def state_of(engine: Engine, number: int) -> tuple[str, str]:
    [found] = [each for each in listed(engine, None) if each.id == number]
    return str(found.state), found.why


def change(engine: Engine, number: int, *, by: str = "bob", **words: Any) -> None:
    with transaction(engine) as session:
        version = regressions.show_regression(session, number).version
        said = RegressionChange.model_validate({"version": version} | words)
        regressions.change_regression(session, number, said, by=by)


@pytest.fixture
def numbers(engine: Engine) -> list[int]:
    """Regressions that were found before anybody subscribed."""
    return found_regressions(engine)


def test_what_was_before_is_not_told_and_what_comes_after_is_told_once(
    engine: Engine, numbers: list[int]
) -> None:
    with hook_server() as server:
        hook(engine, server, "my-regressions")
        tell(engine)
        assert server.received == []
        change(engine, numbers[0], owner="alice")
        for _ in range(3):
            tell(engine)
        assert titles(server) == [
            f"Regression {numbers[0]}: state new → assigned, by bob",
            f"Regression {numbers[0]}: owner none → alice, by bob",
        ]
        change(engine, numbers[0], owner="carol")
        change(engine, numbers[0], note="not alice's any more")
        tell(engine)
        # That it was taken away is told, and nothing after that.
        assert titles(server)[2:] == [f"Regression {numbers[0]}: owner alice → carol, by bob"]


def test_new_ones_of_nobody_are_a_kind_of_their_own(engine: Engine) -> None:
    with hook_server() as server:
        hook(engine, server, "new-regressions")
        numbers = found_regressions(engine)
        tell(engine)
        assert titles(server) == [f"Regression {number}: found" for number in numbers]
        change(engine, numbers[0], owner="alice")
        tell(engine)
        assert len(titles(server)) == len(numbers)


def test_of_a_case_all_is_told_and_of_another_nothing(engine: Engine, numbers: list[int]) -> None:
    one, other = (
        tuple(row)
        for row in (
            engine.connect()
            .execute(text("select distinct workload, case_title, min(id) from regression"
                          " group by workload, case_title order by 3 limit 2"))
        )
    )  # fmt: skip
    trend = execute(engine, f"select trend_id from regression where id = {one[2]}")
    with hook_server() as server:
        added = hook(engine, server, "case", trend_id=trend)
        assert added.subscription.subject == f"{one[0]}/{one[1]}"
        change(engine, one[2], note="seen")
        change(engine, other[2], note="seen too")
        tell(engine)
        assert titles(server) == [f"Regression {one[2]}: note by bob: seen"]
    with pytest.raises(NotFound):
        subscribe(engine, "case", subject="nothing/at all")
    with pytest.raises(NotFound):
        subscribe(engine, "case", trend_id=9999)


def test_a_series_is_followed_from_state_to_state(engine: Engine) -> None:
    store_series(engine)
    with hook_server() as server:
        hook(engine, server, "series", subject="bhb")
        tell(engine)
        assert server.received == []
        execute(engine, "update series_revision set state = 'failed', why = 'no such file' "
                        "where id = (select min(id) from series_revision)")  # fmt: skip
        tell(engine)
        tell(engine)
        [line] = titles(server)
        assert line.endswith("failed: no such file")
        measured = planned(engine)
        execute(engine, "update series_revision set experiment_id = :e "
                        "where id = (select max(id) from series_revision)", e=measured)  # fmt: skip
        execute(engine, "update experiment set state = 'finished', finished_at = now()")
        tell(engine)
        assert len(titles(server)) == 1, "its verdicts are not written yet"
        execute(engine, "update experiment set concluded_at = now()")
        tell(engine)
        assert len(titles(server)) == 2
    with pytest.raises(NotFound, match="there is no series 'nothing'"):
        subscribe(engine, "series", subject="nothing")


def test_a_host_is_followed(engine: Engine, numbers: list[int]) -> None:
    environment, name = execute_row(engine, "select environment, name from host limit 1")
    host = execute(engine, "select id from host limit 1")
    with hook_server() as server:
        hook(engine, server, "host", subject=f"{environment}/{name}")
        with transaction(engine) as session:
            absences.set_aside(session, host, "it does not answer")
        tell(engine)
        with transaction(engine) as session:
            absences.bring_back(session, host)
        tell(engine)
        for digest in ("a", "b"):
            execute(engine, "insert into fingerprint (host_id, digest, facts) values (:h, :d, '{}')"
                    , h=host, d=digest)  # fmt: skip
        tell(engine)
        said = [line.partition(": ")[2] for line in titles(server)]
        assert said[:2] == ["set aside: it does not answer", "used again"]
        assert said[-1].startswith("it is not what it was")
    with pytest.raises(NotFound):
        subscribe(engine, "host", subject=name)


def execute_row(engine: Engine, statement: str) -> Any:
    with engine.begin() as connection:
        return connection.execute(text(statement)).one()


def test_a_weeks_report_is_told_when_the_week_is_over(engine: Engine) -> None:
    row = (
        "insert into weekly_report (week, version, complete, digest, data, document, made_at) "
        "values (:w, 1, :c, 'x', '{}', '{\"subject\": \"2 new regressions\"}', now())"
    )
    with hook_server() as server:
        hook(engine, server, "week")
        execute(engine, row, w="2026-W47", c=True)
        execute(engine, row, w="2026-W48", c=False)
        tell(engine)
        tell(engine)
        assert titles(server) == ["Weekly report 2026-W47: 2 new regressions"]


def test_one_digest_a_target_however_many_subscriptions_and_each_thing_once(
    engine: Engine,
) -> None:
    with hook_server() as server:
        first = hook(engine, server, "new-regressions", at_once=False)
        numbers = found_regressions(engine)
        second = hook(engine, server, "my-regressions", at_once=False)
        change(engine, numbers[0], owner="alice")
        tell(engine)
        assert server.received == []
        earlier(engine, "16 minutes")
        tell(engine)
        [got] = server.received
        assert len(titles(server)) == len(numbers) + 2
        for each in (first, second):
            assert Webhook(each.secret).verify(got.body, got.heads) == json.loads(got.body)
        assert got.heads["webhook-id"] == f"digest_{json.loads(got.body)['id']}"


def test_a_long_digest_is_cut_and_says_so(engine: Engine, numbers: list[int]) -> None:
    with hook_server() as server:
        hook(engine, server, "my-regressions")
        execute(
            engine,
            "insert into regression_entry (regression_id, by, kind, text) "
            "select :r, 'bob', 'note', 'x' || n from generate_series(1, 70) n",
            r=numbers[0],
        )
        execute(engine, f"update regression set owner = 'alice' where id = {numbers[0]}")
        tell(engine)
        [body] = [json.loads(got.body) for got in server.received]
        assert (len(body["notices"]), body["left_out"]) == (50, 20)


def test_what_is_committed_late_is_told_all_the_same(engine: Engine, numbers: list[int]) -> None:
    """Numbers are given before the commit, so that a smaller one may come after a larger one."""
    execute(engine, f"update regression set owner = 'alice' where id = {numbers[0]}")
    row = (
        "insert into regression_entry (regression_id, by, kind, text) "
        f"values ({numbers[0]}, 'bob', 'note', :t)"
    )
    with hook_server() as server, engine.connect() as late:
        hook(engine, server, "my-regressions")
        late.execute(text(row), {"t": "late"})
        execute(engine, row, t="soon")
        tell(engine)
        late.commit()
        tell(engine)
        assert [line.rpartition(" ")[2] for line in titles(server)] == ["soon", "late"]


@contextmanager
def killed_at(commit: int, *, after: bool) -> Iterator[None]:
    kill = Kill(commit, after=after)
    event.listen(Session, "before_commit", kill.before_commit)
    event.listen(Session, "after_commit", kill.after_commit)
    try:
        with suppress(Killed):
            yield
    finally:
        event.remove(Session, "before_commit", kill.before_commit)
        event.remove(Session, "after_commit", kill.after_commit)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("commit", [1, 2, 3])
def test_a_worker_that_is_killed_at_any_commit_makes_nobody_hear_twice(
    engine: Engine, numbers: list[int], commit: int, after: bool
) -> None:
    with hook_server() as server:
        added = hook(engine, server, "my-regressions")
        change(engine, numbers[0], owner="alice")
        with killed_at(commit, after=after):
            tell(engine)
        for _ in range(3):
            earlier(engine, "11 minutes")
            tell(engine)
        states = execute(engine, "select string_agg(state, ',') from digest")
        # Killed after it was begun, nobody knows whether it was sent: so it never is again.
        unknown = (commit, after) in {(2, True), (3, False)}
        assert states == ("unknown" if unknown else "told")
        assert len(server.received) == (0 if (commit, after) == (2, True) else 1)
        assert state_of(engine, added.subscription.id)[0] == "active"


def test_of_many_workers_at_once_one_tells(engine: Engine, numbers: list[int]) -> None:
    with hook_server() as server, ThreadPoolExecutor(6) as threads:
        hook(engine, server, "my-regressions")
        for number in numbers[:3]:
            change(engine, number, owner="alice")
        list(threads.map(lambda _: tell(engine), range(12)))
        assert len(titles(server)) == 6
        assert len(server.received) == 1


def test_what_is_not_taken_is_tried_again_with_growing_pauses_and_then_paused(
    engine: Engine, numbers: list[int]
) -> None:
    with hook_server("500") as server:
        added = hook(engine, server, "my-regressions")
        change(engine, numbers[0], owner="alice")
        tell(engine)
        tell(engine)
        assert len(server.received) == 1
        assert state_of(engine, added.subscription.id) == ("active", "tried again: it answers 500")
        for minutes in (1, 2, 4):
            # What happens meanwhile waits for the next digest.
            change(engine, numbers[0], note=f"{minutes}")
            before = len(server.received)
            earlier(engine, f"{minutes} minutes")
            earlier(engine, "-20 seconds")
            tell(engine)
            assert len(server.received) == before
            earlier(engine, "21 seconds")
            tell(engine)
            assert len(server.received) == before + 1
        assert {got.heads["webhook-id"] for got in server.received} == {"digest_1"}
        assert len({str(json.loads(got.body)["notices"]) for got in server.received}) == 1
        earlier(engine, "1 day")
        tell(engine)
        state, why = state_of(engine, added.subscription.id)
        assert (state, why) == ("paused", "given up after 5 tries: it answers 500")
        change(engine, numbers[0], note="nobody hears of this")
        tell(engine)
        assert len(server.received) == 5
        server.does = "200"
        with transaction(engine) as session:
            service.resume(session, added.subscription.id, by="alice", tends=False)
        tell(engine)
        assert len(server.received) == 5
        change(engine, numbers[0], note="but of this")
        tell(engine)
        assert titles(server)[-1].endswith("but of this")
        assert state_of(engine, added.subscription.id) == ("active", "")


def test_a_digest_that_waits_for_next_year_is_tried_now(engine: Engine, numbers: list[int]) -> None:
    with hook_server() as server:
        hook(engine, server, "my-regressions")
        change(engine, numbers[0], owner="alice")
        made(engine)
        execute(engine, "update digest set next_at = now() + interval '1 year'")
        tell(engine)
        assert len(server.received) == 1


def test_what_came_next_year_is_told_in_todays_mail(engine: Engine, numbers: list[int]) -> None:
    subscribe(engine, "my-regressions", way="mail", address="alice@example.org", at_once=False)
    change(engine, numbers[0], owner="alice")
    assert made(engine) == []
    execute(engine, "update notice set taken_at = now() + interval '1 year'")
    assert len(made(engine)) == 1


def test_pauses_grow_up_to_a_limit() -> None:
    minutes = [pause_after(tries).total_seconds() / 60 for tries in (1, 2, 3, 8, 9, 99)]
    assert minutes == [1, 2, 4, 128, 240, 240]


def test_what_leads_inwards_is_paused_at_once(engine: Engine, numbers: list[int]) -> None:
    with hook_server() as server:
        added = hook(engine, server, "my-regressions")
        change(engine, numbers[0], owner="alice")
        made(engine)
        assert DigestPost(engine, Settings()).send_next()
        state, why = state_of(engine, added.subscription.id)
        assert state == "paused"
        assert "127.0.0.1 is no public address" in why
        assert server.received == []


def test_a_mail_is_sent_once_a_day_or_at_once(engine: Engine, numbers: list[int]) -> None:
    subscribe(engine, "my-regressions", way="mail", address=MAIL, at_once=False)
    subscribe(engine, "new-regressions", "carol", way="mail", address="carol@example.org")
    change(engine, numbers[0], owner="alice")
    with mail_server() as server:
        words = {"mail_server": f"127.0.0.1:{server.port}", "mail_encrypted": False,
                 "mail_from": "M <m@example.org>"}  # fmt: skip
        for _ in range(2):
            tell(engine, **words)
        assert server.handler.mails == []
        earlier(engine, "25 hours")
        for _ in range(2):
            tell(engine, **words)
        [mail] = server.handler.mails
    assert (mail["X-RcptTo"], mail["From"]) == (MAIL, "M <m@example.org>")
    assert f"{BASE}/regressions/{numbers[0]}" in mail.get_payload(decode=True).decode()
    assert [each.told_at is not None for each in listed(engine)] == [True]


def test_what_a_mail_server_may_have_is_never_sent_again(
    engine: Engine, numbers: list[int]
) -> None:
    added = subscribe(engine, "my-regressions", way="mail", address=MAIL)
    change(engine, numbers[0], owner="alice")
    with bad_server("end", "ends") as server:
        for _ in range(3):
            tell(engine, mail_server=server.address, mail_encrypted=False, mail_from="m@h.org")
            earlier(engine, "1 hour")
        assert server.mails == 1
    assert state_of(engine, added.subscription.id)[1].startswith("not known: ")


def test_a_refused_address_is_paused_and_a_service_that_sends_no_mail_says_so(
    engine: Engine, numbers: list[int]
) -> None:
    added = subscribe(engine, "my-regressions", way="mail", address=MAIL)
    change(engine, numbers[0], owner="alice")
    tell(engine)
    assert "MITIGAUGE_MAIL_SERVER" in state_of(engine, added.subscription.id)[1]
    earlier(engine, "2 minutes")
    with mail_server(refuses={MAIL: "550 no such user"}) as server:
        tell(engine, mail_server=f"127.0.0.1:{server.port}", mail_encrypted=False,
             mail_from="m@h.org")  # fmt: skip
    state, why = state_of(engine, added.subscription.id)
    assert state == "paused"
    assert "550 no such user" in why


def test_what_a_worker_that_was_lost_says_later_changes_nothing(
    engine: Engine, numbers: list[int]
) -> None:
    added = subscribe(engine, "my-regressions")
    change(engine, numbers[0], owner="alice")
    made(engine)
    with transaction(engine) as session:
        begun = digest_service.begin_next(session)
    assert begun is not None
    earlier(engine, "11 minutes")
    with transaction(engine) as session:
        assert digest_service.begin_next(session) is None
        answer = DeliveryAnswer(DeliveryState.LATER, "x")
        assert digest_service.end(session, begun, answer) is None
    assert execute(engine, "select state from digest") == "unknown"
    assert state_of(engine, added.subscription.id)[1].startswith("not known: whoever sent it")


def test_no_transaction_is_open_while_the_other_side_is_waited_for(
    engine: Engine, numbers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[object] = []

    def watched(*_: object, **__: object) -> DeliveryAnswer:
        held.append(execute(
            engine, "select count(*) from pg_locks l join pg_database d on d.oid = l.database "
            "where d.datname = current_database() and l.pid <> pg_backend_pid()"
        ))  # fmt: skip
        return DeliveryAnswer(DeliveryState.TAKEN)

    monkeypatch.setattr(digest_post.webhook, "send", watched)
    subscribe(engine, "my-regressions")
    change(engine, numbers[0], owner="alice")
    tell(engine)
    assert held == [0]


def test_what_nobody_wants_any_more_is_not_sent(engine: Engine, numbers: list[int]) -> None:
    with hook_server() as server:
        added = hook(engine, server, "my-regressions")
        change(engine, numbers[0], owner="alice")
        made(engine)
        with transaction(engine) as session:
            service.remove(session, added.subscription.id, by="alice", tends=False)
        tell(engine)
        assert server.received == []
    assert execute(engine, "select state from digest") == "dropped"


def test_what_was_made_under_another_key_is_not_signed_by_this_one(
    engine: Engine, numbers: list[int]
) -> None:
    with hook_server() as server:
        added = hook(engine, server, "my-regressions")
        execute(engine, "update subscription set key_id = '0123456789abcdef'")
        change(engine, numbers[0], owner="alice")
        tell(engine)
        assert server.received == []
        earlier(engine, "3 days")
        tell(engine)
        state, why = state_of(engine, added.subscription.id)
        assert state == "paused"
        assert "no worker has the key" in why


def test_nobody_has_more_than_a_hundred(engine: Engine) -> None:
    for number in range(service.MOST):
        subscribe(engine, "week", address=f"http://127.0.0.1:9/{number}")
    with pytest.raises(Conflict, match="alice has 100 subscriptions"):
        subscribe(engine, "week", address="http://127.0.0.1:9/x")
    subscribe(engine, "week", "bob")
    assert len(listed(engine)) == service.MOST


def test_many_who_add_at_once_stay_below_the_limit(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST", 3)

    def add(number: int) -> bool:
        try:
            subscribe(engine, "week", address=f"http://127.0.0.1:9/{number}")
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(add, range(12))) == 3


def test_the_same_twice_is_refused(engine: Engine) -> None:
    subscribe(engine, "week")
    with pytest.raises(Conflict, match="tells the same"):
        subscribe(engine, "week")


def test_somebody_elses_is_out_of_reach_but_of_an_admins(engine: Engine) -> None:
    number = subscribe(engine, "week").subscription.id
    for act in (service.pause, service.resume, service.remove):
        with transaction(engine) as session, pytest.raises(Forbidden, match="somebody else's"):
            act(session, number, by="bob", tends=False)
    assert listed(engine, "bob") == []
    with transaction(engine) as session:
        service.remove(session, number, by="root", tends=True)
    assert listed(engine, None) == []
    with transaction(engine) as session, pytest.raises(NotFound):
        service.remove(session, number, by="root", tends=True)


@pytest.mark.parametrize(
    "words",
    [
        {"way": "mail", "address": "alice"},
        {"way": "mail", "address": "a@b.org, c@d.org"},
        {"way": "mail", "address": "A <a@b.org>"},
        {"way": "mail", "address": "a@b.org\r\nBcc: c@d.org"},
        {"way": "mail", "address": f"{'a' * 64}@{'b' * 250}.org"},
        {"address": "http://10.0.0.1/x"},
        {"subject": "2026-W47"},
        {"trend_id": 1},
    ],
)
def test_what_cannot_be_told_is_refused(engine: Engine, words: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        subscribe(engine, "week", **words)
    assert listed(engine, None) == []


def test_no_view_and_no_entry_has_a_secret_or_a_whole_address(engine: Engine) -> None:
    added = subscribe(engine, "week", address="http://127.0.0.1:9/services/T0/abcdefgh1234")
    number = added.subscription.id
    with transaction(engine) as session:
        service.pause(session, number, by="alice", tends=False)
        service.resume(session, number, by="alice", tends=False)
        service.remove(session, number, by="alice", tends=False)
    found = [each for each in entries(engine) if each.action.startswith("subscription.")]
    assert [each.action.partition(".")[2] for each in found] == ["add", "pause", "resume", "remove"]
    said = added.subscription.model_dump_json() + "".join(
        json.dumps([each.subject, each.before, each.after]) for each in found
    )
    assert "abcdefgh" not in said
    assert added.secret not in said
    assert "http://127.0.0.1:9/" in said


def test_the_job_does_it_all(engine: Engine, numbers: list[int]) -> None:
    with transaction(engine) as session:
        begin_standing_jobs(session, Abilities(jobs=[Ability.DIGESTS]))
    job = execute(engine, "select id from job")
    advancer = JobAdvancer(engine, runners_of(settings()), "w")
    with hook_server() as server:
        for number in range(7):
            hook(engine, server, "my-regressions", owner=f"p{number}")
            change(engine, numbers[number % len(numbers)], owner=f"p{number}")
        pause = advancer.advance(job)
        assert len(server.received) == 7
        assert pause == pytest.approx(15, abs=2)
        advancer.advance(job)
        assert len(server.received) == 7
    assert execute(engine, "select count(*) from job_attempt where outcome = 'failed'") == 0
    assert execute(engine, f"select kind from job where id = {job}") == JobKind.DIGESTS
