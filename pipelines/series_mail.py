"""Mails that ask for a test: read from a Maildir, carried out, answered."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

from sqlalchemy import Engine

from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings
from mitigauge.kernels.mails.mail import Mail, address_of
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.reporting.letters.reply.reply import as_file
from mitigauge.reporting.letters.request import service as replies
from mitigauge.reporting.letters.request.service import PendingReply
from mitigauge.storage.database.engine import Fence, is_away, transaction, unfenced
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.series import fault_repository as fault_rows
from mitigauge.tracking.series import faults, request_service
from mitigauge.tracking.series import request_repository as repository
from mitigauge.tracking.series.request import request_in, why_unanswered
from mitigauge.tracking.series.request_service import IncomingRequest, Means
from mitigauge.tracking.series.states import Attested
from mitigauge.tracking.studies.service import ask_by_mail
from pipelines.adapters.attestation import attested
from pipelines.adapters.build_root import known_bases
from pipelines.adapters.mail import receivers_of
from pipelines.adapters.maildir import Delivered, delivered
from pipelines.mail_post import post

log = get_logger(__name__)

LONGEST_PAUSE_S = 3600.0
FIRST_PAUSE_S = 60.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outbox:
    """Where answers go: files in *directory*, or, where *server* is said, by SMTP from *sender*.

    Nothing is sent unless the operator named a server.
    """

    directory: Path | None = None
    server: str = ""
    sender: str = ""
    encrypted: bool = True

    def __post_init__(self) -> None:
        if bool(self.server) == (self.directory is not None):
            raise InvalidInput(
                "say where answers go",
                hint="--answer-to-dir DIR writes them as files; --send SERVER --from 'NAME "
                "<ADDRESS>' sends them.",
            )
        if self.server and address_of(self.sender) is None:
            raise InvalidInput(
                f"{self.sender!r} is no address to send from",
                hint="Give --from 'Name <name@host>'.",
            )

    @property
    def own(self) -> Collection[str]:
        """Our addresses, as far as they are known here."""
        found = address_of(self.sender) if self.sender else None
        return {found.address} if found else ()

    def write(self, owed: PendingReply) -> Path | None:
        """Write an answer to its file, over one that is there; None where answers are sent."""
        if self.directory is None:
            return None
        return _written(self.directory, f"{owed.name}.mail", owed.mail)


@dataclass(frozen=True)
class Desk:
    """Reads mails that ask for something and answers them. *say* hears it, a line a thing."""

    engine: Engine
    blobs: BlobStore
    settings: Settings
    outbox: Outbox
    say: Say
    fence: Fence = unfenced
    # Request → not before: a server that takes nothing is asked less and less.
    _later: dict[int, float] = field(default_factory=dict)

    def look(self, maildir: Path) -> None:
        """Deal with the new mails of *maildir*. What is wrong with one stops no other.

        A mail leaves ``new`` once what it asks is stored, or once it has failed twice; why is
        stored then. Raises NotFound for no Maildir.
        """
        with repository.alone(self.engine) as got:
            for each in delivered(maildir) if got else ():
                if not self._take(each):
                    return

    def _take(self, each: Delivered) -> bool:
        """Deal with one mail; False where the database is away, and none can be."""
        try:
            said = self._deal_with(each)
            each.seen()
            with transaction(self.engine, self.fence) as session:
                fault_rows.forget(session, faults.MAILDIR, each.name)
        except Exception as error:
            if is_away(error):
                self.say("the database is away: mails are read when it is back")
                return False
            if not isinstance(error, MitigaugeError):
                log.exception("mail", name=each.name)
            said = self._failed_on(each, error)
        self.say(f"mail {each.name}: {said}")
        return True

    def _failed_on(self, each: Delivered, error: Exception) -> str:
        """What becomes of a mail that failed, in words."""
        if isinstance(error, MitigaugeError):
            why = error.message
        else:
            why = f"{type(error).__name__}, see the log"
        if faults.is_ours(error) or isinstance(error, FileNotFoundError):
            return f"{why}; it is tried again"
        return self._set_aside(each, why, faults.MOST_FAILURES)

    def _set_aside(self, each: Delivered, why: str, most: int) -> str:
        """Count a failure of a mail's own; after *most* it leaves ``new`` for good."""
        with transaction(self.engine, self.fence) as session:
            is_over = faults.failed(session, faults.MAILDIR, each.name, why, most)
        if not is_over:
            return f"{why}; it is tried once more"
        with suppress(OSError):
            each.seen()
        return f"set aside: {why}"

    def answer(self) -> None:
        """Give the answers that are owed now. One that fails stops no other.

        No lock is held meanwhile: who hands over what is written down for each receiver.
        """
        with transaction(self.engine, self.fence) as session:
            wanted = repository.unanswered(session)
        for request in wanted:
            if self._later.get(request, 0.0) <= time.monotonic():
                self._answer(request)

    def means(self) -> Means:
        """What carrying out takes."""
        return Means(self.blobs, known_bases(self.settings), ask_by_mail)

    def _deal_with(self, each: Delivered) -> str:
        """What became of one mail, in words."""
        content = each.read()
        if content is None:
            return self._set_aside(each, "it is no mail, or larger than 4 MiB", most=1)
        mail = mail_of(content)
        if mail.fault:
            raise InvalidInput(f"it cannot be read: {mail.fault}")
        request = request_in(mail)
        why = why_unanswered(mail, self.outbox.own, asks=request is not None)
        if why or request is None:
            return f"not answered: {why or 'it asks for nothing'}"
        allowed = mail.sender.address in self.settings.allowed_senders
        said = self._attested(mail) if allowed else Attested.MISSING
        with transaction(self.engine, self.fence) as session:
            row, words = request_service.take(
                session, IncomingRequest(mail, request, allowed, said), self.means()
            )
            number = f"request {row.id} of {row.sender}: " if row else ""
        return number + words

    def _attested(self, mail: Mail) -> Attested:
        if not self.settings.keyring:
            return Attested.MISSING
        return attested([mail], Path(self.settings.keyring))[mail.message_id]

    def _answer(self, request: int) -> None:
        try:
            with transaction(self.engine, self.fence) as session:
                row = request_service.find(session, request)
                owed = replies.owed(session, row, sender=self.outbox.sender)
            if owed is not None and self._give(owed):
                self._later.pop(request, None)
        except MitigaugeError as error:
            self._failed(request, error.message)
        except Exception as error:
            if is_away(error):
                raise
            log.exception("answer", request=request)
            self._failed(request, f"{type(error).__name__}, see the log")

    def _give(self, owed: PendingReply) -> bool:
        """Write or send an answer and note it; False where somebody may still get it."""
        path = self.outbox.write(owed)
        missed = ""
        if path is None:
            standing = post(
                self.engine, owed.name, owed.mail, receivers_of(owed.mail), self.outbox.server,
                encrypted=self.outbox.encrypted,
            )  # fmt: skip
            if standing.is_under_way:
                return False
            if standing.is_open:
                self._failed(owed.request, standing.why_not)
                return False
            missed = standing.why_not
            if standing.reached_nobody:
                self._failed(owed.request, missed, for_good=True)
                return True
        with transaction(self.engine, self.fence) as session:
            replies.answered(
                session, request_service.find(session, owed.request), owed.part, missed
            )
        where = str(path or f"sent to {owed.mail['To']}") + (f", not to {missed}" if missed else "")
        self.say(f"request {owed.request}: {owed.part}: {where}")
        return True

    def _failed(self, request: int, why: str, *, for_good: bool = False) -> None:
        self.say(f"request {request}: not answered{'' if for_good else ' yet'}: {why}")
        with transaction(self.engine, self.fence) as session:
            row = request_service.find(session, request)
            replies.not_answered(row, why, for_good=for_good)
            pause = min(FIRST_PAUSE_S * 2.0**row.failures, LONGEST_PAUSE_S)
        self._later[request] = time.monotonic() + pause


def _written(directory: Path, name: str, mail: EmailMessage) -> Path:
    """A mail as a file that is there whole or not at all."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    arriving = directory / f".{name}.new"
    with arriving.open("wb") as file:
        file.write(as_file(mail))
        file.flush()
        os.fsync(file.fileno())
    arriving.replace(path)
    return path
