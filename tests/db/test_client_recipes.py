"""The Python client against a service as people run it, and every recipe of its page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bench.store.fill import Size
from mitigauge.client import Client, ServiceError, pages
from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions.service import take_in
from mitigauge.tracking.trends.update import update
from tests.commands import Command, others
from tests.db.test_commands import DEMO
from tests.ports import free_port
from tests.remote_service import served
from tests.trends_made import weeks

PAGE = REPOSITORY / "docs" / "api.md"
RECIPES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@dataclass(frozen=True)
class Service:
    address: str
    token: str
    home: Path


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, module_engine: tuple[Engine, str]
) -> Iterator[Service]:
    engine, url = module_engine
    home = tmp_path_factory.mktemp("service")
    weeks(engine, [1.0] * 8 + [1.1] * 8, size=Size(cases=2, arms=2, blocks=4, iterations=1))
    update(engine)
    with transaction(engine) as session:
        take_in(session)
    command = Command(home, url)
    command.run("experiment", "import", DEMO)
    said = command.run("token", "create", "sam", "--role", "submitter").stdout
    token = re.search(r"mgt_[\w-]{43}", said)
    assert token
    with served(command, free_port()) as address:
        yield Service(address, token[0], home)


@pytest.mark.parametrize("number", range(len(RECIPES)))
def test_a_recipe_runs_as_it_stands_and_says_something(service: Service, number: int) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
         + RECIPES[number]],
        cwd=service.home, capture_output=True, text=True, timeout=120, check=False,
        env={**others(), "MITIGAUGE_SERVER": service.address, "MITIGAUGE_TOKEN": service.token,
             "WAIT_S": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert "None None" not in done.stdout


def test_there_are_recipes() -> None:
    assert len(RECIPES) >= 6


def test_pages_are_read_to_their_end_and_each_entry_once(service: Service) -> None:
    client = Client(service.address, service.token)
    every = client.list_experiments(limit=200)
    by_twos = list(pages(client.list_experiments, "experiments", limit=2))
    assert [each["id"] for each in by_twos] == [each["id"] for each in every["experiments"]]
    found = client.list_regressions(limit=200)
    assert list(pages(client.list_regressions, "regressions", limit=1)) == found["regressions"]
    assert found["total"] > 1


def test_a_refusal_says_what_the_service_said(service: Service) -> None:
    client = Client(service.address, service.token)
    with pytest.raises(ServiceError) as refused:
        client.show_experiment(4711)
    assert refused.value.status == 404
    assert "4711" in refused.value.message
    assert refused.value.hint
    with pytest.raises(ServiceError, match="not valid YAML") as wrong:
        client.check_spec("name: [")
    assert wrong.value.status == 422


def test_without_a_token_or_a_service_it_says_so(service: Service) -> None:
    with pytest.raises(ServiceError) as nobody:
        Client(service.address).list_hosts()
    assert nobody.value.status == 401
    with pytest.raises(ServiceError, match="does not answer") as away:
        Client(f"http://127.0.0.1:{free_port()}").live()
    assert away.value.status == 0
    with pytest.raises(ValueError, match="no address"):
        Client("file:///etc/passwd")


def test_a_name_cannot_leave_its_place_in_an_address(service: Service) -> None:
    client = Client(service.address, service.token)
    with pytest.raises(ServiceError) as refused:
        client.show_host("../experiments")
    assert refused.value.status in (404, 422)


def test_it_needs_the_standard_library_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c",
         f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); import mitigauge.client"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
