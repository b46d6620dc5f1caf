"""Regressions judged by mail: a real Maildir, real signatures, answers as files."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, text

from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service
from mitigauge.tracking.regressions.schemas import RegressionChange, RegressionView
from mitigauge.tracking.regressions.states import RegressionState
from mitigauge.tracking.series.states import RequestState
from tests.audit_entries import entries
from tests.db import test_series_mail
from tests.db.test_series_mail import Post
from tests.regressions_made import found_regressions

keys, settings, post = test_series_mail.keys, test_series_mail.settings, test_series_mail.post
BUG = "https://bugzilla.kernel.org/show_bug.cgi?id=1"


@pytest.fixture
def number(engine: Engine) -> int:
    return found_regressions(engine)[0]


@pytest.fixture
def show(engine: Engine, number: int) -> Callable[[], RegressionView]:
    def shown() -> RegressionView:
        with transaction(engine) as session:
            return service.show_regression(session, number)

    return shown


@pytest.mark.parametrize(
    ("words", "state", "bug", "note"),
    [
        ("real", RegressionState.CONFIRMED, "", ""),
        ("false: the host was rebooted", RegressionState.FALSE, "", "the host was rebooted"),
        (f"known {BUG}", RegressionState.KNOWN, BUG, ""),
        ("not worth it: 0.1 %", RegressionState.NOT_WORTH_IT, "", "0.1 %"),
    ],
)
def test_a_signed_mail_judges_and_is_answered_once(
    post: Post, number: int, show: Callable[[], RegressionView], words: str,
    state: RegressionState, bug: str, note: str,
) -> None:  # fmt: skip
    post.ask(f"Hi,\n\n#mitigauge regression {number} {words}\n\n> more\n")
    post.look()
    view = show()
    assert (view.state, view.bug) == (state, bug)
    said = view.history[-1] if not bug else view.history[-2]
    assert (said.by, said.after, said.text) == ("one@example.org", state, note)
    assert list(post.answers()) == ["1-receipt"]
    answer = post.answers()["1-receipt"]
    assert (answer["To"], answer["Cc"]) == ("One <one@example.org>", None)
    words_of_state = state.replace("-", " ")
    assert f"Regression {number} is {words_of_state} now; it was new." in post.said("1-receipt")
    assert [each.state for each in post.requests()] == [RequestState.DONE]
    entry = entries(post.engine, "regression.change")[-1]
    assert (entry.actor, entry.way) == ("one@example.org", "mail")


def test_a_mail_that_comes_again_changes_nothing(
    post: Post, number: int, show: Callable[[], RegressionView]
) -> None:
    mail = post.ask(f"#mitigauge regression {number} false: noise\n")
    before = show()
    post.deliver(mail, mail, mail.replace(b"ask-1@", b"ask-2@"))
    post.look()
    assert show() == before
    assert list(post.answers()) == ["1-receipt"]


def test_of_two_who_judge_otherwise_the_later_stands_and_the_history_has_both(
    post: Post, number: int, engine: Engine, show: Callable[[], RegressionView]
) -> None:
    with transaction(engine) as session:
        version = service.show_regression(session, number).version
        change = RegressionChange(version=version, state=RegressionState.FALSE, note="noise")
        service.change_regression(session, number, change, by="mira")
    post.ask(f"#mitigauge regression {number} real: I see it too\n")
    view = show()
    assert view.state is RegressionState.CONFIRMED
    assert [(each.by, each.text) for each in view.history[-2:]] == [
        ("mira", "noise"), ("one@example.org", "I see it too"),
    ]  # fmt: skip
    assert "is confirmed now; it was false" in post.said("1-receipt")


def test_real_takes_a_regression_from_nobody(
    post: Post, number: int, engine: Engine, show: Callable[[], RegressionView]
) -> None:
    with transaction(engine) as session:
        version = service.show_regression(session, number).version
        change = RegressionChange(version=version, owner="mira")
        service.change_regression(session, number, change, by="mira")
    post.ask(f"#mitigauge regression {number} real\n")
    view = show()
    assert (view.state, view.owner, view.history[-1].text) == ("assigned", "mira", "it is real")
    assert "is assigned, as it was" in post.said("1-receipt")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("99999 false: no such", "Nothing is changed: there is no regression 99999."),
        ("9999999999 real", "Nothing is changed: there is no regression 9999999999."),
        ("{number} false", "without a note nobody can tell later why it was false"),
        ("{number} known", "it would be known without a bug or a note"),
        ("{number} known http://user@evil/", "is no bug's address"),
        ("{number} fixed", "a number and one of real, false, known and not worth it are missing"),
        ("<script>\x1b[31m\u202e", "a number and one of real, false"),
    ],
)
def test_what_cannot_be_is_answered_with_the_way_out_and_changes_nothing(
    post: Post, number: int, show: Callable[[], RegressionView], words: str, said: str
) -> None:
    before = show()
    post.ask(f"#mitigauge regression {words.format(number=number)}\n")
    assert show() == before
    assert said in post.said("1-receipt")
    assert "#mitigauge regression NUMBER false: WHY" in post.said("1-receipt")
    assert "\x1b" not in post.said("1-receipt")
    assert [each.state for each in post.requests()] == [RequestState.REFUSED]


@pytest.mark.parametrize(
    ("sender", "sign"),
    [("Eve <eve@example.net>", True), ("One <one@example.org>", False)],
)
def test_who_may_not_or_is_not_proven_gets_silence_and_a_line_of_the_log(
    post: Post, number: int, show: Callable[[], RegressionView], sender: str, sign: bool
) -> None:
    before = show()
    post.ask(f"#mitigauge regression {number} false: x\n", sender=sender, sign=sign)
    assert show() == before
    assert post.answers() == {}
    assert any("waiting: " in line for line in post.heard)


def test_a_person_may_let_a_judgement_count_that_nothing_proves(
    post: Post, number: int, show: Callable[[], RegressionView]
) -> None:
    post.ask(f"#mitigauge regression {number} false: noise\n", sign=False)
    [waiting] = post.requests()
    with transaction(post.engine) as session:
        row = test_series_mail.request_service.find(session, waiting.id)
        test_series_mail.request_service.approve(
            session, row, post.desk.means(), waiting.mail_sha256, by="mira"
        )
    assert show().history[-1].by == "one@example.org, approved by mira"


def test_ten_thousand_judgements_in_one_mail_are_one(
    post: Post, number: int, engine: Engine, show: Callable[[], RegressionView]
) -> None:
    lines = [f"#mitigauge regression {number} false: {n}\n" for n in range(10_000)]
    post.ask("".join(lines))
    assert show().history[-1].text == "0"
    with engine.connect() as connection:
        count = connection.scalar(
            text("select count(*) from regression_entry where by = 'one@example.org'")
        )
    assert count == 1


def test_a_mail_of_a_thread_that_is_not_answered_any_more_still_judges(
    post: Post, number: int, show: Callable[[], RegressionView]
) -> None:
    """What is said of a regression is of no series, whatever mail it answers."""
    test_series_mail.stored(post)
    post.ask("#mitigauge test\n")
    with transaction(post.engine) as session:
        row = test_series_mail.request_service.find(session, 1)
        row.asked, row.sender = test_series_mail.request_service.RequestKind.STOP, "x@example.net"
    post.ask(f"#mitigauge regression {number} false: noise\n")
    assert show().state is RegressionState.FALSE
    assert "is false now" in post.said("2-receipt")
