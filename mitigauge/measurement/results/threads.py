"""Threads by name, as a result may tell of them beside its metrics. Pure."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.threads import ACTIVITY, LONGEST_NAME, MOST_NAMES

LARGEST = (1 << 63) - 1

Whole = Annotated[int, Field(strict=True, ge=0, le=LARGEST)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ActivityBody(_Closed):
    """Of all threads of one name, summed over the windows of the iterations that count."""

    threads: Whole
    wakeups: Whole
    run_ns: Whole | None = Field(None, description="null: the host does not tell")
    wait_ns: Whole | None = Field(None, description="ready, and without a processor")


class NameBody(ActivityBody):
    """One name, numbers merged."""

    name: Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(clean_text)]
    own: bool = Field(strict=True, description="the load's, of which the case's metric is")


class OthersBody(ActivityBody):
    """All names beyond those that are told one by one."""

    names: Annotated[int, Field(strict=True, ge=1, le=1_000_000)]


class ThreadsBody(_Closed):
    """What the threads of a host did while the load ran."""

    seconds: Annotated[float, Field(strict=True, gt=0, le=1e9)]
    rows: list[NameBody] = Field(min_length=1, max_length=MOST_NAMES)
    others: OthersBody | None = None

    @model_validator(mode="after")
    def _each_name_once(self) -> ThreadsBody:
        if len({row.name for row in self.rows}) != len(self.rows):
            raise ValueError("rows: a name is there twice")
        return self


def columns_of(body: ThreadsBody) -> dict[str, Any]:
    """The columns of a :class:`mitigauge.measurement.results.tables.ThreadTable`.

    Arrays with an entry for each name; the one after the last name, if any, is the others'.
    """
    activities: list[ActivityBody] = [*body.rows, *([body.others] if body.others else [])]
    return {
        "seconds": body.seconds,
        "names": [row.name for row in body.rows],
        "own": [row.own for row in body.rows],
        "other_names": body.others.names if body.others else 0,
        **{key: [getattr(activity, key) for activity in activities] for key in ACTIVITY},
    }
