"""A client against the real application over a real database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from api.app import create_app
from mitigauge.database import transaction
from mitigauge.experiments import repository
from mitigauge.experiments.spec import read_spec
from mitigauge.experiments.submit import submit
from tests.specs import CATALOG, HOSTS, SPEC, inventory


@pytest.fixture
def client(engine: Engine, home: Path) -> Iterator[TestClient]:
    """The service; errors come back as answers."""
    with TestClient(create_app(engine), raise_server_exceptions=False) as client:
        yield client


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
