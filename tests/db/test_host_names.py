"""Hosts of the same name in several environments, and what switches their power."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.errors import Conflict, NotFound
from mitigauge.measurement.fleet.repository import upsert_host
from mitigauge.reporting.pages.hosts import show_host
from mitigauge.storage.database.engine import transaction


def store(session: Session, environment: str, power: str = "none") -> None:
    upsert_host(
        session, environment=environment, name="h1", host_class="c", machine=environment,
        emulated=False, clock=Clock.REAL, capabilities=[], power=power,
    )  # fmt: skip


def test_a_name_that_two_environments_have_asks_which(engine: Engine) -> None:
    with transaction(engine) as session:
        store(session, "attic", power="ipmi")
    with transaction(engine) as session:
        assert show_host(session, "h1").power == "ipmi"
        store(session, "cellar")
    with transaction(engine) as session:
        with pytest.raises(Conflict, match="in each of the environments 'attic' and 'cellar'"):
            show_host(session, "h1")
        assert show_host(session, "h1", "cellar").power == "none"
        with pytest.raises(NotFound, match="'h1'"):
            show_host(session, "h1", "roof")


def test_of_a_host_that_was_stored_before_nobody_knows_its_power(engine: Engine) -> None:
    with transaction(engine) as session:
        store(session, "attic")
        session.execute(text("update host set power = null"))
        assert show_host(session, "h1").power is None
