"""`mitigauge health`: whether what runs on this machine can work, for whoever restarts it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict

from cli.output import Json, print_json, say
from cli.remote.choice import chosen_server, require_local
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import Settings, get_settings

LEAST_FREE_BYTES = 1 << 30
ANSWERS_WITHIN_S = 10
SCHEMA_IS_RIGHT = "it answers, with this version's schema"


class Finding(BaseModel):
    """One thing that was looked at; *detail* says what is wrong, or what was seen."""

    model_config = ConfigDict(frozen=True)

    what: str
    sound: bool
    detail: str


def health(
    api: Annotated[
        bool, typer.Option("--api", help="Whether this machine's API answers as well.")
    ] = False,
    worker: Annotated[
        bool, typer.Option("--worker", help="Whether this machine's worker lives as well.")
    ] = False,
    json: Json = False,
) -> None:
    """Say whether the database, its schema and the disk are as they must be; status 1 where not.

    It is what a container's or a monitor's check calls.
    """
    if chosen_server():
        for given, option in ((api, "--api"), (worker, "--worker")):
            if given:
                require_local(f"health {option}", "`mitigauge worker list` shows who works.")
        findings = list(_there())
    else:
        findings = _here(get_settings(), api=api, worker=worker)
    if json:
        print_json(findings)
    else:
        for line in _lines(findings):
            say(line)
    if not all(each.sound for each in findings):
        raise typer.Exit(1)


def _here(settings: Settings, *, api: bool, worker: bool) -> list[Finding]:
    findings = [_database(), _disk(settings)]
    if api:
        findings.append(_api(settings))
    if worker:
        findings.append(_worker(settings))
    return findings


def _there() -> Iterator[Finding]:
    """What a service says of itself."""
    from cli.remote.client import client

    asked = client()
    asked.introduce()
    seen = f"{asked.url} answers, version {asked.version}"
    yield Finding(what="server", sound=True, detail=seen)
    try:
        asked.json("/api/health/ready")
    except MitigaugeError as error:
        yield Finding(what="database", sound=False, detail=error.message)
        return
    yield Finding(what="database", sound=True, detail=SCHEMA_IS_RIGHT)


def _lines(findings: list[Finding]) -> Iterator[str]:
    for each in findings:
        yield f"{'ok     ' if each.sound else 'FAILED '} {each.what}: {each.detail}"


def _database() -> Finding:
    from mitigauge.storage.database.engine import get_engine, require_head

    try:
        require_head(get_engine())
    except MitigaugeError as error:
        return Finding(what="database", sound=False, detail=error.message)
    return Finding(what="database", sound=True, detail=SCHEMA_IS_RIGHT)


def _disk(settings: Settings) -> Finding:
    place = settings.home if settings.home.exists() else Path("/")
    free = shutil.disk_usage(place).free
    said = f"{free / (1 << 30):.1f} GiB free at {place}"
    if free >= LEAST_FREE_BYTES:
        return Finding(what="disk", sound=True, detail=said)
    return Finding(what="disk", sound=False, detail=f"{said}; `mitigauge db prune` may make room")


def _api(settings: Settings) -> Finding:
    import httpx2

    address = f"http://127.0.0.1:{settings.port}/api/health/ready"
    try:
        status = httpx2.get(address, timeout=ANSWERS_WITHIN_S).status_code
    except httpx2.HTTPError as error:
        return Finding(what="api", sound=False, detail=f"{address} does not answer: {error}")
    return Finding(what="api", sound=status == 200, detail=f"{address} answers {status}")


def _worker(settings: Settings) -> Finding:
    """This machine's worker, by the name under which it is known."""
    from cli.stored import stored
    from mitigauge.jobs import worker_repository
    from pipelines.worker import name_of_this

    # Behind the colon stands the number of the worker's own process.
    name = name_of_this(settings).rpartition(":")[0]
    try:
        with stored() as session:
            names = {each.name.rpartition(":")[0] for each in worker_repository.alive(session)}
    except MitigaugeError as error:
        return Finding(what="worker", sound=False, detail=error.message)
    if name in names:
        return Finding(what="worker", sound=True, detail=f"{name} was seen within the last 45 s")
    return Finding(what="worker", sound=False, detail=f"{name} has not said for 45 s that it lives")
