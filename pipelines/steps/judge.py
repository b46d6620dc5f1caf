"""The interim analysis: is every primary metric decided after the blocks made so far?"""

from __future__ import annotations

import structlog

from mitigauge.database import transaction
from mitigauge.experiments import outcomes, repository
from mitigauge.experiments.judging import all_decided, judge_run, value_map
from mitigauge.experiments.service import unjudged_blocks
from pipelines.steps.context import Done, StepContext, in_one_line

log = structlog.get_logger()


def judge(context: StepContext) -> Done:
    """Judge the complete blocks; a run whose numbers cannot be judged goes on undecided.

    Takes seconds for thousands of cases, so nothing is locked meanwhile: no step of another
    worker can change what was read, since the lease is ours until the commit says so.
    """
    run, blocks = context.run, unjudged_blocks(context.run) or 0
    with transaction(context.engine) as session:
        values = value_map(repository.values_of(session, [run.id]))
    decided, trouble = False, ""
    try:
        judged = judge_run(run.comparison, run, run.boots, values)
        decided = all_decided(judged, run.comparison)
    except Exception as error:
        log.exception("blocks could not be judged", run=run.id, blocks=blocks)
        trouble = in_one_line(error)
    said = "every primary metric is decided" if decided else "not every primary metric is decided"
    return Done(
        lambda _, run: outcomes.judged(run, blocks, decided=decided),
        detail=trouble,
        event=f"{blocks} blocks judged: {trouble or said}",
    )
