"""A stored experiment once more, as if measured again, for tests of two beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, Engine, Table, insert, select

from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.storage.database.metadata import whole_metadata

Row = dict[str, Any]
# Table, the column by which its rows belong to rows copied before, and of which table these are.
_BELOW = (
    ("comparison", "experiment_id", "experiment"),
    ("arm", "comparison_id", "comparison"),
    ("benchmark_case", "comparison_id", "comparison"),
    ("run", "experiment_id", "experiment"),
    ("boot", "run_id", "run"),
    ("result", "boot_id", "boot"),
    ("measurement", "boot_id", "boot"),
    ("profile", "boot_id", "boot"),
)
_REFERS = {
    "experiment_id": "experiment",
    "comparison_id": "comparison",
    "arm_id": "arm",
    "case_id": "benchmark_case",
    "run_id": "run",
    "boot_id": "boot",
}


def measure_again(
    engine: Engine,
    experiment_id: int,
    *,
    name: str = "measured again",
    factor: Callable[[int, int], float] = lambda _arm, _case: 1.0,
    change: Mapping[str, Mapping[str, Any]] | None = None,
) -> int:
    """Copy an experiment, judge the copy, and give back its id.

    *factor* multiplies values by places of arm and case, from 0. *change*: by table, columns that
    are set in each of its rows.
    """
    change = change or {}
    ids: dict[str, dict[int, int]] = {}
    with engine.begin() as connection:
        places = _places(connection)
        one = {"name": name, "headline": "", "concluded_at": None, **change.get("experiment", {})}
        _copy(connection, "experiment", {"id": [experiment_id]}, ids, lambda row: {**row, **one})
        for table, column, above in _BELOW:

            def made(row: Row, table: str = table) -> Row:
                return {**_anew(table, row, places, factor), **change.get(table, {})}

            _copy(connection, table, {column: list(ids[above])}, ids, made)
    conclude_closed(engine)
    return ids["experiment"][experiment_id]


def _places(connection: Connection) -> dict[str, dict[int, int]]:
    found = {}
    for name in ("arm", "benchmark_case"):
        table = whole_metadata().tables[name]
        rows = connection.execute(select(table.c.id, table.c.position))
        found[name] = {row.id: row.position for row in rows}
    boot = whole_metadata().tables["boot"]
    rows = connection.execute(select(boot.c.id, boot.c.arm_id))
    found["boot"] = {row.id: found["arm"][row.arm_id] for row in rows}
    return found


def _anew(
    table: str, row: Row, places: dict[str, dict[int, int]], factor: Callable[[int, int], float]
) -> Row:
    if table == "run":
        return {**row, "concluded_at": None, "verdict_changes": 0, "noise_at": None}
    if table == "boot":
        return {**row, "nonce": f"again-{row['nonce']}"[:60]}
    if table == "measurement":
        by = factor(places["boot"][row["boot_id"]], places["benchmark_case"][row["case_id"]])
        return {**row, "mean": row["mean"] * by, "counted": [each * by for each in row["counted"]]}
    return row


def _copy(
    connection: Connection,
    name: str,
    where: Mapping[str, list[int]],
    ids: dict[str, dict[int, int]],
    made: Callable[[Row], Row],
) -> None:
    table: Table = whole_metadata().tables[name]
    [(column, values)] = where.items()
    rows = connection.execute(
        select(table).where(table.c[column].in_(values)).order_by(*table.primary_key)
    ).mappings()
    for row in rows.all():
        new = made(dict(row))
        old = new.pop("id", None)
        for reference, above in _REFERS.items():
            if new.get(reference) in ids.get(above, {}):
                new[reference] = ids[above][new[reference]]
        done = connection.execute(insert(table).values(new))
        if old is not None and done.inserted_primary_key is not None:
            ids.setdefault(name, {})[old] = done.inserted_primary_key[0]
