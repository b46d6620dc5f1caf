"""What the rig knows of the service beyond its tables and its HostControl, in one place."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import text
from sqlalchemy.orm import Session

FINAL = ("finished", "failed", "cancelled")
# An attempt that its worker did not bring to an end, by whatever name it is booked later.
UNFINISHED = ("started", "refused", "interrupted", "died", "lost")
FAULTS = ("lab_fault", "failed", "unanswered")


def headers() -> Mapping[str, str]:
    """What a request that submits or cancels carries beside its body."""
    return {"Content-Type": "application/yaml"}


def set_aside(session: Session, run_id: int) -> str:
    """Why the run's host was set aside instead of restored; empty if it was not."""
    said = session.scalar(
        text(
            "select text from event where run_id = :run"
            " and text like any (array["
            "'host could not be restored%', '%set aside%', '%host lost%'])"
            " order by id desc limit 1"
        ),
        {"run": run_id},
    )
    return said or ""


def bring_back(session: Session, host: str) -> None:
    """A person brings a host back that was set aside; nothing does so today."""
