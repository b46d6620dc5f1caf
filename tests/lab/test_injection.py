"""A slow-down of known size for real: built, booted, judged and searched by a blind service.

Two to six kernels and some thirty boots: three quarters of an hour with a filled compiler cache.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, select, text

from mitigauge.core.settings import Settings, get_settings
from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.states import Ability, JobKind
from mitigauge.jobs.tables import Job
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.injections.states import InjectionState
from mitigauge.tracking.injections.tables import Injection
from pipelines.blind_service import BlindService
from pipelines.jobs import begin_standing_jobs
from pipelines.jobs.engine import JobAdvancer
from pipelines.jobs.injection import InjectionRunner
from tests.db.test_injections import PATH, lab, rows
from tests.lab.conftest import LabOf

pytestmark = pytest.mark.lab

SEED = 3
PATIENCE_S = 3 * 3600.0


@pytest.fixture
def settings(lab_of: LabOf) -> Iterator[Settings]:
    lab_of(PATH.host)
    own = get_settings().model_copy(update={"inject_every": 3})
    yield own
    BlindService(own).end()


def test_the_patch_that_costs_is_found_and_nobody_reads_of_it(
    module_engine: tuple[Engine, str], settings: Settings
) -> None:
    engine = module_engine[0]
    lab(engine)
    with transaction(engine) as session:
        begin_standing_jobs(session, Abilities(jobs=[Ability.KERNELS]))
        job = session.scalars(select(Job.id).where(Job.kind == JobKind.INJECTION)).one()
        before = rows(session)
    runner = InjectionRunner(settings, lambda: SEED)
    advancer = JobAdvancer(engine, {JobKind.INJECTION: runner}, "w")
    began, said = time.monotonic(), ""
    while True:
        advancer.advance(job)
        with transaction(engine) as session:
            one = session.scalars(select(Injection)).one()
            now = f"{one.state} {one.why}"
            if one.ended_at is not None:
                session.expunge(one)
                break
        if now != said:
            said = now
            print(f"{time.monotonic() - began:6.0f} s {now}", flush=True)
        assert time.monotonic() - began < PATIENCE_S
        with transaction(engine) as session:
            # The job's next step is due at once, for this test.
            session.execute(text("update job set wake_at = now()"))
        time.sleep(5)
    print(f"{one.state}: patch {one.named}, put in as {one.place} of {one.patches}")
    print(f"{one.effect_percent} [{one.ci_low_percent}, {one.ci_high_percent}] %, "
          f"by its {one.instructions} instructions {one.true_percent} %")  # fmt: skip
    assert one.state is InjectionState.FOUND, one.why
    assert one.named == one.place
    assert one.effect_percent == pytest.approx(one.true_percent, rel=0.05)
    with transaction(engine) as session:
        after = rows(session)
    changed = {table: after[table] - before[table] for table in after}
    assert {table: by for table, by in changed.items() if by} == {"injection": 1}
