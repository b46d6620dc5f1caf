"""Tables of what cases gave within boots."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    String,
    Table,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results.states import ResultState
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord

_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")


def _finite(column: str) -> str:
    # NaN equals itself in PostgreSQL, so it must be named. Of a missing array nothing is asked.
    return " AND ".join(f"'{word}' <> ALL ({column})" for word in _NOT_NUMBERS)


def _slowdown(column: str) -> str:
    return f"1 <= ALL ({column}) AND 'Infinity' > ALL ({column})"


class Result(Base):
    """What one case gave within one boot; taken in once, then unchangeable."""

    __tablename__ = "result"
    __table_args__ = (
        CheckConstraint(one_of("state", ResultState), name="state"),
        Index("ix_result_raw_sha256", "raw_sha256"),
        # Few results have one, and every page counts them.
        Index("ix_result_lab_faults", "boot_id", postgresql_where=text("lab_faults <> '[]'")),
    )

    boot_id: Mapped[int] = mapped_column(ForeignKey("boot.id"), primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"), primary_key=True)
    state: Mapped[ResultState] = mapped_column(EnumWord(ResultState))
    body_sha256: Mapped[str]
    raw_sha256: Mapped[str | None]
    lab_faults: Mapped[list[Any]]
    tools: Mapped[dict[str, Any]]
    error: Mapped[str] = mapped_column(server_default="")
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())

    case: Mapped[Case] = relationship()
    measurements: Mapped[list[Measurement]] = relationship(order_by="Measurement.metric")


class Measurement(Base):
    """One metric of one case within one boot: its iterations, in order, and their mean.

    A value that is no number cannot be stored. Slowdowns are of a fixed loop timed beside each
    iteration, over the loop's fastest; null where none was timed.
    """

    __tablename__ = "measurement"
    __table_args__ = (
        ForeignKeyConstraint(["boot_id", "case_id"], ["result.boot_id", "result.case_id"]),
        *(
            CheckConstraint(_finite(column), name=f"{column}_finite")
            for column in ("counted", "warmup", "disturbed")
        ),
        *(
            CheckConstraint(_slowdown(column), name=column)
            for column in ("slowdowns", "disturbed_slowdowns")
        ),
        CheckConstraint("cardinality(counted) > 0", name="counted"),
    )

    boot_id: Mapped[int] = mapped_column(primary_key=True)
    case_id: Mapped[int] = mapped_column(primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    # Of the counted iterations, in the metric's unit: what all statistics are made of.
    mean: Mapped[float]
    counted: Mapped[list[float]] = mapped_column(ARRAY(Double))
    warmup: Mapped[list[float] | None] = mapped_column(ARRAY(Double))
    # Taken again, since the processor was slowed beside them.
    disturbed: Mapped[list[float] | None] = mapped_column(ARRAY(Double))
    slowdowns: Mapped[list[float] | None] = mapped_column(ARRAY(Double))
    disturbed_slowdowns: Mapped[list[float] | None] = mapped_column(ARRAY(Double))
    # Iterations beside a larger slowdown were taken again.
    slowdown_limit: Mapped[float | None]


class ResultDetail(Base):
    """What one case told within one boot besides its metrics.

    *body* is :class:`mitigauge.measurement.results.details.BootDetails`; some kilobytes, for few
    readers.
    """

    __tablename__ = "result_detail"
    __table_args__ = (
        ForeignKeyConstraint(["boot_id", "case_id"], ["result.boot_id", "result.case_id"]),
        Index("ix_result_detail_case_id", "case_id"),
    )

    boot_id: Mapped[int] = mapped_column(primary_key=True)
    case_id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[dict[str, Any]]


class ThreadTable(Base):
    """What threads did, by name, while the load of one case ran within one boot.

    Summed over the windows of the iterations that count. The arrays of figures have an entry for
    each name, and one more where there are other names than those: it is all of theirs. Times are
    in ns, and null where the host does not tell.
    """

    __tablename__ = "thread_table"
    __table_args__ = (
        ForeignKeyConstraint(["boot_id", "case_id"], ["result.boot_id", "result.case_id"]),
        CheckConstraint("seconds > 0 AND seconds < 'Infinity'", name="seconds"),
        CheckConstraint(
            "cardinality(names) > 0 AND cardinality(own) = cardinality(names) "
            "AND cardinality(threads) = cardinality(names) + (other_names > 0)::int "
            "AND cardinality(wakeups) = cardinality(threads) "
            "AND cardinality(run_ns) = cardinality(threads) "
            "AND cardinality(wait_ns) = cardinality(threads)",
            name="entries",
        ),
        Index("ix_thread_table_case_id", "case_id"),
    )

    boot_id: Mapped[int] = mapped_column(primary_key=True)
    case_id: Mapped[int] = mapped_column(primary_key=True)
    seconds: Mapped[float]
    names: Mapped[list[str]] = mapped_column(ARRAY(String))
    # The load's own, of which the case's metric is.
    own: Mapped[list[bool]] = mapped_column(ARRAY(Boolean))
    other_names: Mapped[int]
    threads: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    wakeups: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    run_ns: Mapped[list[int | None]] = mapped_column(ARRAY(BigInteger))
    # Ready, and without a processor.
    wait_ns: Mapped[list[int | None]] = mapped_column(ARRAY(BigInteger))


# For inserting thousands of rows by one statement each.
RESULT_TABLE = cast("Table", Result.__table__)
MEASUREMENT_TABLE = cast("Table", Measurement.__table__)
DETAIL_TABLE = cast("Table", ResultDetail.__table__)
THREAD_TABLE = cast("Table", ThreadTable.__table__)
