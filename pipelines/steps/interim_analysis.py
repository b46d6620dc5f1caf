"""The interim analysis: is every primary metric decided after the blocks made so far?"""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import service as verdict_service
from mitigauge.analysis.verdicts.judgement import FIRST_ANALYSIS
from mitigauge.analysis.verdicts.service import Judgement
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.runs import outcomes
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
        judgement = verdict_service.judge(judgeable)
    except Exception as error:
        log.exception("blocks could not be judged", run=context.run.id, blocks=blocks)
        trouble = in_one_line(error)
    decided = judgement is not None and judgement.all_decided

    def apply(session: Session, run: Run) -> None:
        outcomes.judged(run, blocks, decided=decided)
        if judgement is not None:
            verdict_service.store(session, run, judgement, reason=f"{blocks} blocks", over=False)

    return Done(apply, detail=trouble, event=_in_words(blocks, trouble, decided=decided))


def _in_words(blocks: int, trouble: str, *, decided: bool) -> str:
    if blocks < FIRST_ANALYSIS and not trouble:
        return ""
    said = "every primary metric is decided" if decided else "not every primary metric is decided"
    return f"{blocks} blocks judged: {trouble or said}"
