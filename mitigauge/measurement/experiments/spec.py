"""An experiment's spec: reading it, and refusing it with file, line and the known names.

Pure: the catalogue and the known hosts are arguments.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from pydantic import ValidationError

from mitigauge.core.errors import InvalidInput
from mitigauge.core.field_types import MAX_PROBLEM_LENGTH, MAX_PROBLEMS, located_errors
from mitigauge.core.yaml_file import YamlDocument, parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.arm_faults import ArmFaults
from mitigauge.measurement.experiments.factorial import design_of
from mitigauge.measurement.experiments.metric_limit import unknown_in
from mitigauge.measurement.experiments.spec_faults import (
    Faults,
    KnownHost,
    known_words,
    repeated,
)
from mitigauge.measurement.experiments.spec_model import (
    MAX_ARMS,
    MAX_BOOTS,
    MAX_VALUES,
    ArmSpec,
    ComparisonSpec,
    ExperimentSpec,
    FactorialSpec,
    Place,
    PlannedSize,
)
from mitigauge.measurement.experiments.workload_faults import WorkloadFaults
from mitigauge.measurement.modes.crossing import BOTH, crossed, wanted_by


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
    faults = _SpecFaults(document, catalog, hosts)
    problems = list(islice(faults.of(spec), MAX_PROBLEMS))
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
            known = known_words(name, catalog.families)
            yield f"{document.where(place)}: unknown family {name!r}; {known}"
        for _, name in repeated(comparison.cross):
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
                    yield f"{where}: unknown mode {name!r}; {known_words(name, known)}"


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


@dataclass(frozen=True)
class _SpecFaults(Faults):
    """All of a spec whose arms are made."""

    hosts: Mapping[str, Mapping[str, KnownHost]]

    def of(self, spec: ExperimentSpec) -> Iterator[str]:
        if spec.environment not in self.hosts:
            known = known_words(spec.environment, self.hosts)
            yield self.at(("environment",), f"unknown environment {spec.environment!r}; {known}")
        names = [c.name for c in spec.comparisons]
        for index, name in repeated(names):
            yield self.at(("comparisons", index, "name"), f"comparison {name!r} stands twice")
        hosts = self.hosts.get(spec.environment, {})
        arms = ArmFaults(self.document, self.catalog)
        workloads = WorkloadFaults(self.document, self.catalog)
        for index, comparison in enumerate(spec.comparisons):
            place: Place = ("comparisons", index)
            if spec.environment in self.hosts:
                yield from self._hosts(comparison, place, hosts)
            yield from arms.of(comparison, spec.blocks_of(comparison), place)
            yield from workloads.of(comparison, place, hosts)
        for index, limit in enumerate(spec.limits):
            for field, problem in unknown_in(
                limit, self.catalog.workloads, self.catalog.mode_names
            ):
                yield self.at(("limits", index, field), problem)
        yield from self._size(spec)

    def _hosts(
        self, comparison: ComparisonSpec, place: Place, hosts: Mapping[str, KnownHost]
    ) -> Iterator[str]:
        for index, name in enumerate(comparison.hosts):
            if name not in hosts:
                yield self.at(
                    (*place, "hosts", index), f"unknown host {name!r}; {known_words(name, hosts)}"
                )
        for index, name in repeated(comparison.hosts):
            yield self.at((*place, "hosts", index), f"host {name!r} stands twice")

    def _size(self, spec: ExperimentSpec) -> Iterator[str]:
        """Whether the whole plan is of a size that can be stored and judged."""
        sizes = [PlannedSize.of(spec, comparison, self.catalog) for comparison in spec.comparisons]
        boots, values = sum(size.boots for size in sizes), sum(size.values for size in sizes)
        if boots > MAX_BOOTS:
            yield self.at(
                ("comparisons",),
                f"{boots} boots planned (blocks × arms × hosts); at most {MAX_BOOTS}",
            )
        if values > MAX_VALUES:
            yield self.at(
                ("comparisons",),
                f"{values:.4g} values expected (boots × cases × iterations × metrics); "
                f"at most {MAX_VALUES}",
            )
