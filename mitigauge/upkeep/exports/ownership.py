"""Which rows of which tables belong to an experiment: told by foreign keys. Pure.

A table belongs to experiments if one of its columns, which is never null, leads to them:
``boot.run_id`` to ``run.experiment_id`` to ``experiment``. Rows that such tables point at and
that are not an experiment's own (hosts, fingerprints) go along. New tables and columns need
nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Column, MetaData, Table

ROOT: Final = "experiment"
# Holds on hosts and steps of bisections are this service's own, and so are trends, which take in
# what is imported. Profiles are rewritten by what stores them: their stacks are numbers of a tree
# that all experiments share. A check of prices is of two experiments, and is done again at once.
# What an operation runs, a worker works out of the ledgers that go along. Limits are judged
# where an experiment ends.
LEFT_OUT: Final = (
    *("host_lease", "profile", "profile_symbol", "bisection_step"),
    *("trend_arm", "trend_change", "trend_run", "trend_value"),
    *("exact_operation", "limit_judgement", "limit_outcome", "publication"),
)
# Columns of ids that no foreign key tells of, with the table whose they are.
ARRAYS_OF_IDS: Final = {
    ("verdict", "boots"): "boot",
    ("exact_operation", "counts"): "exact_count",
}


@dataclass(frozen=True)
class Belonging:
    """The tables of one schema, as seen from an experiment."""

    metadata: MetaData

    @cached_property
    def own(self) -> list[Table]:
        """An experiment's own tables, parents before children."""
        found = {ROOT}
        for table in self.metadata.sorted_tables:
            if table.name not in LEFT_OUT and any(
                not column.nullable and self.origin(column) in found for column in table.columns
            ):
                found.add(table.name)
        own = [table for table in self.metadata.sorted_tables if table.name in found]
        # Their arrays name rows that must have their numbers by then.
        return sorted(own, key=lambda table: any(table.name == name for name, _ in ARRAYS_OF_IDS))

    @cached_property
    def others(self) -> list[Table]:
        """Tables of rows that own ones point at, parents before children."""
        found: set[str] = set()
        own = {table.name for table in self.own}
        for table in reversed(self.metadata.sorted_tables):
            if table.name in own | found:
                found |= set(self.references(table).values()) - own
        return [table for table in self.metadata.sorted_tables if table.name in found]

    def deciding(self, table: Table) -> Column[Any]:
        """The column by which a row of an own *table* is an experiment's."""
        own = {other.name for other in self.own} - {table.name}
        if table.name == ROOT:
            return table.c.id
        return next(c for c in table.columns if not c.nullable and self.origin(c) in own)

    def references(self, table: Table) -> dict[str, str]:
        """Columns of ids of other tables, with the names of these."""
        found = {column.name: self.origin(column) for column in table.columns}
        return {column: origin for column, origin in found.items() if origin}

    def numbered(self, table: Table) -> bool:
        """Whether its rows have a number of their own."""
        return "id" in table.c and not table.c.id.foreign_keys

    def origin(self, column: Column[Any]) -> str:
        """The table whose ``id`` the column holds at the end of all foreign keys, or nothing."""
        origin = ""
        while column.foreign_keys:
            column = next(iter(column.foreign_keys)).column
            origin = column.table.name if column.name == "id" else origin
        return origin
