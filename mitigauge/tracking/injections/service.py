"""Slow-downs of known size: when one is due, its host, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.effect import Effect, Verdict
from mitigauge.core.wire.exact import INSTRUCTION_NS
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.measurement.fleet.availability import is_reserved, kept_from
from mitigauge.measurement.fleet.repository import host_if_known, locked_host
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.lease_repository import holding_run
from mitigauge.storage.database.engine import database_now
from mitigauge.tracking.injections import repository
from mitigauge.tracking.injections.draw import InjectionPath, draw
from mitigauge.tracking.injections.states import InjectionState
from mitigauge.tracking.injections.tables import Injection

ITSELF = "mitigauge"
REASON = "the service measures a slow-down of known size, and tells nobody which"
# Within which its kernels are built, its boots run and its patch is searched.
LASTS = timedelta(hours=24)
LONGEST_WHY = 2000


def begin_if_due(
    session: Session, every: int, seed: int, known: Mapping[str, InjectionPath]
) -> Injection | None:
    """Draw one where *every* runs finished since the last; None: not yet, or nowhere.

    Only what was built here before is built: a service that builds no kernels begins with none.
    """
    if every < 1 or repository.open_one(session) is not None:
        return None
    able = {
        name: path
        for name, path in known.items()
        if host_if_known(session, path.environment, path.host) is not None
        and repository.builds_such(session, path.base, path.profile)
        and repository.runs_since_last(session, path.environment) >= every
    }
    if not able:
        return None
    drawn = draw(seed, able)
    path = able[drawn.path]
    host = host_if_known(session, path.environment, path.host)
    assert host is not None
    begun = Injection(
        state=InjectionState.WAITING, seed=seed, path=drawn.path, instructions=drawn.instructions,
        place=drawn.place, patches=drawn.patches, environment=path.environment, host=path.host,
        emulated=host.emulated,
    )  # fmt: skip
    session.add(begun)
    session.flush()
    return begun


def is_late(session: Session, injection: Injection) -> bool:
    """Whether it takes longer than one may."""
    return database_now(session) > injection.began_at + LASTS


def hold_host(session: Session, injection: Injection) -> bool:
    """Keep runs from its host; False while one is on it, or somebody else keeps it."""
    host = _host(session, injection)
    if holds_host(session, injection):
        return True
    now = database_now(session)
    if holding_run(session, host.id) is not None or kept_from(host, now) is not None:
        return False
    absences.reserve(session, host, until=injection.began_at + LASTS, reason=REASON, by=ITSELF)
    return True


def holds_host(session: Session, injection: Injection) -> bool:
    """Whether the host is still kept for it: anybody who may can take it back."""
    host = _host(session, injection)
    return is_reserved(host, database_now(session)) and (
        (host.reserved_by, host.reserved_reason) == (ITSELF, REASON)
    )


def judged(
    session: Session,
    injection: Injection,
    verdict: Verdict,
    effect: Effect,
    level_ns: float | None,
) -> None:
    """Keep what was said of it. *level_ns*: an operation without it; None: no boot gave one."""
    injection.effect_percent = effect.value
    injection.ci_low_percent, injection.ci_high_percent = effect.low, effect.high
    if level_ns and _host(session, injection).clock is Clock.COUNTED:
        injection.true_percent = 100.0 * injection.instructions * INSTRUCTION_NS / level_ns
    if verdict is Verdict.WORSE:
        injection.state = InjectionState.SEARCHING
    else:
        end(session, injection, InjectionState.MISSED, f"the verdict was {verdict}")


def named(session: Session, injection: Injection, place: int | None, why: str) -> None:
    """Keep which patch a bisection named; None: no single one."""
    injection.named = place
    right = place == injection.place
    end(session, injection, InjectionState.FOUND if right else InjectionState.NOT_NAMED, why)


def end(session: Session, injection: Injection, state: InjectionState, why: str) -> None:
    """It is over; its host is given back."""
    injection.state, injection.why = state, why[:LONGEST_WHY]
    injection.ended_at = database_now(session)
    if holds_host(session, injection):
        absences.release(session, _host(session, injection), by=ITSELF)
    session.flush()


def _host(session: Session, injection: Injection) -> Host:
    found = host_if_known(session, injection.environment, injection.host)
    assert found is not None, "hosts are never deleted"
    return locked_host(session, found.id)
