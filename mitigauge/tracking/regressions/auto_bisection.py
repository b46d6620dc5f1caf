"""A regression that fresh boots confirmed goes on into a bisection by itself, where policy says so.

It needs nobody: patches of an approved revision, or kernels that were measured already. Whose mail
tells the culprit, and what stops it, is the bisection's own business.
"""

from __future__ import annotations

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import get_settings
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import service as bisections
from mitigauge.tracking.bisect.draft import FEWEST_CANDIDATES, Draft
from mitigauge.tracking.bisect.question import FEWEST_BOOTS, Question
from mitigauge.tracking.bisect.sources import from_arms, from_revision
from mitigauge.tracking.regressions import confirmation_repository as rows
from mitigauge.tracking.regressions import proposal, service
from mitigauge.tracking.regressions.proposal_schemas import BisectionProposal
from mitigauge.tracking.regressions.tables import Confirmation
from mitigauge.tracking.series import service as series


def go_on(engine: Engine, boots: int) -> None:
    """Begin a bisection of each confirmed regression that has none; *boots*: its budget, 0: none.

    Where there is nothing to search, that is said and not tried again.
    """
    if boots < FEWEST_BOOTS:
        return
    with transaction(engine) as session:
        found = rows.without_bisection(session)
    for confirmation_id in found:
        try:
            with transaction(engine) as session:
                _begin(session, confirmation_id, boots)
        except MitigaugeError as error:
            with transaction(engine) as session:
                of = session.get_one(Confirmation, confirmation_id)
                of.follows = f"no bisection: {error.message}"[:2000]


def _begin(session: Session, confirmation_id: int, boots: int) -> None:
    of = session.get_one(Confirmation, confirmation_id, with_for_update=True)
    proposed = proposal.of_regression(session, of.regression_id)
    if (proposed.changes or 0) < FEWEST_CANDIDATES:
        of.follows = f"no bisection: {proposed.why}"[:2000]
        return
    draft = _draft(session, proposed, boots)
    begun = bisections.begin(session, draft, submitted_by=service.ITSELF)
    service.note_bisection(session, of.regression_id, begun.id, by=service.ITSELF)
    of.follows = f"bisection {begun.id} searches {proposed.changes} changes, with {boots} boots"


def _draft(session: Session, of: BisectionProposal, boots: int) -> Draft:
    asked = Question(
        tuple(of.hosts), of.workload, of.parameters, of.metric, environment=of.environment,
        budget_boots=boots,
    )  # fmt: skip
    if of.arms:
        return from_arms(of.arms, "the kernels that were measured", asked)
    revision = series.find_revision(session, of.series, of.revision)
    return from_revision(session, revision, blob_store(get_settings()), asked, of.mode)
