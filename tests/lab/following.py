"""Following a real experiment: a worker's process, and what the database says meanwhile."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from sqlalchemy import Engine

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.runs.states import BootState
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.boot_schemas import WholeExperimentView
from mitigauge.reporting.pages.schemas import EventView
from mitigauge.storage.database.engine import transaction

# A step of a boot takes up to 4 minutes beside other tests. How long the whole takes is the
# machine's affair: a slow one fails nothing.
NO_NEWS_S = 15 * 60
SAY_EVERY_S = 20


def spec_on(file: Path, host: str, blocks: int | None = None) -> str:
    """A spec's comparisons on that host alone; *blocks*: in place of its own."""
    yaml = YAML()
    told = yaml.load(file)
    told["comparisons"] = [each for each in told["comparisons"] if each["hosts"] == [host]]
    if blocks is not None:
        told["blocks"] = blocks
    text = io.StringIO()
    yaml.dump(told, text)
    return text.getvalue()


def show(engine: Engine, experiment_id: int) -> WholeExperimentView:
    with transaction(engine) as session:
        return views.show_whole(session, experiment_id)


def start_worker(database_url: str, log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "cli.main", "worker"],
            cwd=REPOSITORY,
            env={
                **os.environ,
                "MITIGAUGE_DATABASE_URL": database_url,
                "MITIGAUGE_LEASE_SECONDS": "20",
            },
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def wait_for(
    engine: Engine, experiment_id: int, true: Callable[[WholeExperimentView], bool], log: Path
) -> WholeExperimentView:
    """Wait, saying where it stands, until *true*; fail when nothing happens any more."""
    newest, news_at, said = 0, time.monotonic(), 0.0
    while True:
        view = show(engine, experiment_id)
        if true(view):
            return view
        fresh = events_after(engine, experiment_id, newest)
        if fresh:
            newest, news_at = fresh[-1].id, time.monotonic()
        if time.monotonic() - said > SAY_EVERY_S:
            said = time.monotonic()
            say_progress(view)
        if time.monotonic() - news_at > NO_NEWS_S:
            tail = "\n".join(
                f"{e.at:%H:%M:%S} {e.host} {e.kind}: {e.text}"
                for e in events_after(engine, experiment_id, 0)[-40:]
            )
            pytest.fail(f"nothing new for {NO_NEWS_S} s\n{tail}\n{log.read_text()[-2000:]}")
        time.sleep(1)


def events_after(engine: Engine, experiment_id: int, newest: int) -> list[EventView]:
    with transaction(engine) as session:
        return views.list_events(session, experiment_id, newest, limit=2000)


def say_progress(view: WholeExperimentView) -> None:
    for run in view.runs:
        print(
            f"  {run.host}: boot {run.boots_done}/{run.boots_total}, {run.detail}",
            flush=True,
        )


def wait_for_end(engine: Engine, experiment_id: int, log: Path) -> WholeExperimentView:
    """Wait for the end, and for the verdicts that a worker writes after it."""

    def over(_: WholeExperimentView) -> bool:
        with transaction(engine) as session:
            return views.show_progress(session, experiment_id).is_over

    wait_for(engine, experiment_id, over, log)
    return show(engine, experiment_id)


def require_all_measured(view: WholeExperimentView) -> None:
    """Fail unless the experiment finished and each of its boots was in force and measured."""
    assert view.state == "finished", [run.error for run in view.runs]
    assert view.boots_done == view.boots_total
    counted = [b for b in view.boots if b.state is BootState.EFFECTIVE]
    assert len(counted) == view.boots_total, [(b.arm, b.state, b.reason) for b in view.boots]


def require_proven(view: WholeExperimentView, said: Mapping[str, str]) -> None:
    """Fail unless *said*, by mode, is what each boot that counts showed, each a boot of its own."""
    modes = {(c.name, a.name): a.mode for c in view.comparisons for a in c.arms}
    boots = [b for b in view.boots if b.state is BootState.EFFECTIVE]
    assert {modes[b.comparison, b.arm] for b in boots} == set(said)
    for boot in boots:
        assert boot.observed is not None
        assert said[modes[boot.comparison, boot.arm]] in boot.observed
    assert len({b.kernel_boot_id for b in boots}) == len(boots)
