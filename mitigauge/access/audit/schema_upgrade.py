"""Upgrades of the schema that leave an entry in the audit."""

from __future__ import annotations

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.storage.database import schema_upgrade
from mitigauge.storage.database.engine import new_engine, transaction
from mitigauge.storage.database.schema_upgrade import Say, Upgraded


def upgrade(url: str, *, say: Say = lambda _: None) -> Upgraded:
    """As :func:`mitigauge.storage.database.schema_upgrade.upgrade`, with an entry of what was done.

    A database that was just made gets none: a backup can be put into it, since nothing is in it.
    """
    done = schema_upgrade.upgrade(url, say=say)
    if done.before is None or not done.applied:
        return done
    engine = new_engine(url)
    try:
        with transaction(engine) as session:
            audit.record(
                session,
                Action.DATABASE_UPGRADE,
                Subject(SubjectKind.DATABASE, ""),
                before={"schema": done.before},
                after={"schema": done.after},
            )
    finally:
        engine.dispose()
    return done
