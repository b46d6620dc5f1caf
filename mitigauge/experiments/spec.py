"""An experiment's spec: reading it, and refusing it with file, line and the known names.

Pure: the catalogue and the known hosts are arguments.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from mitigauge.catalog import Catalog, Value, Workload, located_errors
from mitigauge.errors import InvalidInput
from mitigauge.yaml_file import YamlDocument, parse_yaml

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
Place = tuple[str | int, ...]

MAX_BLOCKS = 64
MAX_CASES = 5000
MAX_ARMS = 9
PROFILE_HZ = 99  # not 100: in step with timers of the kernel, samples would mislead
MAX_PROFILE_HZ = 5000
DOUBLE_SUFFIX = "-again"


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArmSpec(_Closed):
    """One arm: a mode, and the kernel to boot it with (empty: the host's default)."""

    name: Name
    mode: str = Field(description="family/mode, for example vmscape/ibpb")
    kernel: str = ""


class ProfileSpec(_Closed):
    """A profiled pass after the timed ones, sampled so many times a second.

    With ``guest`` the guest that the workload starts profiles itself too.
    """

    hz: int = Field(PROFILE_HZ, ge=1, le=MAX_PROFILE_HZ, strict=True)
    guest: bool = Field(False, strict=True)


def _profile(value: object) -> object:
    """``true`` and ``false`` in full."""
    if isinstance(value, bool):
        return ProfileSpec() if value else None
    if value is None or isinstance(value, Mapping | ProfileSpec):
        return value
    raise ValueError(f"{value!r} refused; say true, false, or {{hz: {PROFILE_HZ}, guest: true}}")


class WorkloadSpec(_Closed):
    """Which points of a workload to measure, and how often within a boot."""

    workload: str
    cases: dict[str, Any] | list[dict[str, Any]] = Field(default_factory=dict)
    iterations: int | None = Field(None, ge=1, le=1000)
    warmup: int | None = Field(None, ge=0, le=1000)
    timeout_s: int | None = Field(None, ge=1)
    primary: list[str] | None = None
    profile: Annotated[ProfileSpec | None, BeforeValidator(_profile)] = None

    def points(self) -> list[tuple[Place, dict[str, Any]]]:
        """The wanted parameter sets, each with its place in the file."""
        if isinstance(self.cases, dict):
            return [(("cases",), self.cases)]
        return [(("cases", i), point) for i, point in enumerate(self.cases)]


class ComparisonSpec(_Closed):
    """Arms that share a baseline, on some hosts, over some cases."""

    name: Name
    hosts: list[str] = Field(min_length=1)
    baseline: str | None = None
    arms: list[ArmSpec] = Field(min_length=1, max_length=MAX_ARMS)
    workloads: list[WorkloadSpec] = Field(min_length=1)
    blocks: int | None = Field(None, ge=1, le=MAX_BLOCKS)
    aa: bool = Field(False, description="boot the baseline twice a block, to see false alarms")

    @property
    def double(self) -> ArmSpec | None:
        """The baseline once more, under a name of its own."""
        found = next((arm for arm in self.arms if arm.name == self.baseline), None)
        if not self.aa or found is None:
            return None
        return found.model_copy(update={"name": f"{found.name}{DOUBLE_SUFFIX}"})


class ExperimentSpec(_Closed):
    """The whole spec file."""

    name: Name
    question: str = Field(min_length=1, max_length=2000)
    environment: Name
    seed: int | None = Field(None, ge=0, lt=2**63)
    blocks: int = Field(4, ge=1, le=MAX_BLOCKS)
    comparisons: list[ComparisonSpec] = Field(min_length=1)

    def blocks_of(self, comparison: ComparisonSpec) -> int:
        """The budget of a comparison, in blocks."""
        return comparison.blocks or self.blocks


@dataclass(frozen=True)
class KnownHost:
    """What a spec must know of a host."""

    name: str
    capabilities: frozenset[str]


def read_spec(
    text: str, *, name: str, catalog: Catalog, hosts: Mapping[str, Mapping[str, KnownHost]]
) -> ExperimentSpec:
    """Parse and check a spec; *hosts* maps environment to its hosts.

    Raises :class:`InvalidInput` with one ``file:line: …`` for every fault found.
    """
    document = parse_yaml(text, name)
    try:
        spec = ExperimentSpec.model_validate(document.data)
    except ValidationError as error:
        raise _refusal(located_errors(document, error)) from error
    checker = _Checker(document, catalog, hosts)
    problems = list(checker.problems(spec))
    if problems:
        raise _refusal(problems)
    return spec


def environment_named_in(text: str, *, name: str) -> str:
    """The environment a spec asks for, read before anything else of it is checked."""
    return str(parse_yaml(text, name).data.get("environment", ""))


def _refusal(problems: Iterable[str]) -> InvalidInput:
    return InvalidInput("\n".join(problems), hint="Nothing was started. Correct the spec.")


def _known(wanted: str, names: Iterable[str]) -> str:
    """``known: a, b`` with the likeliest meant first."""
    known = sorted(names)
    close = difflib.get_close_matches(wanted, known, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}known: {', '.join(known) or 'none'}"


def _repeated(names: Sequence[str]) -> Iterator[tuple[int, str]]:
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            yield index, name


@dataclass(frozen=True)
class _Checker:
    """Checks that need more than the shape of the document."""

    document: YamlDocument
    catalog: Catalog
    hosts: Mapping[str, Mapping[str, KnownHost]]

    def problems(self, spec: ExperimentSpec) -> Iterator[str]:
        if spec.environment not in self.hosts:
            yield self._at(
                ("environment",),
                f"unknown environment {spec.environment!r}; {_known(spec.environment, self.hosts)}",
            )
        names = [c.name for c in spec.comparisons]
        for index, name in _repeated(names):
            yield self._at(("comparisons", index, "name"), f"comparison {name!r} stands twice")
        hosts = self.hosts.get(spec.environment, {})
        for index, comparison in enumerate(spec.comparisons):
            place: Place = ("comparisons", index)
            if spec.environment in self.hosts:
                yield from self._hosts(comparison, place, hosts)
            yield from self._arms(comparison, place)
            yield from self._double(comparison, place)
            yield from self._workloads(comparison, place, hosts)

    def _at(self, place: Place, problem: str) -> str:
        return f"{self.document.where(place)}: {problem}"

    def _hosts(
        self, comparison: ComparisonSpec, place: Place, hosts: Mapping[str, KnownHost]
    ) -> Iterator[str]:
        for index, name in enumerate(comparison.hosts):
            if name not in hosts:
                yield self._at(
                    (*place, "hosts", index), f"unknown host {name!r}; {_known(name, hosts)}"
                )
        for index, name in _repeated(comparison.hosts):
            yield self._at((*place, "hosts", index), f"host {name!r} stands twice")

    def _arms(self, comparison: ComparisonSpec, place: Place) -> Iterator[str]:
        names = [arm.name for arm in comparison.arms]
        for index, name in _repeated(names):
            yield self._at((*place, "arms", index, "name"), f"duplicate arm {name!r}")
        settings = [f"{arm.mode} on kernel {arm.kernel or 'default'}" for arm in comparison.arms]
        for index, setting in _repeated(settings):
            if comparison.arms[index].name not in names[:index]:
                yield self._at(
                    (*place, "arms", index), f"duplicate arm: {setting} stands under another name"
                )
        for index, arm in enumerate(comparison.arms):
            if arm.mode not in self.catalog.mode_names:
                yield self._at(
                    (*place, "arms", index, "mode"),
                    f"unknown mode {arm.mode!r}; {_known(arm.mode, self.catalog.mode_names)}",
                )
        if comparison.baseline is None:
            yield self._at(
                place, f"comparison {comparison.name!r} names no baseline; arms: {', '.join(names)}"
            )
        elif comparison.baseline not in names:
            yield self._at(
                (*place, "baseline"),
                f"baseline {comparison.baseline!r} is no arm; "
                + _known(comparison.baseline, names),
            )

    def _double(self, comparison: ComparisonSpec, place: Place) -> Iterator[str]:
        """What is wrong with the number of arms and the doubled one."""
        names = [arm.name for arm in comparison.arms]
        if len(names) + comparison.aa < 2:
            yield self._at(
                (*place, "arms"),
                "one arm alone has nothing to be compared with: add another, or aa",
            )
        if len(names) + comparison.aa > MAX_ARMS:
            yield self._at((*place, "aa"), f"at most {MAX_ARMS} arms, the doubled one among them")
        if comparison.double and comparison.double.name in names:
            taken = comparison.double.name
            yield self._at((*place, "aa"), f"the doubled arm's name {taken!r} is taken")

    def _workloads(
        self, comparison: ComparisonSpec, place: Place, hosts: Mapping[str, KnownHost]
    ) -> Iterator[str]:
        count = 0
        for index, wanted in enumerate(comparison.workloads):
            at: Place = (*place, "workloads", index)
            workload = self.catalog.workloads.get(wanted.workload)
            if workload is None:
                known = _known(wanted.workload, self.catalog.workloads)
                yield self._at((*at, "workload"), f"unknown workload {wanted.workload!r}; {known}")
                continue
            yield from self._needs(workload, comparison, at, hosts)
            yield from self._guest(workload, wanted, at)
            problems = list(self._parameters(workload, wanted, at))
            yield from problems
            if not problems:
                points = cases_of(workload, wanted)
                count += len(points)
                yield from self._metrics(workload, wanted, points, at)
        if count > MAX_CASES:
            yield self._at(
                (*place, "workloads"), f"{count} cases; at most {MAX_CASES} in a comparison"
            )

    def _needs(
        self,
        workload: Workload,
        comparison: ComparisonSpec,
        at: Place,
        hosts: Mapping[str, KnownHost],
    ) -> Iterator[str]:
        for name in comparison.hosts:
            host = hosts.get(name)
            missing = set(workload.needs) - host.capabilities if host else set()
            if missing:
                yield self._at(
                    (*at, "workload"),
                    f"workload {workload.name!r} needs {', '.join(sorted(missing))}, "
                    f"which host {name!r} lacks",
                )

    def _guest(self, workload: Workload, wanted: WorkloadSpec, at: Place) -> Iterator[str]:
        if wanted.profile and wanted.profile.guest and not workload.profiles_guest:
            able = [name for name, one in self.catalog.workloads.items() if one.profiles_guest]
            yield self._at(
                (*at, "profile", "guest"),
                f"workload {workload.name!r} has no guest to profile; with one: "
                + (", ".join(sorted(able)) or "none"),
            )

    def _parameters(self, workload: Workload, wanted: WorkloadSpec, at: Place) -> Iterator[str]:
        for where, point in wanted.points():
            for name, values in point.items():
                parameter = workload.parameters.get(name)
                if parameter is None:
                    yield self._at(
                        (*at, *where, name),
                        f"workload {workload.name!r} has no parameter {name!r}; "
                        + _known(name, workload.parameters),
                    )
                    continue
                for value in values if isinstance(values, list) else [values]:
                    reason = parameter.refuse(value)
                    if reason:
                        yield self._at((*at, *where, name), f"{name}: {value!r} refused; {reason}")

    def _metrics(
        self,
        workload: Workload,
        wanted: WorkloadSpec,
        points: Sequence[Mapping[str, Value]],
        at: Place,
    ) -> Iterator[str]:
        known = {name for point in points for name in workload.metrics_of(point)}
        for index, metric in enumerate(wanted.primary or []):
            if metric not in known:
                yield self._at(
                    (*at, "primary", index), f"unknown metric {metric!r}; {_known(metric, known)}"
                )


def cases_of(workload: Workload, wanted: WorkloadSpec) -> list[dict[str, Value]]:
    """All distinct points *wanted* asks for, in order."""
    points: list[dict[str, Value]] = []
    for _, point in wanted.points():
        points.extend(p for p in workload.expand(point) if p not in points)
    return points
