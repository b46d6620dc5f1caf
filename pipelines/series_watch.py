"""Following series: archives are looked at, new revisions stored, those that may run begun."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeGuard

from sqlalchemy.orm import Session

from mitigauge.core.actor import acting_by_mail
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.reader import mails_of
from mitigauge.storage.database.engine import database_now, is_away
from mitigauge.tracking.series import archive_watch, faults, repository, service
from mitigauge.tracking.series import fault_repository as fault_rows
from mitigauge.tracking.series.feed import Entry
from mitigauge.tracking.series.mail_thread import FoundRevision, revisions
from mitigauge.tracking.series.range_diff import Comparison
from mitigauge.tracking.series.service import Trust
from mitigauge.tracking.series.states import Attested
from mitigauge.tracking.series.tables import ListArchive
from pipelines.adapters.archive import (
    Archive,
    ArchiveAway,
    BadThread,
    Validators,
    longest_pause_s,
    pause_s,
)
from pipelines.adapters.attestation import attested
from pipelines.kernel_build import Builder
from pipelines.series_run import start

log = get_logger(__name__)

INTERVAL_S = 60.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Watcher:
    """Looks at archives and starts what may run. *say* hears what happened, a line a thing."""

    builder: Builder
    settings: Settings
    say: Say
    interval_s: float = INTERVAL_S

    def look(self) -> None:
        """Ask every archive that is due. What is wrong with one stops no other."""
        longest = timedelta(seconds=longest_pause_s(self.interval_s))
        with self.builder.transaction() as session:
            addresses = [archive.address for archive in archive_watch.due(session, longest)]
        for address in addresses:
            try:
                self._look_at(address)
            except ArchiveAway as error:
                self._failed(address, error.message, error.retry_after_s)
            except MitigaugeError as error:
                self._failed(address, error.message, 0.0)
            except Exception as error:
                log.exception("archive", address=address)
                self._failed(address, f"{address}: {type(error).__name__}, see the log", 0.0)

    def start(self) -> None:
        """Build and submit what may run. One that fails is noted, and stops no other."""
        with self.builder.transaction() as session:
            wanted = repository.to_start(session)
        for revision in wanted:
            try:
                experiment = start(revision, self.builder)
                found = f"experiment {experiment}" if experiment else "nothing: no case runs it"
                self.say(f"revision {revision}: measured by {found}")
            except MitigaugeError as error:
                self.say(f"revision {revision}: {error.message}")
            except Exception as error:
                log.exception("revision", revision=revision)
                self.say(f"revision {revision}: {type(error).__name__}, see the log")

    def _look_at(self, address: str) -> None:
        archive = Archive(address)
        with self.builder.transaction() as session:
            known = session.get_one(ListArchive, address)
            validators = Validators(known.etag, known.modified)
            pending, seen = dict(known.pending), list(known.seen)
            series = archive_watch.watched(session, address)
        answer = archive.new(validators)
        feed, given = answer if answer is not None else ([], validators)
        with self.builder.transaction() as session:
            known = session.get_one(ListArchive, address)
            gap = archive_watch.is_gap(feed, seen)
            search_until = archive_watch.gap_until(known, gap, database_now(session))
        found = list(feed)
        if search_until is not None:
            found += [entry for each in series for entry in archive.search(each.title) or ()]
        entries = list(dict.fromkeys(archive_watch.to_look_at(found, series, seen)))
        # Those whose mails were still coming may have left the feed meanwhile.
        listed = {entry.message_id for entry in entries}
        entries += [Entry(each, "", "") for each in pending if each not in listed]
        keys = {each.key for each in series}
        waiting = self._take_all(archive, entries, keys, pending)
        with self.builder.transaction() as session:
            known = session.get_one(ListArchive, address, with_for_update=True)
            # What comes late must be asked for again though the feed stays as it is.
            known.etag, known.modified = given.etag, given.modified
            known.search_until = search_until
            looked_at = dict.fromkeys(e.message_id for e in (*entries, *feed))
            dealt_with = [each for each in looked_at if each not in (*waiting, *seen)]
            archive_watch.looked(session, known, dealt_with, waiting, self._pause(0, 0.0))

    def _take_all(
        self,
        archive: Archive,
        entries: Sequence[Entry],
        keys: set[str],
        pending: dict[str, datetime],
    ) -> list[str]:
        """Store what there is; ids of those that are looked at again.

        One that fails stops no other. Raises ArchiveAway where none at all could be had.
        """
        waiting: list[str] = []
        away: list[ArchiveAway] = []
        for entry in entries:
            try:
                is_done = self._taken(archive, entry, keys, pending)
                self._forget(archive, entry)
            except Exception as error:
                ours = faults.is_ours(error) and not isinstance(error, ArchiveAway)
                if is_away(error) or ours:
                    raise
                if _of_archive(error):
                    away.append(error)
                is_done = self._set_aside(archive, entry, error)
            if not is_done:
                waiting.append(entry.message_id)
        if away and len(away) == len(entries) and waiting:
            raise away[-1]
        return waiting

    def _forget(self, archive: Archive, entry: Entry) -> None:
        with self.builder.transaction() as session:
            fault_rows.forget(session, archive.address, entry.message_id)

    def _set_aside(self, archive: Archive, entry: Entry, error: Exception) -> bool:
        """Count a failure of one thread; whether it was the last that it may have."""
        if isinstance(error, MitigaugeError):
            why = error.message
        else:
            log.error("thread", message_id=entry.message_id, exc_info=error)
            why = f"{type(error).__name__}, see the log"
        most = faults.MOST_AWAY if _of_archive(error) else faults.MOST_FAILURES
        with self.builder.transaction() as session:
            is_over = faults.failed(session, archive.address, entry.message_id, why, most)
        self.say(f"{entry.message_id}: {'set aside: ' if is_over else ''}{why}")
        return is_over

    def _taken(
        self, archive: Archive, entry: Entry, keys: set[str], pending: dict[str, datetime]
    ) -> bool:
        """Store what the thread of *entry* has of watched series; False: it is still coming."""
        try:
            mails = mails_of(archive.thread(entry.message_id))
            found = [each for each in revisions(mails) if service.key_of(each) in keys]
        except ArchiveAway:
            raise
        except MitigaugeError as error:
            self.say(f"{entry.message_id}: {error.message}")
            return True
        with self.builder.transaction() as session:
            now = database_now(session)
        if archive_watch.waits(found, pending.get(entry.message_id, now), now):
            return False
        for stray in dict.fromkeys(stray for each in found for stray in each.strays):
            self.say(f"{entry.message_id}: left out: {stray}")
        self._store(found, entry.message_id)
        return True

    def _store(self, found: Sequence[FoundRevision], message_id: str) -> None:
        for key in dict.fromkeys(service.key_of(each) for each in found):
            own = [each for each in found if service.key_of(each) == key]
            trust = trust_in(own, self.settings)
            try:
                with acting_by_mail(own[-1].first.sender.address):
                    lines = service.stored_whole(
                        self.builder.transaction, partial(self._added, own, trust)
                    )
            except MitigaugeError as error:
                lines = [f"{message_id}: {error.message}"]
            for line in lines:
                self.say(line)

    def _added(
        self,
        found: Sequence[FoundRevision],
        trust: Trust,
        session: Session,
        comparison: Comparison,
    ) -> list[str]:
        blobs = self.builder.blobs
        new = service.add(session, found, blobs, trust=trust, comparison=comparison)
        return [f"{each.series.name} {each.label}: {each.state}: {each.why}" for each in new]

    def _failed(self, address: str, why: str, retry_after_s: float) -> None:
        self.say(why)
        with self.builder.transaction() as session:
            archive = session.get_one(ListArchive, address, with_for_update=True)
            pause = self._pause(archive.failures + 1, retry_after_s)
            archive_watch.failed(session, archive, why, pause)

    def _pause(self, failures: int, retry_after_s: float) -> float:
        return pause_s(self.interval_s, failures, retry_after_s, random.random())


def _of_archive(error: Exception) -> TypeGuard[ArchiveAway]:
    """Whether the archive did not give a thread, which may be over the next time."""
    return isinstance(error, ArchiveAway) and not isinstance(error, BadThread)


def trust_in(found: Sequence[FoundRevision], settings: Settings) -> Trust:
    """Who is on the list of senders, and what signatures say of their mails.

    Only mails from those on the list are looked at: all others wait for a person anyway.
    """
    senders = settings.allowed_senders
    mails: list[Mail] = []
    for revision in found:
        if revision.first.sender.address in senders:
            mails += [revision.first, *(sent.mail for sent in revision.patches)]
    said: dict[str, Attested] = {}
    if mails and settings.keyring:
        said = attested({mail.message_id: mail for mail in mails}.values(), Path(settings.keyring))
    return Trust(senders, said)
