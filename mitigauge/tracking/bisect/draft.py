"""A bisection before it is stored: candidates, points, and the one figure that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import quoted
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.spec_model import cases_of
from mitigauge.tracking.bisect.question import Question, StepArm, arm_name, step_text
from mitigauge.tracking.bisect.records import Source
from mitigauge.tracking.bisect.states import BisectionKind

FEWEST_CANDIDATES = 2
INSTEAD = {
    BisectionKind.PATCHES: "`mitigauge series add` and `mitigauge series start` measure a patch "
    "against what it is applied to; `mitigauge try` says what it changes.",
    BisectionKind.COMMITS: "Take ends that are further apart; of a merge, ends within the branch "
    "that was merged. `mitigauge try` says what one commit changes.",
    BisectionKind.ARMS: "Name the arms between the two; `mitigauge experiment submit` compares "
    "two arms.",
}
_OUTSIDE = ("Documentation/", "LICENSES/", "MAINTAINERS", "CREDITS", "README", ".mailmap")


@dataclass(frozen=True, slots=True)
class Change:
    """A candidate before it is stored."""

    name: str
    title: str
    message_id: str = ""
    people: Sequence[str] = ()
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A point before it is stored. *release*: of a kernel that is there; empty: it is built."""

    mode: str
    release: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A bisection before it is stored: *places* are one more than *changes*."""

    kind: BisectionKind
    title: str
    asked: Question
    changes: Sequence[Change]
    places: Sequence[Place]
    source: Source = field(default_factory=Source)
    patches_sha256: str | None = None
    profile_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """The one figure that is asked for, and what its hosts are."""

    parameters: Mapping[str, Any]
    case_title: str
    metric: str
    unit: str
    higher_is_worse: bool
    counted: bool
    emulated: bool


def check_candidates(draft: Draft) -> None:
    """Raise InvalidInput where there is nothing to search: fewer than two candidates."""
    if len(draft.changes) >= FEWEST_CANDIDATES:
        return
    only = draft.changes[0] if draft.changes else None
    raise InvalidInput(
        f"the one candidate is {quoted(only.title, 120)} ({quoted(only.name, 60)}): "
        "there is nothing to search" if only else "there is no candidate",
        hint=INSTEAD[draft.kind],
    )  # fmt: skip


def figure_of(draft: Draft) -> Figure:
    """Check what is asked, as an experiment's spec is checked; the one case and metric.

    Raises InvalidInput for what is not known, more than one case, or hosts that are not alike.
    """
    asked, catalog = draft.asked, Catalog()
    ends = [
        StepArm(arm_name(at), place.mode, place.release or f"0-point-{at}")
        for at, place in ((0, draft.places[0]), (len(draft.places) - 1, draft.places[-1]))
    ]
    text = step_text(asked, ends, name="bisection", question="Do they differ?", blocks=4)
    spec, hosts = check_text(text, name="the bisection's first step", catalog=catalog)
    [comparison] = spec.comparisons
    workload = catalog.workloads[asked.workload]
    cases = cases_of(workload, comparison.workloads[0])
    if len(cases) != 1:
        raise InvalidInput(
            f"{len(cases)} cases of {asked.workload} are asked for; a bisection is of one",
            hint=f"Say which: --case {next(iter(workload.parameters), 'name')}=VALUE.",
        )
    metrics = workload.metrics_of(cases[0])
    primary = [name for name, metric in metrics.items() if metric.primary]
    name = asked.metric or (primary[0] if len(primary) == 1 else "")
    if name not in metrics:
        raise InvalidInput(
            f"{asked.workload} has no metric {name!r}" if name
            else f"{asked.workload} has {len(primary)} primary metrics",
            hint=f"Give --metric, one of: {', '.join(metrics)}.",
        )  # fmt: skip
    own = [hosts[host] for host in comparison.hosts]
    clocks = {host.clock for host in own}
    if len(clocks) != 1:
        raise InvalidInput(
            "some of these hosts have counted time and some real time",
            hint="A bisection is over hosts that are alike.",
        )
    return Figure(
        cases[0], workload.title_of(cases[0]), name, metrics[name].unit,
        metrics[name].direction == "lower", clocks == {Clock.COUNTED},
        any(host.emulated for host in own),
    )  # fmt: skip


def is_outside(files: Sequence[str]) -> bool:
    """Whether all that it touches is never compiled into a kernel."""
    return bool(files) and all(file.startswith(_OUTSIDE) for file in files)
