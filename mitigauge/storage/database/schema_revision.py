"""Which revision of the schema this program wants, told without loading the migrations."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY

MIGRATIONS: Path = REPOSITORY / "db" / "migrations"
# The oldest schema that is upgraded here, and the commit that upgrades older ones to it.
BASELINE = "0060"
UPGRADES_OLDER = "575eb961"
# Two statements: the table is not there before the first migration.
HAS_REVISION = "select to_regclass('alembic_version') is not null as migrated"
REVISION = "select version_num from alembic_version"


@cache
def wanted_revision() -> str:
    """The newest migration's number.

    Files are named by their number (``0060_baseline.py``); a test holds this to what Alembic
    finds by reading them all, which takes longer than most commands.
    """
    return max(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py")).split("_")[0]


def require_wanted(current: str | None) -> None:
    """Raise :class:`NotReady` unless *current* is the revision this program wants."""
    if current != (wanted := wanted_revision()):
        raise NotReady(
            f"the database schema is at {current or 'nothing'}, this version wants {wanted}",
            hint="Run `mitigauge db upgrade`.",
        )


def way_out(revision: str, do: str) -> str:
    """What helps with a schema that no migration here is of: the hint of an error.

    *do*: what is to be done with a version that knows it, "run `…` with it".
    """
    if len(revision) == len(BASELINE) and revision.isdecimal() and revision < BASELINE:
        return (
            f"Schemas before {BASELINE} are known to commit {UPGRADES_OLDER} of Mitigauge's "
            f"repository: check that out, run `make setup`, and {do}. Nothing is lost."
        )
    return f"It was made by a newer version of Mitigauge: install that one, and {do}."


def no_answer(said: str) -> NotReady:
    """The error for a database that does not answer, which *said* this."""
    return NotReady(
        f"the database does not answer: {said}",
        hint="Start the server, or check MITIGAUGE_DATABASE_URL.",
    )
