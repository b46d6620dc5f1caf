"""What stands below a report's tables: not in force, claimed, explained, not measured."""

from __future__ import annotations

from collections.abc import Iterator

from mitigauge.core.documents import units
from mitigauge.core.documents.parts import Entry, counted
from mitigauge.core.effect import CellState, Effect
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView, ClaimView
from mitigauge.reporting.pages.profile_schemas import CaseProfilesView
from mitigauge.reporting.pages.schemas import ComparisonView, ExperimentView


def not_effective(comparison: ComparisonView) -> Iterator[Entry]:
    """Arms that booted, but not into their mode."""
    for arm in comparison.arms:
        if not arm.boots_not_effective:
            continue
        boots = arm.boots_effective + arm.boots_not_effective + arm.boots_failed
        role = ", the baseline" if arm.is_baseline else ""
        yield Entry(
            f"{arm.name} ({arm.mode}{role}) on {', '.join(comparison.hosts)}: "
            f"{arm.boots_not_effective} of {counted(boots, 'boot')}",
            [
                ("asked for", arm.cmdline or "(nothing on the command line)"),
                *(("expected", expected) for expected in arm.expected),
                *(("kernel said", said or "(nothing)") for said in arm.observed),
            ],
        )


def claims_beside(source: ClaimSourceView) -> Entry:
    """A source's claims beside what was measured."""
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
        lines.append(("besides", f"{counted(left, 'further claim')}, not part of this experiment"))
    return Entry(f"{source.title} ({source.citation}{published})", lines)


def explained(view: ExperimentView, case: CaseProfilesView) -> Iterator[Entry]:
    """The functions behind each arm's difference, the largest first."""
    rows = (row for comparison in view.comparisons for row in comparison.rows)
    title = next((row.case for row in rows if row.case_id == case.case_id), "")
    baseline = next((arm for arm in case.arms if arm.is_baseline), None)
    for arm in case.arms:
        if baseline is None or arm.is_baseline or not (arm.profiles and baseline.profiles):
            continue
        boots = f"{counted(arm.profiles, 'profile')} against {baseline.profiles}"
        facts = []
        if arm.difference is not None:
            facts.append(("all", _cost(arm.difference, arm.low, arm.high, case.unit)))
        for function in arm.functions:
            change = _cost(function.difference, function.low, function.high, case.unit)
            facts.append(("function", f"{function.function} {change}, q {function.q:.2g}"))
        if not arm.functions:
            facts.append(("function", "none differs significantly (q <= 0.05)"))
        yield Entry(
            f"{title}, {case.host}: {arm.arm} against {baseline.arm}, {boots}, by {case.event}",
            facts,
        )


def _cost(difference: float, low: float | None, high: float | None, unit: str) -> str:
    return units.effect(Effect(value=difference, low=low, high=high, unit=unit))


def _claim(claim: ClaimView) -> str:
    size = units.claimed(claim.low_percent, claim.high_percent)
    text = f"{claim.title}, {claim.mode}, claimed {size}"
    ours = Effect.of(claim)
    if ours is not None:
        text += f", measured {units.effect(ours)}"
    return f"{text} on {claim.host}"


def not_measured(view: ExperimentView) -> Iterator[Entry]:
    """What of the plan has no figure, and why."""
    for comparison in view.comparisons:
        where = f"{comparison.name} on {', '.join(comparison.hosts)}"
        if not comparison.rows:
            yield Entry(where, [("reason", "no case has a value yet")])
        for arm in comparison.arms:
            if arm.boots_failed:
                failed = (
                    f"{counted(arm.boots_failed, 'boot')} did not come up as asked, or were faulty"
                )
                yield Entry(f"{arm.name} in {where}", [("reason", failed)])
        yield from _missing_cells(comparison)


def _missing_cells(comparison: ComparisonView) -> Iterator[Entry]:
    names = {arm.id: arm.name for arm in comparison.arms}
    gaps: dict[tuple[str, str, str], list[str]] = {}
    # A counter that a host does not have is said by the counter table.
    for row in (row for row in comparison.rows if not row.counter):
        for cell in row.cells:
            if cell.state == CellState.NO_DATA or (
                cell.state == CellState.BASELINE and cell.mean is None
            ):
                key = (names.get(cell.arm_id, "?"), row.host, cell.note or "no reason recorded")
                gaps.setdefault(key, []).append(f"{row.case}, {row.metric_title}")
    for (arm, host, reason), cases in gaps.items():
        yield Entry(f"{arm} on {host}", [("reason", reason), *(("case", case) for case in cases)])
