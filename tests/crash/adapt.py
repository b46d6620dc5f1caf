"""What the rig knows of the service beyond its tables and its HostControl, in one place."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from mitigauge.core.errors import NotFound
from mitigauge.measurement.runs import service
from tests.clients import bearer, token_of

FINAL = ("finished", "failed", "cancelled")
# An attempt that its worker did not bring to an end, by whatever name it is booked later.
UNFINISHED = ("started", "refused", "interrupted", "lost")
FAULTS = ("lab_fault", "failed", "unanswered")


def headers(engine: Engine) -> dict[str, str]:
    """What a request that submits or cancels carries; the key lies in the state directory."""
    return {**bearer(token_of(engine, "admin")), "Content-Type": "application/yaml"}


def set_aside(session: Session, run_id: int) -> str:
    """Why the run's host was set aside instead of restored; empty if it was not."""
    said = session.scalar(
        text(
            "select text from event where run_id = :run and kind = 'host'"
            " and text like '%is set aside until%' order by id desc limit 1"
        ),
        {"run": run_id},
    )
    return said or ""


def bring_back(session: Session, host: str) -> None:
    """A person brings a host back that was set aside; one without experiments was not."""
    with suppress(NotFound):
        service.bring_back(session, "lab", host)
