"""The quick list of experiments beside the one that pages show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.experiments.filter import ExperimentFilter
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.reporting.pages.experiment_list import listed
from mitigauge.reporting.pages.experiments import list_experiments, summaries
from mitigauge.reporting.pages.schemas import ExperimentPage
from mitigauge.storage.database.direct import plain
from mitigauge.storage.database.engine import transaction
from tests.recording import load


@pytest.fixture
def _here(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mitigauge.storage.database.direct.database_address", lambda: database_url)


def run(engine: Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


@pytest.mark.usefixtures("_here")
def test_the_quick_list_says_what_the_pages_say(engine: Engine) -> None:
    assert listed() == ExperimentPage(
        experiments=[], total=0, offset=0, next=None, next_offset=None
    )
    load(engine)
    run(
        engine,
        "update experiment set recorded_at = now(), recorded_from = 'a lab' where id = 1",
        # One boot made again and open still, one that never was, an experiment without runs.
        "update experiment set started_at = null where id = 1",
        "update run set clock = 'counted' where id = (select min(id) from run)",
        "insert into boot (run_id, arm_id, block, place, attempt, state, nonce)"
        " select run_id, arm_id, block, place, attempt + 1, 'booting', 'again' from boot limit 1",
        "insert into boot (run_id, arm_id, block, place, state, nonce)"
        " select run_id, arm_id, 99, 1, 'planned', 'planned' from boot limit 1",
        "insert into experiment (name, question, environment, seed, spec_text, state)"
        " values ('empty', '', 'lab', 1, '', 'queued')",
    )
    with transaction(engine) as session:
        expected = list_experiments(session)
        newest_first = select(Experiment).order_by(Experiment.id.desc())
        assert expected.experiments == summaries(session, list(session.scalars(newest_first)))
        assert listed(limit=1) == list_experiments(session, limit=1)
        assert listed(before=2, limit=1) == list_experiments(session, before=2, limit=1)
        few = ExperimentFilter.parse(state=["queued"], sort="name")
        assert listed(few, limit=1) == list_experiments(session, few, limit=1)
        assert listed(few).total == 1
    oldest = expected.experiments[-1]
    assert oldest.boots_done < oldest.boots_total
    assert oldest.recorded is not None
    assert [e.counted for e in expected.experiments] == [False, True]
    assert listed() == expected
    assert [e.name for e in listed(limit=1).experiments] == ["empty"]


@pytest.mark.usefixtures("_here")
def test_a_schema_that_is_not_at_head_is_refused(engine: Engine) -> None:
    run(engine, "update alembic_version set version_num = '0001'")
    with pytest.raises(NotReady, match="at 0001"):
        listed()
    run(engine, "drop table alembic_version")
    with pytest.raises(NotReady, match="at nothing"):
        listed()


def test_a_server_that_is_not_there_is_an_error_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "mitigauge.storage.database.direct.database_address", lambda: "postgresql://127.0.0.1:1/no"
    )
    with pytest.raises(NotReady, match="does not answer"):
        listed()


def run_here(words: str, database_url: str, home: Path) -> tuple[str, set[str]]:
    """What the command prints, and the modules that it imports.

    A name of a module that is imported by its name is not listed, but what it imports is.
    """
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "cli.main", *words.split()],
        cwd=REPOSITORY,
        env=os.environ | {"MITIGAUGE_DATABASE_URL": database_url, "MITIGAUGE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_the_command_lists_without_what_takes_long_to_load(
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    load(engine)
    output, names = run_here("experiment list --json", database_url, tmp_path)
    with transaction(engine) as session:
        expected = list_experiments(session).model_dump(mode="json")
    assert json.loads(output) == expected
    assert "psycopg" in names
    assert not names & {"sqlalchemy", "numpy", "scipy", "alembic", "fastapi", "structlog", "yaml"}


@pytest.mark.parametrize(
    "words",
    ["experiment show 1", "regression list", "trends list", "bisect list", "series list"],
)
def test_what_is_stored_is_printed_without_statistics_and_the_tables_of_all_nouns(
    engine: Engine, database_url: str, tmp_path: Path, words: str
) -> None:
    load(engine)
    output, names = run_here(words, database_url, tmp_path)
    assert output
    assert not names & {"numpy", "scipy", "alembic", "mitigauge.reporting.subscriptions.tables"}


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_addresses_with_and_without_a_driver_are_taken(scheme: str) -> None:
    assert plain(f"{scheme}://me@there/db?port=1") == "postgresql://me@there/db?port=1"
