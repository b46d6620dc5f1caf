"""A client against the real application over a real database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from api.app import create_app
from mitigauge.access.roles import OPERATOR
from mitigauge.access.secret import KEY_BYTES, keep_key
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.database.engine import transaction
from tests.clients import bearer, client_of, token_of
from tests.postgres import Databases, filled
from tests.specs import CATALOG, HOSTS, SPEC, inventory

KEY = "the-key-of-the-link"


@pytest.fixture
def begun(databases: Databases, home: Path) -> Iterator[tuple[str, str]]:
    """URL of a database of the test's own that has an admin's token alone, and that token."""
    # Tokens are kept under the key of their state directory.
    keep_key(home, bytes(KEY_BYTES))
    with databases.begun_with(token_of, "admin") as begun:
        yield begun


@pytest.fixture
def database_url(begun: tuple[str, str]) -> str:
    """URL of that database."""
    return begun[0]


@pytest.fixture
def service(engine: Engine, home: Path) -> FastAPI:
    """The service."""
    return create_app(engine, login_key=KEY)


@pytest.fixture
def client(service: FastAPI, begun: tuple[str, str]) -> Iterator[TestClient]:
    """An admin's client."""
    with client_of(service, bearer(begun[1])) as client:
        yield client


@pytest.fixture
def stranger(service: FastAPI) -> Iterator[TestClient]:
    """The client of somebody without a token."""
    with client_of(service) as client:
        yield client


@pytest.fixture
def experiment_id(engine: Engine, home: Path) -> int:
    """A planned experiment."""
    return filled(engine, planned)


@pytest.fixture
def later_id(engine: Engine, experiment_id: int) -> int:
    """The same one, planned once more."""
    return planned(engine)


def planned(engine: Engine, submitted_by: str = OPERATOR) -> int:
    """Plan the small experiment."""
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        return submit(
            session,
            spec,
            SPEC,
            catalog=CATALOG,
            hosts=inventory("alpha"),
            submitted_by=submitted_by,
        )
