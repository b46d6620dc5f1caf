"""Jobs over the API: each kind started, followed and cancelled; workers listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.jobs.abilities import Missing
from mitigauge.jobs.states import Ability, JobKind, JobState
from mitigauge.kernels import host_config
from mitigauge.kernels.order import KernelInputs, KernelOrder
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import repository, service
from pipelines.jobs.context import JobContext, JobDone
from pipelines.jobs.engine import JobAdvancer
from tests.api.conftest import bearer, token_of
from tests.api.test_series import stored
from tests.db.test_jobs import Scripted
from tests.workers import announce

PATCH = (REPOSITORY / "tests" / "series" / "bisect").glob("*.patch")
ARMS = (
    "arms:\n  - {name: off, mode: spectre-bhi/off}\n  - {name: loop, mode: spectre-bhi/loop}\n"
    "  - {name: newer, mode: spectre-bhi/loop, kernel: 7.2.1}\n"
)


@pytest.fixture
def asks(client: TestClient, engine: Engine, home: Path) -> Any:
    """Asks as an approver by name."""
    headers = bearer(token_of(engine, "approver", "ann"))

    def ask(method: str, path: str, **body: Any) -> Any:
        return client.request(method, path, headers=headers, json=body)

    return ask


def test_a_kernel_is_ordered_once_followed_and_built(asks: Any, engine: Engine) -> None:
    patch = {"title": "x86: Faster", "text": next(iter(PATCH)).read_text()}
    order = {"base": "linux-source-7.2", "label": "v1", "patches": [patch]}
    asked = asks("POST", "/api/kernels", **order)
    assert asked.status_code == 202, asked.text
    job = asked.json()
    assert (job["kind"], job["state"], job["asked_by"]) == ("kernel", "queued", "ann")
    assert "no worker that runs now builds kernels" in job["waits"]
    assert (
        asks(
            "POST",
            "/api/kernels",
            **order,
        ).json()["id"]
        == job["id"]
    )

    def build(context: JobContext) -> JobDone:
        order = KernelOrder.model_validate(context.job.arguments)
        inputs = KernelInputs.read(blob_store(get_settings()), str(context.job.content_sha256))
        context.say(f"{order.base} with {inputs.patch_list()[0].title}")
        return JobDone(state=JobState.DONE)

    JobAdvancer(engine, dict.fromkeys(JobKind, Scripted(build)), "w1").advance(job["id"])
    whole = asks("GET", f"/api/jobs/{job['id']}").json()
    assert (whole["state"], whole["waits"]) == ("done", "")
    assert [line["text"] for line in whole["events"]] == [
        "linux-source-7.2 with x86: Faster", "done",
    ]  # fmt: skip
    assert [(each["worker"], each["outcome"]) for each in whole["attempts"]] == [("w1", "done")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"profile": "../../etc/passwd"}, "no config profile"),
        ({"patches": [{"text": "no diff"}]}, "patch 1 has no hunk"),
        ({"layouts": 0}, "layouts"),
        ({"label": "a b;c"}, "label"),
        ({"more": 1}, "more"),
    ],
)
def test_an_order_that_is_none_is_refused_and_nothing_is_stored(
    asks: Any, engine: Engine, change: dict[str, Any], said: str
) -> None:
    answer = asks("POST", "/api/kernels", **({"base": "linux-source-7.2"} | change))
    assert answer.status_code == 422
    assert said in answer.text
    assert asks("GET", "/api/jobs").json() == []


def test_a_kernel_is_ordered_by_the_configuration_of_a_host(asks: Any) -> None:
    order = {"base": "linux-source-7.2", "profile": "as-host:racks/icx-01"}
    unknown = asks("POST", "/api/kernels", **order)
    assert unknown.status_code == 404
    assert "the configuration of racks/icx-01 is not known" in unknown.text
    host_config.keep("racks", "icx-01", "CONFIG_SATA_AHCI=m\n")
    job = asks("POST", "/api/kernels", **order).json()
    host_config.keep("racks", "icx-01", "CONFIG_MEGARAID_SAS=m\n")
    assert asks("POST", "/api/kernels", **order).json()["id"] != job["id"]


def test_who_may_not_approve_orders_no_kernel(client: TestClient, engine: Engine) -> None:
    headers = bearer(token_of(engine, "submitter", "sam"))
    answer = client.post("/api/kernels", headers=headers, json={"base": "linux-source-7.2"})
    assert answer.status_code == 403


def test_a_bisection_is_started_and_cancelled_with_its_job(asks: Any) -> None:
    wanted = {"arms": ARMS, "hosts": ["lab-intel"], "environment": "lab",
              "parameters": {"test": "basic"}}  # fmt: skip
    begun = asks("POST", "/api/bisections", **wanted)
    assert begun.status_code == 202, begun.text
    [job] = asks("GET", "/api/jobs").json()
    assert (job["kind"], job["subject"]) == ("bisection", str(begun.json()["id"]))
    assert asks("POST", f"/api/bisections/{begun.json()['id']}/cancel").status_code == 200
    [job] = asks("GET", "/api/jobs").json()
    assert (job["state"], job["cancelled_by"]) == ("cancelled", "ann")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"series": "a"}, "say what is bisected"),
        ({"arms": ""}, "say what is bisected"),
        ({"hosts": []}, "hosts"),
        ({"hosts": ["nowhere"]}, "unknown host"),
        ({"boots": 1}, "--boots is 1"),
        ({"arms": "arms: 3"}, "arms"),
    ],
)
def test_a_bisection_of_nothing_is_refused(asks: Any, change: dict[str, Any], said: str) -> None:
    wanted = {"arms": ARMS, "hosts": ["lab-intel"], "environment": "lab",
              "parameters": {"test": "basic"}}  # fmt: skip
    answer = asks("POST", "/api/bisections", **(wanted | change))
    assert answer.status_code == 422
    assert said in answer.text
    assert asks("GET", "/api/jobs").json() == []


def test_a_revision_is_started_once_it_may_run(asks: Any, engine: Engine) -> None:
    stored(engine)
    path = "/api/series/bhb/v1/start"
    refused = asks("POST", path)
    assert (refused.status_code, "is waiting" in refused.text) == (422, True)
    with transaction(engine) as session:
        revision = service.find_revision(session, "bhb", "v1", lock=True)
        service.approve(session, revision)
    job = asks("POST", path)
    assert job.status_code == 202, job.text
    assert asks("POST", path).json()["id"] == job.json()["id"]
    cancelled = asks("POST", f"/api/jobs/{job.json()['id']}/cancel").json()
    assert cancelled["cancelled_by"] == "ann"
    JobAdvancer(engine, _runners(), "w1").advance(job.json()["id"])
    with transaction(engine) as session:
        found = repository.revision(session, revision.id)
        assert found is not None
        assert (str(found.state), found.why) == ("set_aside", "cancelled by ann")


def test_nobody_cancels_what_others_asked_for_without_the_right(
    client: TestClient, engine: Engine, asks: Any
) -> None:
    job = asks("POST", "/api/kernels", base="linux-source-7.2").json()["id"]
    headers = bearer(token_of(engine, "submitter", "sam"))
    answer = client.post(f"/api/jobs/{job}/cancel", headers=headers, json={})
    assert (answer.status_code, "asked for by ann" in answer.text) == (403, True)


def test_workers_are_listed_with_what_they_lack(asks: Any, engine: Engine) -> None:
    lacks = [Missing(what="mail", why="no Maildir")]
    for name in ("w1", "w2"):
        announce(engine, name, jobs=[Ability.KERNELS], hosts={"lab": ["lab-intel"]}, lacks=lacks)
    with transaction(engine) as session:
        session.execute(
            text("update worker set seen_at = now() - interval '1 minute' where name = 'w2'")
        )
    found = {each["name"]: each for each in asks("GET", "/api/workers").json()}
    assert [found[name]["alive"] for name in ("w1", "w2")] == [True, False]
    assert found["w1"]["lacks"] == [{"what": "mail", "why": "no Maildir"}]
    assert asks("POST", "/api/kernels", base="linux-source-7.2").json()["waits"] == ""


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_over_the_limit_is_refused_before_it_is_parsed(
    client: TestClient, engine: Engine, announced: bool
) -> None:
    headers = bearer(token_of(engine, "approver", "ann"))
    body = b'{"base": "' + b"x" * (2 << 20) + b'"}'
    pieces = iter([body[i : i + 65_536] for i in range(0, len(body), 65_536)])
    answer = client.post("/api/kernels", headers=headers, content=body if announced else pieces)
    assert (answer.status_code, "over 1048576 bytes" in answer.text) == (413, True)


def _runners() -> Any:
    from pipelines.jobs import runners_of

    return runners_of(get_settings())
