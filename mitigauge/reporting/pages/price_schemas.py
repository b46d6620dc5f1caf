"""What the page of prices shows: prices by processor, modes ranked by them."""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.analysis.prices.definitions import BranchKind, PriceKind
from mitigauge.analysis.prices.trust import Trust


class _Answer(BaseModel):
    """Closed, so that a typo in a field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NsInterval(_Answer):
    """Nanoseconds, with the 95 % interval."""

    ns: float = Field(allow_inf_nan=False)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)


class PriceView(_Answer):
    """What one event costs on a processor, ns, with its 95 % interval and who says so."""

    event: str
    title: str
    ns: float
    low: float
    high: float
    kind: PriceKind
    source: str
    url: str = Field(description="of the source; empty where it has none")
    machines: list[str] = Field(description="those of the processor's file that gave it")


class IdentityView(_Answer):
    """What a processor says of itself."""

    vendor: str
    family: int
    model: int
    stepping: int
    name: str
    caches: str = Field(description="empty where the kernel did not say")
    masked: str = Field(
        description="how its flags contradict the model that it says; empty where they agree"
    )


class RefusedEvent(_Answer):
    """An event that has no price on a machine, with the reason as it was given there."""

    event: str
    title: str
    why: str


class HeldOutView(_Answer):
    """An operation that no price was made of: what prices predicted, and what it took."""

    check: str
    what: str
    bill: dict[str, float] = Field(description="events of the operation, by name")
    predicted: float = Field(description="ns")
    measured: NsInterval
    off_percent: float = Field(description="how far the prediction is off what was measured")


class RefillView(_Answer):
    """What each branch of one kind costs more when it runs first behind an event."""

    branches: BranchKind
    cost: NsInterval
    ceiling: int = Field(description="branches from which more of them cost no more")


class WorkingSetView(_Answer):
    """Branches behind an event that its refills were not made of: predicted, and measured."""

    branches: dict[BranchKind, int]
    predicted: float = Field(description="ns")
    measured: NsInterval
    off_percent: float


class AftermathView(_Answer):
    """What an event costs those who run behind it."""

    event: str
    title: str
    once: float = Field(description="with no branch behind it, the event itself included, ns")
    refills: list[RefillView]
    working_sets: list[WorkingSetView]


class MachineView(_Answer):
    """What one machine with the processor gave, at one time."""

    machine: str
    at: date
    microcode: str
    kernel: str
    is_virtual: bool
    cycle_ns: float = Field(description="of a chain of additions, the least")
    trusted: Trust
    refused: list[RefusedEvent]
    checks: list[HeldOutView]
    aftermaths: list[AftermathView]


class ProcessorPrices(_Answer):
    """One file of prices/processors/."""

    processor: str
    title: str
    microarchitecture: str
    microcode: str
    identity: IdentityView | None = Field(description="null where no machine has said it")
    trusted: Trust = Field(description="not so where the checks of one machine failed")
    misfit_percent: float = Field(
        description="how far events lie off their prices elsewhere; an error of each prediction"
    )
    machines: list[MachineView]
    prices: list[PriceView]


class RankedMode(_Answer):
    """A mode with what it is predicted to cost."""

    mode: str
    title: str
    predicted: NsInterval


class UnpricedMode(_Answer):
    """A mode whose cost is unknown, with the events that have no price there."""

    mode: str
    title: str
    missing: list[str]


class BreakEvenView(_Answer):
    """What an event would have to cost for two modes to be predicted alike."""

    event: str
    mode: str
    other: str
    ns: float


class ProcessorRanking(_Answer):
    """The modes of a question on one processor, predicted."""

    processor: str
    title: str
    trusted: Trust
    ranked: list[RankedMode] = Field(description="the cheapest first")
    unpriced: list[UnpricedMode]
    chance: float | None = Field(
        description="that the order of those that cost anything is the true one, 0 to 1; null: "
        "fewer than two do, or a mode has no price"
    )
    break_even: list[BreakEvenView]
    forgotten_ns: float | None = Field(
        description="what an operation costs more where its branches are forgotten; null: not known"
    )


class QuestionRanking(_Answer):
    """One file of prices/bills/ on all processors whose prices say something of its modes."""

    bills: str
    operation: str
    source: str = Field(description="where the bills were counted")
    processors: list[ProcessorRanking]


class TrustRule(_Answer):
    """Which machines' prices are trusted: by how far their predictions lie off."""

    share_percent: float = Field(description="of the checks, which lie within the first bound")
    near_percent: float
    far_percent: float = Field(description="within which all lie")


class Prices(_Answer):
    """Prices that are known, and what they say of modes."""

    processors: list[ProcessorPrices]
    trust_rule: TrustRule
    rankings: list[QuestionRanking]
