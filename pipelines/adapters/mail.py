"""Sending a mail by SMTP: to each receiver once, and within one limit of time."""

from __future__ import annotations

import io
import re
import smtplib
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from email.generator import BytesGenerator
from email.message import EmailMessage
from email.utils import getaddresses

from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.reporting.deliveries.states import DeliveryAnswer, DeliveryState

SMTP_PORT = 25
# Of one wait, and of the whole conversation, however little comes each time.
TIMEOUT_S, WHOLE_S = 30.0, 120.0
_FOR_GOOD = 500


class NotSent(MitigaugeError):
    """A mail that its server did not take."""

    status = 502


class _Conversation(smtplib.SMTP):
    """One with a limit on all of it; a server that says a byte at a time is cut off."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(timeout=min(TIMEOUT_S, limit_s))
        self.handle: socket.socket | None = None
        # Whether all of a mail was sent, so that the server may have it.
        self.sent = False
        self.over = False
        self.timer = threading.Timer(limit_s, self._cut)
        self.timer.daemon = True
        self.timer.start()

    def begin(self, host: str, port: int) -> None:
        """Connect and hear its greeting. Raises SMTPException and OSError."""
        # What a certificate has to name.
        self._host = host
        code, said = self.connect(host, port)
        if code != 220:
            raise smtplib.SMTPConnectError(code, said)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        found = socket.create_connection((host, port), timeout)
        # Of its own: TLS takes the socket itself away.
        self.handle = found.dup()
        if self.over:
            self._cut()
        return found

    def _cut(self) -> None:
        self.over = True
        if self.handle is not None:
            with suppress(OSError):
                self.handle.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Hang up, whatever was said."""
        self.timer.cancel()
        with suppress(smtplib.SMTPException, OSError):
            self.close()
        if self.handle is not None:
            self.handle.close()


def receivers_of(message: EmailMessage) -> list[str]:
    """The addresses in its To and Cc, each once."""
    heads = [str(value) for name in ("To", "Cc") for value in message.get_all(name, [])]
    return list(dict.fromkeys(address.lower() for _, address in getaddresses(heads) if address))


def send(message: EmailMessage, server: str, *, encrypted: bool = True) -> None:
    """Hand *message* to *server* once, for all whom its heads name.

    Raises NotSent naming who did not get it.
    """
    told = hand_over(message, receivers_of(message), server, encrypted=encrypted)
    missed = {who: each for who, each in told.items() if each.state is not DeliveryState.TAKEN}
    if missed:
        words = "; ".join(sorted({each.said for each in missed.values()}))
        others = "The others have it." if len(missed) < len(told) else "Nobody has it."
        raise NotSent(
            f"{', '.join(sorted(missed))}: {words}",
            hint=f"{others} Write it to a file with --output and send it by `git send-email`.",
        )


def hand_over(
    message: EmailMessage,
    receivers: Sequence[str],
    server: str,
    *,
    encrypted: bool = True,
    limit_s: float | None = None,
) -> dict[str, DeliveryAnswer]:
    """Hand *message* to *server* (``host`` or ``host:port``) for *receivers*; what came of each.

    The connection is encrypted by STARTTLS unless told otherwise. Whatever a server does is an
    answer here, within *limit_s* seconds (120). Raises InvalidInput for what names no server.
    """
    limit_s = WHOLE_S if limit_s is None else limit_s
    host, _, port = server.partition(":")
    if not host or (port and not (port.isdecimal() and len(port) < 6)):
        raise InvalidInput(f"{server[:100]!r} is no server", hint="Give host or host:port.")
    told: dict[str, DeliveryAnswer] = {}
    talk = _Conversation(limit_s)
    try:
        talk.begin(host, int(port or SMTP_PORT))
        if encrypted:
            talk.starttls(context=ssl.create_default_context())
        _converse(talk, message, receivers, told, server)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        rest = _lost(talk, error, server, limit_s)
        told |= {who: rest for who in receivers if who not in told}
    finally:
        talk.end()
    return told


def _lost(talk: _Conversation, error: Exception, server: str, limit_s: float) -> DeliveryAnswer:
    """What an error says of those of whom nothing was said before."""
    why = (
        f"it did not end within {limit_s:.0f} s"
        if talk.over
        else str(error) or type(error).__name__
    )
    if talk.sent:
        return DeliveryAnswer(DeliveryState.UNKNOWN, f"{server} may have the mail: {why}")
    code = error.smtp_code if isinstance(error, smtplib.SMTPResponseException) else 0
    state = DeliveryState.REFUSED if code >= _FOR_GOOD else DeliveryState.LATER
    return DeliveryAnswer(state, f"{server} did not take the mail: {why}")


def _converse(
    talk: _Conversation,
    message: EmailMessage,
    receivers: Sequence[str],
    told: dict[str, DeliveryAnswer],
    server: str,
) -> None:
    """Who is refused is put into *told* at once; the others when the server has all of it."""
    talk.ehlo_or_helo_if_needed()
    senders = getaddresses([str(message.get("From", ""))])
    answer = talk.mail(senders[0][1] if senders else "")
    _require(answer)
    for each in receivers:
        code, said = talk.rcpt(each)
        if code not in (250, 251):
            told[each] = DeliveryAnswer(_fate(code), f"{server} refused it: {_words(code, said)}")
    wanted = [each for each in receivers if each not in told]
    if not wanted:
        return
    talk.putcmd("data")
    code, said = talk.getreply()
    if code != 354:
        raise smtplib.SMTPDataError(code, said)
    talk.send(_content(message))
    talk.sent = True
    talk.send(b".\r\n")
    code, said = talk.getreply()
    if talk.over or not 200 <= code < 600:
        # Half an answer is none.
        raise smtplib.SMTPServerDisconnected(_words(code, said))
    taken = code < 300
    state = DeliveryState.TAKEN if taken else _fate(code)
    words = "" if taken else f"{server} did not take the mail: {_words(code, said)}"
    told |= {each: DeliveryAnswer(state, words) for each in wanted}
    with suppress(smtplib.SMTPException, OSError):
        talk.putcmd("quit")


def _require(answer: tuple[int, bytes]) -> None:
    if answer[0] != 250:
        raise smtplib.SMTPSenderRefused(answer[0], answer[1], "")


def _fate(code: int) -> DeliveryState:
    return DeliveryState.REFUSED if code >= _FOR_GOOD else DeliveryState.LATER


def _words(code: int, said: bytes) -> str:
    return f"{code} {said.decode(errors='replace')}"


def _content(message: EmailMessage) -> bytes:
    """The mail as SMTP takes it, but for the dot at its end."""
    out = io.BytesIO()
    BytesGenerator(out, policy=message.policy.clone(linesep="\r\n")).flatten(message)
    content = re.sub(rb"\r\n|\r|\n", b"\r\n", out.getvalue())
    content = re.sub(rb"(?m)^\.", b"..", content)
    return content if content.endswith(b"\r\n") else content + b"\r\n"
