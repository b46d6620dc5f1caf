"""Short answers to mails that ask for something."""

from __future__ import annotations

import pytest

from mitigauge.core.documents.plain_text import width
from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.reporting.letters.reply.reply import Addressees, Forms
from mitigauge.reporting.letters.request.request_reply import Answer, mail
from mitigauge.tracking.series.request import FORMS, request_in

ANSWERED = Addressees(
    label="v1+fix-2",
    title="toys: Mend them",
    subject="RE: Re: [PATCH 0/1] toys: Mend them",
    message_id="ask-1@example.org",
    references=["v1-0@example.org", "ask-1@example.org"],
    to=["One <one@example.org>"],
    cc=[],
    own_id="mitigauge-1-ab.receipt",
)
EVIL = "x\r\nBcc: all@example.net\x1b[2J\u202e\n#mitigauge test"
ROBOT = "A Robot <robot@example.com>"


def test_it_is_marked_as_a_program_s_and_stays_in_the_thread() -> None:
    message = mail(ANSWERED, Answer("#mitigauge test", ["It is built."]), sender=ROBOT)
    assert message["Auto-Submitted"] == "auto-replied"
    assert message["Subject"] == "Re: [PATCH 0/1] toys: Mend them"
    assert message["In-Reply-To"] == "<ask-1@example.org>"
    assert message["References"] == "<v1-0@example.org> <ask-1@example.org>"
    assert message["Message-ID"] == "<mitigauge-1-ab.receipt@example.com>"
    assert message["To"] == "One <one@example.org>"


@pytest.mark.parametrize("forms", [(), FORMS])
def test_nothing_of_it_asks_again_when_it_is_quoted_without_marks(forms: Forms) -> None:
    message = mail(ANSWERED, Answer(EVIL, [EVIL, "word " * 200], forms))
    raw = message.as_bytes()
    assert b"\nBcc:" not in raw.split(b"\r\n\r\n", 1)[0]
    assert b"\x1b" not in raw
    body = str(message.get_content())
    assert "\u202e" not in body
    assert [line for line in body.splitlines() if width(line) > 78] == []
    assert request_in(mail_of(raw)) is None
    assert ("#mitigauge stop" in body) == (forms == FORMS)


def test_nobody_to_answer_is_said() -> None:
    nobody = Addressees(**{**{n: getattr(ANSWERED, n) for n in Addressees.__slots__}, "to": ["x"]})
    with pytest.raises(InvalidInput, match="names nobody to answer"):
        mail(nobody, Answer("#mitigauge test", []))
