"""A made experiment in the shape of a published table: handlers woken 1,177 and 47 times in 5 s."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, insert, text

from mitigauge.analysis.claims.files import claim_files, read_claims
from mitigauge.analysis.claims.service import import_claims
from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results.tables import THREAD_TABLE
from mitigauge.measurement.results.threads import ThreadsBody, columns_of
from mitigauge.storage.database.engine import transaction
from tests.made import Made, make

PARAMETERS: dict[str, str | int | float] = {"load": "operator", "threads": "handler", "seconds": 5}
WINDOWS_S = 25.0
# In 5 s, in the baseline and in the other arm.
HANDLERS = (1177, 47)


def threads_made(engine: Engine, *, emulated: bool = False) -> Made:
    """Case 1 tells of handlers, of a worker that does not change, and of one seen in one arm."""
    made = make(engine)
    with transaction(engine) as session:
        for case in session.query(Case):
            load = PARAMETERS["load"] if case.position == 0 else "none"
            case.workload, case.parameters = "window", {**PARAMETERS, "load": load}
            case.title = "window of 5 s, load operator, threads handler"
            case.metrics = {
                "wakeups": CaseMetric(
                    "1/s", "lower", "Wake-ups per second", primary=True, threads=True
                )
            }
        session.execute(text("update arm set family = 'mitigations', mode = 'auto'"))
        session.execute(
            text("update arm set name = case when is_baseline then 'before' else 'after' end")
        )
        session.execute(text("update host set emulated = :e"), {"e": emulated})
        session.execute(text("update measurement set metric = 'wakeups'"))
        import_claims(session, [read_claims(path) for path in claim_files()], Catalog())
    with engine.begin() as connection:
        rows = connection.execute(
            text("select boot.id, block, is_baseline from boot join arm on arm.id = arm_id")
        ).all()
        for boot, block, is_baseline in rows:
            body = told(is_baseline, block)
            connection.execute(
                insert(THREAD_TABLE), [{"boot_id": boot, "case_id": 1, **columns_of(body)}]
            )
            per_second = body.rows[0].wakeups / body.seconds
            connection.execute(
                text("update measurement set mean = :m, counted = array[:m] where boot_id = :b"),
                {"m": per_second, "b": boot},
            )
    conclude_closed(engine)
    return made


def told(is_baseline: bool, block: int) -> ThreadsBody:
    """What one boot tells; it differs by up to 1 % from block to block."""
    in_5s = HANDLERS[0 if is_baseline else 1]
    drift, noise = (block % 2 - 0.5) / 100, (block % 4 - 1.5) / 1000 * (1 if is_baseline else -1)
    wakeups = round(in_5s * WINDOWS_S / 5 * (1 + drift + noise))
    rows: list[dict[str, Any]] = [
        row("handler*", wakeups, own=True, threads=8),
        row("kworker/*", 500 + (block * (3 if is_baseline else 1)) % 4, threads=37),
    ]
    if is_baseline:
        rows.append(row("ovs-vswitchd", 249 + block % 3))
    return ThreadsBody.model_validate({"seconds": WINDOWS_S, "rows": rows})


def row(name: str, wakeups: int, *, own: bool = False, threads: int = 1) -> dict[str, Any]:
    """One name; each wake-up runs for 20 µs and waits for 5 µs."""
    times = {"run_ns": wakeups * 20_000, "wait_ns": wakeups * 5_000}
    return {"name": name, "own": own, "threads": threads, "wakeups": wakeups, **times}
