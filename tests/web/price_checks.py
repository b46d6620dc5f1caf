"""Checks of prices, made up: one on a real host, and one on a lab host with more rows."""

from __future__ import annotations

from sqlalchemy import Engine, select

from mitigauge.core.clock import Clock
from mitigauge.storage.database.engine import transaction
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.analysis.prices.levels import Checked
from mitigauge.analysis.prices.repository import put
from mitigauge.analysis.prices.schemas import CheckedOn

ARMS = ("spectre-bhi/loop", "vmscape/ibpb-exit-to-user", "mds/full")


def store_checks(engine: Engine, hostile: str) -> None:
    """Store both; the newest is that on the real host, with a row of *hostile* names."""
    with transaction(engine) as session:
        first, last = session.scalars(select(Experiment.id).order_by(Experiment.id).limit(2)).all()
        lab = CheckedOn("epyc-9654", last, first, "lab-intel", emulated=True, clock=Clock.COUNTED)
        put(session, lab, [row(number) for number in range(24)])
        real = CheckedOn("xeon-8280", last, first, "desk-01", emulated=False, clock=Clock.REAL)
        put(session, real, [*(row(number) for number in range(9)), hostile_row(hostile)])


def row(number: int) -> Checked:
    """Every third prediction does not hold, and those of IBPB lack its price."""
    arm = ARMS[number % len(ARMS)]
    ns = 7.0 + 3.25 * number
    predicted = ns + (0.4 if number % 3 else 40.0)
    missing = ["ibpb"] if "ibpb" in arm else []
    case = f"syscall call-{number // 3}"
    return Checked(
        case, arm, (ns, ns - 2.5, ns + 2.5), (predicted, predicted - 1.5, predicted + 1.5), missing
    )


def hostile_row(name: str) -> Checked:
    """A case and an arm that are called *name*; no price is known."""
    many = ["ibpb", "verw", "retpoline", "return-thunk", "spec-ctrl"]
    measured, nothing = (1843.0, 1790.0, 1896.0), (-0.31, -0.47, -0.15)
    return Checked(name, name, measured, nothing, many)
