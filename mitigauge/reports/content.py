"""What a report says, before anybody decides how it looks.

Names here are still as hostile as they came, the renderers neutralise them; values,
units and effects are harmless already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from mitigauge.claims.schemas import ClaimSourceView, ClaimView
from mitigauge.experiments.judging import ALPHA
from mitigauge.experiments.schemas import (
    ArmView,
    CellView,
    ComparisonView,
    ExperimentState,
    ExperimentView,
    HostFacts,
    RowView,
    RunState,
    RunView,
    Verdict,
)
from mitigauge.profiles.schemas import CaseProfilesView
from mitigauge.reports import units
from mitigauge.reports.plain import neutralise
from mitigauge.stats.case import DELTA_PERCENT
from mitigauge.stats.exploratory import FALSE_DISCOVERY_RATE
from mitigauge.stats.look import INTERVAL_LEVEL
from mitigauge.stats.power import POWER

EMULATED = (
    "these hosts are emulated processors: what software costs shows there, what a hardware "
    "barrier costs does not, and no figure carries over to real hardware."
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


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm's answer, in parts that a renderer may put on one line or on two."""

    effect: str = ""
    interval: str = ""
    n: str = ""
    verdict: str = ""
    mde: str = ""
    note: int = 0  # number of the footnote; 0: none


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: a case, the baseline's value, a cell for every other arm."""

    label: str
    baseline: str
    baseline_n: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """The cases of one metric on one host against the arms of one comparison."""

    caption: str
    emulated: bool
    baseline: str
    arms: list[str]
    lines: list[Line]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading with facts below it, as in 'Not effective'."""

    heading: str
    facts: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Content:
    """A whole report in the order it is read."""

    title: str
    question: str
    emulated: str  # names of emulated hosts; empty: none is
    warnings: list[str]
    facts: list[tuple[str, str]]
    tables: list[Table]
    not_effective: list[Entry]
    not_measured: list[Entry] = field(default_factory=list)
    claims: list[Entry] = field(default_factory=list)
    explained: list[Entry] = field(default_factory=list)


def content_of(
    view: ExperimentView,
    claims: Sequence[ClaimSourceView] = (),
    profiles: Sequence[CaseProfilesView] = (),
) -> Content:
    """Arrange *view* as a report, with published *claims* and what *profiles* say beside it."""
    emulated = [host for host in view.hosts if _is_emulated(view, host)]
    return Content(
        title=f"{view.name} ({view.state.value})",
        question=view.question,
        emulated=", ".join(emulated) or (", ".join(view.hosts) if view.emulated else ""),
        warnings=list(_warnings(view)),
        facts=list(_facts(view)),
        tables=[table for comparison in view.comparisons for table in _tables(view, comparison)],
        not_effective=[e for c in view.comparisons for e in _not_effective(c)],
        not_measured=list(_not_measured(view)),
        claims=[_claims(source) for source in claims],
        explained=[entry for case in profiles for entry in _explained(view, case)],
    )


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


def _warnings(view: ExperimentView) -> Iterator[str]:
    boots = f"{view.boots_done} of {view.boots_total} boots done"
    if view.state in (ExperimentState.QUEUED, ExperimentState.RUNNING):
        yield f"NOT FINISHED: {view.state.value}, {boots}; figures and verdicts will change."
    elif view.state != ExperimentState.FINISHED:
        yield f"INCOMPLETE: {view.state.value}, {boots}."
    for run in view.runs:
        if run.state in (RunState.FAILED, RunState.CANCELLED):
            reason = run.error or "no reason recorded"
            yield f"{run.comparison} on {run.host} {run.state.value}: {reason}"


def _facts(view: ExperimentView) -> Iterator[tuple[str, str]]:
    for host in view.hosts:
        facts = view.host_facts.get(host) or HostFacts(name=host)
        yield "Host", _host(facts, emulated=_is_emulated(view, host))
        yield "", _software(facts)
    started = view.started_at or view.created_at
    word = "started" if view.started_at else "submitted, not started"
    when = f"{started:%Y-%m-%d %H:%M} UTC {word}"
    if view.finished_at:
        when += f", {view.finished_at:%Y-%m-%d %H:%M} UTC ended"
    yield "Date", when
    for run in view.runs:
        yield "Design", _design(view, run)
    yield "Seed", str(view.seed)


def _host(facts: HostFacts, *, emulated: bool) -> str:
    processor = facts.processor or "processor unknown"
    host_class = f" ({facts.host_class})" if facts.host_class else ""
    mark = ", EMULATED" if emulated else ""
    return f"{facts.name}: {processor}{host_class}{mark}"


def _software(facts: HostFacts) -> str:
    kernels = [kernel for kernel in facts.kernels if kernel]
    parts = [
        f"kernel {' and '.join(kernels)}" if kernels else "kernel unknown",
        f"microcode {facts.microcode or 'unknown'}",
        f"SMT {facts.smt}" if facts.smt else "",
        f"governor {facts.governor}" if facts.governor else "",
    ]
    return ", ".join(part for part in parts if part)


def _design(view: ExperimentView, run: RunView) -> str:
    arms = next((len(c.arms) for c in view.comparisons if c.name == run.comparison), 0)
    text = (
        f"{run.comparison} on {run.host}: {_count(run.blocks, 'block')} of {_count(arms, 'arm')}, "
        f"{run.boots_done} of {run.boots_total} boots"
    )
    if run.stopped_after is not None:
        text += f"; stopped after {_count(run.stopped_after, 'block')}, all primary metrics decided"
    return f"{text}, {_count(run.lab_faults, 'lab fault')}" if run.lab_faults else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _tables(view: ExperimentView, comparison: ComparisonView) -> Iterator[Table]:
    """Primary metrics first, each host and metric a table of its own; else in the spec's order."""
    workloads = list(dict.fromkeys(row.workload for row in comparison.rows))
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))

    def place(row: RowView) -> tuple[int, bool, int, int]:
        host = comparison.hosts.index(row.host)
        return host, not row.primary, workloads.index(row.workload), metrics.index(row.metric)

    for _, group in groupby(sorted(comparison.rows, key=place), key=place):
        rows = list(group)
        yield _table(comparison, rows, emulated=_is_emulated(view, rows[0].host))


def _table(comparison: ComparisonView, rows: Sequence[RowView], *, emulated: bool) -> Table:
    first = rows[0]
    shared, labels = _labels([row.case for row in rows])
    notes: list[str] = []
    baseline = next((arm for arm in comparison.arms if arm.is_baseline), None)
    others = [arm for arm in comparison.arms if not arm.is_baseline]
    what = f"{first.direction} is better"
    rank = "" if first.primary else f"; secondary metric, exploratory: q ≤ {FALSE_DISCOVERY_RATE:g}"
    if first.delta_percent != DELTA_PERCENT:
        rank += f"; same: within ±{first.delta_percent:g} %"
    return Table(
        caption=f"{shared or first.workload}: {first.metric_title} ({what}{rank}), "
        f"{comparison.family_title}, {first.host}",
        emulated=emulated,
        baseline=baseline.name if baseline else "baseline",
        arms=[arm.name for arm in others],
        lines=[
            _line(row, label, baseline, others, notes)
            for row, label in zip(rows, labels, strict=True)
        ],
        notes=notes,
    )


def _labels(cases: Sequence[str]) -> tuple[str, list[str]]:
    """The words all *cases* begin and end with, and each case without them."""
    words = [case.split() for case in cases]
    # At least one word stays, so that no row is without a name; of a single case most do.
    most = min(len(each) for each in words) - 1
    head = _alike(words, most if len(cases) > 1 else min(most, 1))
    tail = _alike([each[head:][::-1] for each in words], most - head) if len(cases) > 1 else 0
    shared = words[0][:head]
    if tail:
        shared = [*shared, "…", *words[0][-tail:]]
    return " ".join(shared), [" ".join(each[head : len(each) - tail]) for each in words]


def _alike(words: Sequence[Sequence[str]], most: int) -> int:
    """How many leading words, up to *most*, every list shares."""
    for place in range(most):
        if len({each[place] for each in words}) > 1:
            return place
    return max(most, 0)


def _line(
    row: RowView,
    label: str,
    baseline: ArmView | None,
    others: Sequence[ArmView],
    notes: list[str],
) -> Line:
    by_arm = {cell.arm_id: cell for cell in row.cells}
    base = by_arm.get(baseline.id) if baseline else None
    value, boots = "no data", 0
    if base is not None and base.mean is not None:
        value, boots = units.humanise(base.mean, neutralise(row.unit, 16)), base.n
    elif base is not None and base.state == "not_effective":
        value = "not effective"
    return Line(
        label=label,
        baseline=value,
        baseline_n=f"n={boots}" if boots else "",
        cells=[_cell(by_arm.get(arm.id), notes) for arm in others],
    )


def _cell(cell: CellView | None, notes: list[str]) -> Cell:
    if cell is None or cell.state == "no_data":
        return Cell(verdict="no data", n=f"n={cell.n}" if cell and cell.n else "")
    if cell.state == "not_effective":
        return Cell(verdict="not effective")
    low, high = cell.ci_low_percent, cell.ci_high_percent
    digits = units.digits_for(low, high)
    effect = (
        "" if cell.effect_percent is None else units.percent(cell.effect_percent, digits=digits)
    )
    undecided = cell.verdict in (None, Verdict.UNDECIDED)
    mde = cell.mde_percent
    return Cell(
        effect=effect,
        interval="" if low is None or high is None else units.interval(low, high, digits=digits),
        n=f"n={cell.n}",
        verdict=cell.verdict.value if cell.verdict else "undecided",
        mde=units.detectable(mde, digits=digits) if undecided and mde is not None else "",
        note=_footnote(cell.note, notes),
    )


def _footnote(note: str, notes: list[str]) -> int:
    if not note:
        return 0
    if note not in notes:
        notes.append(note)
    return notes.index(note) + 1


def _not_effective(comparison: ComparisonView) -> Iterator[Entry]:
    for arm in comparison.arms:
        if not arm.boots_not_effective:
            continue
        boots = arm.boots_effective + arm.boots_not_effective + arm.boots_failed
        role = ", the baseline" if arm.is_baseline else ""
        yield Entry(
            f"{arm.name} ({arm.mode}{role}) on {', '.join(comparison.hosts)}: "
            f"{arm.boots_not_effective} of {_count(boots, 'boot')}",
            [
                ("asked for", arm.cmdline or "(nothing on the command line)"),
                *(("expected", expected) for expected in arm.expected),
                *(("kernel said", said or "(nothing)") for said in arm.observed),
            ],
        )


def _claims(source: ClaimSourceView) -> Entry:
    """The claims this experiment measured something for; of the others only the number."""
    published = f", {source.published:%Y-%m-%d}" if source.published else ""
    beside = [claim for claim in source.claims if claim.case_id is not None]
    lines = []
    # Most claims of a source come to the same end for the same reason: that is said once.
    for outcome, reason in dict.fromkeys((claim.outcome, claim.reason) for claim in beside):
        lines.append((outcome.replace("_", " "), reason))
        alike = [claim for claim in beside if (claim.outcome, claim.reason) == (outcome, reason)]
        lines += [("claim", _claim(claim)) for claim in alike]
    if len(beside) < len(source.claims):
        left = len(source.claims) - len(beside)
        lines.append(("besides", f"{_count(left, 'further claim')}, not part of this experiment"))
    return Entry(f"{source.title} ({source.citation}{published})", lines)


def _explained(view: ExperimentView, case: CaseProfilesView) -> Iterator[Entry]:
    """The functions behind each arm's difference, the largest first."""
    rows = (row for comparison in view.comparisons for row in comparison.rows)
    title = next((row.case for row in rows if row.case_id == case.case_id), "")
    baseline = next((arm for arm in case.arms if arm.is_baseline), None)
    for arm in case.arms:
        if baseline is None or arm.is_baseline or not (arm.profiles and baseline.profiles):
            continue
        counted = f"{_count(arm.profiles, 'profile')} against {baseline.profiles}"
        facts = []
        if arm.difference is not None:
            facts.append(("all", _cost(arm.difference, arm.low, arm.high, case.unit)))
        for function in arm.functions:
            change = _cost(function.difference, function.low, function.high, case.unit)
            facts.append(("function", f"{function.function} {change}, q {function.q:.2g}"))
        if not arm.functions:
            facts.append(("function", "none differs significantly (q <= 0.05)"))
        yield Entry(
            f"{title}, {case.host}: {arm.arm} against {baseline.arm}, {counted}, by {case.event}",
            facts,
        )


def _cost(difference: float, low: float | None, high: float | None, unit: str) -> str:
    text = units.signed(difference, unit)
    if low is None or high is None:
        return text
    return f"{text} [{units.signed(low)}, {units.signed(high)}]"


def _claim(claim: ClaimView) -> str:
    low, high = units.percent(claim.low_percent), units.percent(claim.high_percent)
    text = f"{claim.title}, {claim.mode}, claimed {low if low == high else f'{low} to {high}'}"
    if claim.effect_percent is not None:
        text += f", measured {units.percent(claim.effect_percent)}"
    if claim.ci_low_percent is not None and claim.ci_high_percent is not None:
        text += f" {units.interval(claim.ci_low_percent, claim.ci_high_percent)}"
    return f"{text} on {claim.host}"


def _not_measured(view: ExperimentView) -> Iterator[Entry]:
    for comparison in view.comparisons:
        where = f"{comparison.name} on {', '.join(comparison.hosts)}"
        if not comparison.rows:
            yield Entry(where, [("reason", "no case has a value yet")])
        for arm in comparison.arms:
            if arm.boots_failed:
                failed = f"{_count(arm.boots_failed, 'boot')} did not come up as asked"
                yield Entry(f"{arm.name} in {where}", [("reason", failed)])
        yield from _missing_cells(comparison)


def _missing_cells(comparison: ComparisonView) -> Iterator[Entry]:
    names = {arm.id: arm.name for arm in comparison.arms}
    gaps: dict[tuple[str, str, str], list[str]] = {}
    for row in comparison.rows:
        for cell in row.cells:
            if cell.state == "no_data" or (cell.state == "baseline" and cell.mean is None):
                key = (names.get(cell.arm_id, "?"), row.host, cell.note or "no reason recorded")
                gaps.setdefault(key, []).append(f"{row.case}, {row.metric_title}")
    for (arm, host, reason), cases in gaps.items():
        yield Entry(f"{arm} on {host}", [("reason", reason), *(("case", case) for case in cases)])
