"""The migrations build exactly the tables that the code declares, and can be undone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.engine import alembic_config, require_head
from mitigauge.storage.database.metadata import whole_metadata
from tests import next_version, recording
from tests.postgres import Databases, engine_of

RECORDED_AT_0011 = recording.RECORDED.with_name("lab-demo-0011.json.gz")


def test_the_schema_is_what_the_tables_say(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "include_name": lambda name, kind, _: (
                    not (kind == "table" and name.startswith("procrastinate"))
                )
            },
        )
        assert compare_metadata(context, whole_metadata()) == []


def test_there_and_back_leaves_each_row_as_it_was(
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    recording.load(engine)
    asked = text("select question from experiment order by id")
    with engine.connect() as connection:
        before = connection.scalars(asked).all()
    with next_version.installed(tmp_path):
        config = alembic_config(database_url)
        command.upgrade(config, "head")
        with engine.connect() as connection:
            assert connection.scalars(asked).all() == [next_version.ASKED + each for each in before]
        command.downgrade(config, "-1")
    require_head(engine)
    with engine.connect() as connection:
        assert connection.scalars(asked).all() == before


def test_a_series_of_the_default_profile_lets_its_hosts_decide_after_the_upgrade(
    engine: Engine, database_url: str
) -> None:
    profiles = text("select profile from series order by name")
    with engine.begin() as connection:
        for name, profile in (("a", ""), ("b", "mine.config")):
            connection.execute(
                text(
                    "insert into series (name, key, title, spec, base, profile, archive) "
                    "values (:name, :name, '', '', 'linux-source-7.2', :profile, '')"
                ),
                {"name": name, "profile": profile},
            )
    command.downgrade(alembic_config(database_url), "0073")
    with engine.connect() as connection:
        assert connection.scalars(profiles).all() == ["lab", "mine.config"]
    command.upgrade(alembic_config(database_url), "head")
    require_head(engine)
    with engine.connect() as connection:
        assert connection.scalars(profiles).all() == ["", "mine.config"]


def test_an_old_schema_is_not_ready_and_says_what_to_run(engine: Engine, tmp_path: Path) -> None:
    with (
        next_version.installed(tmp_path),
        pytest.raises(NotReady, match=f"this version wants {next_version.NEXT}") as told,
    ):
        require_head(engine)
    assert "mitigauge db upgrade" in told.value.hint


@pytest.fixture
def bare_url(databases: Databases) -> Iterator[str]:
    """A database without a table."""
    with databases.copied("template1") as url:
        yield url


def test_the_audit_log_refuses_changes_where_a_replica_applies_them_too(engine: Engine) -> None:
    with engine.connect() as connection:
        enabled = connection.scalar(
            text("select tgenabled from pg_trigger where tgname = 'audit_entry_append_only'")
        )
    assert enabled in ("A", b"A")


def test_two_migrators_at_once_make_the_schema_once(bare_url: str) -> None:
    upgrade = [sys.executable, "-m", "cli.main", "db", "upgrade"]
    environment = {**os.environ, "MITIGAUGE_DATABASE_URL": bare_url}
    both = [
        subprocess.Popen(
            upgrade, env=environment, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in both:
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint.decode()
    engine = engine_of(bare_url)
    require_head(engine)
    engine.dispose()


@pytest.mark.parametrize("slowdown", ["0.99", "'NaN'", "'Infinity'"])
def test_a_slowdown_is_a_finite_number_from_1_up(engine: Engine, slowdown: str) -> None:
    recording.load(engine)
    with (
        engine.begin() as connection,
        pytest.raises(IntegrityError, match="ck_measurement_slowdowns"),
    ):
        connection.execute(
            text(f"update measurement set slowdowns = array[1, {slowdown}]::float8[]")
        )


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("column", ["counted", "warmup", "disturbed"])
def test_a_value_that_is_no_number_cannot_be_stored(engine: Engine, column: str, word: str) -> None:
    recording.load(engine)
    with engine.begin() as connection, pytest.raises(IntegrityError, match=f"ck_.*{column}"):
        connection.execute(text(f"update measurement set {column} = array[1, '{word}']::float8[]"))
