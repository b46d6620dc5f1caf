"""Which tables go into an export, told from a schema that has every kind of reference."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    Table,
)

from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.upkeep.exports.ownership import ARRAYS_OF_IDS, LEFT_OUT, Belonging


def key(name: str = "id", to: str = "", *, null: bool = False) -> Column[int]:
    """A column of numbers; *to* the column that it leads to."""
    return Column(name, Integer, *([ForeignKey(to)] if to else []), nullable=null)


def schema() -> MetaData:
    metadata = MetaData()
    Table("song", metadata, key())
    Table("place", metadata, key())
    Table("host", metadata, key(), key("place_id", "place.id"))
    Table("host_friend", metadata, key(), key("host_id", "host.id"))
    Table("experiment", metadata, key())
    Table("run", metadata, key(), key("experiment_id", "experiment.id"), key("host_id", "host.id"))
    Table("boot", metadata, key(), key("run_id", "run.id"))
    Table("note", metadata, key(), key("run_id", "run.id", null=True))
    Table("host_lease", metadata, key(), key("run_id", "run.id"))
    Table("result", metadata, key("boot_id", "boot.id"), key("case_id"))
    Table(
        "value",
        metadata,
        key("boot_id"),
        key("case_id"),
        ForeignKeyConstraint(["boot_id", "case_id"], ["result.boot_id", "result.case_id"]),
    )
    # By name it would come before the boots that it lists.
    Table("a_verdict", metadata, key("run_id", "run.id"), Column("boots", ARRAY(Integer)))
    return metadata


def test_what_leads_to_an_experiment_is_its_own_and_what_it_points_at_goes_along() -> None:
    belonging = Belonging(schema())
    own = [table.name for table in belonging.own]
    assert set(own) == {"experiment", "run", "boot", "result", "value", "a_verdict"}
    assert own.index("experiment") < own.index("run") < own.index("boot") < own.index("result")
    assert [table.name for table in belonging.others] == ["place", "host"]


def test_a_reference_over_several_tables_ends_at_the_row_s_own_number() -> None:
    metadata = schema()
    belonging = Belonging(metadata)
    value = metadata.tables["value"]
    assert belonging.references(value) == {"boot_id": "boot"}
    assert belonging.deciding(value).name == "boot_id"
    assert not belonging.numbered(value)
    assert belonging.numbered(metadata.tables["boot"])


def test_every_table_is_either_an_experiment_s_or_known_to_be_none() -> None:
    """A new table is seen here: it goes into exports, or somebody says why not."""
    belonging = Belonging(whole_metadata())
    taken = {table.name for table in (*belonging.own, *belonging.others)}
    others = {
        "access_token", "audit_entry", "backup", "browser_session", "claim", "claim_source",
        "frame_symbol", "frame_tree", "job", "job_attempt", "job_event", "kernel",
        "kernel_rename", "list_archive", "mail_delivery", "mail_fault",
        "pruning", "series", "series_request",
        "series_revision", "study", "bisection", "bisection_candidate", "bisection_point",
        "host_absence",
        "regression", "regression_entry", "confirmation", "weekly_report", "worker", "trend",
        "trend_annotation",
        "verdict_stability", "subscription", "notice", "digest",
        # An exported profile carries its stacks, not the code beside them.
        "function_listing", "profile_function", "profile_instructions",
    }  # fmt: skip
    assert set(whole_metadata().tables) - taken - set(LEFT_OUT) == others
    assert {"experiment", "comparison", "arm", "benchmark_case", "run", "boot", "host"} <= taken


# Arrays of whole numbers that number no rows.
ARRAYS_OF_AMOUNTS = {
    ("thread_table", name) for name in ("threads", "wakeups", "run_ns", "wait_ns")
}  # fmt: skip


def test_arrays_of_numbers_are_known_to_be_numbers_of_rows() -> None:
    """No foreign key tells of them, and every import gives rows new numbers."""
    found = {
        (table.name, column.name)
        for table in whole_metadata().tables.values()
        for column in table.columns
        if isinstance(column.type, ARRAY) and isinstance(column.type.item_type, Integer)
    }
    assert found - ARRAYS_OF_AMOUNTS <= set(ARRAYS_OF_IDS)
    assert found >= ARRAYS_OF_AMOUNTS
