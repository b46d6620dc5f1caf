"""A case's page over boots that really ran."""

from __future__ import annotations

from sqlalchemy import Engine

from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.case import show_case
from mitigauge.storage.database.engine import transaction
from tests import recording
from tests.postgres import filled


def test_a_measured_case_says_where_its_noise_comes_from_and_what_it_cost(engine: Engine) -> None:
    filled(engine, recording.load)
    with transaction(engine) as session:
        row = next(
            row
            for comparison in views.show_experiment(session, 1).comparisons
            for row in comparison.rows
            if row.workload == "syscall"
        )
        noise = show_case(session, 1, row.case_id, row.host).noise[row.metric]
    assert noise.boot_mean_percent is not None
    assert 0 < noise.boot_mean_percent < 20
    assert noise.iteration_percent is not None
    # Emulated hosts take tens of seconds to boot, and share them among the cases.
    assert noise.boot_cost_s is not None
    assert noise.boot_cost_s > 5
    assert noise.recommended_iterations in range(3, 16)


def test_a_case_counts_what_was_taken_again_and_what_was_used_though_disturbed(
    engine: Engine,
) -> None:
    filled(engine, recording.load)
    with transaction(engine) as session:
        boots = [b.id for b in run_rows.boot_lines(session, [1]) if b.state == "effective"]
        case_id = result_rows.means_of(session, boots)[0].case_id
        taken = result_rows.measurements_of(session, boots, case_id)
        again = [value for of in taken for value in of.disturbed or []]
        slowed = [
            value
            for of in taken
            for value, slowdown in zip(of.counted, of.slowdowns, strict=True)
            if slowdown > of.slowdown_limit
        ]
        shown = show_case(session, 1, case_id, None)
    row = shown.metrics[0]
    assert again
    assert slowed
    assert (row.disturbed, row.unsteady) == (len(again), len(slowed))
    points = shown.points[row.metric]
    assert sorted(value for p in points for value in p.disturbed) == sorted(again)
    assert set(slowed) <= {value for p in points for value in p.iterations}
    assert sum(len(p.iterations) for p in points) == 10 * len(taken)
