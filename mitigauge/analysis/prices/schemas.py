"""A check of prices as it is stored: its rows, what it is a check of, how often prices held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.clock import Clock

if TYPE_CHECKING:
    # Tables import this module, and a command that lists something waits for them.
    from mitigauge.analysis.prices.levels import Checked

# Rows of a check that are stored; the counts are of all rows.
MOST_ROWS = 2000
# Characters of a name within a row.
LONGEST_NAME = 500
# A case has no more events than there are files of modes/events/.
MOST_EVENTS = 200

RowName = Annotated[str, Field(max_length=LONGEST_NAME)]


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NsInterval(_Stored):
    """Nanoseconds an operation more, with the 95 % interval."""

    ns: float = Field(allow_inf_nan=False)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)


class CheckRow(_Stored):
    """What an arm costs against the baseline of its case: measured, and predicted."""

    case: RowName
    arm: RowName
    measured: NsInterval
    predicted: NsInterval
    missing: list[RowName] = Field(
        max_length=MOST_EVENTS, description="events that differ and have no price"
    )
    holds: bool = Field(description="whether both differ by no more than their errors together")


@dataclass(frozen=True, slots=True)
class CheckedOn:
    """What a check is of: a processor's prices, two experiments, and the host that measured."""

    processor: str
    measured_id: int
    counted_id: int
    host: str
    emulated: bool
    clock: Clock


class Held(NamedTuple):
    """Over all checks of a processor's prices: predictions that held, of so many."""

    held: int
    checked: int


def stored_rows(rows: Sequence[Checked]) -> list[CheckRow]:
    """The first rows, as they are stored."""
    return [_stored_row(row) for row in rows[:MOST_ROWS]]


def _stored_row(row: Checked) -> CheckRow:
    return CheckRow(
        case=row.case[:LONGEST_NAME],
        arm=row.arm[:LONGEST_NAME],
        measured=_interval(row.measured),
        predicted=_interval(row.predicted),
        missing=[event[:LONGEST_NAME] for event in row.missing[:MOST_EVENTS]],
        holds=row.holds,
    )


def _interval(of: tuple[float, float, float]) -> NsInterval:
    return NsInterval(ns=of[0], low=of[1], high=of[2])
