"""A mail reaches each receiver at most once, whoever sends it, however often, whatever happens."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.reporting.deliveries import service
from mitigauge.reporting.deliveries.states import DeliveryState
from mitigauge.storage.database.engine import transaction
from pipelines import mail_post
from pipelines.mail_post import post
from tests.audit_entries import entries
from tests.mail_server import mail_server
from tests.slow_server import bad_server

GOOD, BAD, LATE = "good@example.org", "bad@example.org", "late@example.org"


def mail() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"], message["To"] = "r@example.com", "x", f"{GOOD}, {BAD}"
    message.set_content("text")
    return message


def posted(engine: Engine, where: str, *receivers: str) -> service.Standing:
    return post(engine, "mail-1", mail(), receivers, where, encrypted=False)


def test_a_refused_receiver_does_not_make_the_others_get_it_again(engine: Engine) -> None:
    with mail_server(refuses={BAD: "550 no", LATE: "451 later"}) as server:
        where = f"127.0.0.1:{server.port}"
        for _ in range(5):
            standing = posted(engine, where, GOOD, BAD, LATE)
        assert [got["X-RcptTo"] for got in server.handler.mails] == [GOOD]
    first, *_ = entries(engine, "mail.send")
    assert (first.subject, first.after[GOOD], first.after[BAD]) == ("mail-1", "taken", "refused")
    assert standing.is_open
    assert set(standing.of(DeliveryState.REFUSED)) == {BAD}
    assert "451 later" in standing.why_not
    with mail_server() as server:
        for _ in range(2):
            standing = posted(engine, f"127.0.0.1:{server.port}", GOOD, BAD, LATE)
        assert [got["X-RcptTo"] for got in server.handler.mails] == [LATE]
    assert not standing.is_open


def test_many_who_send_at_once_hand_it_over_once(engine: Engine) -> None:
    with mail_server() as server, ThreadPoolExecutor(6) as threads:
        where = f"127.0.0.1:{server.port}"
        list(threads.map(lambda _: posted(engine, where, GOOD, BAD), range(12)))
        assert len(server.handler.mails) == 1


def test_what_a_server_may_have_is_never_sent_again(engine: Engine) -> None:
    with bad_server("end", "ends") as server:
        for _ in range(3):
            standing = posted(engine, server.address, GOOD)
        assert server.mails == 1
    assert set(standing.of(DeliveryState.UNKNOWN)) == {GOOD}


def test_one_whose_sender_died_is_not_sent_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the server's answer and its being written down."""

    def dies(*_: object, **__: object) -> None:
        raise SystemExit

    with mail_server() as server:
        where = f"127.0.0.1:{server.port}"
        with monkeypatch.context() as patched:
            patched.setattr(mail_post.service, "end", dies)
            with pytest.raises(SystemExit):
                posted(engine, where, GOOD)
        assert posted(engine, where, GOOD).is_under_way
        with engine.begin() as connection:
            gone = {"by": service.LOST_AFTER + timedelta(seconds=1)}
            connection.execute(text("update mail_delivery set begun_at = begun_at - :by"), gone)
        assert set(posted(engine, where, GOOD).of(DeliveryState.UNKNOWN)) == {GOOD}
        assert len(server.handler.mails) == 1


def test_no_transaction_and_no_lock_is_held_while_a_server_is_waited_for(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    held: list[object] = []
    hand_over = mail_post.hand_over

    def watched(*words: object, **more: object) -> object:
        with engine.connect() as connection:
            held.append(connection.scalar(text(
                "select count(*) from pg_locks l join pg_database d on d.oid = l.database "
                "where d.datname = current_database() and l.pid <> pg_backend_pid()"
            )))  # fmt: skip
        return hand_over(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(mail_post, "hand_over", watched)
    with mail_server() as server:
        posted(engine, f"127.0.0.1:{server.port}", GOOD)
    assert held == [0]
    with transaction(engine) as session:
        assert not service.standing(session, "mail-1").is_open
