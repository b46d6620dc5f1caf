"""Following series in a real list archive: new revisions come once, and run where they may."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from cli import series as command
from cli import try_patches as trying
from mitigauge.core.errors import MitigaugeError, NotFound
from mitigauge.core.settings import get_settings
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import faults, service
from mitigauge.tracking.series.feed import Entry
from mitigauge.tracking.series.listing import view_of
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions
from mitigauge.tracking.series.states import Attested, RevisionState
from mitigauge.tracking.series.tables import ListArchive
from pipelines.adapters.archive import Archive, ArchiveAway, BadThread, Validators
from pipelines.adapters.attestation import attested
from pipelines.series_watch import Watcher
from tests.db.test_series import Pretended
from tests.inbox import Inbox, inbox
from tests.series_mails import CHANGE_ID, diff, raw_mail, raw_series, series
from tests.signing import developer, ring, signed

ONE, TWO, THREE = (diff("toys/one.c", "a", now) for now in "bcd")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A developer's home with a key of one@example.org; its public half is the keyring."""
    return developer(tmp_path_factory.mktemp("developer"))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inbox]:
    with inbox(tmp_path_factory.mktemp("inbox")) as served:
        yield served


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def watcher(engine: Engine, tmp_path: Path, keys: Path, heard: list[str]) -> Watcher:
    settings = get_settings().model_copy(
        update={"senders": "one@example.org, two@example.org", "keyring": str(ring(keys))}
    )
    builder = Pretended(tmp_path, engine, blob_store(settings))
    return Watcher(builder, settings, heard.append, interval_s=10)


def watched(engine: Engine, archive: Inbox, change_id: str) -> str:
    """Store v1 of a series and have it watched; its name."""
    with Session(engine) as session:
        found = revisions(series(1, [ONE], change_id=change_id))
        wanted = SeriesOptions("toys", "vmscape", archive=archive.url)
        service.add(session, found, blob_store(get_settings()), wanted=wanted)
        session.commit()
    return "toys"


def labels(engine: Engine) -> dict[str, str]:
    with Session(engine) as session:
        return {r.label: r.state for r in service.find(session, "toys").revisions}


def waiting_mails(engine: Engine, archive: Inbox) -> int:
    """Of how many mails the archive's others are still coming."""
    with Session(engine) as session:
        return len(session.get_one(ListArchive, archive.url).pending)


def at_once(engine: Engine) -> None:
    """The next look is due now."""
    with engine.begin() as connection:
        connection.execute(text("update list_archive set next_look_at = null"))


def look_until(engine: Engine, watcher: Watcher, there: Callable[[], object]) -> None:
    """Look again and again: an archive's search may lag behind what was delivered."""
    deadline = time.monotonic() + 30
    watcher.look()
    while not there() and time.monotonic() < deadline:
        time.sleep(0.2)
        at_once(engine)
        watcher.look()


def test_a_new_revision_comes_once_and_waits_for_a_person(
    engine: Engine, archive: Inbox, watcher: Watcher, heard: list[str]
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-a")
    archive.add(*raw_series(2, [TWO], change_id=f"{CHANGE_ID}-a"))
    look_until(engine, watcher, lambda: "v2" in labels(engine))
    at_once(engine)
    watcher.look()
    assert labels(engine) == {"v1": "waiting", "v2": "waiting"}
    [line] = heard
    assert line.startswith("toys v2: waiting: one@example.org is on the list of senders, but")
    watcher.start()
    assert labels(engine)["v2"] == "waiting"


def test_one_that_is_signed_by_who_may_is_built_and_measured_unasked(
    engine: Engine, archive: Inbox, watcher: Watcher, keys: Path, heard: list[str]
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-b")
    archive.add(*signed(keys, raw_series(3, [TWO], change_id=f"{CHANGE_ID}-b")))
    look_until(engine, watcher, lambda: "v3" in labels(engine))
    assert labels(engine)["v3"] == RevisionState.APPROVED
    watcher.start()
    assert labels(engine)["v3"] == RevisionState.MEASURING
    watcher.start()
    assert len([line for line in heard if "measured by experiment" in line]) == 1


def test_an_archive_is_asked_only_when_it_is_due(
    engine: Engine, archive: Inbox, watcher: Watcher
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-c")
    watcher.look()
    archive.add(*raw_series(4, [TWO], change_id=f"{CHANGE_ID}-c"))
    watcher.look()
    assert "v4" not in labels(engine)
    at_once(engine)
    look_until(engine, watcher, lambda: "v4" in labels(engine))
    assert "v4" in labels(engine)


@pytest.mark.long("an archive that takes in 30 mails, each a process")
def test_what_came_and_went_between_two_looks_is_searched_for(
    engine: Engine, archive: Inbox, watcher: Watcher
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-k")
    watcher.look()
    archive.add(*raw_series(21, [TWO], change_id=f"{CHANGE_ID}-k"))
    talk = (raw_mail(f"talk {n}", "x", when=f"2026-11-03T10:{n:02}") for n in range(30))
    archive.add(*talk)
    at_once(engine)
    look_until(engine, watcher, lambda: "v21" in labels(engine))
    assert "v21" in labels(engine)


def test_a_search_that_lags_behind_the_feed_is_asked_again(
    engine: Engine, archive: Inbox, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-m")
    archive.add(*raw_series(23, [TWO], change_id=f"{CHANGE_ID}-m"))
    search = Archive.search
    monkeypatch.setattr(Archive, "search", lambda _self, _title: [])
    watcher.look()
    assert "v23" not in labels(engine)
    monkeypatch.setattr(Archive, "search", search)
    at_once(engine)
    look_until(engine, watcher, lambda: "v23" in labels(engine))
    assert "v23" in labels(engine)


def test_a_revision_whose_mails_are_still_coming_is_waited_for(
    engine: Engine, archive: Inbox, watcher: Watcher
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-d")
    *first, last = raw_series(5, [TWO, THREE], change_id=f"{CHANGE_ID}-d")
    archive.add(*first)
    look_until(engine, watcher, lambda: waiting_mails(engine, archive))
    assert "v5" not in labels(engine)
    archive.add(last)
    at_once(engine)
    look_until(engine, watcher, lambda: "v5" in labels(engine))
    assert labels(engine)["v5"] == "waiting"


def test_one_that_stays_incomplete_is_refused_and_its_number_stays_free(
    engine: Engine, archive: Inbox, watcher: Watcher
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-e")
    *first, last = raw_series(6, [TWO, THREE], change_id=f"{CHANGE_ID}-e")
    archive.add(*first)
    look_until(engine, watcher, lambda: waiting_mails(engine, archive))
    with Session(engine) as session:
        row = session.get_one(ListArchive, archive.url)
        long_ago = datetime.now(UTC) - timedelta(hours=2)
        row.pending = dict.fromkeys(row.pending, long_ago)
        row.next_look_at = None
        session.commit()
    watcher.look()
    assert labels(engine)["v6"] == "refused"
    with Session(engine) as session:
        assert "patch 2 of 2 is missing" in service.find_revision(session, "toys", "v6").why
        whole = revisions([mail_of(raw) for raw in [*first, last]])
        [again] = service.add(session, whole, blob_store(get_settings()))
        assert again.state == RevisionState.WAITING


def test_a_forged_sender_does_not_run_and_does_not_take_the_number(
    engine: Engine, archive: Inbox, watcher: Watcher, keys: Path
) -> None:
    change_id = f"{CHANGE_ID}-f"
    watched(engine, archive, change_id)
    archive.add(*raw_series(7, [THREE], change_id=change_id))
    look_until(engine, watcher, lambda: "v7" in labels(engine))
    assert labels(engine)["v7"] == "waiting"
    with Session(engine) as session:
        mails = [mail_of(raw) for raw in signed(keys, raw_series(7, [TWO], change_id=change_id))]
        said = dict.fromkeys((mail.message_id for mail in mails), Attested.PASS)
        service.add(session, revisions(mails), blob_store(get_settings()),
                    trust=service.Trust(["one@example.org"], said))  # fmt: skip
        session.commit()
        states = [r.state for r in service.find(session, "toys").revisions if r.number == 7]
    assert states == ["refused", "approved"]


def test_another_archive_s_fault_stops_nothing(
    engine: Engine, archive: Inbox, watcher: Watcher, heard: list[str]
) -> None:
    watched(engine, archive, f"{CHANGE_ID}-g")
    with Session(engine) as session:
        found = revisions(series(1, [ONE], change_id="20261101-broken-1"))
        wanted = SeriesOptions("broken", archive="http://127.0.0.1:1/broken")
        service.add(session, found, blob_store(get_settings()), wanted=wanted)
        session.commit()
    archive.add(*raw_series(8, [TWO], change_id=f"{CHANGE_ID}-g"))
    watcher.look()
    with Session(engine) as session:
        row = session.get_one(ListArchive, "http://127.0.0.1:1/broken")
        assert row.failures == 1
        assert "did not answer" in row.error
        assert row.next_look_at is not None
        view = view_of(session, service.find(session, "broken"))
        assert view.archive_error == row.error
        assert view.looked_at is not None
    look_until(engine, watcher, lambda: "v8" in labels(engine))
    assert labels(engine)["v8"] == "waiting"
    assert any("127.0.0.1:1/broken did not answer" in line for line in heard)


@pytest.mark.parametrize(
    ("fault", "looks"),
    [(BadThread("it is no gzip"), 2), (RuntimeError("a bug"), 2), (ArchiveAway("500"), 3)],
)
def test_one_thread_s_fault_does_not_fail_its_archive(
    engine: Engine, archive: Inbox, watcher: Watcher, heard: list[str], fault: Exception,
    looks: int, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    change_id = f"{CHANGE_ID}-t{looks}{type(fault).__name__}"
    n = 30 + looks + isinstance(fault, RuntimeError)
    n += 5 * isinstance(fault, ArchiveAway)
    thread = Archive.thread

    def broken(self: Archive, message_id: str) -> bytes:
        if message_id == "evil@example.org":
            raise fault
        return thread(self, message_id)

    monkeypatch.setattr(Archive, "thread", broken)
    monkeypatch.setattr(faults, "MOST_AWAY", 3)
    watched(engine, archive, change_id)
    evil = raw_mail("[PATCH v9 0/1] toys: Mend them", "x", ident="evil")
    feed = [
        Entry(f"{ident}@example.org", f"[PATCH v{n} 0/1] toys: Mend them", "one@example.org")
        for ident in ("evil", f"v{n}-0")
    ]
    monkeypatch.setattr(Archive, "new", lambda *_: (feed, Validators()))
    archive.add(evil, *raw_series(n, [TWO], change_id=change_id))
    look_until(engine, watcher, lambda: f"v{n}" in labels(engine))
    for _ in range(looks):
        at_once(engine)
        watcher.look()
    assert labels(engine)[f"v{n}"] == "waiting"
    with Session(engine) as session:
        row = session.get_one(ListArchive, archive.url)
        assert (row.failures, row.error) == (0, "")
        assert "evil@example.org" in row.seen
        [line] = view_of(session, service.find(session, "toys")).set_aside
    assert line.startswith("evil@example.org")
    assert any("evil@example.org: set aside" in said for said in heard)


def test_a_fault_of_ours_stops_nothing_either(
    engine: Engine, archive: Inbox, watcher: Watcher, heard: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    watched(engine, archive, f"{CHANGE_ID}-h")
    monkeypatch.setattr(Archive, "new", broken)
    watcher.look()
    assert any("RuntimeError" in line for line in heard)


def test_a_build_that_fails_stops_no_other(
    engine: Engine, archive: Inbox, watcher: Watcher, heard: list[str]
) -> None:
    with Session(engine) as session:
        for number, body in enumerate(("does not build", "b"), 1):
            found = revisions(
                series(1, [diff("toys/one.c", "a", body)], change_id=f"toys-{number}")
            )
            [revision] = service.add(
                session,
                found,
                blob_store(get_settings()),
                wanted=SeriesOptions(f"s{number}", "vmscape"),
            )
            service.approve(session, revision)
        session.commit()
    watcher.start()
    with Session(engine) as session:
        states = [service.find_revision(session, name, "").state for name in ("s1", "s2")]
    assert states == ["failed", "measuring"]
    assert any("no such toy" in line for line in heard)


def test_a_series_is_added_by_the_message_id_of_any_of_its_mails(
    engine: Engine, archive: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.add(*raw_series(9, [TWO, THREE], change_id=f"{CHANGE_ID}-i"))
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    command.add(["v9-2@example.org"], name="nine", archive=archive.url)
    with Session(engine) as session:
        found = service.find(session, "nine")
        assert (found.watched, found.archive) == (True, archive.url)
        assert [r.label for r in found.revisions] == ["v9"]
    with pytest.raises(NotFound, match=r"does not have the thread of nothing@example\.org"):
        command.add(["nothing@example.org"], archive=archive.url)


def test_what_is_tried_by_a_message_id_is_its_thread_s_latest_revision(archive: Inbox) -> None:
    archive.add(*raw_series(11, [TWO, THREE], change_id=f"{CHANGE_ID}-j"))
    words = ["v11-1@example.org"]
    label, patches = trying._patches(words, trying._revision(words, archive.url))
    assert label == "v11"
    assert [patch.text for patch in patches] == [TWO, THREE]
    archive.add(*raw_series(12, [TWO, THREE], change_id=f"{CHANGE_ID}-j")[:-1])
    with pytest.raises(MitigaugeError, match="v12 is not whole: patch 2 of 2 is missing"):
        trying._revision(["v12-1@example.org"], archive.url)


def test_only_the_sender_s_own_key_attests(keys: Path, tmp_path: Path) -> None:
    one, other = (
        raw_series(1, [ONE], sender=f"N <{who}@example.org>")[1] for who in ("one", "other")
    )
    good = mail_of(signed(keys, [one])[0])
    bad = mail_of(good.raw.replace(b"+b", b"+x"))
    # A good signature of one@example.org under somebody else's From, which it does not name.
    foreign = mail_of(signed(keys, [other])[0])
    plain = mail_of(one)

    def of(mail: Mail, where: Path | None = None) -> Attested:
        return attested([mail], where or ring(keys))[mail.message_id]

    assert of(good) == Attested.PASS
    assert of(bad) == Attested.FAIL
    assert of(foreign) == Attested.FAIL
    assert of(plain) == Attested.MISSING
    (tmp_path / "none").mkdir()
    assert of(good, tmp_path / "none") == Attested.MISSING


def test_a_signed_mail_inside_a_mail_attests_nothing(keys: Path) -> None:
    [good] = signed(keys, [raw_series(1, [ONE])[1]])
    outer = raw_series(1, [TWO])[1]
    forged = mail_of(outer + b"\n\nFrom a\n" + good)
    assert forged.sender.address == "one@example.org"
    assert attested([forged], ring(keys))[forged.message_id] != Attested.PASS


@pytest.mark.parametrize(
    "form",
    [
        # For git the text begins at the boundary; for a reader of the first head there is none.
        "Content-Type: text/plain\nContent-Type: multipart/mixed; boundary=b\n\n{other}\n--b\n\n"
        "{body}\n--b--\n",
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n{other}\n--b\n\n{body}\n--b--\n",
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n{body}\n--b\n\n{other}\n--b--\n",
        "\n{other}\n{body}",
        "\n{body}\n{other}",
    ],
)
def test_text_that_no_signature_covers_attests_nothing(keys: Path, form: str) -> None:
    """What is signed is what git reads of a mail; a reader of ours must not see other text."""
    [good] = signed(keys, [raw_series(1, [ONE])[1]])
    head, body = good.decode().split("\n\n", 1)
    other = raw_series(1, [TWO])[1].decode().split("\n\n", 1)[1]
    mail = mail_of(f"{head}\n{form.format(body=body, other=other)}".encode())
    assert attested([mail], ring(keys))[mail.message_id] != Attested.PASS


QUOTED = "Content-Type: text/plain; charset={}\nContent-Transfer-Encoding: quoted-printable"


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (f"From: Two <two@example.org>\n\nGrüße.\n---\n{ONE}-- \n2.47\n", ""),
        (f"From: Two <two@example.org>\nSubject: a long\n title\n\nWhy.\n---\n{ONE}", ""),
        (f"\n\nWhy.\n\n{ONE}\n\n", "Content-Type: text/plain; charset=utf-8"),
        (f"Gr=C3=BC=\n=C3=9Fe.\n---\n{ONE}", QUOTED.format("utf-8")),
        (f"Gr=FC=DFe.\n---\n{ONE}", QUOTED.format("iso-8859-1")),
        ("#mitigauge test\n", ""),
        ("> On Monday:\n> #mitigauge stop\n\n#mitigauge test\n", "X-Other: x"),
        (f"--b\nContent-Type: text/plain\n\nHere.\n--b\nContent-Type: text/x-patch\n\n"
         f"{ONE}\n--b--\n", "Content-Type: multipart/mixed; boundary=b"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_mails_as_people_sign_them_are_attested(
    keys: Path, body: str, more: str, end: bytes
) -> None:
    raw = raw_mail("[PATCH v2 1/3] toys: Mend toy", body, more=more)
    mail = mail_of(signed(keys, [raw])[0].replace(b"\n", end))
    assert attested([mail], ring(keys))[mail.message_id] == Attested.PASS
    assert [text for text in (mail.body, *mail.attached) if text]
