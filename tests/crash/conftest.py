"""Real worker processes over a real database and simulated hosts."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.submission import submit
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.boot_schemas import WholeExperimentView
from mitigauge.storage.database.engine import transaction
from pipelines.steps import boot as boot_steps
from tests.specs import CATALOG, HOSTS, SPEC, inventory
from tests.zygote import Forked, Zygote, log_streams, shared

STUCK = (
    "select pid, state, wait_event, pg_blocking_pids(pid) as blocked_by, now() - xact_start as age,"
    " query from pg_stat_activity where datname = current_database()",
    "select id, status, worker_id, scheduled_at, attempts, queueing_lock from procrastinate_jobs",
    "select id, state, step, epoch, wake_at, now() as now from run",
    "select run_id, epoch, holder, expires_at, released_at from host_lease",
)
LEASE_S = 2.0
PATIENCE_S = 90.0


@dataclass
class Fleet:
    """Workers that a test starts, and what it may ask of their world."""

    url: str
    engine: Engine
    worlds: Path
    zygote: Zygote
    started: list[Forked] = field(default_factory=list)

    def worker(self, fault: str = "") -> Forked:
        """Start a worker; with *fault* (``step:moment``) one that dies there."""
        with log_streams(self.worlds / "workers.log") as streams:
            worker = self.zygote.spawn(
                "worker",
                [self.url, str(self.worlds), str(LEASE_S), *(["--fault", fault] if fault else [])],
                env={**os.environ, "MITIGAUGE_HOME": str(self.worlds)},
                streams=streams,
            )
        self.started.append(worker)
        return worker

    def submit(self, text: str = SPEC, *hosts: str) -> int:
        """Store an experiment over the test catalogue."""
        spec = read_spec(text, name="spec", catalog=CATALOG, hosts=HOSTS)
        with transaction(self.engine) as session:
            return submit(
                session, spec, text, catalog=CATALOG, hosts=inventory(*(hosts or ("alpha",)))
            )

    def show(self, experiment_id: int) -> WholeExperimentView:
        """The experiment as it stands."""
        with transaction(self.engine) as session:
            return views.show_whole(session, experiment_id)

    def until(self, true: Callable[[], bool], what: str) -> None:
        """Wait for *true*, or fail with the workers' log."""
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            if time.monotonic() > deadline:
                pytest.fail(f"waited {PATIENCE_S:.0f} s in vain for: {what}\n{self._stuck()}")
            time.sleep(0.1)

    def _stuck(self) -> str:
        """What the workers said, where each stands, and what the database knows of them."""
        for process in self.started:
            process.send_signal(signal.SIGUSR1)
        time.sleep(1.0)
        log = (self.worlds / "workers.log").read_text()[-12_000:]
        with transaction(self.engine) as session:
            told = [row for query in STUCK for row in session.execute(text(query)).mappings()]
        return "\n".join([log, *(str(dict(row)) for row in told)])

    def until_over(self, experiment_id: int) -> WholeExperimentView:
        """Wait for the experiment's end."""
        self.until(
            lambda: self.show(experiment_id).state in ("finished", "failed", "cancelled"),
            "the experiment's end",
        )
        return self.show(experiment_id)

    def until_concluded(self, experiment_id: int) -> WholeExperimentView:
        """Wait for the experiment's end, and for the verdicts that a worker stores after it."""
        self.until_over(experiment_id)
        self.until(lambda: self._is_concluded(experiment_id), "the verdicts after the end")
        return self.show(experiment_id)

    def _is_concluded(self, experiment_id: int) -> bool:
        with transaction(self.engine) as session:
            return session.get_one(Experiment, experiment_id).concluded_at is not None

    def did(self, host: str = "alpha") -> Counter[str]:
        """How often each side effect happened on a host."""
        return Counter(json.loads((self.worlds / f"{host}.json").read_text())["did"])


@pytest.fixture(autouse=True)
def up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps taken within the test wait for no simulated host, as those of its workers do not."""
    monkeypatch.setattr(boot_steps, "GOING_DOWN_S", 0.0)


@pytest.fixture(scope="session")
def zygote() -> Zygote:
    """What all workers of the session are forked from."""
    return shared()


@pytest.fixture
def fleet(engine: Engine, database_url: str, home: Path, zygote: Zygote) -> Iterator[Fleet]:
    """A fleet of workers; whatever still runs at the end is killed."""
    fleet = Fleet(database_url, engine, home, zygote)
    yield fleet
    for process in fleet.started:
        if process.poll() is None:
            process.kill()
            process.wait()


def nothing_lost_nothing_twice(view: WholeExperimentView, did: Counter[str]) -> None:
    """Every planned boot was made and measured exactly once."""
    assert view.state == "finished"
    counted = [boot for boot in view.boots if boot.state is BootState.EFFECTIVE]
    assert Counter((b.host, b.block, b.arm) for b in counted).most_common(1)[0][1] == 1
    assert len(counted) == len(view.boots) == view.boots_total
    for boot in counted:
        assert did[f"boot {boot.nonce}"] == 1
        assert did[f"job boot{boot.id}-{boot.nonce}-1"] == 1
        assert [len(values["time"]) for values in boot.values.values()] == [3, 3]
