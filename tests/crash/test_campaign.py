"""The campaign in short: some faults of every kind, with fixed seeds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mitigauge.storage.database.embedded_server import stop
from tests.crash.campaign import Outcome, Plan, carry_out, migrated_server
from tests.crash.scenarios import HOSTILE, KIND

FAULTS = 24
SECONDS = 20.0
# By then every experiment must be over, on a loaded machine too.
BOUND_S = 120.0


def assert_good(outcome: Outcome) -> None:
    assert outcome.good, f"{outcome.stories()}\n{outcome.table()}"


@pytest.mark.deep
def test_nothing_is_lost_or_done_twice_whatever_happens_to_its_worker(
    database_url: str, home: Path
) -> None:
    kinds = ("kill", "pause", "cut", "cancel")
    outcome = carry_out(
        Plan(FAULTS, 11, SECONDS, kinds, lanes=4, bound_s=BOUND_S, scenarios=KIND),
        database_url,
        home,
    )
    assert_good(outcome)
    assert outcome.faults.total() >= 5


@pytest.mark.deep
def test_hostile_hosts_leave_nothing_stuck(database_url: str, home: Path) -> None:
    kinds = ("kill", "cancel")
    outcome = carry_out(
        Plan(FAULTS, 5, SECONDS, kinds, lanes=4, bound_s=BOUND_S, scenarios=HOSTILE),
        database_url,
        home,
    )
    assert_good(outcome)
    assert len(outcome.verdicts) >= 4


@pytest.fixture
def safe_server() -> Iterator[tuple[Path, str]]:
    """A server of the test's own, whose commits outlive a hard stop: its home and URL."""
    with tempfile.TemporaryDirectory(prefix="mgout-") as directory:
        server = Path(directory)
        yield server, migrated_server(server, safe=True)
        stop(server, mode="immediate")


@pytest.mark.deep
def test_a_server_stopped_hard_again_and_again_loses_nothing(
    safe_server: tuple[Path, str], home: Path
) -> None:
    server, url = safe_server
    plan = Plan(
        10**6,
        3,
        15.0,
        ("outage",),
        lanes=3,
        bound_s=BOUND_S,
        scenarios=KIND,
        outage_every_s=(2.0, 5.0),
    )
    outcome = carry_out(plan, url, home, server=server)
    assert_good(outcome)
    assert len(outcome.back_after_s) >= 2
