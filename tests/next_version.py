"""A version with one migration more than this one, which alters ``host_lease`` in two statements
and rewrites each experiment's question. Upgrades are tried with it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mitigauge.storage.database import schema_revision

NOW = schema_revision.wanted_revision()
NEXT = f"{int(NOW) + 1:04}"
COLUMN = "of_the_next_version"
ASKED = "Asked: "
MIGRATION = f'''
"""One more."""

from alembic import op

revision = "{NEXT}"
down_revision = "{NOW}"


def upgrade() -> None:
    op.execute("ALTER TABLE host_lease ADD COLUMN {COLUMN} INTEGER")
    op.execute("ALTER TABLE host_lease ALTER COLUMN {COLUMN} SET DEFAULT 1")
    op.execute("UPDATE experiment SET question = '{ASKED}' || question")


def downgrade() -> None:
    op.execute("UPDATE experiment SET question = substr(question, {len(ASKED) + 1})")
    op.execute("ALTER TABLE host_lease DROP COLUMN {COLUMN}")
'''
# Modules that hold the folder by its name.
HOLDERS = ("schema_revision", "schema_upgrade", "engine", "queue_schema")


def migrations(directory: Path) -> Path:
    """Its folder of migrations, made below *directory*."""
    folder = directory / "migrations"
    shutil.copytree(schema_revision.MIGRATIONS, folder)
    (folder / "versions" / f"{NEXT}_next.py").write_text(MIGRATION)
    return folder


def command(folder: Path) -> list[str]:
    """What starts its `mitigauge`; *folder*: of its migrations."""
    begin = (
        "from pathlib import Path\n"
        "from mitigauge.storage.database import schema_revision\n"
        f"schema_revision.MIGRATIONS = Path({str(folder)!r})\n"
        "from cli.main import main\n"
        "main()"
    )
    return [sys.executable, "-c", begin]


@contextmanager
def installed(directory: Path) -> Iterator[Path]:
    """This process is of that version meanwhile."""
    folder = migrations(directory)
    with pytest.MonkeyPatch.context() as patch:
        for name in HOLDERS:
            patch.setattr(f"mitigauge.storage.database.{name}.MIGRATIONS", folder)
        schema_revision.wanted_revision.cache_clear()
        try:
            yield folder
        finally:
            schema_revision.wanted_revision.cache_clear()
