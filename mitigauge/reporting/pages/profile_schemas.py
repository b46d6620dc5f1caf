"""What the API shows of profiles beside the diff itself."""

from __future__ import annotations

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.view import View
from mitigauge.core.wire.profile import System


class FunctionChange(View):
    """A function whose own cost differs between an arm and the baseline."""

    function: str
    difference: float = Field(description="of its own cost, in the summary's unit; + is costlier")
    low: float
    high: float
    q: float
    percent_of_total: float | None = Field(
        None, description="of the difference of everything together"
    )


class CounterView(View):
    """One hardware counter: mean over boots, and against the baseline."""

    counter: str
    mean: float
    n: int
    difference_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None


class ArmProfilesView(View):
    """One arm's profiles of a case on a host."""

    arm_id: int
    arm: str
    is_baseline: bool
    profiles: int
    samples: int
    overhead_percent: float | None = Field(None, description="what profiling cost, mean over boots")
    total: float | None = Field(None, description="mean cost of everything, in the unit")
    difference: float | None = Field(
        None, description="of everything together, from the baseline; none where costs are shares"
    )
    low: float | None = None
    high: float | None = None
    functions: list[FunctionChange] = Field(description="significant at q 5 %, largest first")
    counters: list[CounterView]


class CaseProfilesView(View):
    """What the profiles of one case on one host say, arm by arm."""

    experiment_id: int
    case_id: int
    host: str
    system: System
    event: str
    unit: str
    arms: list[ArmProfilesView]


class ProfileGroupView(View):
    """Boots of one arm on one host whose profiles are of one kind of case."""

    experiment_id: int
    experiment: str
    case_id: int
    host: str
    emulated: bool
    clock: Clock
    arm: str
    event: str = Field(description="groups of different events cannot be compared")
    profiles: int
