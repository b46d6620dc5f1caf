"""Turns of hosts that share a machine: booting side by side, measuring alone."""

from __future__ import annotations

from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs.lease_repository import Lease
from mitigauge.measurement.runs.states import Activity
from mitigauge.measurement.runs.submission import submit
from mitigauge.measurement.runs.turns import end_turn, take_turn
from mitigauge.storage.database.engine import transaction
from tests.specs import CATALOG, HOSTS, SPEC, inventory

BOOT, MEASURE = Activity.BOOTING, Activity.MEASURING


def lease_all(engine: Engine, *, shared: bool) -> tuple[Lease, Lease]:
    """Leases of two hosts, of one machine or of two."""
    text_of = SPEC.replace("[alpha]", "[alpha, beta]")
    spec = read_spec(text_of, name="spec", catalog=CATALOG, hosts=HOSTS)
    held = []
    with transaction(engine) as session:
        submit(session, spec, text_of, catalog=CATALOG, hosts=inventory("alpha", "beta"))
        if shared:
            session.execute(text("update host set machine = 'one'"))
        rows = session.execute(text("select id, host_id from run order by id")).all()
        for run, host in rows:
            lease = leases.acquire(session, host_id=host, run_id=run, holder=uuid4(), seconds=60)
            assert lease is not None
            held.append(lease)
    first, second = held
    return first, second


@pytest.fixture
def hosts(engine: Engine) -> tuple[Lease, Lease]:
    return lease_all(engine, shared=True)


def took(engine: Engine, lease: Lease, wanted: Activity) -> bool:
    with transaction(engine) as session:
        return take_turn(session, lease, wanted)


def test_hosts_boot_side_by_side(engine: Engine, hosts: tuple[Lease, Lease]) -> None:
    assert [took(engine, lease, BOOT) for lease in hosts] == [True, True]


def test_one_that_measures_is_alone(engine: Engine, hosts: tuple[Lease, Lease]) -> None:
    one, other = hosts
    assert took(engine, one, MEASURE)
    assert not took(engine, other, MEASURE)
    assert not took(engine, other, BOOT)


def test_none_measures_while_another_boots(engine: Engine, hosts: tuple[Lease, Lease]) -> None:
    one, other = hosts
    assert took(engine, one, BOOT)
    assert took(engine, other, BOOT)
    assert not took(engine, one, MEASURE)
    # The other one is booted too: whoever asks first measures first.
    assert took(engine, other, MEASURE)
    assert not took(engine, one, MEASURE)


def test_none_begins_to_boot_while_another_waits_to_measure(
    engine: Engine, hosts: tuple[Lease, Lease]
) -> None:
    one, other = hosts
    assert took(engine, other, BOOT)
    assert not took(engine, one, MEASURE)
    # An arm that was not effective, say: the next boot is not begun before the other measured.
    assert not took(engine, other, BOOT)
    assert took(engine, one, MEASURE)
    # And the one that has measured lets the other boot, which boots itself beside it.
    assert took(engine, one, BOOT)
    assert took(engine, other, BOOT)


def test_a_step_done_again_keeps_its_turn(engine: Engine, hosts: tuple[Lease, Lease]) -> None:
    one, _ = hosts
    assert [took(engine, one, MEASURE) for _ in range(2)] == [True, True]


@pytest.mark.parametrize("how", ["ended", "released"])
def test_a_turn_that_is_over_frees_the_machine(
    engine: Engine, hosts: tuple[Lease, Lease], how: str
) -> None:
    one, other = hosts
    assert took(engine, one, MEASURE)
    with transaction(engine) as session:
        (end_turn if how == "ended" else leases.release)(session, one)
    assert took(engine, other, MEASURE)


def test_hosts_of_their_own_machines_are_not_asked(engine: Engine) -> None:
    held = lease_all(engine, shared=False)
    assert [took(engine, lease, MEASURE) for lease in held] == [True, True]


def clocks(engine: Engine, one: str, other: str) -> None:
    """Give the two hosts these clocks."""
    with transaction(engine) as session:
        for name, clock in (("alpha", one), ("beta", other)):
            session.execute(
                text("update host set clock = :clock where name = :name"),
                {"clock": clock, "name": name},
            )


def test_hosts_that_count_measure_beside_whatever_the_other_does(
    engine: Engine, hosts: tuple[Lease, Lease]
) -> None:
    clocks(engine, "counted", "counted")
    one, other = hosts
    assert took(engine, one, MEASURE)
    assert took(engine, other, BOOT)
    assert took(engine, other, MEASURE)
    assert took(engine, one, MEASURE)


@pytest.mark.parametrize("pair", [("counted", "real"), ("real", "counted")])
def test_a_host_in_real_time_is_alone_when_it_measures_even_beside_one_that_counts(
    engine: Engine, hosts: tuple[Lease, Lease], pair: tuple[str, str]
) -> None:
    clocks(engine, *pair)
    one, other = hosts
    assert took(engine, one, MEASURE)
    assert not took(engine, other, MEASURE)
    assert not took(engine, other, BOOT)
