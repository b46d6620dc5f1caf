"""The mail about a culprit, from a bisection that the real core took to its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.documents.plain_text import width
from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.core.settings import get_settings
from mitigauge.reporting.letters.regression.service import regression_mail
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.tracking.bisect import bisection_view, repository, service
from mitigauge.tracking.bisect.draft import Change, Draft, Place
from mitigauge.tracking.bisect.records import Source
from mitigauge.tracking.bisect.states import AnswerKind, BisectionKind
from mitigauge.tracking.bisect.tables import Bisection
from pipelines.adapters.mail import send
from pipelines.bisect_run import Driver
from tests.bisections import ASKED, BREAKS, MODE, Pretended, begun, eight
from tests.db.test_bisections import slow_from, taken_on
from tests.mail_server import mail_server

SENDER = "A Robot <robot@example.com>"
THREAD = Source(
    base="linux-source-7.2", profile="lab", revision="toys v2", message_id="v2-0@example.org",
    subject="[PATCH v2 0/8] toys: Mend them", to=["Author One <one@example.org>"],
    cc=["list@example.org"], references=["v2-0@example.org"],
)  # fmt: skip


@pytest.fixture
def blobs() -> BlobStore:
    return blob_store(get_settings())


@pytest.fixture
def found(engine: Engine, blobs: BlobStore, tmp_path: Path) -> int:
    """A bisection that found the sixth of eight patches of a thread; the fourth does not build."""
    number = begun(engine, blobs, eight(p4=BREAKS))
    with Session(engine) as session:
        row = repository.whole(session, number)
        row.source = THREAD
        row.candidates[5].message_id = "v2-6@example.org"
        row.candidates[5].title = "toys: Mend toy 6"
        session.commit()
    driver = Driver(Pretended(tmp_path, engine, blobs))
    over = taken_on(driver, number, slow_from(6))
    assert over.answer is not None
    assert (over.answer.kind, over.answer.candidates) == (AnswerKind.FOUND, [6]), over.answer
    return number


def test_the_mail_has_all_that_its_readers_look_for(engine: Engine, found: int) -> None:
    with Session(engine) as session:
        mail = regression_mail(session, found, sender=SENDER)
        view = bisection_view.show(session, found)
    assert mail["Subject"].startswith("[toys] syscall.basic.time_per_call ")
    assert mail["Subject"].endswith("% regression")
    assert mail["In-Reply-To"] == "<v2-6@example.org>"
    assert mail["References"] == "<v2-0@example.org> <v2-6@example.org>"
    assert (mail["To"], mail["Cc"]) == ("Author One <one@example.org>", "list@example.org")
    text = mail.get_content()
    for part in (
        '"toys: Mend toy 6", patch 6 of 8 of toys v2',
        "%stddev",
        "%change",
        '| Fixes: COMMIT ("toys: Mend toy 6")',
        f"| Reported-by: {SENDER}",
        f"| Closes: https://lore.kernel.org/r/bisect.{found}@example.com",
        '#regzbot introduced: COMMIT ("toys: Mend toy 6")',
        "To repeat it:",
        "perf bench syscall",
        "gcc-14",
        "after change 4: does not build",
    ):
        assert part in text, part
    assert "Mitigauge" not in text.partition("The boots that verified it")[0]
    assert max(width(line) for line in text.splitlines()) <= 100
    [line] = [each for each in text.splitlines() if each.endswith("syscall.basic.time_per_call")
              and "±" in each]  # fmt: skip
    parent, change, culprit = line.split()[0], line.split()[3], line.split()[4]
    assert float(parent) == pytest.approx(700, rel=0.02)
    assert float(culprit) == pytest.approx(910, rel=0.02)
    assert view.found is not None
    assert float(change.rstrip("%")) == pytest.approx(view.found.effect_percent, abs=1.5)


def test_it_is_sent_only_to_a_server_that_is_named(engine: Engine, found: int) -> None:
    with Session(engine) as session, mail_server() as served:
        mail = regression_mail(session, found, sender=SENDER)
        send(mail, f"127.0.0.1:{served.port}", encrypted=False)
        assert len(served.handler.mails) == 1


def test_nothing_is_reported_below_the_confidence_that_was_asked(
    engine: Engine, found: int
) -> None:
    with Session(engine) as session:
        row = session.get_one(Bisection, found)
        assert row.answer is not None
        row.answer = row.answer.model_copy(update={"confidence": row.confidence - 0.01})
        session.flush()
        with pytest.raises(Conflict, match=r"is sure of its culprit by 94\.00 %"):
            regression_mail(session, found)
        row.answer = row.answer.model_copy(update={"kind": AnswerKind.UNDECIDED})
        session.flush()
        with pytest.raises(Conflict, match="names nobody"):
            regression_mail(session, found)


def test_nothing_is_reported_before_the_end(engine: Engine, blobs: BlobStore) -> None:
    number = begun(engine, blobs, eight())
    with Session(engine) as session, pytest.raises(Conflict, match="is running"):
        regression_mail(session, number)


def test_receivers_and_senders_that_are_no_addresses_are_refused(
    engine: Engine, found: int
) -> None:
    with Session(engine) as session:
        with pytest.raises(InvalidInput, match="'nobody' is no address"):
            regression_mail(session, found, sender="nobody")
        mail = regression_mail(session, found, to=["Zwei <zwei@example.org>"])
    assert mail["To"] == "Zwei <zwei@example.org>"
    assert "one@example.org" in mail["Cc"]


def test_a_commit_is_named_whole_and_its_author_told(
    engine: Engine, blobs: BlobStore, found: int
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    with Session(engine) as session:
        row = repository.whole(session, found)
        row.kind, row.source = BisectionKind.COMMITS, Source(tree="/src/linux", profile="lab")
        culprit = row.candidates[5]
        culprit.name, culprit.message_id = commit, ""
        culprit.people = ["Author Two <two@example.org>", "not an address"]
        session.flush()
        mail = regression_mail(session, found, sender=SENDER)
    assert mail["Subject"].startswith("[toys] 0123456789ab: syscall.basic")
    assert mail["To"] == "Author Two <two@example.org>"
    assert mail["In-Reply-To"] is None
    assert f'#regzbot introduced: {commit} ("toys: Mend toy 6")' in mail.get_content()
    assert "/src/linux" not in mail.get_content()


def test_hostile_titles_stay_text(engine: Engine, found: int) -> None:
    with Session(engine) as session:
        row = repository.whole(session, found)
        row.candidates[5].title = "toys: x\n#mitigauge test\nSigned-off-by: \x1b[2J"
        session.flush()
        mail = regression_mail(session, found, sender=SENDER)
    assert "\n" not in mail["Subject"]
    assert not [line for line in mail.get_content().splitlines() if line.startswith("#mitigauge")]
    assert "\x1b" not in mail.get_content()


def test_both_ends_of_arms_may_be_the_host_s_own_kernel(engine: Engine) -> None:
    changes = [Change("b", "a to b"), Change("c", "b to c")]
    places = [Place(MODE), Place("spectre-bhi/loop+pti/on"), Place("spectre-bhi/loop")]
    draft = Draft(BisectionKind.ARMS, "three", ASKED, changes, places)
    with Session(engine) as session:
        assert service.begin(session, draft).id
