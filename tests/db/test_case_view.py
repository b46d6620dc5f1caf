"""A case's page over boots that really ran."""

from __future__ import annotations

from sqlalchemy import Engine

from mitigauge.database import transaction
from mitigauge.experiments import boot_views, repository, views
from tests import recording


def test_a_measured_case_says_where_its_noise_comes_from_and_what_it_cost(engine: Engine) -> None:
    recording.load(engine)
    with transaction(engine) as session:
        row = next(
            row
            for comparison in views.show_experiment(session, 1).comparisons
            for row in comparison.rows
            if row.workload == "syscall"
        )
        noise = boot_views.show_case(session, 1, row.case_id, row.host).noise[row.metric]
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
    recording.load(engine)
    with transaction(engine) as session:
        boots = [b for b in repository.boots_of(session, [1]) if b.state == "effective"]
        case_id = boots[0].results[0].case_id
        results = [r for b in boots for r in b.results if r.case_id == case_id]
        taken = [(r, i) for r in results for i in r.iterations]
        again = [i.value for _, i in taken if i.phase == "disturbed"]
        slowed = [
            i.value
            for r, i in taken
            if i.phase == "counted" and (i.slowdown or 0) > (r.slowdown_limit or 0)
        ]
        shown = boot_views.show_case(session, 1, case_id, None)
    row = shown.metrics[0]
    assert again
    assert slowed
    assert (row.disturbed, row.unsteady) == (len(again), len(slowed))
    points = shown.points[row.metric]
    assert sorted(value for p in points for value in p.disturbed) == sorted(again)
    assert set(slowed) <= {value for p in points for value in p.iterations}
    assert sum(len(p.iterations) for p in points) == 10 * len(results)
