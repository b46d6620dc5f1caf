"""Pruning: what no longer serves anybody goes, kind by kind, so that nothing waits for it.

Values, verdicts and what proves them are no kind of these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from mitigauge.core.errors import MitigaugeError, NotReady
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.files.blobs import Stored, blob_store
from mitigauge.storage.files.log_files import cut_log, hollow_log
from mitigauge.upkeep.retention import files, repository
from mitigauge.upkeep.retention.repository import Part, Rows
from mitigauge.upkeep.retention.schemas import Pruned, Removed

log = get_logger(__name__)

INTERVAL = timedelta(days=1)
MESSAGE_LIMIT = 500
BUSY = "another process is pruning already, or takes a backup"

Progress = Callable[[str, int], None]
"""Called with a kind of thing and how many of it went so far."""


@dataclass(frozen=True, slots=True)
class _Pruning:
    engine: Engine
    settings: Settings
    dry_run: bool
    now: datetime

    def before(self, days: float) -> datetime:
        return self.now - timedelta(days=days)

    def rows(self, rows: Rows) -> Iterator[Part]:
        if self.dry_run:
            yield repository.measure(self.engine, rows)
        else:
            yield from repository.remove(self.engine, rows)


def prune(
    engine: Engine,
    settings: Settings,
    *,
    dry_run: bool = False,
    progress: Progress = lambda _kind, _count: None,
) -> Pruned:
    """Remove what is older or larger than *settings* allow; *dry_run* only counts it.

    Any number of processes may call this at once: one does it, the others return at once
    and say so. Broken off at any moment, the next one goes on. A kind of which not all
    could be removed says why, and the others are pruned all the same. Raises only if the
    database does not answer at the very beginning.
    """
    started = time.monotonic()
    with repository.alone(engine) as is_alone:
        if not is_alone:
            return Pruned(dry_run=dry_run, skipped=BUSY)
        pruning = _Pruning(engine, settings, dry_run, repository.now(engine))
        removed = [_removed(kind, pruning, progress) for kind in _KINDS]
        if not dry_run:
            with _reported(removed[-1]):
                told = [kind.model_dump() for kind in removed]
                repository.record(engine, pruning.now, told)
    return Pruned(dry_run=dry_run, seconds=round(time.monotonic() - started, 3), removed=removed)


def prune_if_due(engine: Engine, settings: Settings) -> Pruned | None:
    """Prune, and log what went, unless somebody pruned within the last day; None: not due.

    Safe to call often, from any number of processes.
    """
    if not repository.due(engine, INTERVAL):
        return None
    pruned = prune(engine, settings)
    for removed in pruned.removed:
        if removed.count:
            log.info("pruned", kind=removed.kind, count=removed.count, bytes=removed.bytes)
        if removed.error:
            log.warning("not all was pruned", kind=removed.kind, error=removed.error)
    return pruned


def _removed(kind: str, pruning: _Pruning, progress: Progress) -> Removed:
    removed = Removed(kind=kind)
    progress(kind, 0)
    with _reported(removed):
        for part in _KINDS[kind](pruning):
            removed.count += part.count
            removed.bytes += part.bytes
            removed.error = removed.error or part.error[:MESSAGE_LIMIT]
            progress(kind, removed.count)
    return removed


@contextmanager
def _reported(removed: Removed) -> Iterator[None]:
    """What goes wrong with one kind is said there; the others are pruned all the same."""
    try:
        yield
    except (MitigaugeError, SQLAlchemyError, OSError) as error:
        removed.error = " ".join(str(error).split())[:MESSAGE_LIMIT]


def _events(pruning: _Pruning) -> Iterator[Part]:
    settings = pruning.settings
    before = pruning.before(settings.retention_events_days)
    for experiment in repository.ended_experiments(pruning.engine):
        yield Part()
        kept = 0 if experiment.at < before else settings.retention_events_per_experiment
        last = repository.last_chatter_to_go(pruning.engine, experiment.id, kept)
        if last is not None:
            yield from pruning.rows(repository.chatter(experiment.id, last))


def _attempts(pruning: _Pruning) -> Iterator[Part]:
    before = pruning.before(pruning.settings.retention_attempts_days)
    for run in repository.runs_ended_before(pruning.engine, before):
        yield from pruning.rows(repository.attempts(run.id))
    yield from pruning.rows(repository.job_lines(before))
    yield from pruning.rows(repository.job_attempts(before))


def _queue(pruning: _Pruning) -> Iterator[Part]:
    before = pruning.before(pruning.settings.retention_queue_days)
    yield from pruning.rows(repository.stale_jobs(before))
    yield from pruning.rows(repository.dead_workers(before))


def _blobs(pruning: _Pruning) -> Iterator[Part]:
    store = blob_store(pruning.settings)
    # By whichever clock is behind: a file must not seem older than it is.
    now = min(pruning.now, datetime.now(UTC))
    before = now - timedelta(days=pruning.settings.retention_blobs_days)
    any_named = False
    for page in store.listed():
        yield Part()
        named = _named(pruning, page)
        orphans = [stored for stored in page if stored.digest not in named]
        old = [stored for stored in orphans if stored.modified <= before]
        any_named = any_named or bool(named)
        if old and not any_named:
            _require_any_named(pruning, store.listed(), store.name)
            any_named = True
        for stored in old:
            if pruning.dry_run or store.remove(stored):
                yield Part(1, stored.size)


def _named(pruning: _Pruning, page: list[Stored]) -> set[str]:
    return repository.named(pruning.engine, whole_metadata(), [stored.digest for stored in page])


def _require_any_named(pruning: _Pruning, pages: Iterator[list[Stored]], name: str) -> None:
    """A store of which this database names nothing is most likely another database's."""
    if not any(_named(pruning, page) for page in pages):
        raise NotReady(
            f"nothing in {name} is named by this database: it may be another one's store",
            hint="Check MITIGAUGE_DATABASE_URL and MITIGAUGE_BLOBS_URL. Remove the files by hand "
            "if nobody needs them.",
        )


def _unfinished(pruning: _Pruning) -> Iterator[Part]:
    days = pruning.settings.retention_blobs_days
    left = files.old_files(blob_store(pruning.settings).leftovers(), days)
    return _each(left, lambda path: files.remove_file(path, dry_run=pruning.dry_run))


def _scratch(pruning: _Pruning) -> Iterator[Part]:
    settings = pruning.settings
    dead = files.dead_scratch(settings.home, settings.retention_scratch_days)
    return _each(dead, lambda path: files.remove_directory(path, dry_run=pruning.dry_run))


def _service_logs(pruning: _Pruning) -> Iterator[Part]:
    return _shortened(pruning, files.SERVICE_LOGS, cut_log)


def _consoles(pruning: _Pruning) -> Iterator[Part]:
    return _shortened(pruning, files.CONSOLES, hollow_log)


def _shortened(
    pruning: _Pruning, patterns: tuple[str, ...], shorten: Callable[..., int]
) -> Iterator[Part]:
    limit = pruning.settings.retention_log_bytes
    return _each(
        files.logs(pruning.settings.home, patterns),
        lambda path: shorten(path, limit, dry_run=pruning.dry_run) or None,
    )


def _each(paths: Iterable[Path], act: Callable[[Path], int | None]) -> Iterator[Part]:
    """*act* on each says how many bytes went, or None; one that fails keeps no other from it."""
    for path in paths:
        try:
            went = act(path)
        except FileNotFoundError:
            continue
        except (OSError, RecursionError) as error:
            yield Part(error=f"{path}: {error}")
        else:
            if went is not None:
                yield Part(1, went)


def _records(pruning: _Pruning) -> Iterator[Part]:
    yield from pruning.rows(repository.old_records())


_KINDS: dict[str, Callable[[_Pruning], Iterator[Part]]] = {
    "events": _events,
    "step attempts": _attempts,
    "queue rows": _queue,
    "raw files without an owner": _blobs,
    "raw files never finished": _unfinished,
    "scratch directories": _scratch,
    "service logs cut": _service_logs,
    "console logs cut": _consoles,
    "records of prunings": _records,
}
