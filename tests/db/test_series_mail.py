"""Mails that ask for a test: a real Maildir, real signatures, a real mail server."""

from __future__ import annotations

import errno
import json
import mailbox
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from cli import report
from cli import series as series_command
from cli import series_mail as command
from mitigauge.core.actor import person_at_command
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.settings import Settings, get_settings
from mitigauge.reporting.letters.reply.service import answer
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import faults, request_service, service
from mitigauge.tracking.series import request_repository as repository
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.request_service import MOST_PER_DAY
from mitigauge.tracking.series.schemas import RequestView
from mitigauge.tracking.series.service import SeriesOptions
from mitigauge.tracking.series.states import RequestState
from mitigauge.tracking.studies import repository as study_rows
from mitigauge.tracking.studies import service as studies
from mitigauge.tracking.studies.states import StudyKind, StudyState
from pipelines import series_mail
from pipelines.series_mail import Desk, Outbox
from pipelines.series_watch import Watcher
from tests.audit_entries import entries
from tests.db.test_series import Pretended
from tests.mail_server import mail_server
from tests.series_mails import diff, raw_mail, series
from tests.signing import developer, ring, signed
from tests.slow_server import bad_server

ROBOT = "A Robot <robot@example.com>"
PATCH, FIX, OTHER = (diff("toys/one.c", was, now) for was, now in ("ab", "bc", "bd"))
TEST = "#mitigauge test\n"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of one@example.org, whose key is in the keyring."""
    return developer(tmp_path_factory.mktemp("one"))


@pytest.fixture
def settings(tmp_path: Path, keys: Path) -> Settings:
    known = {"senders": "One@example.org, two@example.org", "keyring": str(ring(keys))}
    return get_settings().model_copy(update={**known, "home": tmp_path / "home"})


@dataclass
class Post:
    """A Maildir, who reads it, and what the operator sees."""

    engine: Engine
    desk: Desk
    builder: Pretended
    box: Path
    out: Path
    keys: Path
    heard: list[str] = field(default_factory=list)
    sent: int = 0

    def deliver(self, *mails: bytes) -> None:
        """As a mail server does."""
        for mail in mails:
            mailbox.Maildir(self.box).add(mail)

    def ask(self, body: str, *, ident: str = "", parent: str = "v1-0@example.org", more: str = "",
            sign: bool = True, sender: str = "One <one@example.org>") -> bytes:  # fmt: skip
        """Deliver a mail, by default signed, and deal with it and what is owed."""
        self.sent += 1
        mail = raw_mail(
            "Re: [PATCH 0/1] toys: Mend them", body, sender=sender, parent=parent,
            ident=ident or f"ask-{self.sent}", to="list@example.org, x@example.net", more=more,
        )  # fmt: skip
        if sign:
            [mail] = signed(self.keys, [mail])
        self.deliver(mail)
        self.look()
        return mail

    def look(self) -> None:
        self.desk.look(self.box)
        self.desk.answer()

    def answers(self) -> dict[str, EmailMessage]:
        """Written answers by what they are called: ``1-receipt``."""
        return {
            file.name.removeprefix("request-").removesuffix(".mail"): message_from_bytes(
                file.read_bytes(), policy=policy.default
            )
            for file in sorted(self.out.glob("*.mail"))
        }

    def said(self, name: str) -> str:
        """The words of an answer, in one line."""
        return " ".join(str(self.answers()[name].get_content()).split())

    def requests(self) -> list[RequestView]:
        """All of them, the first one first."""
        with Session(self.engine) as session:
            return [RequestView.model_validate(row) for row in repository.listed(session)][::-1]

    def labels(self) -> dict[str, str]:
        with Session(self.engine) as session:
            return {r.label: r.state for r in service.find(session, "toys").revisions}

    def build(self) -> None:
        """Build and submit what may run, as `series watch` does."""
        Watcher(self.builder, self.desk.settings, self.heard.append, 10).start()

    def finish(self, state: str = "finished") -> None:
        """Every experiment comes to that end, and its verdicts are written."""
        self.end(state)
        with self.engine.begin() as connection:
            connection.execute(text("update experiment set concluded_at = now()"))

    def end(self, state: str = "finished") -> None:
        """Every experiment comes to that end; its verdicts are those of an interim analysis."""
        with self.engine.begin() as connection:
            connection.execute(text("update run set state = :s"), {"s": state})
            connection.execute(text("update experiment set state = :s"), {"s": state})


@pytest.fixture
def post(engine: Engine, tmp_path: Path, settings: Settings, keys: Path) -> Post:
    blobs = blob_store(settings)
    mailbox.Maildir(tmp_path / "box", create=True)
    heard: list[str] = []
    desk = Desk(engine, blobs, settings, Outbox(tmp_path / "out", sender=ROBOT), heard.append)
    builder = Pretended(tmp_path / "kernels", engine, blobs)
    return Post(engine, desk, builder, tmp_path / "box", tmp_path / "out", keys, heard)


def stored(
    post: Post, *, approve: bool = True, spec: str = "vmscape", number: int = 1, what: str = PATCH
) -> None:
    """A revision of the series toys, its first one unless another *number* is given."""
    with Session(post.engine) as session:
        found = revisions(series(number, [what]))
        [revision] = service.add(
            session, found, post.desk.blobs, wanted=SeriesOptions("toys", spec)
        )
        if approve:
            service.approve(session, revision)
        session.commit()


@pytest.fixture
def server() -> Iterator[Controller]:
    with mail_server() as served:
        yield served


def test_a_signed_mail_with_a_fix_comes_to_its_result_by_mail(
    post: Post, server: Controller
) -> None:
    """From a Maildir through build and experiment to a real server."""
    stored(post)
    outbox = Outbox(None, f"127.0.0.1:{server.port}", ROBOT, encrypted=False)
    post.desk = replace(post.desk, outbox=outbox)
    post.ask(f"Is it this?\n\n{TEST}\n{FIX}-- \n2.47\n")
    post.build()
    post.look()
    post.end()
    post.look()
    # An experiment that ended still shows an interim analysis until its verdicts are written.
    assert len(server.handler.mails) == 1
    post.finish()
    post.look()
    post.look()
    receipt, result = server.handler.mails
    assert [each["X-RcptTo"] for each in (receipt, result)] == [
        "one@example.org", "one@example.org, list@example.org"
    ]  # fmt: skip
    for each in (receipt, result):
        assert each["Auto-Submitted"] == "auto-replied"
        assert each["In-Reply-To"] == "<ask-1@example.org>"
        assert each["Subject"] == "Re: [PATCH 0/1] toys: Mend them"
        assert "robot@example.com" in each["From"]
    assert receipt["Message-ID"] != result["Message-ID"]
    assert "v1+fix-2 of toys" in receipt.get_payload()
    assert "Where?  v1+fix-2, " in result.get_payload()
    assert [r.state for r in post.requests()] == [RequestState.DONE]
    assert post.labels() == {"v1": "measuring", "v1+fix-2": "measuring"}


def test_what_was_understood_is_answered_at_once_and_files_are_all_that_is_made(
    post: Post,
) -> None:
    stored(post)
    post.ask(f"{TEST}{FIX}")
    assert list(post.answers()) == ["1-receipt"]
    said = post.said("1-receipt")
    assert "#mitigauge test" in said
    assert "v1+fix-2 of toys (a fix from one@example.org) on linux-source-7.2 is built" in said
    assert "compared with v1 without your diff" in said
    assert post.answers()["1-receipt"]["To"] == "One <one@example.org>"
    assert post.answers()["1-receipt"]["Cc"] is None
    assert os.listdir(post.box / "new") == []
    [name] = os.listdir(post.box / "cur")
    assert name.endswith(":2,S")


def test_a_mail_is_dealt_with_once_however_often_it_comes(post: Post) -> None:
    stored(post)
    mail = post.ask(TEST)
    post.deliver(mail, mail.replace(b"v1-0@", b"v2-0@"))
    post.look()
    assert [r.message_id for r in post.requests()] == ["ask-1@example.org"]
    assert len([line for line in post.heard if "dealt with already" in line]) == 2
    assert os.listdir(post.box / "new") == []


def test_what_is_signed_is_dealt_with_once_under_whatever_message_id(post: Post) -> None:
    stored(post)
    [mail] = signed(post.keys, [raw_mail("Re: x", TEST, parent="v1-0@example.org").replace(
        b"Message-ID: <Re:.x@example.org>\n", b"")])  # fmt: skip
    post.deliver(*(b"Message-ID: <%d@example.org>\n" % number + mail for number in range(3)), mail)
    post.look()
    assert [r.state for r in post.requests()] == [RequestState.ACCEPTED]
    assert len([line for line in post.heard if "what is signed in it was" in line]) == 3


def test_a_mail_stays_new_until_what_it_asks_is_stored(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the power went")

    stored(post)
    with monkeypatch.context() as patched:
        patched.setattr(request_service, "take", broken)
        post.ask(TEST)
    assert post.requests() == []
    assert len(os.listdir(post.box / "new")) == 1
    assert any("RuntimeError" in line for line in post.heard)
    post.look()
    assert len(post.requests()) == 1
    assert os.listdir(post.box / "new") == []


def test_an_answer_that_was_cut_off_before_it_was_noted_goes_out_again_as_the_same(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the power went")

    stored(post)
    with monkeypatch.context() as patched:
        patched.setattr(series_mail.replies, "answered", broken)
        post.ask(TEST)
    first = post.answers()["1-receipt"]["Message-ID"]
    post.desk._later.clear()
    post.look()
    assert post.answers()["1-receipt"]["Message-ID"] == first
    assert post.requests()[0].receipt_at is not None


@pytest.mark.parametrize(
    ("sender", "sign", "why"),
    [
        ("One <one@example.org>", False, "nothing attests"),
        ("Two <two@example.org>", True, "signature is not two@example.org's"),
        ("Eve <eve@example.net>", False, "not on the list of senders"),
    ],
)
def test_whom_nothing_proves_waits_for_a_person_and_gets_no_answer(
    post: Post, sender: str, *, sign: bool, why: str
) -> None:
    stored(post)
    post.ask(f"{TEST}{FIX}", sign=sign, sender=sender)
    [request] = post.requests()
    assert (request.state, post.answers()) == (RequestState.WAITING, {})
    assert why in request.why
    assert any(why in line for line in post.heard)
    assert list(post.labels()) == ["v1"]


def test_a_person_may_carry_out_what_waits_or_set_it_aside(post: Post) -> None:
    stored(post)
    post.ask(f"{TEST}{FIX}", sign=False, sender="Eve <eve@example.net>")
    post.ask(TEST, sign=False, sender="Eve <eve@example.net>")
    with Session(post.engine) as session:
        row = request_service.find(session, 1)
        request_service.approve(session, row, post.desk.means(), row.mail_sha256[:16], "ann")
        request_service.ignore(session, request_service.find(session, 2))
        session.commit()
        with pytest.raises(InvalidInput, match="request 1 is accepted"):
            request_service.approve(session, row, post.desk.means(), row.mail_sha256)
        with pytest.raises(NotFound, match="no request 9"):
            request_service.find(session, 9)
    post.look()
    assert post.labels() == {"v1": "approved", "v1+fix-2": "approved"}
    assert list(post.answers()) == ["1-receipt"]
    with Session(post.engine) as session:
        retest = service.find_revision(session, "toys", "v1+fix-2")
        assert retest.approved_by == "eve@example.net, approved by ann"


def test_a_signed_mail_takes_the_place_of_a_forged_one_under_its_id(post: Post) -> None:
    stored(post)
    post.ask("#mitigauge stop\n", sign=False, ident="same")
    assert [r.state for r in post.requests()] == [RequestState.WAITING]
    post.ask(TEST, ident="same")
    post.ask("#mitigauge stop\n", sign=False, ident="same")
    assert [(r.asked, r.state) for r in post.requests()] == [("test", RequestState.ACCEPTED)]


def test_a_request_approves_no_patches_but_its_own(post: Post) -> None:
    """Which thread a mail answers is not signed: a copy of it may be sent to any thread."""
    stored(post, approve=False)
    post.ask(f"{TEST}{FIX}")
    post.ask(TEST)
    assert post.labels() == {"v1": "waiting", "v1+fix-2": "waiting"}
    # What a mail's sender made is the sender's, who acts by mail.
    [again] = entries(post.engine, "series.retest")
    assert (again.actor, again.way, again.subject) == ("one@example.org", "mail", "toys v1+fix-2")
    assert "a person here has to look at the patches of v1" in post.said("1-receipt")
    post.build()
    assert post.labels() == {"v1": "waiting", "v1+fix-2": "waiting"}


def test_the_same_fix_twice_is_one_retest_with_the_same_answer_to_both(post: Post) -> None:
    stored(post)
    post.ask(f"{TEST}{FIX}")
    post.ask(f"Hello,\n{TEST}---\n{FIX}-- \nOne\n")
    post.build()
    post.finish()
    post.look()
    post.ask(f"once more\n{TEST}{FIX}")
    assert list(post.labels()) == ["v1", "v1+fix-2"]
    assert sorted(post.answers()) == ["1-receipt", "1-result", "2-receipt", "2-result", "3-result"]
    texts = {post.said(f"{n}-result") for n in (1, 2, 3)}
    assert len(texts) == 1
    assert len({post.answers()[f"{n}-result"]["Message-ID"] for n in (1, 2, 3)}) == 3


def test_the_whole_series_is_measured_for_the_first_time_then_again(post: Post) -> None:
    stored(post)
    post.ask(TEST)
    post.ask(f"me too\n{TEST}")
    assert list(post.labels()) == ["v1"]
    post.build()
    post.finish()
    post.look()
    post.ask(f"and again\n{TEST}")
    post.ask(f"and again, please\n{TEST}")
    assert list(post.labels()) == ["v1", "v1+again-2"]
    post.build()
    post.finish()
    post.look()
    post.ask(f"a third time\n{TEST}")
    assert list(post.labels()) == ["v1", "v1+again-2", "v1+again-3"]


def test_one_that_failed_is_tried_again_when_it_is_asked_for(post: Post) -> None:
    stored(post)
    with Session(post.engine) as session:
        service.failed(session, service.find_revision(session, "toys", "v1"), "no disk")
        session.commit()
    post.ask(TEST)
    assert post.labels() == {"v1": "approved"}


def test_another_base_is_one_that_is_here_or_said_not_to_be(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"linux-source-7.2": "7.2.12-1", "linux-source-7.3": "7.3.1-1"}
    monkeypatch.setattr(series_mail, "known_bases", lambda _: known)
    stored(post)
    post.ask("#mitigauge test base 7.3\n")
    post.ask("#mitigauge test base 7.9\n")
    post.ask("#mitigauge test base 7.2.12-1\n")
    post.ask(f"#mitigauge test base 7.3.1-1\n{FIX}")
    assert list(post.labels()) == ["v1", "v1+base-2", "v1+fix-3"]
    assert "v1+base-2 of toys (on linux-source-7.3) on linux-source-7.3" in post.said("1-receipt")
    assert "the base 7.9 is not here; known: linux-source-7.2 7.2.12-1, linux" in post.said(
        "2-receipt"
    )
    assert "v1 of toys on linux-source-7.2 is built" in post.said("3-receipt")
    post.build()
    with post.engine.connect() as connection:
        built = connection.execute(text("select base, jsonb_array_length(patches) from kernel"))
        # v1 here and there, and there with the fix; what the fix stands on is built once.
        assert {(base.split()[0], patches) for base, patches in built} == {
            ("linux-source-7.2", 1),
            ("linux-source-7.3", 1),
            ("linux-source-7.3", 2),
        }


def test_a_fix_that_does_not_build_is_answered_with_file_and_line(post: Post) -> None:
    stored(post)
    post.ask(f"{TEST}{diff('toys/one.c', 'b', 'does not build')}")
    post.build()
    post.look()
    assert "v1+fix-2 of toys has no figures: patch 1: toys/one.c:2: no such toy" in post.said(
        "1-result"
    )
    assert [r.state for r in post.requests()] == [RequestState.DONE]


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_an_experiment_without_an_end_of_its_own_is_answered(post: Post, state: str) -> None:
    stored(post)
    post.ask(TEST)
    post.build()
    post.finish(state)
    with post.engine.begin() as connection:
        connection.execute(text("update run set error = 'its host is gone'"))
    post.look()
    assert f"its experiment was {state}: its host is gone" in post.said("1-result")


@pytest.mark.parametrize(
    ("body", "parent", "why"),
    [
        ("#mitigauge tset\n", "v1-0@example.org", "“#mitigauge tset” is no request"),
        (TEST, "elsewhere@example.org", "answers no patch series that is followed here"),
        (f"{TEST}{diff('../x', 'a', 'b')}", "v1-0@example.org", "touches '../x'"),
        (f"{TEST}{FIX.replace('+c', '!c')}", "v1-0@example.org", "cut off or damaged"),
    ],
)
def test_what_cannot_be_done_is_answered_with_why_and_with_what_would_be(
    post: Post, body: str, parent: str, why: str
) -> None:
    stored(post)
    post.ask(body, parent=parent)
    said = post.said("1-receipt")
    assert why in said
    assert "#mitigauge test base VERSION" in said
    assert [r.state for r in post.requests()] == [RequestState.REFUSED]
    assert list(post.labels()) == ["v1"]


def test_a_series_that_nothing_measures_is_said_to_be_one(post: Post) -> None:
    stored(post, spec="")
    post.ask(TEST)
    assert "nobody has said here yet by what" in post.said("1-receipt")


def test_any_mail_of_the_thread_may_be_answered(post: Post) -> None:
    stored(post)
    post.ask(TEST, parent="v1-1@example.org")
    post.ask(f"again\n{TEST}", parent="unknown@example.org",
             more="References: <v1-0@example.org> <unknown@example.org>")  # fmt: skip
    assert [r.about for r in post.requests()] == ["toys v1", "toys v1"]


@pytest.mark.parametrize(
    ("verb", "kind", "understood"),
    [
        ("which-patch", StudyKind.PATCH_COST, "each patch alone too, and what they run is counted"),
        ("select", StudyKind.SELECTION, "booted on emulated processors under each option"),
        ("variants", StudyKind.VARIANTS, "those that do as much of what protects are ranked"),
    ],
)
def test_a_mail_asks_for_a_study_and_gets_its_answer(
    post: Post, verb: str, kind: StudyKind, understood: str
) -> None:
    stored(post)
    if kind is StudyKind.VARIANTS:
        stored(post, number=2, what=diff("toys/other.c", "before", "after"))
    post.ask(f"#mitigauge {verb}\n")
    assert understood in post.said("1-receipt")
    with transaction(post.engine) as session:
        [study] = study_rows.of_revisions(session, [1])
        assert (study.kind, study.asked_by) == (kind, "one@example.org")
    post.look()
    assert list(post.answers()) == ["1-receipt"]
    with transaction(post.engine) as session:
        [study] = study_rows.of_revisions(session, [1])
        study.state, study.answer = StudyState.DONE, ["patch 1 costs 7", "  predicted: 3 ns"]
    post.look()
    assert "v1 of toys: - patch 1 costs 7 predicted: 3 ns" in post.said("1-result")
    assert [r.state for r in post.requests()] == [RequestState.DONE]


def test_a_study_that_failed_is_answered_with_why(post: Post) -> None:
    stored(post)
    post.ask("#mitigauge which-patch\n")
    with transaction(post.engine) as session:
        [study] = study_rows.of_revisions(session, [1])
        study.state, study.why = StudyState.FAILED, "the base has no kernel"
    post.look()
    assert "nothing can be said, failed: the base has no kernel." in post.said("1-result")


def test_of_patches_that_nobody_approved_nothing_is_built(post: Post) -> None:
    stored(post, approve=False)
    post.ask("#mitigauge which-patch\n")
    assert "Nothing is measured for it: toys v1 is waiting" in post.said("1-receipt")
    assert [r.state for r in post.requests()] == [RequestState.REFUSED]
    with transaction(post.engine) as session:
        assert study_rows.of_revisions(session, [1]) == []


def test_the_result_of_a_test_waits_for_what_else_the_revision_is_asked(post: Post) -> None:
    stored(post)
    post.ask(TEST)
    post.build()
    with transaction(post.engine) as session:
        revision = service.find_revision(session, "toys", "v1")
        studies.ask_of_new(session, revision, [StudyKind.SELECTION], asked_by="mitigauge")
    post.finish()
    post.look()
    assert list(post.answers()) == ["1-receipt"]
    with transaction(post.engine) as session:
        [study] = study_rows.of_revisions(session, [1])
        study.state, study.answer = StudyState.DONE, ["worse than asked, this revision: 14 cells"]
    post.look()
    said = post.said("1-result")
    assert "Beside these figures: - worse than asked, this revision: 14 cells" in said


def test_who_says_stop_hears_no_more_and_the_series_is_left_alone(post: Post) -> None:
    stored(post)
    post.ask(f"{TEST}{FIX}")
    post.ask("#mitigauge stop\n")
    assert "You get no more answers" in post.said("2-receipt")
    post.build()
    post.finish()
    post.look()
    post.ask(f"or not?\n{TEST}")
    assert sorted(post.answers()) == ["1-receipt", "2-receipt"]
    states = [r.state for r in post.requests()]
    assert states == [RequestState.DONE, RequestState.DONE, RequestState.IGNORED]
    with Session(post.engine) as session:
        revision = service.find_revision(session, "toys", "v1")
        assert repository.stopped_by(session, revision.series_id) == "one@example.org"
        receivers = answer(session, revision)
        assert receivers["To"] == "list@example.org"
        request_service.ignore(session, request_service.find(session, 2))
        session.commit()
    post.ask(f"again\n{TEST}")
    assert "4-receipt" in post.answers()


def test_an_unproven_stop_stops_nobody(post: Post) -> None:
    stored(post)
    post.ask("#mitigauge stop\n", sign=False)
    post.ask(TEST)
    assert list(post.answers()) == ["2-receipt"]


@pytest.mark.parametrize(
    "more", ["Auto-Submitted: auto-replied", "Return-Path: <>", "Precedence: auto_reply"]
)
def test_no_program_s_mail_is_carried_out_or_answered(post: Post, more: str) -> None:
    stored(post)
    post.ask(TEST, more=more)
    assert (post.requests(), post.answers()) == ([], {})
    assert os.listdir(post.box / "new") == []


def test_our_own_answers_delivered_to_us_end_there(post: Post) -> None:
    stored(post)
    post.ask(TEST)
    own = (post.out / "request-1-receipt.mail").read_bytes()
    unmarked = own.replace(b"Auto-Submitted: auto-replied\n", b"").replace(
        b"  #mitigauge", b"#mitigauge"
    )
    post.deliver(own, unmarked)
    post.look()
    assert len(post.requests()) == 1
    assert list(post.answers()) == ["1-receipt"]


def test_a_sender_has_so_many_a_day_and_is_told_so_once(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_service, "MOST_PER_DAY", 2)
    assert MOST_PER_DAY == 20
    stored(post)
    for number in range(5):
        post.ask(f"{number}\n{TEST}")
    assert [r.state for r in post.requests()] == ["accepted", "accepted", "refused"]
    assert "2 requests came from you within a day" in post.said("3-receipt")
    assert len(post.answers()) == 3
    with post.engine.begin() as connection:
        connection.execute(text("update series_request set received_at = now() - interval '25 h'"))
    post.ask(f"tomorrow\n{TEST}")
    assert post.requests()[-1].state == RequestState.ACCEPTED


def test_strangers_cannot_fill_the_database(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_service, "MOST_WAITING", 2)
    stored(post)
    for number in range(4):
        post.ask(TEST, sign=False, sender=f"{number}@example.net")
    post.ask(TEST)
    assert [r.state for r in post.requests()] == ["waiting", "waiting", "accepted"]
    assert len([line for line in post.heard if "wait for a person already" in line]) == 2


def test_what_is_no_mail_is_set_aside_unread(post: Post, tmp_path: Path) -> None:
    stored(post)
    secret = tmp_path / "secret"
    # A whole mail, so that nothing but the link is wrong with it.
    secret.write_bytes(raw_mail("Re: x", TEST, sender="Eve <eve@example.net>", ident="secret"))
    (post.box / "new" / "link").symlink_to(secret)
    os.mkfifo(post.box / "new" / "pipe")
    (post.box / "new" / "folder").mkdir()
    large = raw_mail("Re: x", TEST + "x" * (10 << 20), parent="v1-0@example.org")
    heads = b"X: y\n" * 60_000 + large[:500]
    post.deliver(large, heads, b"", b"\0\xff\xfe", b"From: one@example.org\n\n#mitigauge test\0\n")
    post.look()
    assert [r.state for r in post.requests()] == [RequestState.WAITING]
    assert os.listdir(post.box / "new") == []
    assert post.answers() == {}
    assert len([line for line in post.heard if "larger than 4 MiB" in line]) == 7
    with pytest.raises(NotFound, match="is no Maildir"):
        post.desk.look(tmp_path / "nowhere")


@pytest.mark.long("a confined reader for each of 200 mails")
def test_mails_that_cannot_be_dealt_with_stand_before_nobody(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 of them, older than a request: what used to raise, and a fault of ours besides."""
    stored(post)
    take = request_service.take

    def broken(
        session: Session, came: request_service.IncomingRequest, means: request_service.Means
    ) -> object:
        if "evil" in came.mail.body:
            raise RuntimeError("a bug")
        return take(session, came, means)

    monkeypatch.setattr(series_mail.request_service, "take", broken)
    odd = [b"Subject: =?utf-8?b?a?=\n\n", b"From: " + b"(" * 19_000 + b"\n\n"]
    evil = [raw_mail("evil", f"evil\n{TEST}", ident=f"evil-{n}") for n in range(5)]
    unread = [b"A: b\n" * 30_000 + b"\nx" for _ in range(5)]
    post.deliver(*odd * 95, *evil, *unread)
    for file in (post.box / "new").iterdir():
        os.utime(file, (1, 1))
    post.ask(TEST)
    post.look()
    post.look()
    assert [request.state for request in post.requests()] == ["accepted"]
    assert os.listdir(post.box / "new") == []
    with Session(post.engine) as session:
        said = faults.words(session, faults.MAILDIR)
    assert len(said) == 10
    assert sum("RuntimeError" in line for line in said) == 5
    assert sum("more than 2000 heads" in line for line in said) == 5


def test_a_fault_of_this_machine_sets_no_mail_aside(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    stored(post)
    with monkeypatch.context() as patched:
        patched.setattr(series_mail.request_service, "take", full)
        for _ in range(4):
            post.ask(TEST)
    assert len(os.listdir(post.box / "new")) == 4
    post.look()
    assert post.requests() != []
    assert os.listdir(post.box / "new") == []


def test_a_server_that_takes_nothing_is_asked_again_later_and_less(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(series_mail.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(series_mail.replies, "MOST_FAILURES", 3)
    post.desk = replace(post.desk, outbox=Outbox(None, "127.0.0.1:1", ROBOT))
    stored(post)
    post.ask(TEST)
    post.look()
    [request] = post.requests()
    assert (request.failures, request.state) == (1, RequestState.ACCEPTED)
    assert "127.0.0.1:1 did not take the mail" in request.error
    for _ in range(5):
        now[0] += 3600
        post.look()
    [request] = post.requests()
    assert (request.failures, request.why) == (3, "its answer could not be sent")


def test_a_refused_receiver_does_not_make_the_others_get_an_answer_again(post: Post) -> None:
    refuses = {"list@example.org": "550 closed list"}
    with mail_server(refuses=refuses) as server:
        box = Outbox(None, f"127.0.0.1:{server.port}", ROBOT, encrypted=False)
        post.desk = replace(post.desk, outbox=box)
        stored(post)
        post.ask(f"{TEST}\n{FIX}")
        post.build()
        post.finish()
        for _ in range(5):
            post.look()
        assert [got["X-RcptTo"] for got in server.handler.mails] == ["one@example.org"] * 2
    [request] = post.requests()
    assert request.state == RequestState.DONE
    assert "list@example.org" in request.error
    assert "550 closed list" in request.error


def test_a_server_that_drips_keeps_nobody_out(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.adapters.mail.WHOLE_S", 1.0)
    stored(post)
    with bad_server("greeting", "drips") as server, ThreadPoolExecutor(1) as threads:
        box = Outbox(None, server.address, ROBOT, encrypted=False)
        post.desk = replace(post.desk, outbox=box)
        post.ask(TEST)
        answers = threads.submit(post.desk.answer)
        with repository.alone(post.engine) as got:
            assert got
        answers.result(20)
    [request] = post.requests()
    assert "did not end within" in request.error


def test_two_who_read_the_same_mails_do_not_meet(post: Post) -> None:
    stored(post)
    with repository.alone(post.engine) as got:
        assert got
        post.ask(TEST)
    assert post.requests() == []
    post.look()
    assert len(post.requests()) == 1


def test_an_outbox_has_one_way_and_sends_only_where_it_is_told_a_server(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="say where answers go"):
        Outbox()
    with pytest.raises(InvalidInput, match="say where answers go"):
        Outbox(tmp_path, "mail.example.org", ROBOT)
    with pytest.raises(InvalidInput, match="no address to send from"):
        Outbox(None, "mail.example.org")


def test_the_commands_list_print_approve_and_set_aside(
    post: Post, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(post)
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: post.engine)
    monkeypatch.setenv("MITIGAUGE_HOME", str(post.desk.settings.home))
    get_settings.cache_clear()
    mail = raw_mail("Re: x\x1b[2J", f"{TEST}{FIX}", sender="Eve <eve@example.net>",
                    parent="v1-0@example.org")  # fmt: skip
    post.deliver(mail)
    post.look()
    assert "request 1 of eve@example.net: waiting" in " ".join(post.heard)
    command.requests(waiting=True)
    assert "mitigauge series approve --request 1" in " ".join(capsys.readouterr().out.split())
    command.requests(mail=1)
    shown = capsys.readouterr().out
    assert "+c" in shown
    assert "\x1b" not in shown
    with pytest.raises(InvalidInput, match="what is approved"):
        series_command.approve("toys", request=1)
    with pytest.raises(InvalidInput, match="not the mail that you looked at"):
        series_command.approve(request=1, mail_digest="0" * 16)
    [request] = post.requests()
    series_command.approve(request=1, mail_digest=request.mail_sha256[:16])
    assert "request 1 is accepted: v1+fix-2 is measured" in capsys.readouterr().out
    command.ignore(1)
    assert "request 1 of eve@example.net is ignored" in capsys.readouterr().out
    told = [(e.action, e.way, e.actor) for e in entries(post.engine) if e.subject_kind == "request"]
    me = person_at_command().name
    assert told == [
        ("request.decide", "mail", "eve@example.net"),
        ("request.approve", "command", me),
        ("request.ignore", "command", me),
    ]
    command.requests(json=True)
    [said] = json.loads(capsys.readouterr().out)
    assert (said["state"], said["about"]) == ("ignored", "toys v1+fix-2")
    get_settings.cache_clear()


def test_a_report_is_not_sent_to_a_series_that_wants_none(
    post: Post, monkeypatch: pytest.MonkeyPatch, server: Controller
) -> None:
    stored(post)
    post.ask("#mitigauge stop\n")
    post.build()
    post.finish()
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: post.engine)
    address = f"127.0.0.1:{server.port}"
    with pytest.raises(InvalidInput, match="asked that toys is not answered any more"):
        report.reply("toys", "", sender=ROBOT, send=address, plain_connection=True)
    assert server.handler.mails == []
