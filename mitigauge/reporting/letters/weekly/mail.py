"""A weekly report as a mail: plain text and HTML. Pure.

The same report gives the same bytes: what a mail program would draw at random (message-id,
boundaries) or take from a clock follows from the content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.mails.mail import address_of
from mitigauge.reporting.letters.weekly.document import Document
from mitigauge.reporting.letters.weekly.html import render_html
from mitigauge.reporting.letters.weekly.text import render_text

# A name that no server resolves, for a report that is written and not sent.
NOWHERE = "mitigauge.invalid"
NAME = "Mitigauge"


def mail(
    document: Document,
    *,
    dated: datetime,
    sender: str = "",
    to: Sequence[str] = (),
    base: str = "",
) -> EmailMessage:
    """The report as a mail of the moment *dated*.

    Raises :class:`InvalidInput` for what is no address.
    """
    source = addressed(sender) if sender else Address(NAME, "weekly", NOWHERE)
    receivers = [addressed(each) for each in to]
    digest = hashlib.sha256(
        "\0".join([document.model_dump_json(), base, str(source), *map(str, receivers)]).encode()
    ).hexdigest()
    message = EmailMessage(policy=SMTP.clone(max_line_length=78, cte_type="8bit"))
    message["From"] = source
    if receivers:
        message["To"] = receivers
    message["Subject"] = document.subject
    message["Date"] = format_datetime(dated.replace(microsecond=0))
    message["Message-ID"] = f"<weekly.{document.week}.{digest[:24]}@{source.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(render_text(document), cte="quoted-printable")
    html = render_html(document, base=base)
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    # A boundary follows from the content, too.
    message.set_boundary(f"==0={digest[24:48]}==")
    return message


def addressed(text: str) -> Address:
    """``name@host`` or ``Name <name@host>``. Raises :class:`InvalidInput` for anything else."""
    found = address_of(text)
    if found is None or "@" not in found.address:
        raise InvalidInput(f"{text[:100]!r} is no address", hint="Give `Name <name@host>`.")
    name, _, domain = found.address.rpartition("@")
    return Address(found.name, name, domain)
