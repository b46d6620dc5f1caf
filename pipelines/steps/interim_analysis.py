"""The interim analysis: is every primary metric decided after the blocks made so far?

Of a tournament: which arms drop out, and is the best one known?
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import service as verdict_service
from mitigauge.analysis.verdicts.judgement import FIRST_ANALYSIS
from mitigauge.analysis.verdicts.service import Judgement
from mitigauge.core.documents.parts import counted
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs.ranking import Place, RankedArm
from mitigauge.measurement.runs.service import unjudged_blocks
from mitigauge.measurement.runs.tables import Run
from pipelines.steps.context import Done, StepContext, in_one_line

log = get_logger(__name__)


def judge(context: StepContext) -> Done:
    """Judge the complete blocks, and store what is said of them so far.

    A run whose numbers cannot be judged goes on undecided. Judging takes a second for thousands
    of cases, so nothing is locked meanwhile: no step of another worker can change what was read,
    since the lease is ours until the commit says so.
    """
    blocks = unjudged_blocks(context.run) or 0
    judgeable = verdict_service.load(context.engine, context.run.id)
    judgement: Judgement | None = None
    trouble = ""
    try:
        judgement = verdict_service.judge(judgeable, blocks)
    except Exception as error:
        log.exception("blocks could not be judged", run=context.run.id, blocks=blocks)
        trouble = in_one_line(error)
    decided = judgement is not None and judgement.all_decided
    out = dict(_dropped_out(context.run, judgement))

    def apply(session: Session, run: Run) -> None:
        outcomes.judged(run, blocks, decided=decided)
        if judgement is not None:
            verdict_service.store(session, run, judgement, reason=f"{blocks} blocks", over=False)
        arms = run.comparison.arms
        reasons = {arms[arm.position].id: reason for arm, reason in out.items()}
        outcomes.dropped_out(session, run, reasons)

    if context.run.comparison.tournament:
        said = _said_of_a_tournament(context.run, judgement, out)
    else:
        said = _state_words(blocks, decided=decided)
    told = trouble or said
    return Done(apply, detail=trouble, event=f"{blocks} blocks judged: {told}" if told else "")


def _dropped_out(run: Run, judgement: Judgement | None) -> Iterator[tuple[RankedArm, str]]:
    """Arms that are booted no more since this look, and why."""
    if judgement is None or judgement.ranking is None:
        return
    known = {arm.position for arm in run.ranking.arms if arm.is_out} if run.ranking else set()
    for arm in judgement.ranking.arms:
        if not arm.is_out or arm.position in known:
            continue
        if arm.place is Place.NOT_COUNTED:
            yield arm, "the arm has not a boot in every block, so it has no place in the ranking"
        else:
            yield arm, f"the arm dropped out after {counted(arm.blocks, 'block')}: {_worse(arm)}"


def _worse(arm: RankedArm) -> str:
    return (
        f"{arm.effect_percent:+.2f} % [{arm.low_percent:+.2f}, {arm.high_percent:+.2f}] of the best"
    )


def _said_of_a_tournament(run: Run, judgement: Judgement | None, out: dict[RankedArm, str]) -> str:
    if judgement is None or judgement.ranking is None or judgement.ranking == run.ranking:
        return ""
    arms = run.comparison.arms
    lost = [f"{arms[arm.position].name}: {reason}" for arm, reason in out.items()]
    left = sum(not arm.is_out for arm in judgement.ranking.arms)
    state = "the best is known" if judgement.all_decided else "the best is not known yet"
    return "; ".join([*lost, judgement.ranking.note or f"{counted(left, 'arm')} left, {state}"])


def _state_words(blocks: int, *, decided: bool) -> str:
    if blocks < FIRST_ANALYSIS:
        return ""
    return "every primary metric is decided" if decided else "not every primary metric is decided"
