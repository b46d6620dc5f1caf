"""A tournament over simulated hosts: losers are booted no more; it ends when the best is known."""

from __future__ import annotations

from collections import Counter

from mitigauge.measurement.runs.ranking import Place
from mitigauge.measurement.runs.states import BootState
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.tables.kind import TableQuery
from mitigauge.reporting.tables.ranking_table import KIND, read_ranking
from mitigauge.storage.database.engine import transaction
from tests.crash.conftest import Fleet
from tests.crash.simulated_host import write_world
from tests.specs import SPEC

ARMS = """\
      - {name: off, mode: knob/off}
      - {name: on, mode: knob/on}
      - {name: dial-off, mode: dial/on+knob/off}
      - {name: dial-on, mode: dial/on+knob/on}
"""
TOURNAMENT = (
    SPEC.replace("blocks: 2", "blocks: 12")
    .replace("    baseline: off\n", "    baseline: off\n    tournament: true\n")
    .replace("      - {name: off, mode: knob/off}\n      - {name: on, mode: knob/on}\n", ARMS)
    .replace("size: [1, 2]", "size: 1")
)
COSTS = {"knob=on": 0.10, "sysctl.kernel.dial=1": 0.002}


def test_losers_are_booted_no_more_and_the_others_until_the_best_is_known(fleet: Fleet) -> None:
    write_world(fleet.worlds / "alpha.json", costs=COSTS, scatter=0.003)
    experiment = fleet.submit(TOURNAMENT)
    fleet.worker()
    view = fleet.until_concluded(experiment)
    made = Counter(boot.arm for boot in view.boots if boot.state is BootState.EFFECTIVE)
    [run] = view.runs
    assert run.stopped_after is not None
    assert 4 < run.stopped_after < 12
    assert made == {"off": run.stopped_after, "dial-off": run.stopped_after, "on": 4, "dial-on": 4}
    reasons = {boot.arm: boot.reason for boot in view.boots if boot.state is BootState.SKIPPED}
    assert reasons["on"].startswith("the arm dropped out after 4 blocks: +")
    assert reasons["off"] == f"the tournament ended after {run.stopped_after} blocks"

    with transaction(fleet.engine) as session:
        [table] = read_ranking(session, experiment, TableQuery()).tables
        text = KIND.write(session, experiment, TableQuery(), "text")
        csv = KIND.write(session, experiment, TableQuery(), "csv").splitlines()
        report = gathered(session, show_experiment(session, experiment)).text()
    places = {row.arm: row.place for row in table.rows}
    assert {places["off"], places["dial-off"]} <= {Place.FIRST, Place.AS_GOOD, Place.UNDECIDED}
    assert places["on"] is places["dial-on"] is Place.WORSE
    assert (table.boots, table.planned) == (sum(made.values()), 48)
    worst = next(row for row in table.rows if row.arm == "dial-on")
    assert worst.low_percent is not None
    assert worst.high_percent is not None
    assert worst.low_percent < 10.2 < worst.high_percent
    assert f"is the best, or within 1 % of it, after {run.stopped_after} blocks" in view.headline
    assert "surely worse: " in view.headline
    assert "is the best, or within 1 % of it" in " ".join(text.split())
    assert "Ranking of knob" in report
    assert f"stopped after {run.stopped_after} blocks, the best arm is known" in " ".join(
        report.split()
    )
    assert len(csv) == 1 + len(table.rows)


def test_an_arm_that_is_not_in_force_has_no_place(fleet: Fleet) -> None:
    write_world(
        fleet.worlds / "alpha.json", costs=COSTS, scatter=0.0001, says={"knob=on": "Vulnerable"}
    )
    experiment = fleet.submit(TOURNAMENT)
    fleet.worker()
    view = fleet.until_concluded(experiment)
    made = Counter(boot.arm for boot in view.boots if boot.state is BootState.EFFECTIVE)
    assert set(made) == {"off", "dial-off"}
    assert "not ranked, for want of boots: on, dial-on" in view.headline
