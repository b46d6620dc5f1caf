"""The runs of an experiment, with every boot they will make."""

from __future__ import annotations

import secrets

from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.plan import plan_run
from mitigauge.measurement.experiments.tables import Arm, Comparison, Experiment
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.repository import NO_POWER, upsert_host
from mitigauge.measurement.fleet.service import HostVars
from mitigauge.measurement.runs.states import BootState, RunState
from mitigauge.measurement.runs.tables import Boot, Run


def store_run(
    session: Session, experiment: Experiment, comparison: Comparison, host: HostVars
) -> Run:
    """Store one comparison's run on one host, whole: nothing is planned later."""
    host_id = upsert_host(
        session,
        environment=experiment.environment,
        name=host.name,
        host_class=host.host_class,
        machine=host.machine,
        emulated=host.emulated,
        clock=host.clock,
        capabilities=sorted(host.capabilities),
        power=str(host.power.get("driver", NO_POWER)),
    )
    arms = {arm.name: arm for arm in comparison.arms}
    plan = plan_run(
        list(arms),
        blocks=comparison.blocks,
        seed=experiment.seed,
        comparison=comparison.name,
        host=host.name,
    )
    boots = [
        Boot(
            arm_id=arms[planned.arm].id,
            block=planned.block,
            place=planned.order,
            method=_method(arms[planned.arm], planned.order, host),
            state=BootState.PLANNED,
            nonce=new_nonce(),
        )
        for planned in plan
    ]
    run = Run(
        experiment_id=experiment.id,
        comparison_id=comparison.id,
        host_id=host_id,
        clock=host.clock.value,
        state=RunState.QUEUED,
        boots=boots,
    )
    session.add(run)
    session.flush()
    return run


def _method(arm: Arm, place: int, host: HostVars) -> BootMethod:
    """How *arm* is booted at *place* of a block; the first of those that share a boot makes it."""
    if arm.boot_method and not (arm.shares_boots and place == 1):
        return arm.boot_method
    return host.boots.method_of(place)


def new_nonce() -> str:
    """A word no other boot has on its command line."""
    return secrets.token_hex(8)
