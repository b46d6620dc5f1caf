"""The upgrade that drops what the service no longer has: its rows are kept in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Engine, text

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import get_settings
from mitigauge.storage.database import schema_upgrade
from mitigauge.storage.database.engine import alembic_config, require_head
from tests import recording

FILE = "rows-before-0069.jsonl"
ELSE = "select count(*), sum(mean) from measurement"


def back(url: str) -> None:
    """To the schema of the version before."""
    command.downgrade(alembic_config(url), "0068")


def test_rows_of_what_went_are_written_and_said_and_nothing_else_is_lost(
    engine: Engine, database_url: str, home: Path
) -> None:
    recording.load(engine)
    with engine.connect() as connection:
        before = connection.execute(text(ELSE)).one()
    back(database_url)
    with engine.begin() as connection:
        connection.execute(text("update comparison set tournament = true where id = 1"))
    lines: list[str] = []
    schema_upgrade.upgrade(database_url, say=lines.append)
    require_head(engine)
    [kept] = map(json.loads, (get_settings().home / FILE).read_text().splitlines())
    assert (kept["table"], kept["row"]["id"]) == ("comparison.tournament", 1)
    assert [line for line in lines if FILE in line and "rows of what went" in line]
    with engine.connect() as connection:
        assert connection.execute(text(ELSE)).one() == before


def test_a_database_without_such_rows_gets_no_file(
    engine: Engine, database_url: str, home: Path
) -> None:
    back(database_url)
    schema_upgrade.upgrade(database_url)
    assert not (get_settings().home / FILE).exists()


def test_nothing_is_dropped_where_the_file_cannot_be_written(
    engine: Engine, database_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.load(engine)
    back(database_url)
    with engine.begin() as connection:
        connection.execute(text("update comparison set tournament = true"))
    (get_settings().home / f"{FILE}.part").mkdir(parents=True)
    with pytest.raises(NotReady, match=r"cannot be written to .*rows-before-0069"):
        schema_upgrade.upgrade(database_url)
    with engine.connect() as connection:
        assert connection.scalar(text("select count(*) from comparison where tournament")) == 2
    (get_settings().home / f"{FILE}.part").rmdir()
    schema_upgrade.upgrade(database_url)
    assert len((get_settings().home / FILE).read_text().splitlines()) == 2
