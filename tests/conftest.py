"""Shared by all tests: a real PostgreSQL, one fresh database a test."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from hypothesis import settings as hypothesis_settings
from sqlalchemy import Engine, make_url, text

from cli import output
from mitigauge.database.embedded_server import ensure_running, stop
from mitigauge.database.engine import alembic_config, new_engine
from mitigauge.settings import get_settings

# Exploring is for people; a build must not fail by chance. Loaded machines are slow.
hypothesis_settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis_settings.register_profile("here", deadline=None)
hypothesis_settings.load_profile("ci" if "CI" in os.environ else "here")


class Durations:
    """Keeps what each test took when it ran last, in seconds; `make quick` chooses by it."""

    KEY = "mitigauge/durations"

    def __init__(self) -> None:
        self.took: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[report.nodeid] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # A process that another one gives its tests tells that one.
        cache = getattr(session.config, "cache", None)
        if self.took and cache and not hasattr(session.config, "workerinput"):
            before = cache.get(self.KEY, {})
            kept = {
                test: took for test, took in before.items() if Path(test.split("::")[0]).exists()
            }
            took = {test: round(seconds, 3) for test, seconds in self.took.items()}
            cache.set(self.KEY, kept | took)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations())


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument: a packed file's differ from one making to the next.

    Processes that share the tests must name them alike.
    """
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def postgres_home() -> Iterator[Path]:
    """Where the session's server lives.

    Not below pytest's own folder: another session closes that to the server's user.
    """
    with tempfile.TemporaryDirectory(prefix="mgpg-") as directory:
        yield Path(directory)


@pytest.fixture(scope="session")
def postgres_url(postgres_home: Path) -> Iterator[str]:
    """URL of a server that lives as long as the test session."""
    home = postgres_home
    url = make_url(ensure_running(home)).set(drivername="postgresql+psycopg")
    address = url.render_as_string(hide_password=False)
    # The data lives as long as the tests, so it need not outlive the machine. It must outlive
    # the server: with synchronous_commit off, one that is stopped forgets its last commits.
    for setting in ("fsync", "full_page_writes"):
        _execute(address, f"alter system set {setting} = off")
    _execute(address, "select pg_reload_conf()")
    yield address
    stop(home)


@pytest.fixture(scope="session")
def template_database(postgres_url: str) -> str:
    """Name of a migrated database that others are copied from."""
    _execute(postgres_url, "create database template_mitigauge")
    command.upgrade(alembic_config(_named(postgres_url, "template_mitigauge")), "head")
    return "template_mitigauge"


@pytest.fixture
def database_url(postgres_url: str, template_database: str) -> Iterator[str]:
    """A migrated, empty database of the test's own."""
    name = f"test_{uuid.uuid4().hex}"
    _execute(postgres_url, f"create database {name} template {template_database}")
    yield _named(postgres_url, name)
    _execute(postgres_url, f"drop database {name} with (force)")


@pytest.fixture(scope="module")
def module_engine(postgres_url: str, template_database: str) -> Iterator[tuple[Engine, str]]:
    """A database for a whole module's tests, with its URL."""
    name = f"test_{uuid.uuid4().hex}"
    _execute(postgres_url, f"create database {name} template {template_database}")
    url = _named(postgres_url, name)
    engine = new_engine(url)
    yield engine, url
    engine.dispose()
    _execute(postgres_url, f"drop database {name} with (force)")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine over the test's database."""
    engine = new_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture(autouse=True)
def fresh_consoles() -> None:
    """A console keeps the width that was set when it printed first, in whatever test."""
    output.console.cache_clear()
    output.errors.cache_clear()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state directory of the test's own."""
    monkeypatch.setenv("MITIGAUGE_HOME", str(tmp_path))
    get_settings.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    get_settings.cache_clear()


def _named(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _execute(url: str, statement: str) -> None:
    engine = new_engine(url)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    engine.dispose()
