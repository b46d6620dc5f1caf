"""Experiments that were made up and never ran, for tests of what is stored and shown."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine, text

from bench.store.fill import Size, fill


@dataclass(frozen=True, slots=True)
class Made:
    """Ids and sizes of a made experiment."""

    experiment: int
    run: int
    cases: int
    arms: int


def make(engine: Engine, *, state: str = "finished", effect: float = 1.1) -> Made:
    """Two cases of two arms over 8 blocks; the second arm takes so many times as long."""
    size = Size(cases=2, arms=2, blocks=8, iterations=3)
    filled = fill(engine, size)
    with engine.begin() as connection:
        connection.execute(
            text("""
                update measurement m set mean = b.mean * :effect * (1 + (m.boot_id % 3) / 1000.0)
                from measurement b join boot bb on bb.id = b.boot_id, boot mb
                where mb.id = m.boot_id and bb.block = mb.block and b.case_id = m.case_id
                and mb.arm_id > bb.arm_id and bb.run_id = mb.run_id
            """),
            {"effect": effect},
        )
        connection.execute(
            text("update run set state = :s where id = :r"), {"s": state, "r": filled.run}
        )
    return Made(filled.experiment, filled.run, size.cases, size.arms)
