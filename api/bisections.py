"""Bisections: which patch, commit or setting made a figure worse."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import PlainTextResponse
from sqlalchemy.orm import Session

from api.bodies import UNREAD_BODY
from api.database import Database
from api.gate import Known, needs
from api.kernels import patches_of, require_known_profile
from api.parameters import Id, MaybeIdQuery, Word
from api.problems import AS_JSON
from mitigauge.access.roles import Caller, Right, roles_with
from mitigauge.core.errors import Forbidden, InvalidInput
from mitigauge.core.settings import get_settings
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import bisection_view, repository, service
from mitigauge.tracking.bisect.draft import Draft
from mitigauge.tracking.bisect.schemas import BisectionHead, BisectionRequest, BisectionView
from mitigauge.tracking.bisect.sources import from_arms, from_patches, from_revision
from mitigauge.tracking.bisect.states import BisectionState
from mitigauge.tracking.regressions import proposal
from mitigauge.tracking.regressions import service as regressions
from mitigauge.tracking.regressions.proposal import CellName
from mitigauge.tracking.regressions.proposal_schemas import BisectionProposal
from mitigauge.tracking.series import service as series_service

router = APIRouter(prefix="/api/bisections", tags=["bisections"])


@router.get("")
def list_bisections(
    session: Database,
    find: Annotated[Word, Query(description="words, each in title, case, metric or who")] = "",
    state: Annotated[list[BisectionState], Query(description="any of them; none: all")] = [],  # noqa: B006
) -> list[BisectionHead]:
    """The newest bisections, and what each one answered."""
    return bisection_view.heads(session, find, state)


@router.post("", status_code=202, dependencies=[Depends(needs(Right.SUBMIT))])
def start_bisection(wanted: BisectionRequest, session: Database, caller: Known) -> BisectionView:
    """Have a bisection taken on: over an approved revision, patches, or an ordered list of arms."""
    draft = _draft(wanted, session, caller)
    begun = service.begin(session, draft, submitted_by=caller.subject)
    if wanted.regression is not None:
        regressions.note_bisection(session, wanted.regression, begun.id, by=caller.subject)
    return bisection_view.show(session, begun.id)


def _draft(wanted: BisectionRequest, session: Session, caller: Caller) -> Draft:
    if sum(map(bool, (wanted.series, wanted.arms, wanted.patches))) != 1:
        raise InvalidInput(
            "say what is bisected", hint="Give one of `series`, `arms` and `patches`."
        )
    if wanted.arms:
        return from_arms(wanted.arms, "arms", wanted.question())
    if wanted.patches:
        return _draft_of_patches(wanted, caller)
    revision = series_service.find_revision(session, wanted.series, wanted.revision)
    blobs = blob_store(get_settings())
    return from_revision(session, revision, blobs, wanted.question(), wanted.mode)


def _draft_of_patches(wanted: BisectionRequest, caller: Caller) -> Draft:
    """Over patches that nobody approved before: whoever sends them must be one who may."""
    if not caller.may(Right.APPROVE):
        raise Forbidden(
            f"{caller.subject} is {caller.role}, and these patches would run as root on hosts",
            hint=f"Roles that may start this: {', '.join(roles_with(Right.APPROVE))}.",
        )
    require_known_profile(wanted.profile)
    blobs = blob_store(get_settings())
    patches = patches_of(wanted.patches)
    return from_patches(patches, wanted.base, wanted.profile, blobs, wanted.question(), wanted.mode)


@router.get("/proposal")
def propose_bisection(
    session: Database,
    regression: MaybeIdQuery = None,
    experiment: MaybeIdQuery = None,
    case: MaybeIdQuery = None,
    host: Word = "",
    arm: Word = "",
    metric: Word = "",
) -> BisectionProposal:
    """What `POST /api/bisections` could be sent for a regression, or for a cell of an experiment.

    Give `regression`, or all of `experiment`, `case`, `host`, `arm` and `metric`. Nothing
    is started.
    """
    cell = experiment and case and host and arm and metric
    if regression is not None and experiment is None:
        return proposal.of_regression(session, regression)
    if regression is None and experiment is not None and case is not None and cell:
        return proposal.of_cell(session, CellName(experiment, host, case, arm, metric))
    raise InvalidInput(
        "say what became worse",
        hint="Give regression=NUMBER, or experiment, case, host, arm and metric.",
    )


@router.get("/{bisection_id}")
def show_bisection(bisection_id: Id, session: Database) -> BisectionView:
    """One bisection: candidates with their probability, steps, what was skipped, the answer."""
    return bisection_view.show(session, bisection_id)


@router.get(
    "/{bisection_id}/patches/{position}", response_class=PlainTextResponse, responses={**AS_JSON}
)
def show_patch(bisection_id: Id, position: Id, session: Database) -> str:
    """The patch of a candidate, from 1, as it is applied."""
    blobs = blob_store(get_settings())
    return bisection_view.patch_text(session, bisection_id, position, blobs)


@router.post(
    "/{bisection_id}/cancel",
    dependencies=[Depends(needs(Right.CANCEL_OWN))],
    openapi_extra=UNREAD_BODY,
)
def cancel_bisection(bisection_id: Id, session: Database, caller: Known) -> BisectionView:
    """Stop a bisection and the experiment that it waits for. A body is not read."""
    owner = repository.whole(session, bisection_id).submitted_by
    if not caller.may_cancel(owner):
        raise Forbidden(
            f"bisection {bisection_id} was started by {owner}, not by {caller.subject}",
            hint=f"Roles that may cancel it: {', '.join(roles_with(Right.CANCEL_ANY))}.",
        )
    service.cancel(session, bisection_id, by=caller.subject)
    return bisection_view.show(session, bisection_id)
