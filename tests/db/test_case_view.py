"""A case's page over boots that really ran."""

from __future__ import annotations

from sqlalchemy import Engine

from mitigauge.database import transaction
from mitigauge.experiments import boot_views, views
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
