"""Workers that are said to run."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from sqlalchemy import Engine

from mitigauge.jobs import worker_repository
from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.tables import WorkerProcess
from mitigauge.storage.database.engine import transaction


def announce(engine: Engine, name: str = "w", **can: Any) -> None:
    """Store a worker that was seen just now; *can*: fields of :class:`Abilities`."""
    with transaction(engine) as session:
        worker_repository.announce(
            session,
            WorkerProcess(
                id=uuid4(),
                name=name,
                machine="m",
                pid=1,
                version="0.1.0",
                schema="0044",
                abilities=Abilities(**can),
            ),
        )
