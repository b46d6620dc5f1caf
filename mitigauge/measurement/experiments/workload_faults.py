"""What is wrong with the workloads of a spec's comparison. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from mitigauge.core.clock import Clock
from mitigauge.core.field_types import MAX_PROBLEMS
from mitigauge.core.hostile_text import quoted
from mitigauge.core.wire.case import BY_ARM
from mitigauge.measurement.experiments.spec_faults import (
    Faults,
    KnownHost,
    known_words,
)
from mitigauge.measurement.experiments.spec_model import (
    MAX_CASES,
    ComparisonSpec,
    Place,
    WorkloadSpec,
    cases_of,
    count_of,
)
from mitigauge.measurement.workloads.definitions import Value, Workload


class WorkloadFaults(Faults):
    """Cases, parameters and metrics, and what hosts and arms must have for them."""

    def of(
        self, comparison: ComparisonSpec, place: Place, hosts: Mapping[str, KnownHost]
    ) -> Iterator[str]:
        """All of them; *hosts*: those of the spec's environment."""
        count = 0
        for index, wanted in enumerate(comparison.workloads):
            at: Place = (*place, "workloads", index)
            workload = self.catalog.workloads.get(wanted.workload)
            if workload is None:
                known = known_words(wanted.workload, self.catalog.workloads)
                yield self.at((*at, "workload"), f"unknown workload {wanted.workload!r}; {known}")
                continue
            yield from self._needs(workload, comparison, at, hosts)
            yield from self._guest(workload, wanted, at)
            yield from self._guest_image(wanted, comparison, at, hosts)
            yield from self._guest_settings(workload, comparison, at)
            yield from self._left_to_the_arm(workload, wanted, comparison, at)
            problems = list(islice(self._parameters(workload, wanted, at), MAX_PROBLEMS))
            yield from problems
            if problems:
                continue
            count += count_of(workload, wanted)
            if count <= MAX_CASES:
                yield from self._metrics(workload, wanted, cases_of(workload, wanted), at)
        if count > MAX_CASES:
            yield self.at(
                (*place, "workloads"), f"{count:.4g} cases; at most {MAX_CASES} in a comparison"
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
                yield self.at(
                    (*at, "workload"),
                    f"workload {workload.name!r} needs {', '.join(sorted(missing))}, "
                    f"which host {name!r} lacks",
                )
            if host and workload.guest and host.clock is Clock.COUNTED:
                able = [
                    other.name
                    for other in hosts.values()
                    if other.clock is Clock.REAL and set(workload.needs) <= other.capabilities
                ]
                yield self.at(
                    (*at, "workload"),
                    f"workload {workload.name!r} boots a guest system, which takes too long on "
                    f"host {name!r}, whose time counts instructions; in real time: "
                    + (", ".join(sorted(able)) or "none"),
                )

    def _guest_settings(
        self, workload: Workload, comparison: ComparisonSpec, at: Place
    ) -> Iterator[str]:
        """Whether the workload's guest can be given what each arm sets of it."""
        for arm in comparison.arms:
            settings = self.guest_of(arm)
            missing = [name for name in settings if name not in workload.guest_settings]
            if missing:
                able = [
                    name
                    for name, other in self.catalog.workloads.items()
                    if set(settings) <= set(other.guest_settings)
                ]
                yield self.at(
                    (*at, "workload"),
                    f"arm {arm.name!r} sets {', '.join(missing)} of a guest, which workload "
                    f"{workload.name!r} cannot; workloads that can: "
                    + (", ".join(sorted(able)) or "none"),
                )

    def _left_to_the_arm(
        self, workload: Workload, wanted: WorkloadSpec, comparison: ComparisonSpec, at: Place
    ) -> Iterator[str]:
        """Whether case and arm agree on who sets what both could set of a guest."""
        both = [name for name in workload.guest_settings if name in workload.parameters]
        for name, arm in product(both, comparison.arms):
            is_set = name in self.guest_of(arm)
            for where, point in wanted.points():
                values = point.get(name, workload.parameters[name].fallback)
                values = values if isinstance(values, list) else [values]
                if any((value == BY_ARM) != is_set for value in values):
                    reason = "sets" if is_set else "does not set"
                    yield self.at(
                        (*at, *where, *([name] if name in point else [])),
                        f"arm {arm.name!r} {reason} {name} of the guest: the case's {name} is "
                        f"{BY_ARM!r} where all arms do, and only there",
                    )

    def _guest_image(
        self,
        wanted: WorkloadSpec,
        comparison: ComparisonSpec,
        at: Place,
        hosts: Mapping[str, KnownHost],
    ) -> Iterator[str]:
        for name in comparison.hosts:
            host = hosts.get(name)
            if host and host.guest_image and wanted.profile and wanted.profile.guest:
                yield self.at(
                    (*at, "profile", "guest"),
                    f"the guests of host {name!r} are of the image {quoted(host.guest_image)}, "
                    "which takes no profile of itself: leave out guest",
                )

    def _guest(self, workload: Workload, wanted: WorkloadSpec, at: Place) -> Iterator[str]:
        if wanted.profile and wanted.profile.guest and not workload.profiles_guest:
            able = [name for name, one in self.catalog.workloads.items() if one.profiles_guest]
            yield self.at(
                (*at, "profile", "guest"),
                f"workload {workload.name!r} has no guest to profile; with one: "
                + (", ".join(sorted(able)) or "none"),
            )

    def _parameters(self, workload: Workload, wanted: WorkloadSpec, at: Place) -> Iterator[str]:
        for where, point in wanted.points():
            for name, values in point.items():
                parameter = workload.parameters.get(name)
                if parameter is None:
                    yield self.at(
                        (*at, *where, name),
                        f"workload {workload.name!r} has no parameter {name!r}; "
                        + known_words(name, workload.parameters),
                    )
                    continue
                for value in values if isinstance(values, list) else [values]:
                    reason = parameter.refuse(value)
                    if reason:
                        yield self.at(
                            (*at, *where, name), f"{name}: {quoted(value)} refused; {reason}"
                        )

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
                yield self.at(
                    (*at, "primary", index),
                    f"unknown metric {metric!r}; {known_words(metric, known)}",
                )
