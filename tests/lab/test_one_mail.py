"""One mail starts a series' test and its studies; the answer to it names what is wrong.

Ten patches: the second makes each system call longer, the seventh leaves an option unheard. Some
fifteen boots with a system, a dozen kernels and 128 boots without: an hour where nothing else runs.
"""

from __future__ import annotations

import mailbox
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string, policy
from pathlib import Path

import orjson
import pytest
from sqlalchemy import Engine

from mitigauge.core.settings import REPOSITORY
from tests.lab.conftest import LabOf
from tests.lab.service_process import Service, said, served
from tests.mail_server import mail_server
from tests.series_mails import raw_mail
from tests.signing import developer, ring, signed

pytestmark = pytest.mark.lab

NAME, SPEC = "one-mail", "bhb-loop"
SERIES = REPOSITORY / "tests" / "series"
COVER = "20261128-ten-test-v1-0@example.org"
COSTLY, COSTS, TITLE = 2, 4, "x86/entry: Leave room at each system call"


@dataclass(frozen=True)
class Desk:
    """A worker that reads a Maildir, and the mails that it sent."""

    service: Service
    box: mailbox.Maildir
    home: Path
    sent: list[str]

    def letters(self) -> list[str]:
        """Words of the mails that were sent, the receipt first."""
        mails = [message_from_string(str(each), policy=policy.default) for each in self.sent]
        return [str(each.get_content()) for each in mails]


@pytest.fixture
def mails(tmp_path: Path) -> Path:
    """Ten mails and their letter, some of which stand in place of those of `ten`."""
    made = tmp_path / "mails"
    made.mkdir()
    for name in ("ten", "bhi-choice"):
        for mail in (SERIES / name).glob("*.patch"):
            for old in made.glob(f"{mail.name[:4]}-*"):
                old.unlink()
            (made / mail.name).write_bytes(mail.read_bytes())
    return made


@pytest.fixture
def desk(lab_of: LabOf, module_engine: tuple[Engine, str], tmp_path: Path) -> Iterator[Desk]:
    lab_of("lab-intel")
    home = developer(tmp_path / "developer")
    box = mailbox.Maildir(tmp_path / "box", create=True)
    with mail_server() as smtp:
        policy_of_service = {
            "MITIGAUGE_MAILDIR": str(tmp_path / "box"),
            "MITIGAUGE_SENDERS": "one@example.org",
            "MITIGAUGE_KEYRING": str(ring(home)),
            "MITIGAUGE_STUDIES": "selection,patch-cost",
            "MITIGAUGE_MAIL_SERVER": f"127.0.0.1:{smtp.port}",
            "MITIGAUGE_MAIL_FROM": "A Robot <robot@example.com>",
            "MITIGAUGE_MAIL_ENCRYPTED": "false",
        }
        with served(module_engine, tmp_path / "worker.log", policy_of_service) as service:
            yield Desk(service, box, home, smtp.handler.mails)


def test_one_mail_is_answered_with_the_fault_the_patch_and_its_price(
    desk: Desk, mails: Path
) -> None:
    began = time.monotonic()
    desk.service.command("series", "add", str(mails), "--name", NAME, "--spec", SPEC)
    # Its patches are not signed, so a person has looked at them.
    shown = orjson.loads(desk.service.command("series", "show", NAME, "v1", "--json"))
    desk.service.command("series", "approve", NAME, "v1", shown["digest"])
    asks = raw_mail(
        "Re: [PATCH 0/10] Ten small patches, of which one costs", "#mitigauge test\n",
        sender="One <one@example.org>", ident="ask-1", parent=COVER, to="robot@example.com",
    )  # fmt: skip
    [mail] = signed(desk.home, [asks])
    desk.box.add(mail)

    desk.service.wait("receipt", lambda: len(desk.sent) > 0)
    print(desk.letters()[0])
    desk.service.wait("answer", lambda: len(desk.sent) > 1)
    answer = desk.letters()[1]
    print(answer)
    said(f"one mail to its answer: {time.monotonic() - began:.0f} s")

    assert_answers(answer)


def assert_answers(answer: str) -> None:
    lines = answer.splitlines()
    assert len(lines) <= 60
    assert [line.partition("?")[0] for line in lines[:3]] == ["Worse", "Where", "Sure"]
    assert lines[0].startswith("Worse?  yes: syscall basic +")
    said = " ".join(answer.split())
    assert "worse than asked, this revision: Vulnerable, but SW loop" in said
    assert "mitigations=auto,no_guest_host spectre_bhi=on" in said
    assert f"patch {COSTLY} '{TITLE}': exactly +{COSTS} instructions an operation" in said
    assert len(set(re.findall(r"predicted for ([^:]+):", said))) >= 2
    assert "patches 1, 3-10: nothing in any of these cases" in said
