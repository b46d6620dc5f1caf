"""What a bisection stores beside plain columns, as types. Pure."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.tracking.bisect.states import AnswerKind, RevertOutcome


class _Whole(BaseModel):
    """Of what is answered all fields are there, those with defaults too."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class Source(_Whole):
    """Where kernels come from, and whom a report is for. What does not apply is empty."""

    base: str = Field("", description="the source package that patches are applied to")
    profile: str = Field("", description="the config profile of the kernels")
    tree: str = Field("", description="the directory of the git tree")
    good: str = Field("", description="the first end's commit")
    bad: str = Field("", description="the last end's commit")
    revision: str = Field("", description="series and revision, as `vmscape-bhb v4`")
    message_id: str = Field("", description="the revision's first mail")
    subject: str = ""
    to: list[str] = Field(default_factory=list)
    cc: list[str] = Field(default_factory=list)
    references: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list, description="what a reader should know of it")


class Value(NamedTuple):
    """One boot that counts; *value* is the mean in the metric's unit."""

    point: int
    host: str
    block: int
    value: float
    layout: str = ""


class PointLevel(BaseModel):
    """What one point showed in one step, in the metric's unit."""

    point: int
    boots: int
    mean: float | None = Field(description="geometric mean of the boots' means")
    deviation_percent: float | None = Field(description="standard deviation of the boots; of two")
    effect_percent: float | None = Field(description="against the step's first point")


class FlameGraph(BaseModel):
    """The stored profiles of parent and culprit: side *a* and side *b*, arms of the experiment."""

    experiment_id: int
    case_id: int
    host: str
    a: str
    b: str

    @property
    def path(self) -> str:
        """Where the dashboard draws the difference."""
        asked = {"experiment": self.experiment_id, "case": self.case_id, "host": self.host,
                 "a": self.a, "b": self.b}  # fmt: skip
        return f"/profiles?{urlencode(asked)}"


class RevertRecord(_Whole):
    """What the last end did without a candidate. Percent, with 95 % intervals."""

    candidate: int
    outcome: RevertOutcome
    blocks: int = Field(description="those that have the last end with and without it")
    change_percent: float = Field(description="against the last end with it")
    change_low_percent: float
    change_high_percent: float
    off_percent: float | None = Field(None, description="against the candidate's parent")
    off_low_percent: float | None = None
    off_high_percent: float | None = None


class BisectionAnswer(_Whole):
    """What a bisection found out.

    *confidence* is of the culprit, that there are several, that it is none of these, or that it is
    one of *candidates*, by kind. Effects are percent of the parent.
    """

    kind: AnswerKind
    candidates: list[int] = Field(default_factory=list)
    confidence: float | None = None
    effect_percent: float | None = None
    ci_low_percent: float | None = None
    ci_high_percent: float | None = None
    why: str = ""
    what_it_takes: str = ""
    flame_graph: FlameGraph | None = None
    reverts: list[RevertRecord] = Field(
        default_factory=list, description="of each candidate that was taken out of the last end"
    )
    verified_by: list[int] = Field(default_factory=list, description="experiments that verified it")


def chance(probability: float) -> str:
    """A probability in percent, as people read it: never a rounded 100 %."""
    percent = 100 * probability
    if 99.99 < percent < 100:
        return ">99.99 %"
    if 0 < percent < 0.01:
        return "<0.01 %"
    return f"{percent:.2f} %"
