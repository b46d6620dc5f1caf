"""What a monitor may want to know of the service, as families of figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy.orm import Session

from mitigauge.jobs import views
from mitigauge.jobs.states import Ability
from mitigauge.measurement.fleet.availability import is_reserved
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.states import BootState, RunState
from mitigauge.reporting.pages import metrics_repository as rows
from mitigauge.storage.database.engine import database_now


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one name. *values*: the labels' values → the figure."""

    name: str
    help: str
    labels: Sequence[str] = ()
    values: dict[tuple[str, ...], float] = field(default_factory=dict)


def figures_of(session: Session) -> Iterator[Figures]:
    """All figures that the database holds; each a few milliseconds' work at 10,000 runs."""
    yield _by(rows.runs_by_state(session), RunState, "mitigauge_runs", "runs by state", "state")
    yield Figures(
        "mitigauge_jobs", "jobs by kind and state", ("kind", "state"),
        {(str(kind), str(state)): count for kind, state, count in rows.jobs_by_state(session)},
    )  # fmt: skip
    yield Figures(
        "mitigauge_jobs_failing", "open jobs whose last try failed on our side", ("kind",),
        {(str(kind),): count for kind, count in rows.failing_jobs(session)},
    )  # fmt: skip
    yield from _waiting(session)
    yield _hosts(session)
    yield _by(
        rows.boots_by_state(session), BootState, "mitigauge_boots", "boots by outcome", "outcome"
    )
    yield Figures(
        "mitigauge_boot_seconds_lost", "seconds of boots that count for nothing", (),
        {(): rows.lost_seconds(session)},
    )  # fmt: skip
    yield from _steps(session)
    yield Figures(
        "mitigauge_worker_unseen_seconds", "since a worker was last seen that did not stop",
        ("worker",), {(name,): float(age) for name, age in rows.workers_seen(session)},
    )  # fmt: skip
    yield Figures(
        "mitigauge_mails", "mails by what became of them", ("state",),
        {(str(state),): count for state, count in rows.mails_by_state(session)},
    )  # fmt: skip
    yield Figures(
        "mitigauge_database_bytes", "size of the database", (), {(): rows.database_bytes(session)}
    )


def _by(found: rows.Counts, kinds: type[StrEnum], name: str, help_: str, label: str) -> Figures:
    """Counts by a state; one that nothing has is 0, so that a rule may compare."""
    counts = {str(state): count for state, count in found}
    return Figures(name, help_, (label,), {(str(k),): counts.get(str(k), 0) for k in kinds})


def _waiting(session: Session) -> Iterator[Figures]:
    able = views.served(session)
    waiting = {
        Ability(need): (count, float(age)) for need, count, age in rows.waiting_jobs(session)
    }
    yield Figures(
        "mitigauge_jobs_oldest_queued_seconds", "age of the oldest job that nobody took",
        ("need",), {(str(need),): waiting.get(need, (0, 0.0))[1] for need in Ability},
    )  # fmt: skip
    yield Figures(
        "mitigauge_jobs_unserved", "queued jobs that no worker can do", ("need",),
        {(str(need),): waiting.get(need, (0, 0.0))[0] if need not in able else 0
         for need in Ability},
    )  # fmt: skip


def _hosts(session: Session) -> Figures:
    now = database_now(session)
    held = run_rows.runs_holding_hosts(session)
    counts: Counter[tuple[str, ...]] = Counter()
    for host in rows.hosts(session):
        if host.set_aside_at is not None:
            state = "set aside"
        elif is_reserved(host, now):
            state = "reserved"
        else:
            state = "in use" if host.id in held else "free"
        counts[host.environment, state] += 1
    return Figures(
        "mitigauge_hosts", "hosts by what they do", ("environment", "state"), dict(counts)
    )


def _steps(session: Session) -> Iterator[Figures]:
    found = rows.steps_of_late(session)
    labels = ("step", "outcome")
    yield Figures(
        "mitigauge_steps_last_hour", "steps of runs that ended within the last hour", labels,
        {(step, outcome): count for step, outcome, count, _ in found},
    )  # fmt: skip
    yield Figures(
        "mitigauge_step_seconds_last_hour", "what they took together", labels,
        {(step, outcome): float(seconds or 0) for step, outcome, _, seconds in found},
    )  # fmt: skip
