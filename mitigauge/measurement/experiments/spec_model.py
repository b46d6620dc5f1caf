"""The shape of an experiment's spec: what each field may be, and how much it may ask for. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StringConstraints,
    Tag,
    model_validator,
)

from mitigauge.core.field_types import Name, Text, formed
from mitigauge.core.hostile_text import HOSTILE, quoted
from mitigauge.core.wire.case import HIGHEST_HZ, MOST_SLOWED_PERCENT
from mitigauge.core.wire.collectors import CHEAP, NAMES
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.factorial import MOST_KNOBS, MOST_PAIRS, MOST_POINTS, Pair
from mitigauge.measurement.experiments.metric_limit import MetricLimit
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.workloads.definitions import (
    LARGEST_NUMBER,
    LONGEST_CASE_S,
    Value,
    Workload,
)

Place = tuple[str | int, ...]

MAX_BLOCKS = 64
MAX_CASES = 5000
MAX_ARMS = 9
MAX_CROSSED = 3
MAX_FAMILIES = MOST_KNOBS
MAX_COMPARISONS = 32
MAX_LIMITS = 500
MAX_LAYOUTS = 27
MAX_HOSTS = 64
MAX_WORKLOADS = 32
MAX_POINTS = 1000
MAX_AXIS = 1000
MAX_PARAMETERS = 32
MAX_ITERATIONS = 1000
MAX_PARAMETER_TEXT = 100
# Of a whole experiment. A boot takes a minute at the very least.
MAX_BOOTS = 10_000
MAX_VALUES = 10_000_000
PROFILE_HZ = 99  # not 100: in step with timers of the kernel, samples would mislead
DOUBLE_SUFFIX = "-again"
KEXEC_SUFFIX = "-by-kexec"
SLOWED_SUFFIX = "-slowed"

BUILT = "built/"
# A release as `uname -r` says it ends up in a package's name and in a path of /boot. A kernel that
# was built here may go by its label; the release that this is at submit is stored.
KernelRelease = Annotated[
    str,
    formed(
        rf"([0-9][A-Za-z0-9.+~_-]{{0,63}}|{BUILT}[A-Za-z0-9._-]{{1,63}})?",
        "a kernel release as `uname -r` says it, for example 6.12.9-amd64, or built/LABEL",
    ),
]
_MODE = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}/[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
ModeName = Annotated[
    str,
    formed(
        rf"{_MODE}(\+{_MODE}){{0,{MAX_FAMILIES - 1}}}",
        "family/mode, for example vmscape/ibpb, or several with + between them",
    ),
]
Flag = Annotated[bool, Field(strict=True)]
Iterations = Annotated[int, Field(strict=True, ge=1, le=MAX_ITERATIONS)]
Warmup = Annotated[int, Field(strict=True, ge=0, le=MAX_ITERATIONS)]
Seconds = Annotated[int, Field(strict=True, ge=1, le=LONGEST_CASE_S)]
Blocks = Annotated[int, Field(strict=True, ge=1, le=MAX_BLOCKS)]


def _parameter_value(value: object) -> Value:
    """A text without control characters, or a finite number."""
    if isinstance(value, str):
        if len(value) > MAX_PARAMETER_TEXT or HOSTILE.search(value) or "\n" in value:
            raise ValueError(
                f"{quoted(value)} refused; a text has at most {MAX_PARAMETER_TEXT} characters, "
                "and no control characters"
            )
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{quoted(value)} refused; say a word, a number, or a list of them")
    if not math.isfinite(value) or abs(value) > LARGEST_NUMBER:
        raise ValueError(f"{quoted(value)} refused; a number is at most {LARGEST_NUMBER:g}")
    return value


def _one_or_many(value: object) -> str:
    return "many" if isinstance(value, list) else "one"


ParameterValue = Annotated[Value, PlainValidator(_parameter_value)]
Axis = Annotated[
    Annotated[ParameterValue, Tag("one")]
    | Annotated[list[ParameterValue], Field(min_length=1, max_length=MAX_AXIS), Tag("many")],
    Discriminator(_one_or_many),
]
Point = Annotated[dict[Name, Axis], Field(max_length=MAX_PARAMETERS)]
Points = Annotated[
    Annotated[Point, Tag("one")]
    | Annotated[list[Point], Field(min_length=1, max_length=MAX_POINTS), Tag("many")],
    Discriminator(_one_or_many),
]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArmSpec(_Closed):
    """One arm: a mode, and the kernel to boot it with (empty: the host's default)."""

    name: Name
    mode: ModeName
    kernel: KernelRelease = ""
    boot: Literal[BootMethod.RESET, BootMethod.KEXEC] | None = Field(
        None, description="instead of its host's way"
    )


# Arms are named after the knobs that are on in them, at most half of all.
KnobName = Annotated[
    str,
    formed(
        r"(?!(none|all)$)[a-z0-9][a-z0-9_-]{0,14}",
        "at most 15 small letters, digits, _ and -, and neither `none` nor `all`",
    ),
]


class FactorialSpec(_Closed):
    """Knobs that are turned together, so that few boots tell what each of them costs."""

    knobs: dict[KnobName, Annotated[list[ModeName], Field(min_length=2, max_length=2)]] = Field(
        min_length=2,
        max_length=MOST_KNOBS,
        description="name → its two modes, the one without the cost first",
    )
    pairs: list[Annotated[list[KnobName], Field(min_length=2, max_length=2)]] = Field(
        default_factory=list,
        max_length=MOST_PAIRS,
        description="pairs of knobs whose cost together is wanted too",
    )
    kernel: KernelRelease = ""
    most_arms: Annotated[int, Field(strict=True, ge=4, le=MOST_POINTS)] = Field(
        MOST_POINTS, description="boots a block, at most"
    )

    @model_validator(mode="after")
    def _names_its_pairs_once(self) -> FactorialSpec:
        for pair in self.wanted_pairs:
            unknown = [name for name in pair if name not in self.knobs]
            if unknown:
                known = ", ".join(self.knobs)
                raise ValueError(f"pairs: no knob {unknown[0]!r}; knobs: {known}")
            if pair[0] == pair[1]:
                raise ValueError(f"pairs: {pair[0]} with itself")
        if len({frozenset(pair) for pair in self.wanted_pairs}) < len(self.pairs):
            raise ValueError("pairs: one stands twice")
        same = [name for name, (low, high) in self.knobs.items() if low == high]
        if same:
            raise ValueError(f"knob {same[0]} has one mode twice: there is nothing to turn")
        return self

    @property
    def wanted_pairs(self) -> tuple[Pair, ...]:
        """The pairs, as the design takes them."""
        return tuple((first, second) for first, second in self.pairs)


class ProfileSpec(_Closed):
    """A profiled pass after the timed ones, sampled so many times a second.

    With ``guest`` the guest that the workload starts profiles itself too; with ``off_cpu`` a
    further pass says where threads wait, by stack.
    """

    hz: int = Field(PROFILE_HZ, ge=1, le=HIGHEST_HZ, strict=True)
    guest: Flag = False
    off_cpu: Flag = False


def _profile(value: object) -> object:
    """``true`` and ``false`` in full."""
    if isinstance(value, bool):
        return ProfileSpec() if value else None
    if value is None or isinstance(value, Mapping | ProfileSpec):
        return value
    raise ValueError(
        f"{quoted(value)} refused; say true, false, or {{hz: {PROFILE_HZ}, guest: true, "
        "off_cpu: true}"
    )


def _collect(value: object) -> object:
    """``true`` and ``false`` in full."""
    if isinstance(value, bool):
        return list(CHEAP) if value else []
    unknown = [one for one in value if one not in NAMES] if isinstance(value, list) else value
    if value is not None and (unknown or unknown is value):
        raise ValueError(
            f"{quoted(value)} refused; say true, false, or a list of: {', '.join(NAMES)}"
        )
    return list(dict.fromkeys(value)) if isinstance(value, list) else None


class WorkloadSpec(_Closed):
    """Which points of a workload to measure, and how often within a boot."""

    workload: Name
    cases: Points = Field(default_factory=dict)
    iterations: Iterations | None = None
    warmup: Warmup | None = None
    timeout_s: Seconds | None = None
    primary: list[Name] | None = Field(None, max_length=32)
    profile: Annotated[ProfileSpec | None, BeforeValidator(_profile)] = None
    collect: Annotated[list[str] | None, BeforeValidator(_collect)] = Field(
        None,
        description="what is read once a second beside the timed passes; absent: what costs "
        "reading alone on hosts in real time, and nothing where time counts instructions",
    )

    def is_primary(self, metric: str, *, by_itself: bool) -> bool:
        """Whether the metric decides; *by_itself*: whether the workload's file says so."""
        return by_itself if self.primary is None else metric in self.primary

    def points(self) -> list[tuple[Place, dict[str, Any]]]:
        """The wanted parameter sets, each with its place in the file."""
        if isinstance(self.cases, dict):
            return [(("cases",), self.cases)]
        return [(("cases", i), point) for i, point in enumerate(self.cases)]


class ComparisonSpec(_Closed):
    """Arms that share a baseline, on some hosts, over some cases."""

    name: Name
    hosts: list[Name] = Field(min_length=1, max_length=MAX_HOSTS)
    baseline: Name | None = None
    arms: list[ArmSpec] = Field(default_factory=list, max_length=MAX_ARMS)
    cross: list[Name] = Field(
        default_factory=list,
        max_length=MAX_CROSSED,
        description="families: an arm for every combination of their modes, named MODE.MODE",
    )
    factorial: FactorialSpec | None = Field(
        None,
        description="knobs that are turned together: the arms are those of a fractional design, "
        "`none` is the baseline",
    )
    workloads: list[WorkloadSpec] = Field(min_length=1, max_length=MAX_WORKLOADS)
    blocks: Blocks | None = None
    layouts: Annotated[int, Field(strict=True, ge=1, le=MAX_LAYOUTS)] = Field(
        1,
        description="boot each kernel in so many builds that differ in layout alone, block by "
        "block in turn: they are the replicates then. Kernels against kernels in real time need "
        "it; modes on one kernel and counted time do not",
    )
    aa: Flag | Literal["kexec"] = Field(
        False,
        description="boot the baseline twice a block: `true` to see false alarms; `kexec` to "
        "compare it by reset with itself by kexec",
    )
    slowed_percent: Annotated[int, Field(strict=True, ge=0, le=MOST_SLOWED_PERCENT)] = Field(
        0,
        description="boot the baseline once more a block, with a program that takes so much of "
        "each processor's time beside every case: to see whether that is found",
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_went(cls, given: Any) -> Any:
        if isinstance(given, dict) and "tournament" in given:
            raise ValueError(
                "`tournament` went: leave it out, and every arm is judged against the baseline "
                "(`mitigauge series study NAME variants` ranks revisions by exact counts)"
            )
        return given

    @model_validator(mode="after")
    def _has_arms(self) -> ComparisonSpec:
        given = [bool(self.arms), bool(self.cross), self.factorial is not None]
        if sum(given) != 1:
            raise ValueError("give one of `arms`, the families to `cross`, and `factorial`")
        doubled = self.aa or self.slowed_percent
        if self.factorial and (self.baseline or doubled or self.layouts > 1):
            raise ValueError(
                "`factorial` has a baseline of its own (`none`), and none of `aa`, "
                "`slowed_percent` and `layouts`"
            )
        return self

    @property
    def most_arms(self) -> int:
        """How many arms it may have."""
        return self.factorial.most_arms if self.factorial else MAX_ARMS

    @property
    def doubles(self) -> list[tuple[ArmSpec, int]]:
        """The baseline once more, under names of its own; each with its slow-down in percent."""
        found = next((arm for arm in self.arms if arm.name == self.baseline), None)
        if found is None:
            return []
        again = []
        if self.aa == "kexec":
            other = {"name": f"{found.name}{KEXEC_SUFFIX}", "boot": BootMethod.KEXEC}
            again.append((found.model_copy(update=other), 0))
        elif self.aa:
            again.append((found.model_copy(update={"name": f"{found.name}{DOUBLE_SUFFIX}"}), 0))
        if self.slowed_percent:
            slowed = {"name": f"{found.name}{SLOWED_SUFFIX}"}
            again.append((found.model_copy(update=slowed), self.slowed_percent))
        return again

    def method_of(self, arm: ArmSpec) -> BootMethod | None:
        """How *arm* is booted; None: as its host is."""
        if self.aa == "kexec" and arm.name == self.baseline:
            return BootMethod.RESET
        return arm.boot

    @property
    def size(self) -> int:
        """Its arms, the doubled ones among them."""
        return len(self.arms) + bool(self.aa) + bool(self.slowed_percent)


class ExperimentSpec(_Closed):
    """The whole spec file.

    All its texts have a form of their own but ``question``, which is for people and reaches
    no host.
    """

    name: Name
    question: Annotated[Text, StringConstraints(min_length=1)]
    environment: Name
    seed: int | None = Field(None, strict=True, ge=0, lt=2**63)
    blocks: Blocks = 4
    comparisons: list[ComparisonSpec] = Field(min_length=1, max_length=MAX_COMPARISONS)
    limits: list[MetricLimit] = Field(
        default_factory=list,
        max_length=MAX_LIMITS,
        description="what its figures may not pass: it is judged by them at its end",
    )

    def blocks_of(self, comparison: ComparisonSpec) -> int:
        """The budget of a comparison, in blocks."""
        return comparison.blocks or self.blocks


@dataclass(frozen=True)
class PlannedSize:
    """How much a comparison plans, counted without making it."""

    boots: int
    values: int

    @classmethod
    def of(cls, spec: ExperimentSpec, comparison: ComparisonSpec, catalog: Catalog) -> PlannedSize:
        boots = spec.blocks_of(comparison) * comparison.size * len(comparison.hosts)
        values = 0
        for wanted in comparison.workloads:
            workload = catalog.workloads.get(wanted.workload)
            if workload is not None:
                iterations = wanted.iterations or workload.defaults.iterations
                values += count_of(workload, wanted) * iterations * len(workload.metrics)
        return cls(boots, boots * values)


def count_of(workload: Workload, wanted: WorkloadSpec) -> int:
    """How many points *wanted* names, without making them; one named twice counts twice."""
    return sum(workload.count(point) for _, point in wanted.points())


def cases_of(workload: Workload, wanted: WorkloadSpec) -> list[dict[str, Value]]:
    """All distinct points *wanted* asks for, in order."""
    found: dict[tuple[Value, ...], dict[str, Value]] = {}
    for _, point in wanted.points():
        for case in workload.expand(point):
            found.setdefault(tuple(case.values()), case)
    return list(found.values())
