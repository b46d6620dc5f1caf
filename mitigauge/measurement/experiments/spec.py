"""An experiment's spec: reading it, and refusing it with file, line and the known names.

Pure: the catalogue and the known hosts are arguments.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product

from pydantic import ValidationError

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.core.field_types import MAX_PROBLEM_LENGTH, MAX_PROBLEMS, located_errors
from mitigauge.core.hostile_text import quoted
from mitigauge.core.wire.case import AS_HOST, BY_ARM
from mitigauge.core.yaml_file import YamlDocument, parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.factorial import design_of
from mitigauge.measurement.experiments.spec_model import (
    FEWEST_BLOCKS_OF_A_TOURNAMENT,
    MAX_ARMS,
    MAX_BOOTS,
    MAX_CASES,
    MAX_VALUES,
    MOST_OF_A_TOURNAMENT,
    ArmSpec,
    ComparisonSpec,
    ExperimentSpec,
    FactorialSpec,
    Place,
    PlannedSize,
    WorkloadSpec,
    cases_of,
    count_of,
)
from mitigauge.measurement.modes.crossing import BOTH, crossed, wanted_by
from mitigauge.measurement.modes.settings import GUEST_KERNEL
from mitigauge.measurement.workloads.definitions import Value, Workload

MOST_NAMED = 4


@dataclass(frozen=True)
class KnownHost:
    """What a spec must know of a host."""

    name: str
    capabilities: frozenset[str]
    clock: Clock = Clock.REAL
    guest_image: str = ""
    """The operator's, which its guests boot; empty where they boot ours."""


def read_spec(
    text: str, *, name: str, catalog: Catalog, hosts: Mapping[str, Mapping[str, KnownHost]]
) -> ExperimentSpec:
    """Parse and check a spec; *hosts* maps environment to its hosts.

    Raises :class:`InvalidInput` with ``file:line: …`` for the first 20 faults found.
    """
    return check_spec(parse_yaml(text, name), catalog=catalog, hosts=hosts)


def check_spec(
    document: YamlDocument, *, catalog: Catalog, hosts: Mapping[str, Mapping[str, KnownHost]]
) -> ExperimentSpec:
    """Check a spec that was parsed already; else as :func:`read_spec`."""
    try:
        spec = ExperimentSpec.model_validate(document.data)
    except ValidationError as error:
        raise _refusal(located_errors(document, error)) from error
    found = chain(
        _cross_problems(document, spec, catalog), _factorial_problems(document, spec, catalog)
    )
    problems = list(islice(found, MAX_PROBLEMS))
    if problems:
        raise _refusal(problem[:MAX_PROBLEM_LENGTH] for problem in problems)
    spec = _with_arms(spec, catalog)
    checker = _Checker(document, catalog, hosts)
    problems = list(islice(checker.problems(spec), MAX_PROBLEMS))
    if problems:
        raise _refusal(problem[:MAX_PROBLEM_LENGTH] for problem in problems)
    return spec


def _cross_problems(
    document: YamlDocument, spec: ExperimentSpec, catalog: Catalog
) -> Iterator[str]:
    for index, comparison in enumerate(spec.comparisons):
        place: Place = ("comparisons", index, "cross")
        unknown = [name for name in comparison.cross if name not in catalog.families]
        for name in unknown:
            known = _known(name, catalog.families)
            yield f"{document.where(place)}: unknown family {name!r}; {known}"
        for _, name in _repeated(comparison.cross):
            yield f"{document.where(place)}: family {name!r} stands twice"
        if unknown:
            continue
        count = math.prod(len(catalog.families[name].modes) for name in comparison.cross)
        if count > MAX_ARMS:
            yield (
                f"{document.where(place)}: {count} combinations; at most {MAX_ARMS} arms. "
                "Name those you want under `arms`, as {name: a.b, mode: FAMILY/a+FAMILY/b}"
            )


def _factorial_problems(
    document: YamlDocument, spec: ExperimentSpec, catalog: Catalog
) -> Iterator[str]:
    for index, comparison in enumerate(spec.comparisons):
        wanted = comparison.factorial
        if wanted is None:
            continue
        place: Place = ("comparisons", index, "factorial")
        problems = list(_knob_problems(document, wanted, (*place, "knobs"), catalog))
        yield from problems
        if problems:
            continue
        try:
            design_of(tuple(wanted.knobs), wanted.wanted_pairs, wanted.most_arms)
            for modes in zip(*wanted.knobs.values(), strict=True):
                wanted_by(BOTH.join(modes), catalog.families)
        except ValueError as error:
            yield f"{document.where(place)}: {error}"


def _knob_problems(
    document: YamlDocument, wanted: FactorialSpec, place: Place, catalog: Catalog
) -> Iterator[str]:
    """Modes of knobs that are not known."""
    known = catalog.mode_names
    for knob, modes in wanted.knobs.items():
        for i, mode in enumerate(modes):
            for name in mode.split(BOTH):
                if name not in known:
                    where = document.where((*place, knob, i))
                    yield f"{where}: unknown mode {name!r}; {_known(name, known)}"


def _with_arms(spec: ExperimentSpec, catalog: Catalog) -> ExperimentSpec:
    """*spec* with the arms of crossed families and of factorial designs, which are possible."""
    return spec.model_copy(
        update={"comparisons": [_planned(wanted, catalog) for wanted in spec.comparisons]}
    )


def _planned(comparison: ComparisonSpec, catalog: Catalog) -> ComparisonSpec:
    if comparison.factorial:
        arms = _factorial_arms(comparison.factorial)
        return comparison.model_copy(update={"arms": arms, "baseline": arms[0].name})
    if not comparison.cross:
        return comparison
    families = [catalog.families[name] for name in comparison.cross]
    arms = [ArmSpec(name=name, mode=mode) for name, mode in crossed(families)]
    return comparison.model_copy(update={"arms": arms})


def _factorial_arms(wanted: FactorialSpec) -> list[ArmSpec]:
    """An arm for each point of the design; the first has every knob low."""
    design = design_of(tuple(wanted.knobs), wanted.wanted_pairs, wanted.most_arms)
    modes = list(wanted.knobs.values())
    return [
        ArmSpec(
            name=point.name,
            mode=BOTH.join(pair[high] for pair, high in zip(modes, point.high, strict=True)),
            kernel=wanted.kernel,
        )
        for point in design.points
    ]


def environment_named_in(document: YamlDocument) -> str:
    """The environment a spec asks for, read before anything else of it is checked."""
    wanted = document.data.get("environment", "")
    return wanted if isinstance(wanted, str) else ""


def _refusal(problems: Iterable[str]) -> InvalidInput:
    return InvalidInput("\n".join(problems), hint="Nothing was started. Correct the spec.")


def _known(wanted: str, names: Iterable[str]) -> str:
    """``known: a, b`` with the likeliest meant first."""
    known = sorted(names)
    close = difflib.get_close_matches(wanted, known, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}known: {', '.join(known) or 'none'}"


def _in_words(arm: ArmSpec) -> str:
    """All by which one arm differs from others."""
    method = f" by {arm.boot}" if arm.boot else ""
    return f"{arm.mode} on kernel {arm.kernel or 'default'}{method}"


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
            yield from self._layouts(comparison, spec.blocks_of(comparison), place)
            yield from self._guest_kernels(comparison, place)
            yield from self._tournament(comparison, spec.blocks_of(comparison), place)
            yield from self._workloads(comparison, place, hosts)
        yield from self._size(spec)

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
        settings = [_in_words(arm) for arm in comparison.arms]
        for index, setting in _repeated(settings):
            if comparison.arms[index].name not in names[:index]:
                yield self._at(
                    (*place, "arms", index), f"duplicate arm: {setting} stands under another name"
                )
        for index, arm in enumerate(comparison.arms):
            yield from self._mode(arm, (*place, "arms", index, "mode"))
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

    def _mode(self, arm: ArmSpec, place: Place) -> Iterator[str]:
        known = self.catalog.mode_names
        unknown = [name for name in arm.mode.split(BOTH) if name not in known]
        for name in unknown:
            yield self._at(place, f"unknown mode {name!r}; {_known(name, known)}")
        if unknown:
            return
        try:
            wanted_by(arm.mode, self.catalog.families)
        except ValueError as error:
            yield self._at(place, f"arm {arm.name!r}: {error}")

    def _double(self, comparison: ComparisonSpec, place: Place) -> Iterator[str]:
        """What is wrong with the number of arms and the doubled one."""
        names = [arm.name for arm in comparison.arms]
        if comparison.size < 2:
            yield self._at(
                (*place, "arms"),
                "one arm alone has nothing to be compared with: add another, or aa",
            )
        if comparison.size > comparison.most_arms:
            yield self._too_many(comparison, place)
        if comparison.double and comparison.double.name in names:
            taken = comparison.double.name
            yield self._at((*place, "aa"), f"the doubled arm's name {taken!r} is taken")

    def _too_many(self, comparison: ComparisonSpec, place: Place) -> str:
        if comparison.aa:
            return self._at((*place, "aa"), f"at most {MAX_ARMS} arms, the doubled one among them")
        hint = "" if comparison.tournament else f", {MOST_OF_A_TOURNAMENT} of a `tournament`"
        return self._at((*place, "arms"), f"at most {comparison.most_arms} arms{hint}")

    def _tournament(self, comparison: ComparisonSpec, blocks: int, place: Place) -> Iterator[str]:
        """What is wrong with arms of which one is to win."""
        if not comparison.tournament:
            return
        if blocks < FEWEST_BLOCKS_OF_A_TOURNAMENT:
            yield self._at(
                (*place, "tournament"),
                f"{blocks} blocks: no arm can drop out before {FEWEST_BLOCKS_OF_A_TOURNAMENT}",
            )
        figures = [
            f"{metric} of {workload.title_of(case)}"
            for workload, wanted in self._known_workloads(comparison)
            for case in islice(cases_of(workload, wanted), MOST_NAMED)
            for metric, declared in workload.metrics_of(case).items()
            if wanted.is_primary(metric, by_itself=declared.primary)
        ]
        if len(figures) != 1:
            yield self._at(
                (*place, "tournament"),
                f"arms are ranked by one primary metric of one case; here are {len(figures)}"
                f"{': ' if figures else ''}{', '.join(figures[:MOST_NAMED])}. Name one case, and "
                "`primary: [METRIC]`; `primary: []` for a workload that does not decide",
            )

    def _known_workloads(
        self, comparison: ComparisonSpec
    ) -> Iterator[tuple[Workload, WorkloadSpec]]:
        """Workloads of which there is one, and whose points can be made and are not too many."""
        for wanted in comparison.workloads:
            workload = self.catalog.workloads.get(wanted.workload)
            if workload is None or any(self._parameters(workload, wanted, ())):
                continue
            if count_of(workload, wanted) <= MAX_CASES:
                yield workload, wanted

    def _layouts(self, comparison: ComparisonSpec, blocks: int, place: Place) -> Iterator[str]:
        """What is wrong with kernels that are to be booted in several layouts."""
        if comparison.layouts == 1:
            return
        if comparison.layouts > blocks:
            yield self._at(
                (*place, "layouts"),
                f"{comparison.layouts} layouts in {blocks} blocks: each needs a block of its own",
            )
        for index, arm in enumerate(comparison.arms):
            if not arm.kernel:
                yield self._at(
                    (*place, "arms", index),
                    f"arm {arm.name!r} has no kernel: layouts are of kernels that were built here",
                )

    def _guest_kernels(self, comparison: ComparisonSpec, place: Place) -> Iterator[str]:
        for index, arm in enumerate(comparison.arms):
            if self._guest_of(arm).get(GUEST_KERNEL) == AS_HOST and not arm.kernel:
                yield self._at(
                    (*place, "arms", index),
                    f"arm {arm.name!r} has no kernel that its guests could run as well: name one",
                )

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
            yield self._at(
                (*place, "workloads"), f"{count:.4g} cases; at most {MAX_CASES} in a comparison"
            )

    def _size(self, spec: ExperimentSpec) -> Iterator[str]:
        """Whether the whole plan is of a size that can be stored and judged."""
        sizes = [PlannedSize.of(spec, comparison, self.catalog) for comparison in spec.comparisons]
        boots, values = sum(size.boots for size in sizes), sum(size.values for size in sizes)
        if boots > MAX_BOOTS:
            yield self._at(
                ("comparisons",),
                f"{boots} boots planned (blocks × arms × hosts); at most {MAX_BOOTS}",
            )
        if values > MAX_VALUES:
            yield self._at(
                ("comparisons",),
                f"{values:.4g} values expected (boots × cases × iterations × metrics); "
                f"at most {MAX_VALUES}",
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
            if host and workload.guest and host.clock is Clock.COUNTED:
                able = [
                    other.name
                    for other in hosts.values()
                    if other.clock is Clock.REAL and set(workload.needs) <= other.capabilities
                ]
                yield self._at(
                    (*at, "workload"),
                    f"workload {workload.name!r} boots a guest system, which takes too long on "
                    f"host {name!r}, whose time counts instructions; in real time: "
                    + (", ".join(sorted(able)) or "none"),
                )

    def _guest_of(self, arm: ArmSpec) -> Mapping[str, str]:
        """What the arm sets of a guest; nothing where its mode is not known."""
        try:
            return wanted_by(arm.mode, self.catalog.families).settings.guest()
        except (KeyError, ValueError):
            return {}

    def _guest_settings(
        self, workload: Workload, comparison: ComparisonSpec, at: Place
    ) -> Iterator[str]:
        """Whether the workload's guest can be given what each arm sets of it."""
        for arm in comparison.arms:
            settings = self._guest_of(arm)
            missing = [name for name in settings if name not in workload.guest_settings]
            if missing:
                able = [
                    name
                    for name, other in self.catalog.workloads.items()
                    if set(settings) <= set(other.guest_settings)
                ]
                yield self._at(
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
            is_set = name in self._guest_of(arm)
            for where, point in wanted.points():
                values = point.get(name, workload.parameters[name].fallback)
                values = values if isinstance(values, list) else [values]
                if any((value == BY_ARM) != is_set for value in values):
                    reason = "sets" if is_set else "does not set"
                    yield self._at(
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
                yield self._at(
                    (*at, "profile", "guest"),
                    f"the guests of host {name!r} are of the image {quoted(host.guest_image)}, "
                    "which takes no profile of itself: leave out guest",
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
                        yield self._at(
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
                yield self._at(
                    (*at, "primary", index), f"unknown metric {metric!r}; {_known(metric, known)}"
                )
