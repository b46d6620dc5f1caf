"""What a report says, before anybody decides how it looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mitigauge.core.clock import Clock
from mitigauge.core.documents.parts import Content, counted
from mitigauge.core.stats.terms import ALPHA, DELTA_PERCENT, INTERVAL_LEVEL, POWER
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs.states import RunState
from mitigauge.reporting.letters.report.cells import tables_of
from mitigauge.reporting.letters.report.entries import (
    claims_beside,
    explained,
    not_effective,
    not_measured,
)
from mitigauge.reporting.letters.report.host_time import host_time
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView
from mitigauge.reporting.pages.profile_schemas import CaseProfilesView
from mitigauge.reporting.pages.schemas import ComparisonView, ExperimentView, HostFacts, RunView

EMULATED = (
    "these hosts are emulated processors: what software costs shows there, what a hardware "
    "barrier costs does not, and no figure carries over to real hardware."
)
COUNTED = (
    "time counts instructions on these hosts: software only. Caches, branch predictors and "
    "barriers cost nothing, and no other load on their machine shows."
)
COUNTED_HOSTS = (
    "These hosts are emulated, time counts instructions: what software costs, not what caches and "
    "barriers do. No figure carries over to real hardware."
)
METHOD = (
    (
        "Cell",
        f"change against the baseline in percent of it, [{100 * INTERVAL_LEVEL:g} % interval], n "
        f"boots that count. worse, better: at {100 * ALPHA:g} % family-wise; same: the interval "
        f"lies within ±{DELTA_PERCENT:g} %; undecided: neither; mde: the smallest effect that "
        f"shows with {100 * POWER:g} % power.",
    ),
    (
        "Interval",
        "from boot means compared within blocks, noise pooled over the arms, valid for all arms "
        "of a row together (Dunnett).",
    ),
)


SHORT_METHOD = (
    (
        "Cell",
        f"change in % of the baseline [{100 * INTERVAL_LEVEL:g} %], n boots; worse, better: at "
        f"{100 * ALPHA:g} %; same: within ±{DELTA_PERCENT:g} %; mde: shows with "
        f"{100 * POWER:g} % power",
    ),
)


def content_of(
    view: ExperimentView,
    claims: Sequence[ClaimSourceView] = (),
    profiles: Sequence[CaseProfilesView] = (),
    *,
    within_mail: bool = False,
) -> Content:
    """Arrange *view* as a report, with what stands beside it.

    Published *claims*, and what *profiles* explain.
    *within_mail*: without what the mail says elsewhere, and what nobody needs to repeat it.
    """
    emulated = [host for host in view.hosts if _is_emulated(view, host)]
    counting = [host for host in view.hosts if _counts(view, host)]
    return Content(
        title=f"{view.name} ({view.state.value})",
        question=view.question,
        emulated=", ".join(emulated) or (", ".join(view.hosts) if view.emulated else ""),
        counted_time=", ".join(counting),
        caveats=list(_caveats(view, emulated, counting)),
        warnings=list(_warnings(view)),
        facts=list(_facts(view, within_mail=within_mail)),
        # A factorial design has a table of its own, of knobs in place of arms.
        tables=[
            table
            for c in view.comparisons
            if not c.factorial
            for table in tables_of(c, emulated, counting)
        ],
        not_effective=[e for c in view.comparisons for e in not_effective(c)],
        not_measured=list(not_measured(view)),
        claims=[claims_beside(source) for source in claims],
        explained=[entry for case in profiles for entry in explained(view, case)],
    )


def _caveats(
    view: ExperimentView, emulated: Sequence[str], counting: Sequence[str]
) -> Iterator[str]:
    if emulated or view.emulated:
        yield f"EMULATED ({', '.join(emulated or view.hosts)}): {EMULATED}"
    if counting:
        yield f"COUNTED TIME ({', '.join(counting)}): {COUNTED}"
    yield from uncounted_words(view)


def uncounted_words(view: ExperimentView) -> Iterator[str]:
    """Of comparisons on emulated hosts: which arms work by what costs nothing there."""
    said: dict[str, None] = {}
    for comparison in view.comparisons:
        if not comparison.emulated or len({tuple(arm.events) for arm in comparison.arms}) < 2:
            continue
        by = list(_works_by(comparison))
        said[
            f"In comparison {comparison.name}, {'; '.join(by)}. On real processors that costs, "
            "here it does not: figures of such a mode are bounds of its true cost, and say nothing "
            "of which of these modes is cheaper."
        ] = None
    yield from said


def _works_by(comparison: ComparisonView) -> Iterator[str]:
    if comparison.factorial:
        events = dict.fromkeys(event for arm in comparison.arms for event in arm.events)
        yield f"knobs work by {', '.join(events)}"
        return
    for arm in comparison.arms:
        if arm.events:
            yield f"{arm.name} works by {', '.join(arm.events)}"


def _is_emulated(view: ExperimentView, host: str) -> bool:
    known = view.host_facts.get(host)
    if known is not None and known.emulated:
        return True
    # A comparison is marked when any of its hosts is emulated: facts tell which one, where
    # there are several. Marked once too often is better than once too seldom.
    return any(
        c.emulated and host in c.hosts and (known is None or len(c.hosts) == 1)
        for c in view.comparisons
    )


def _counts(view: ExperimentView, host: str) -> bool:
    """Whether the host's time counted instructions in this experiment."""
    known = view.host_facts.get(host)
    return known is not None and known.clock is Clock.COUNTED


def _warnings(view: ExperimentView) -> Iterator[str]:
    boots = f"{view.boots_done} of {view.boots_total} planned boots taken"
    if view.state in (ExperimentState.QUEUED, ExperimentState.RUNNING):
        yield f"NOT FINISHED: {view.state.value}, {boots}; figures and verdicts will change."
    elif view.state != ExperimentState.FINISHED:
        yield f"INCOMPLETE: {view.state.value}, {boots}."
    for run in view.runs:
        if run.state in (RunState.FAILED, RunState.CANCELLED):
            reason = run.error or "no reason recorded"
            yield f"{run.comparison} on {run.host} {run.state.value}: {reason}"


def _facts(view: ExperimentView, *, within_mail: bool) -> Iterator[tuple[str, str]]:
    for host in view.hosts:
        facts = view.host_facts.get(host) or HostFacts(name=host)
        emulated = _is_emulated(view, host)
        yield "Host", _host(facts, emulated=emulated, with_class=not (within_mail and emulated))
        yield "", _software(facts, with_kernels=not within_mail)
    started = view.started_at or view.created_at
    word = "started" if view.started_at else "submitted, not started"
    when = f"{started:%Y-%m-%d %H:%M} UTC {word}"
    if view.finished_at:
        when += f", {view.finished_at:%Y-%m-%d %H:%M} UTC ended"
    yield "Date", when
    for run in view.runs:
        yield "Design", _design(view, run)
        if run.host_time and not within_mail:
            yield "Time", host_time(run, run.host_time)
    yield from _pace(view)
    if not within_mail:
        yield "Seed", str(view.seed)


def _pace(view: ExperimentView) -> Iterator[tuple[str, str]]:
    """What was measured beside a processor that others slowed down, by host."""
    for host in view.hosts:
        # A case's metrics come of the same iterations.
        rows = {row.case_id: row for c in view.comparisons for row in c.rows if row.host == host}
        again = sum(row.disturbed for row in rows.values())
        unsteady = sum(row.unsteady for row in rows.values())
        said = []
        if again:
            said.append(f"{counted(again, 'iteration')} taken again, the processor was slowed")
        if unsteady:
            said.append(f"{counted(unsteady, 'iteration')} used though it was: it did not recover")
        if said:
            yield "Pace", f"{host}: {'; '.join(said)}"


def _host(facts: HostFacts, *, emulated: bool, with_class: bool) -> str:
    processor = facts.processor or "processor unknown"
    host_class = f" ({facts.host_class})" if facts.host_class and with_class else ""
    mark = ", EMULATED" if emulated else ""
    if facts.clock is Clock.COUNTED:
        mark += ", counted time"
    return f"{facts.name}: {processor}{host_class}{mark}"


def _software(facts: HostFacts, *, with_kernels: bool) -> str:
    kernels = " and ".join(kernel for kernel in facts.kernels if kernel)
    parts = [
        f"kernel {kernels or 'unknown'}" if with_kernels else "",
        f"microcode {facts.microcode or 'unknown'}",
        f"governor {facts.governor}" if facts.governor else "",
    ]
    return ", ".join(part for part in parts if part)


def _design(view: ExperimentView, run: RunView) -> str:
    arms = next((c.arms for c in view.comparisons if c.name == run.comparison), [])
    shared = " (those of a block that need no reboot in one)"
    text = (
        f"{run.comparison} on {run.host}: {counted(run.blocks, 'block')} of "
        f"{counted(len(arms), 'arm')}, {run.boots_effective} of {run.boots_total} boots"
        f"{shared if any(arm.shares_boots for arm in arms) else ''} count"
    )
    if run.boots_left_out:
        text += f", {run.boots_left_out} left out"
    if run.stopped_after is not None:
        blocks = counted(run.stopped_after, "block")
        text += f"; stopped after {blocks}, all primary metrics decided"
    return f"{text}, {counted(run.lab_faults, 'lab fault')}" if run.lab_faults else text
