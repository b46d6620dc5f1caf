"""Which binary came up is proven against our own table of kernels, never by the host's word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import get_settings
from mitigauge.kernels import service
from mitigauge.kernels.service import Built
from mitigauge.measurement.runs.states import BootState, RunState
from mitigauge.storage.files.blobs import blob_store
from pipelines.advance import Advancer
from pipelines.host_control import Facts, Needs
from tests.crash.conftest import Fleet
from tests.crash.simulated_host import SimulatedHost, new_world
from tests.specs import CATALOG, SPEC

RELEASE = "7.2"
OURS, OTHER = "b1" * 20, "b2" * 20
SMALL = (
    SPEC.replace("blocks: 2", "blocks: 1")
    .replace("[1, 2]", "[1]")
    .replace("mode: knob/off}", f"mode: knob/off, kernel: '{RELEASE}'}}")
    .replace("mode: knob/on}", f"mode: knob/on, kernel: '{RELEASE}'}}")
)


def bring_in(engine: Engine, build_id: str, package: bytes = b"a package") -> None:
    """Store a kernel of RELEASE in our table."""
    digest = blob_store(get_settings()).put(package)
    with Session(engine) as session:
        built = Built(RELEASE, build_id, "", digest, len(package))
        service.brought_in(session, built, "mine")
        session.commit()


class RecordingHost(SimulatedHost):
    """Obeys, and keeps what it was to install."""

    needs: ClassVar[list[Needs]]

    def prepare(self, needs: Needs) -> Facts:
        type(self).needs.append(needs)
        return super().prepare(needs)


def advance(engine: Engine, home: Path, run: int, steps: int = 200) -> list[Needs]:
    """Advance a run to its end; what its host was to install."""

    class Host(RecordingHost):
        needs: ClassVar[list[Needs]] = []

    advancer = Advancer(
        engine,
        lambda _, name, log: Host(home / f"{name}.json", log),
        catalog=CATALOG,
        lease_seconds=60,
    )
    for _ in range(steps):
        if advancer.advance(run) is None:
            return Host.needs
    raise AssertionError("the run did not end")


def carried_out(engine: Engine, home: Path, fleet: Fleet, **world: Any) -> Any:
    """The run of an experiment, over, on a host that is so."""
    (home / "alpha.json").write_text(json.dumps({**new_world(), "quick": True, **world}))
    experiment = fleet.submit(SMALL)
    advance(engine, home, fleet.show(experiment).runs[0].id)
    return fleet.show(experiment).runs[0]


def states(engine: Engine) -> set[str]:
    """Of all boots."""
    with engine.connect() as connection:
        return {row[0] for row in connection.exec_driver_sql("select state from boot")}


def test_the_build_of_our_table_counts(engine: Engine, home: Path, fleet: Fleet) -> None:
    bring_in(engine, OURS)
    assert carried_out(engine, home, fleet, build_id=OURS).state == RunState.FINISHED
    assert states(engine) == {BootState.EFFECTIVE}


def test_another_binary_of_the_same_release_is_a_wrong_kernel(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    bring_in(engine, OURS)
    carried_out(engine, home, fleet, build_id=OTHER)
    assert BootState.EFFECTIVE not in states(engine)
    with engine.connect() as connection:
        reason = connection.exec_driver_sql(
            "select reason from boot where state = 'wrong_kernel' limit 1"
        ).scalar_one()
    assert reason == f"build id {OTHER} is up, {OURS} was asked for"


def test_a_host_is_told_the_package_s_digest(engine: Engine, home: Path, fleet: Fleet) -> None:
    bring_in(engine, OURS)
    (home / "alpha.json").write_text(json.dumps({**new_world(), "quick": True}))
    [needs] = advance(engine, home, fleet.show(fleet.submit(SMALL)).runs[0].id)
    digest = blob_store(get_settings()).put(b"a package")
    assert {r: b.package_sha256 for r, b in needs.builds.items()} == {RELEASE: digest}


def test_a_kernel_that_nobody_here_built_must_stay_the_same_binary(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    """No table has its build id, so that the run's first boot gives what the others must show."""
    first, second = "c1" * 20, "c2" * 20

    class Changing(SimulatedHost):
        """Another binary has the release after the first boot."""

        def verify(self, *arguments: Any, **words: Any) -> Facts:
            facts = super().verify(*arguments, **words)
            number = sum(
                line.startswith("boot ") for line in json.loads(self.world.read_text())["did"]
            )
            return {
                **facts,
                "proof": {**facts["proof"], "build_id": first if number == 1 else second},
            }

    (home / "alpha.json").write_text(json.dumps({**new_world(), "quick": True}))
    run = fleet.show(fleet.submit(SMALL)).runs[0].id
    advancer = Advancer(engine, lambda _, name, log: Changing(home / f"{name}.json", log),
                        catalog=CATALOG, lease_seconds=60)  # fmt: skip
    while advancer.advance(run) is not None:
        pass
    assert states(engine) == {BootState.EFFECTIVE, BootState.WRONG_KERNEL}


def test_a_run_whose_kernel_was_built_anew_does_not_go_on_with_the_other_binary(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    bring_in(engine, OURS)
    (home / "alpha.json").write_text(json.dumps({**new_world(), "quick": True}))
    run = fleet.show(fleet.submit(SMALL)).runs[0].id
    with engine.begin() as connection:
        connection.exec_driver_sql(
            'update run set kernels = \'{"7.2": {"build_id": "ff", "package_sha256": "ee"}}\''
        )
    advance(engine, home, run)
    with engine.connect() as connection:
        state, error = connection.exec_driver_sql("select state, error from run").one()
    assert (state, states(engine)) == (RunState.FAILED, {BootState.SKIPPED})
    assert "kernel 7.2 was built anew since the run was submitted" in error


@pytest.mark.parametrize("release", ["7.2.12-mg0123456789", "7.2.12-mg" + "0" * 32])
def test_a_kernel_of_another_service_is_refused_at_submission(fleet: Fleet, release: str) -> None:
    """A host may have a package of that name, and nobody here knows which binary it is."""
    with pytest.raises(InvalidInput, match=f"kernel {release} was not built here"):
        fleet.submit(SMALL.replace(f"'{RELEASE}'", release))


def test_a_proof_without_what_every_kernel_shows_is_a_fault_of_the_lab(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    bring_in(engine, OURS)
    carried_out(engine, home, fleet, build_id=None)
    assert BootState.EFFECTIVE not in states(engine)
    with engine.connect() as connection:
        details = connection.exec_driver_sql("select string_agg(detail, ' ') from step_attempt")
        assert "alpha does not say its build_id" in details.scalar_one()
