"""Profiled passes through a real worker: what goes wrong with one costs no figure."""

from __future__ import annotations

import hashlib
import json

import pytest
from sqlalchemy import func, select

from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.boot_schemas import WholeExperimentView
from mitigauge.storage.database.engine import transaction
from tests.crash.conftest import Fleet, nothing_lost_nothing_twice
from tests.crash.simulated_host import RECORDED, new_world
from tests.specs import SPEC

PROFILED = SPEC.replace("iterations: 3", "iterations: 3\n        profile: {hz: 499}")


def run(fleet: Fleet, how: str = "ok", spec: str = PROFILED) -> tuple[WholeExperimentView, str]:
    """The finished experiment, and what its log says of measured cases."""
    (fleet.worlds / "alpha.json").write_text(json.dumps({**new_world(), "profile": how}))
    experiment = fleet.submit(spec)
    fleet.worker()
    view = fleet.until_concluded(experiment)
    with transaction(fleet.engine) as session:
        texts = [e.text for e in views.list_events(session, experiment, limit=2000)]
    return view, "\n".join(text for text in texts if "cases measured" in text)


def test_a_profiled_case_is_measured_as_ever_and_its_capture_kept_apart(fleet: Fleet) -> None:
    view, said = run(fleet)
    nothing_lost_nothing_twice(view, fleet.did())
    assert said.count("2 of 2 cases measured, 2 profiled") == 4
    assert "no profile" not in said
    assert fleet.did()["prepare with perf"] == 1
    digest = hashlib.sha256(RECORDED).hexdigest()
    assert (fleet.worlds / "blobs" / digest[:2] / digest).read_bytes() == RECORDED
    # Values of a profiled pass are nobody's result: the plan's iterations and no more.
    assert view.comparisons[0].rows[0].cells[0].mean == pytest.approx(101.1)


def test_without_profile_nothing_is_said_of_profiles_and_perf_is_not_asked_for(
    fleet: Fleet,
) -> None:
    view, said = run(fleet, spec=SPEC)
    nothing_lost_nothing_twice(view, fleet.did())
    assert said.count("2 of 2 cases measured") == 4
    assert "profile" not in said
    assert fleet.did()["prepare"] == 1


# As spin, but with a guest that can be profiled.
GUEST = SPEC.replace("workload: spin", "workload: jitter").replace(
    "iterations: 3", "iterations: 3\n        profile: {hz: 499, guest: true}"
)


@pytest.mark.parametrize(
    ("how", "sides"), [("ok", {"host": 8, "guest": 8}), ("no guest", {"host": 8})]
)
def test_a_guests_profile_is_kept_beside_the_hosts(
    fleet: Fleet, how: str, sides: dict[str, int]
) -> None:
    view, said = run(fleet, how, GUEST)
    nothing_lost_nothing_twice(view, fleet.did())
    assert fleet.did()["prepare with perf in the guest too"] == 1
    assert said.count("2 of 2 cases measured, 2 profiled") == 4
    assert said.count("no profile of the guest: the guest said nothing") == (how != "ok") * 8
    with transaction(fleet.engine) as session:
        rows = session.execute(select(Profile.system, func.count()).group_by(Profile.system))
        assert {row[0]: row[1] for row in rows} == sides


def test_a_host_that_says_that_another_case_was_asked_is_not_believed(fleet: Fleet) -> None:
    view, said = run(fleet, "another's")
    nothing_lost_nothing_twice(view, fleet.did())
    assert said.count("2 of 2 cases measured, 2 profiled") == 4


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("no perf", "perf is not installed on the host"),
        ("damaged", "perf.script.gz is damaged"),
        ("left out", "perf.script.gz is not in the job's archive"),
        ("cut off", "the job left no profile.json"),
    ],
)
def test_a_profile_that_failed_is_said_and_the_timed_result_kept(
    fleet: Fleet, how: str, why: str
) -> None:
    view, said = run(fleet, how)
    nothing_lost_nothing_twice(view, fleet.did())
    assert said.count("2 of 2 cases measured, 0 profiled") == 4
    assert said.count(f"spin 1: no profile of the host: {why}") == 4
    assert said.count(f"spin 2: no profile of the host: {why}") == 4


def test_a_capture_over_the_limit_is_refused_and_the_timed_result_kept(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_CAPTURE_LIMIT_BYTES", "1000")
    view, said = run(fleet)
    nothing_lost_nothing_twice(view, fleet.did())
    assert (
        f"spin 1: no profile of the host: perf.script.gz has {len(RECORDED)} bytes, over 1000"
        in said
    )
