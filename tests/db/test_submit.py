"""What a plan keeps of a spec."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.database.engine import transaction
from tests.specs import CATALOG, HOSTS, SPEC, inventory


@pytest.mark.parametrize(
    ("profile", "hz"), [("", None), ("profile: true", 99), ("profile: {hz: 199}", 199)]
)
def test_a_profiled_case_says_how_often_to_sample_and_takes_the_time_of_its_pass(
    engine: Engine, home: Path, profile: str, hz: int | None
) -> None:
    text = SPEC.replace("iterations: 3", f"iterations: 3\n        {profile}")
    spec = read_spec(text, name="spec", catalog=CATALOG, hosts=HOSTS)
    spin = CATALOG.workloads["spin"]
    with transaction(engine) as session:
        stored = submit(session, spec, text, catalog=CATALOG, hosts=inventory("alpha"))
        cases = experiment_rows.experiment(session, stored).comparisons[0].cases
        assert [case.profile_hz for case in cases] == [hz, hz]
        timed_s = spin.seconds_of(cases[0].parameters, 3 + 1)
        # The iterations once more, and perf's own work.
        added_s = spin.seconds_of(cases[0].parameters, 3) + 3 if hz else 0
        assert cases[0].expected_s == pytest.approx(timed_s + added_s)
