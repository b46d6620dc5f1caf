"""Sending a mail by SMTP, when a person says so."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage

from mitigauge.errors import MitigaugeError

SMTP_PORT = 25
TIMEOUT_S = 60.0


class NotSent(MitigaugeError):
    """A mail that its server did not take."""

    status = 502


def send(message: EmailMessage, server: str, *, encrypted: bool = True) -> None:
    """Hand *message* to *server* (``host`` or ``host:port``) once.

    The connection is encrypted by STARTTLS unless told otherwise. Raises NotSent with what the
    server said; nothing was sent to anybody then, but to those it accepted before.
    """
    host, _, port = server.partition(":")
    try:
        with smtplib.SMTP(host, int(port or SMTP_PORT), timeout=TIMEOUT_S) as session:
            if encrypted:
                session.starttls(context=ssl.create_default_context())
            refused = session.send_message(message)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise NotSent(
            f"{server} did not take the mail: {error}",
            hint="Write it to a file with --output and send it by `git send-email`.",
        ) from error
    if refused:
        raise NotSent(f"{server} refused {', '.join(sorted(refused))}", hint="The others have it.")
