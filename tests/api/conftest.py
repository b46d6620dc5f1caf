"""A client against the real application over a real database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from api.app import create_app
from mitigauge.access import service as access
from mitigauge.access.roles import Role
from mitigauge.database import transaction
from mitigauge.experiments import repository
from mitigauge.experiments.spec import read_spec
from mitigauge.experiments.submit import submit
from tests.specs import CATALOG, HOSTS, SPEC, inventory


HERE = "http://localhost:8600"
KEY = "the-key-of-the-link"


@pytest.fixture
def client(service: FastAPI, bearer: Bearer) -> Iterator[TestClient]:
    """An admin's client; errors come back as answers."""
    with client_of(service, bearer("admin")) as client:
        yield client


@pytest.fixture
def stranger(service: FastAPI) -> Iterator[TestClient]:
    """The client of somebody without a token."""
    with client_of(service) as client:
        yield client


@pytest.fixture
def service(engine: Engine, home: Path) -> FastAPI:
    """The service."""
    return create_app(engine, login_key=KEY)


def client_of(service: FastAPI, headers: dict[str, str] | None = None) -> TestClient:
    """A client that asks under a name the service knows, with those headers each time."""
    return TestClient(service, base_url=HERE, headers=headers, raise_server_exceptions=False)


class Bearer(Protocol):
    """Makes a token of a role and gives the headers that carry it."""

    def __call__(self, role: str, name: str = "") -> dict[str, str]: ...


@pytest.fixture
def bearer(engine: Engine, home: Path) -> Bearer:
    """Headers with a fresh token, named after its role unless said otherwise."""

    def made(role: str, name: str = "") -> dict[str, str]:
        return token_headers(engine, role, name or role)

    return made


def token_headers(engine: Engine, role: str, name: str) -> dict[str, str]:
    """Headers with a fresh token."""
    with transaction(engine) as session:
        token = access.create_token(session, name, Role(role), days=1)
    return {"Authorization": f"Bearer {token.token}", "Content-Type": "application/json"}


@pytest.fixture
def experiment_id(engine: Engine, home: Path) -> int:
    """A planned experiment."""
    return planned(engine)


@pytest.fixture
def later_id(engine: Engine, experiment_id: int) -> int:
    """The same one, planned once more."""
    return planned(engine)


def planned(engine: Engine) -> int:
    """Plan the small experiment."""
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        return submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))


@pytest.fixture
def measuring(engine: Engine, experiment_id: int) -> tuple[int, int]:
    """(boot, case) of a boot that is proven and being measured."""
    with transaction(engine) as session:
        experiment = repository.experiment(session, experiment_id)
        boot = repository.boots_of(session, [run.id for run in experiment.runs])[0]
        boot.state = "measuring"
        return boot.id, experiment.comparisons[0].cases[0].id
