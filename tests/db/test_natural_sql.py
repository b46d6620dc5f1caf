"""The database orders names as the rest of the service does."""

from __future__ import annotations

import random

from sqlalchemy import Engine, String, column, select, values

from mitigauge.core.natural_order import natural_order
from mitigauge.storage.database.natural_sql import natural, natural_sql

NAMES = [
    "a", "b1", "b2", "b10", "b10c2", "b10c10", "kernel 7.2.3", "kernel 7.2.12", "kernel 7.10.1",
    "v" + "9" * 30, "v1" + "0" * 30,
]  # fmt: skip


def test_numbers_within_names_are_counted(engine: Engine) -> None:
    shuffled = random.Random(2).sample(NAMES, len(NAMES))
    table = values(column("name", String), name="given").data([(name,) for name in shuffled])
    with engine.connect() as connection:
        found = connection.scalars(select(table.c.name).order_by(natural(table.c.name))).all()
    assert list(found) == sorted(NAMES, key=natural_order) == NAMES


def test_both_forms_say_the_same(engine: Engine) -> None:
    with engine.connect() as connection:
        for name in NAMES:
            form = natural_sql("%(name)s::text")
            written = connection.exec_driver_sql(f"SELECT {form}", {"name": name}).scalar()
            asked = connection.scalar(select(natural(name)))
            assert written == asked
