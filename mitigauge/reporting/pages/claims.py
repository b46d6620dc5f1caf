"""Claims set beside what an experiment measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy.orm import Session

from mitigauge.analysis.claims import repository
from mitigauge.analysis.claims.comparison import OF_HARDWARE, Finding, weigh
from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.analysis.claims.tables import Claim, ClaimSource
from mitigauge.core.documents import units
from mitigauge.core.effect import Effect
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView, ClaimView
from mitigauge.reporting.pages.schemas import (
    ArmView,
    CellView,
    ComparisonView,
    ExperimentView,
    RowView,
)

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
        figures = Counter(_case_of(claim) for claim in source.claims)
        claims = [
            entry
            for claim in source.claims
            for entry in _answers(claim, view, parameters, figures[_case_of(claim)])
        ]
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


def _case_of(claim: Claim) -> tuple[object, ...]:
    """What tells a claim from the others of its source; of two that are alike nobody can tell."""
    case = tuple(sorted((name, str(value)) for name, value in claim.parameters.items()))
    arms = (claim.baseline, claim.baseline_arm, claim.mode, claim.arm)
    return (claim.workload, case, claim.metric, *arms, claim.processor)


def _answers(
    claim: Claim, view: ExperimentView, parameters: Mapping[int, Parameters], figures: int
) -> Iterator[ClaimView]:
    """The claim beside each host. *figures*: of the source, whose case is called as this one's."""
    if not claim.mode:
        yield _view(claim, ClaimOutcome.NOT_MEASURED, claim.note)
        return
    matches = sorted(_matches(claim, view, parameters), key=_place)
    for _, group in groupby(matches, _place):
        yield _beside_one_host(claim, view, list(group), parameters, figures)
    if not matches:
        yield _view(claim, ClaimOutcome.NOT_MEASURED, "not part of this experiment")


@dataclass(frozen=True, slots=True)
class _Match:
    comparison: ComparisonView
    row: RowView
    arm: ArmView

    @property
    def cell(self) -> CellView:
        """The arm's figure."""
        return next(cell for cell in self.row.cells if cell.arm_id == self.arm.id)


def _matches(
    claim: Claim, view: ExperimentView, parameters: Mapping[int, Parameters]
) -> Iterator[_Match]:
    for comparison in view.comparisons:
        baseline = next(arm for arm in comparison.arms if arm.is_baseline)
        arms = [
            arm
            for arm in comparison.arms
            if _is(arm, claim.mode, claim.arm) and not (arm.is_baseline or arm.is_aa)
        ]
        if not _is(baseline, claim.baseline, claim.baseline_arm):
            continue
        for row in comparison.rows:
            if (row.workload, row.metric) != (claim.workload, claim.metric):
                continue
            if claim.parameters.items() <= parameters[row.case_id].items():
                yield from (_Match(comparison, row, arm) for arm in arms)


def _place(match: _Match) -> tuple[str, str]:
    return match.comparison.name, match.row.host


def _beside_one_host(
    claim: Claim,
    view: ExperimentView,
    matches: Sequence[_Match],
    parameters: Mapping[int, Parameters],
    figures: int,
) -> ClaimView:
    reasons = []
    if figures > 1:
        reasons.append(f"the source has {figures} figures of one name")
    if len(matches) > 1:
        cases = [{**parameters[match.row.case_id], "arm": match.arm.name} for match in matches]
        unsaid = _differing(cases)
        measured = "; ".join(
            f"{' '.join(str(case[name]) for name in unsaid)}: {_effect_text(match)}"
            for case, match in zip(cases, matches, strict=True)
        )
        reasons.append(f"the source does not say which {', '.join(unsaid)} (here {measured})")
    elif reasons:
        reasons = [f"{reasons[0]} (ours: {_effect_text(matches[0])})"]
    if not reasons:
        return _compare(claim, view, matches[0])
    host, case_id = matches[0].row.host, matches[0].row.case_id
    place = {"host": host, "case_id": case_id}
    if view.host_facts[host].emulated:
        return _view(claim, ClaimOutcome.EMULATED, OF_HARDWARE, **place)
    return _view(claim, ClaimOutcome.UNMATCHED, " and ".join(reasons), **place)


def _differing(cases: Sequence[Parameters]) -> list[str]:
    """Names of the parameters by which cases differ."""
    return [name for name in cases[0] if len({str(case.get(name)) for case in cases}) > 1]


def _effect_text(match: _Match) -> str:
    effect = Effect.of(match.cell)
    return "not measured" if effect is None else units.effect(effect)


def _is(arm: ArmView, mode: str, name: str) -> bool:
    return arm.mode == mode and name in ("", arm.name)


def _compare(claim: Claim, view: ExperimentView, match: _Match) -> ClaimView:
    cell = match.cell
    facts = view.host_facts[match.row.host]
    finding = Finding(
        emulated=facts.emulated,
        processor=facts.processor,
        state=cell.state,
        effect=cell.effect_percent,
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
