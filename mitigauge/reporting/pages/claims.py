"""Claims set beside what an experiment measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.analysis.claims import repository
from mitigauge.analysis.claims.comparison import Finding, weigh
from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.analysis.claims.tables import Claim, ClaimSource
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView, ClaimView
from mitigauge.reporting.pages.schemas import ArmView, ComparisonView, ExperimentView, RowView

Parameters = Mapping[str, object]


def claims_beside(session: Session, experiment_id: int) -> list[ClaimSourceView]:
    """Sources that claim something about this experiment's workloads and modes."""
    # Looked at first: the matrix of an experiment that nothing was claimed of is not needed.
    sources = _about(session, experiment_id)
    if not sources:
        return []
    return _set_beside(session, sources, views.show_experiment(session, experiment_id))


def claims_beside_view(session: Session, view: ExperimentView) -> list[ClaimSourceView]:
    """The same, for an experiment that is at hand."""
    sources = _about(session, view.id)
    return _set_beside(session, sources, view) if sources else []


def _about(session: Session, experiment_id: int) -> list[ClaimSource]:
    """Sources with a claim of one of the experiment's workloads."""
    measured = experiment_rows.workloads_of(session, experiment_id)
    return [
        source
        for source in repository.sources(session)
        if any(claim.workload in measured for claim in source.claims)
    ]


def _set_beside(
    session: Session, sources: Sequence[ClaimSource], view: ExperimentView
) -> list[ClaimSourceView]:
    return set_beside(sources, view, experiment_rows.parameters_of(session, view.id))


def set_beside(
    sources: Sequence[ClaimSource], view: ExperimentView, parameters: Mapping[int, Parameters]
) -> list[ClaimSourceView]:
    """Each source's claims with what *view* measured; *parameters* are by case id.

    A source none of whose claims the experiment could answer is left out.
    """
    answers = []
    for source in sources:
        claims = [entry for claim in source.claims for entry in _answers(claim, view, parameters)]
        if any(claim.case_id is not None for claim in claims):
            answers.append(
                ClaimSourceView(
                    name=source.name,
                    title=source.title,
                    citation=source.citation,
                    published=source.published,
                    claims=claims,
                )
            )
    return answers


def _answers(
    claim: Claim, view: ExperimentView, parameters: Mapping[int, Parameters]
) -> Iterator[ClaimView]:
    if not claim.mode:
        yield _view(claim, ClaimOutcome.NOT_MEASURED, claim.note)
        return
    matches = list(_matches(claim, view, parameters))
    for match in matches:
        yield _compare(claim, view, match)
    if not matches:
        yield _view(claim, ClaimOutcome.NOT_MEASURED, "not part of this experiment")


@dataclass(frozen=True, slots=True)
class _Match:
    comparison: ComparisonView
    row: RowView
    arm: ArmView


def _matches(
    claim: Claim, view: ExperimentView, parameters: Mapping[int, Parameters]
) -> Iterator[_Match]:
    for comparison in view.comparisons:
        baseline = next(arm for arm in comparison.arms if arm.is_baseline)
        arm = next((a for a in comparison.arms if _is(a, claim.mode, claim.arm)), None)
        if not _is(baseline, claim.baseline, claim.baseline_arm) or arm is None:
            continue
        for row in comparison.rows:
            if (row.workload, row.metric) != (claim.workload, claim.metric):
                continue
            if claim.parameters.items() <= parameters[row.case_id].items():
                yield _Match(comparison, row, arm)


def _is(arm: ArmView, mode: str, name: str) -> bool:
    return arm.mode == mode and name in ("", arm.name)


def _compare(claim: Claim, view: ExperimentView, match: _Match) -> ClaimView:
    cell = next(cell for cell in match.row.cells if cell.arm_id == match.arm.id)
    facts = view.host_facts[match.row.host]
    finding = Finding(
        emulated=facts.emulated,
        processor=facts.processor,
        state=cell.state,
        low=cell.ci_low_percent,
        high=cell.ci_high_percent,
        note=cell.note,
    )
    outcome, reason = weigh(claim.low_percent, claim.high_percent, claim.processor, finding)
    return _view(
        claim,
        outcome,
        reason,
        host=match.row.host,
        case_id=match.row.case_id,
        arm_id=match.arm.id,
        effect_percent=cell.effect_percent,
        ci_low_percent=cell.ci_low_percent,
        ci_high_percent=cell.ci_high_percent,
        bound=cell.bound,
        n=cell.n,
    )


def _view(claim: Claim, outcome: ClaimOutcome, reason: str, **found: object) -> ClaimView:
    return ClaimView.model_validate(
        {
            "title": claim.title,
            "metric": claim.metric,
            "baseline": claim.baseline,
            "mode": claim.mode,
            "arm": claim.arm,
            "note": claim.note,
            "low_percent": claim.low_percent,
            "high_percent": claim.high_percent,
            "outcome": outcome,
            "reason": reason,
            **found,
        }
    )
