"""A digest in words: as a mail, and as JSON for a webhook. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Final

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.plain_text import neutralise, paragraph
from mitigauge.reporting.subscriptions.lines import DigestLine
from mitigauge.reporting.subscriptions.states import Source

NAME: Final = "Mitigauge"
COLUMNS: Final = 78
LONGEST_SUBJECT: Final = 150
LONGEST_LINE: Final = 400
PAGE: Final = "/?tab=subscriptions"
_REGRESSION: Final = Source.REGRESSION.value


@dataclass(frozen=True, slots=True)
class Told:
    """What a digest says. *base*: the dashboard's address, without a slash at its end."""

    id: int
    owner: str
    made_at: datetime
    lines: Sequence[DigestLine]
    left_out: int
    base: str

    @property
    def head(self) -> str:
        """Of one thing what it is, of several how many."""
        number = len(self.lines) + self.left_out
        if number == 1:
            return neutralise(f"{self.lines[0].title}: {self.lines[0].said}", LONGEST_SUBJECT)
        return counted(number, "thing") + " you wanted to hear of"


def body_of(told: Told) -> bytes:
    """What is sent to a webhook: JSON."""
    said = {
        "id": told.id,
        "made_at": told.made_at.isoformat(),
        "notices": [
            {
                "id": line.id,
                "at": line.at.isoformat(),
                "about": line.about,
                "title": line.title,
                "said": line.said,
                "url": told.base + line.path if told.base else "",
            }
            for line in told.lines
        ],
        "left_out": told.left_out,
    }
    return json.dumps(said, ensure_ascii=False).encode()


def mail_of(told: Told, *, sender: Address, to: Address) -> EmailMessage:
    """The digest as a mail. The same digest gives the same message-id."""
    message = EmailMessage(policy=SMTP.clone(max_line_length=78, cte_type="8bit"))
    message["From"], message["To"] = sender, to
    message["Subject"] = f"[{NAME}] {told.head}"
    message["Date"] = format_datetime(told.made_at.replace(microsecond=0))
    digest = hashlib.sha256(f"{told.id}/{to}/{told.base}".encode()).hexdigest()
    message["Message-ID"] = f"<digest.{told.id}.{digest[:24]}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    if told.base:
        message["List-Unsubscribe"] = f"<{told.base}{PAGE}>"
    message.set_content(text_of(told), cte="quoted-printable")
    return message


def text_of(told: Told) -> str:
    """The words of a mail."""
    parts: list[str] = []
    for line in told.lines:
        parts += paragraph(line.title, COLUMNS)
        said = f"{line.at:%Y-%m-%d %H:%M} UTC" + (f": {line.said}" if line.said else "")
        parts += [f"  {each}" for each in paragraph(said, COLUMNS - 2, LONGEST_LINE)]
        if told.base:
            parts.append(f"  {told.base}{line.path}")
        parts.append("")
    if told.left_out:
        parts += [f"and {told.left_out} more.", ""]
    where = told.base + PAGE if told.base else "the page Subscriptions of the dashboard"
    parts += [
        f"{neutralise(told.owner)} subscribed to this. It ends at",
        f"{where}, or by `mitigauge subscription remove`.",
    ]
    return "\n".join(parts) + "\n"
