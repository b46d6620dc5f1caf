"""Shared by all tests: a real PostgreSQL, one fresh database a test."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings
from sqlalchemy import Engine

from cli import output
from cli.memory import collect_seldom
from mitigauge.core.settings import get_settings
from tests.loading import load
from tests.postgres import Databases, engine_of, started_server

# What was started in the background ignores Ctrl-C, and so would every command of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
tiers = load("scripts/tiers.py")
collect_seldom()
# Exploring is for people; a build must not fail by chance. Loaded machines are slow.
hypothesis_settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis_settings.register_profile("here", deadline=None)
hypothesis_settings.load_profile("ci" if "CI" in os.environ else "here")


class Durations:
    """Keeps what each test took when it ran last, in seconds; `make quick` chooses by it.

    A run of several sessions names a file, in TESTS_TOOK, that gets a line of each.
    """

    KEY = "mitigauge/durations"

    def __init__(self) -> None:
        self.took: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[report.nodeid] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # A process that another one gives its tests tells that one.
        if not self.took or hasattr(session.config, "workerinput"):
            return
        took = {test: round(seconds, 3) for test, seconds in self.took.items()}
        if file := os.environ.get("TESTS_TOOK"):
            with Path(file).open("a") as out:
                out.write(json.dumps(took) + "\n")
        if cache := getattr(session.config, "cache", None):
            before = cache.get(self.KEY, {})
            kept = {
                test: took for test, took in before.items() if Path(test.split("::")[0]).exists()
            }
            cache.set(self.KEY, kept | took)


def said(config: pytest.Config, line: str) -> None:
    """Say a line at once, whatever pytest keeps of a test's output."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        print(line, file=sys.stderr, flush=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files that took longest come first, so that none is left to one process at the end.

    All processes sort alike: by what is recorded, not by what ran here.
    """
    if hasattr(config, "workerinput"):
        took = tiers.read_durations()
        items.sort(key=lambda item: -took.get(item.nodeid.partition("::")[0], 0.0))


def pytest_collection_finish() -> None:
    """Modules and tests are no garbage, of which a million objects are looked through each time."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument: a packed file's differ from one making to the next.

    Processes that share the tests must name them alike.
    """
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def _server(request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """Home and URL of a server that lives as long as the test session."""
    with started_server(partial(said, request.config)) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_home(_server: tuple[Path, str]) -> Path:
    """Where the session's server lives."""
    return _server[0]


@pytest.fixture(scope="session")
def databases(_server: tuple[Path, str]) -> Iterator[Databases]:
    """The session's server, which copies databases."""
    with Databases(_server[1]).open() as databases:
        yield databases


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A migrated, empty database of the test's own."""
    with databases.copied() as url:
        yield url


@pytest.fixture(scope="module")
def module_engine(databases: Databases) -> Iterator[tuple[Engine, str]]:
    """An empty database for a whole module's tests, with its URL."""
    with databases.copied() as url:
        engine = engine_of(url)
        yield engine, url
        engine.dispose()


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine over the test's database."""
    engine = engine_of(database_url)
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
