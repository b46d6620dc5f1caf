"""What a hostile host says reaches neither the database nor a terminal as it came."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from cli import experiment as commands
from mitigauge.core.hostile_text import HOSTILE
from mitigauge.measurement.runs.states import RunState
from mitigauge.storage.database.engine import transaction
from pipelines.advance import Advancer
from pipelines.host_control import Facts
from tests.crash.conftest import Fleet
from tests.crash.job_archive import packed
from tests.crash.simulated_host import SimulatedHost, changed, new_world
from tests.fuzz.builders import gzipped, job_files, many_members, tar_of
from tests.specs import CATALOG, SPEC

HOSTILE_TEXT = "\x1b]0;owned\x07\x1b[2J\x9b1m \0 no luck \u202e\n12:00:00 forged: finished"
# Every text column of every table, as one text.
STORED = "select coalesce(string_agg(t::text, ' '), '') from {} t"

Report = Callable[[str, list[dict[str, Any]], Path], Facts]


class HostileHost(SimulatedHost):
    """Obeys, but for what it says of its jobs."""

    report: Report

    def poll(self, job: str, directory: Path, **_: Any) -> Facts:
        with changed(self.world) as world:
            cases = world["jobs"][job]
        return type(self).report(job, cases, directory)


SMALL = SPEC.replace("blocks: 2", "blocks: 1").replace("[1, 2]", "[1]")


def carried_out(engine: Engine, home: Path, fleet: Fleet, report: Report, spec: str = SMALL) -> int:
    """An experiment, over, whose host's jobs are told by *report*."""
    host = type("Host", (HostileHost,), {"report": staticmethod(report)})
    (home / "alpha.json").write_text(json.dumps({**new_world(), "quick": True}))
    experiment = fleet.submit(spec)
    run = fleet.show(experiment).runs[0].id
    advancer = Advancer(
        engine,
        lambda _, name, log: host(home / f"{name}.json", log),
        catalog=CATALOG,
        lease_seconds=60,
    )
    steps = 0
    while advancer.advance(run) is not None:
        steps += 1
        assert steps < 200
    return experiment


def failing(job: str, cases: list[dict[str, Any]], directory: Path) -> Facts:
    """Every case failed, and says why in its own words."""
    state = {"finished_cases": [{"case_id": case["case_id"], "exit_code": 3} for case in cases]}
    files = {f"{case['case_id']}/stderr.txt": HOSTILE_TEXT.encode() for case in cases}
    archive = directory / "job.tar.gz"
    archive.write_bytes(gzipped(tar_of(job_files(files, state=state))))
    return {"state": "finished", "seconds": 1.0, "archive": str(archive)}


def waited_for(engine: Engine, experiment: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """What `experiment wait` prints."""
    monkeypatch.setattr(
        "mitigauge.storage.database.engine.transaction", lambda: transaction(engine)
    )
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    return CliRunner().invoke(commands.app, ["wait", str(experiment)]).output


def test_a_failing_cases_stderr_reaches_no_terminal_as_it_came(
    engine: Engine, home: Path, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = carried_out(engine, home, fleet, failing)
    said = waited_for(engine, experiment, monkeypatch)
    assert "no luck" in said
    assert not HOSTILE.search(said.replace("\r\n", "\n"))
    assert not any(line.startswith("12:00:00 forged") for line in said.splitlines())
    with engine.connect() as connection:
        for table in ("result", "event", "step_attempt", "boot", "run"):
            stored = connection.scalar(text(STORED.format(table)))
            assert not HOSTILE.search(stored), table


def test_rows_stored_before_texts_were_cleaned_are_shown_harmless(
    engine: Engine, home: Path, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = carried_out(engine, home, fleet, failing)
    dirty = HOSTILE_TEXT.replace("\0", "")
    with engine.begin() as connection:
        connection.execute(text("update event set text = :dirty"), {"dirty": dirty})
        connection.execute(text("update run set error = :dirty"), {"dirty": dirty})
        connection.execute(text("update experiment set name = :dirty"), {"dirty": dirty})
    assert "\\x1b]0;owned" in waited_for(engine, experiment, monkeypatch)
    for arguments in (
        ["wait"],
        ["show"],
        ["show", "--json"],
        ["report"],
        ["report", "--format", "json"],
    ):
        shown = CliRunner().invoke(commands.app, [*arguments, str(experiment)])
        assert "no luck" in shown.output, shown
        assert not HOSTILE.search(shown.output), arguments
        assert not any(line.startswith("12:00:00 forged") for line in shown.output.splitlines())
    address = engine.url.render_as_string(hide_password=False)
    monkeypatch.setattr("mitigauge.storage.database.direct.database_address", lambda: address)
    listed = CliRunner().invoke(commands.app, ["list"], catch_exceptions=False).output
    assert "no luck" in listed
    assert not HOSTILE.search(listed)


def test_a_million_members_are_a_lab_fault_and_the_run_ends(
    engine: Engine, home: Path, fleet: Fleet, tmp_path: Path
) -> None:
    whole = tmp_path / "million.tar.gz"
    many_members(whole, 100_000)

    def report(job: str, cases: list[dict[str, Any]], directory: Path) -> Facts:
        (directory / "job.tar.gz").write_bytes(whole.read_bytes())
        return {"state": "finished", "seconds": 1.0, "archive": str(directory / "job.tar.gz")}

    view = fleet.show(carried_out(engine, home, fleet, report))
    assert view.runs[0].state == RunState.FAILED
    assert "members" in view.runs[0].error


def test_a_host_cannot_have_a_file_of_ours_read(engine: Engine, home: Path, fleet: Fleet) -> None:
    secret = home / "secret.tar.gz"
    secret.write_bytes(gzipped(tar_of(job_files({}))))

    def report(job: str, cases: list[dict[str, Any]], directory: Path) -> Facts:
        return {"state": "finished", "seconds": 1.0, "archive": str(secret)}

    view = fleet.show(carried_out(engine, home, fleet, report))
    assert view.runs[0].state == RunState.FAILED
    assert "the job's archive is missing" in view.runs[0].error


def test_a_profile_that_cannot_be_stored_costs_no_figure(
    engine: Engine, home: Path, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mitigauge.analysis.profiles.store.tree.MOST_NODES", 3)

    def report(job: str, cases: list[dict[str, Any]], directory: Path) -> Facts:
        (directory / "job.tar.gz").write_bytes(packed(job, cases))
        return {"state": "finished", "seconds": 1.0, "archive": str(directory / "job.tar.gz")}

    spec = SMALL.replace("iterations: 3", "iterations: 3\n        profile: {hz: 499}")
    view = fleet.show(carried_out(engine, home, fleet, report, spec))
    assert view.state == "finished"
    with engine.connect() as connection:
        assert connection.scalar(text("select count(*) from profile")) == 0
        told = connection.scalars(text("select text from event where text like '%no profile%'"))
        assert "tree of more than 3 frames" in told.all()[0]
