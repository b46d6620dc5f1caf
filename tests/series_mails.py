"""Mails of small series, made to order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from email.utils import format_datetime

from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.reader import read_all

SENDER = "Author One <one@example.org>"
CHANGE_ID = "20261101-toy-0123456789ab"


def diff(path: str, was: str, now: str) -> str:
    """A diff that replaces one line of one file."""
    return (
        f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n--- a/{path}\n"
        f"+++ b/{path}\n@@ -1,3 +1,3 @@\n one\n-{was}\n+{now}\n three\n"
    )


def raw_mail(subject: str, body: str, *, sender: str = SENDER, ident: str = "", to: str = "",
             parent: str = "", more: str = "",
             when: str = "2026-11-02T10:00") -> bytes:  # fmt: skip
    """One mail as bytes."""
    lines = [
        f"From: {sender}",
        f"Subject: {subject}",
        f"Message-ID: <{ident or subject.replace(' ', '.').strip('[]')}@example.org>",
        f"Date: {format_datetime(datetime.fromisoformat(f'{when}+00:00'))}",
        *([f"To: {to}"] if to else []),
        *([f"In-Reply-To: <{parent}>"] if parent else []),
        *([more] if more else []),
    ]
    return ("\n".join(lines) + "\n\n" + body).encode()


def raw_series(version: int, bodies: Sequence[str], *, sender: str = SENDER,
               change_id: str = CHANGE_ID, letter: str = "") -> list[bytes]:  # fmt: skip
    """Cover letter and patches of one revision; each body is a diff."""
    tag = f"PATCH v{version}" if version > 1 else "PATCH"
    total = len(bodies)
    end = f"\nchange-id: {change_id}\nbase-commit: {'ab' * 20}\n" if change_id else ""
    cover = f"It is about toys.\n\n{letter}{end}"
    mails = [raw_mail(f"[{tag} 0/{total}] toys: Mend them", cover, sender=sender,
                      ident=f"v{version}-0", to="list@example.org")]  # fmt: skip
    for number, body in enumerate(bodies, 1):
        tags = 'Fixes: 0123456789ab ("toys: Add them")\nCc: two@example.org'
        text = f"Mend toy {number}.\n\n{tags}\n---\n{body}"
        mails.append(
            raw_mail(f"[{tag} {number}/{total}] toys: Mend toy {number}", text, sender=sender,
                     ident=f"v{version}-{number}", parent=f"v{version}-0@example.org")
        )  # fmt: skip
    return mails


def series(version: int, bodies: Sequence[str], **said: str) -> list[Mail]:
    """The same, read."""
    return read_all(raw_series(version, bodies, **said))


def mailbox(mails: Sequence[bytes]) -> bytes:
    """Mails as a mailbox holds them."""
    begin = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
    return b"".join(begin + mail + b"\n" for mail in mails)
