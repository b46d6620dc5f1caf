"""Studies as they are stored and shown."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.measurement.selection.views import SelectionCell
from mitigauge.tracking.studies.states import StudyKind, StudyState


class KernelSet(BaseModel):
    """Some patches of a revision, in their order, as one kernel."""

    name: str = Field(description="what its arm is called; `base` has none of them")
    revision: str = Field("", description="whose patches; empty: those of the study's own")
    patches: list[int] = Field(description="places in the series, from 1")
    release: str = ""
    content: str = Field("", description="digest of its code and data; alike is the same code")
    skipped: str = Field("", description="why there is no such kernel; empty: there is, or will be")
    by_code: bool = Field(False, description="its code is compared alone, and it is not booted")


class PatchFunction(BaseModel):
    """What of a cost lies in one function."""

    function: str
    exact: int | None = Field(description="instructions an operation; null: no whole number")
    difference: float


class ProcessorCost(BaseModel):
    """What a cost takes on a processor: predicted, never measured."""

    processor: str
    title: str
    ns: float
    low: float = Field(description="95 %, of the errors of the prices")
    high: float
    missing: list[str] = Field(description="events that differ and have no price there")


class EventCost(BaseModel):
    """How often an operation does one thing that costs on real processors; counted, not priced."""

    event: str
    title: str
    a: float
    b: float
    exact: int | None = Field(
        description="the difference as a whole number, where each operation does as many"
    )
    protects: bool = Field(description="whether doing less of it may protect less")


class PatchCost(BaseModel):
    """What some patches add to an operation of a case, counted."""

    case: str
    host: str
    mode: str
    exact: int | None = Field(description="instructions an operation; null: no whole number")
    difference: float = Field(description="instructions an operation, all that ran")
    low: float | None = Field(None, description="of the difference, 95 %; null: boots agree in it")
    high: float | None = None
    lines: float = Field(description="of 64 bytes of code that each operation runs through, more")
    in_its_code: int = Field(description="of `exact`, in functions whose code the patches change")
    functions: list[PatchFunction] = Field(description="that differ most, of those they change")
    others: list[PatchFunction] = Field(
        [], description="that differ most by whole numbers, of those whose code they do not change"
    )
    events: list[EventCost] = Field([], description="that differ, or protect")
    predictions: list[ProcessorCost] = []
    why_none: str = Field("", description="why it is not known; empty: it is")


class PatchSize(BaseModel):
    """How much larger a kernel is, by what its build noted."""

    code: int = Field(description="instructions of functions that stay, padding left out")
    boot: int = Field(description="instructions of functions that are gone once it has started")
    data: int = Field(description="bytes of objects with contents")


class PatchRow(BaseModel):
    """What a patch, or several that build only together, costs after those before it."""

    patches: list[int]
    titles: list[str]
    same_code: bool = Field(description="the kernel with it has the code of the one before")
    why_none: str = Field("", description="why nothing is known of it; empty: it is")
    costs: list[PatchCost] = []
    alone: list[PatchCost] = Field([], description="on the base, without those before it")
    alone_why: str = Field(
        "",
        description="why it was not measured alone; empty: it was, or costs nothing after others",
    )
    changed: list[str] = Field([], description="functions whose code it changes, at most 20")
    changed_count: int = 0
    size: PatchSize | None = Field(None, description="null: a build noted no functions")


class Interaction(BaseModel):
    """A patch that costs something else after the patches before it than alone."""

    patch: int
    case: str
    host: str
    alone: int
    after: int
    others: list[int] = Field(
        description="with which of them it costs what it costs after all; none: cannot be told"
    )


class CountedKernels(BaseModel):
    """Kernels that experiments count; nothing is told without the first of them."""

    mode: str = Field("", description="of all kernels")
    sets: list[KernelSet] = []
    experiments: list[int] = []


class PatchCosts(CountedKernels):
    """What each patch of a revision costs."""

    kind: Literal[StudyKind.PATCH_COST] = StudyKind.PATCH_COST
    rows: list[PatchRow] = []
    whole: list[PatchCost] = Field([], description="all patches against the base")
    warnings: list[list[str] | None] | None = Field(
        None,
        description="of each patch that applies: what gcc says under W=1 of its files, and did not "
        "before it, or null where a file does not compile by itself; null: nobody looked",
    )
    interactions: list[Interaction] = []


class Gate(StrEnum):
    """Whether a variant does as much of what protects as the revision that is asked."""

    REFERENCE = "reference"
    PASSED = "does as much"
    OUT = "does less"
    UNKNOWN = "cannot tell"


class Variant(BaseModel):
    """A revision of the series beside the one that is asked."""

    name: str = Field(description="its label")
    title: str
    gate: Gate
    why: str = Field("", description="what it does less, or why that cannot be told")
    same_as: str = Field("", description="the variant before it that has the same code")
    costs: list[PatchCost] = Field([], description="against the revision that is asked")


class VariantPlace(BaseModel):
    """A variant in a ranking: what it takes more than the first."""

    name: str
    more: float = Field(description="instructions of those counted, else ns")
    low: float
    high: float
    is_alike: bool = Field(description="it cannot be told from the first")
    missing: list[str] = Field([], description="events that differ and have no price there")


class VariantRanking(BaseModel):
    """Variants in one case, the cheapest first."""

    case: str
    host: str
    processor: str = Field(description="that it is predicted for; empty: counted instructions")
    title: str
    places: list[VariantPlace]


class Variants(CountedKernels):
    """Which revision of a series costs least, of those that do as much of what protects."""

    kind: Literal[StudyKind.VARIANTS] = StudyKind.VARIANTS
    variants: list[Variant] = []
    rankings: list[VariantRanking] = Field([], description="without those that do less")


class SelectionGroup(BaseModel):
    """One thing to look at, in all cells that have it."""

    finding: str
    kernel: str
    why: str
    cells: list[str]


class Selections(BaseModel):
    """Which mitigation is chosen where, on the base and on a revision."""

    kind: Literal[StudyKind.SELECTION] = StudyKind.SELECTION
    spec: str = ""
    title: str = ""
    kernels: list[KernelSet] = []
    asked: int = Field(0, description="how many cells there are to be")
    cells: list[SelectionCell] = []
    groups: list[SelectionGroup] = Field([], description="the worst kind first")


Body = Annotated[PatchCosts | Selections | Variants, Field(discriminator="kind")]


class StudyView(BaseModel):
    """A study with what it came to so far."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    revision_id: int
    kind: StudyKind
    state: StudyState
    why: str = Field(description="what it does or waits for, what it came to, or why it failed")
    answer: list[str] = Field(description="what it came to, a sentence a line")
    asked_by: str
    asked_at: datetime
    ended_at: datetime | None
    looks_worse: bool = Field(
        description="whether something is worse than asked or before, or contradicts itself"
    )
    body: Body
