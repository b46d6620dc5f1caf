"""Experiments: list, submit, show, report."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from api.bodies import SPEC_BODY, UNREAD_BODY, text_of
from api.database import Database
from api.gate import Known, needs
from api.parameters import PLAIN, EventId, Id, MaybeIdQuery, Word
from api.problems import AS_JSON
from api.stored_pages import Read, Stamp, StoredPages
from mitigauge.access.roles import Right, roles_with
from mitigauge.analysis.verdicts import limit_service
from mitigauge.analysis.verdicts.limit_schemas import ExperimentLimits, LimitRow
from mitigauge.analysis.verdicts.metric_limits import Limits
from mitigauge.core.effect import Verdict
from mitigauge.core.errors import Forbidden
from mitigauge.core.yaml_file import MAX_BYTES
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.filter import LARGEST_OFFSET, LONGEST, ExperimentFilter, Sort
from mitigauge.measurement.experiments.spec_model import MAX_BLOCKS
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs import service, submission
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.pages import case, samples
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.boot_schemas import CaseView, WholeExperimentView
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView
from mitigauge.reporting.pages.claims import claims_beside
from mitigauge.reporting.pages.limits import PAGE_SIZE, WHOLE_ROWS
from mitigauge.reporting.pages.sample_schemas import CollectedView
from mitigauge.reporting.pages.schemas import (
    EventView,
    ExperimentChoices,
    ExperimentHead,
    ExperimentPage,
    MatrixView,
    ProgressView,
)
from mitigauge.reporting.pages.undecided import Undecided, measure_again, undecided
from mitigauge.reporting.publications import service as publications
from mitigauge.reporting.publications.schemas import PublicationView

router = APIRouter(prefix="/api/experiments", tags=["experiments"])


# Of pages that a browser asks for again and has already.
HAS_IT: dict[int | str, dict[str, Any]] = {304: {"description": "the client has it already"}}
TEXT_OR_CSV: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {}, "text/csv": {}}},
    **AS_JSON,
}


def asked_filter(
    find: Annotated[
        str,
        Query(
            max_length=LONGEST,
            pattern=PLAIN,
            description="words, each in name, question or who; or a number",
        ),
    ] = "",
    state: Annotated[list[ExperimentState], Query(description="any of them; none: all")] = [],  # noqa: B006
    who: Annotated[Word, Query(description="submitted it")] = "",
    since: Annotated[Word, Query(description="submitted from then on: a date, UTC, or time")] = "",
    until: Annotated[Word, Query(description="submitted up to that day, or before a time")] = "",
    host: Word = "",
    workload: Word = "",
    mode: Annotated[Word, Query(description="FAMILY or FAMILY/MODE; several joined by +")] = "",
    verdict: Annotated[
        Verdict | None, Query(description="a primary metric's current verdict is such")
    ] = None,
    sort: Sort = Sort.NEWEST,
) -> ExperimentFilter:
    """Which experiments a request asks for."""
    return ExperimentFilter.parse(
        find=find, state=state, who=who, since=since, until=until, host=host, workload=workload,
        mode=mode, verdict=verdict or "", sort=sort,
    )  # fmt: skip


@router.get("", response_model=ExperimentPage)
async def list_experiments(
    request: Request,
    wanted: Annotated[ExperimentFilter, Depends(asked_filter)],
    before: MaybeIdQuery = None,
    offset: Annotated[int, Query(ge=0, le=LARGEST_OFFSET)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = PAGE_SIZE,
) -> Response:
    """Experiments, newest first, a page at a time: by `offset`, or from `before` on."""
    return await _page(
        request,
        ("list", wanted, before, offset, limit),
        lambda session: views.list_experiments(
            session, wanted, before=before, offset=offset, limit=limit
        ),
    )


@router.get("/choices", response_model=ExperimentChoices, responses=HAS_IT)
async def list_choices(request: Request) -> Response:
    """What the list can be filtered by: submitters, hosts, workloads and modes that there are."""
    return await _page(request, ("choices",), views.list_choices, views.newest_of_all)


@router.post(
    "",
    status_code=201,
    dependencies=[Depends(needs(Right.SUBMIT))],
    openapi_extra=SPEC_BODY,
)
async def submit_experiment(
    request: Request,
    session: Database,
    caller: Known,
    name: Annotated[Word, Query(description="stands for the file in errors")] = "spec",
) -> ExperimentHead:
    """Submit a spec (YAML). It is refused whole, with line and known names, or planned whole."""
    text = await text_of(request, "the spec", limit=MAX_BYTES)
    experiment_id = await asyncio.to_thread(
        submission.submit_text, session, text, name=name, submitted_by=caller.subject
    )
    return await asyncio.to_thread(views.show_head, session, experiment_id)


@router.get("/{experiment_id}", response_model=ExperimentHead, responses=HAS_IT)
async def show_experiment(experiment_id: Id, request: Request) -> Response:
    """One experiment with its arms and runs; its matrices are at ``/matrix``."""
    return await _page(
        request,
        ("head", experiment_id),
        lambda session: views.show_head(session, experiment_id),
        lambda session: views.stamp_once_over(session, experiment_id),
    )


@router.get("/{experiment_id}/whole")
def show_whole(experiment_id: Id, session: Database) -> WholeExperimentView:
    """The experiment with its matrices, and each of its boots with its values, where not too many.

    Where there are more, `iterations.jsonl` has them piece by piece.
    """
    return views.show_whole(session, experiment_id, most=WHOLE_ROWS)


@router.get("/{experiment_id}/matrix", response_model=MatrixView, responses=HAS_IT)
async def show_matrix(experiment_id: Id, request: Request) -> Response:
    """Every matrix of the experiment, from verdicts as they were stored."""
    return await _page(
        request,
        ("matrix", experiment_id),
        lambda session: views.show_matrix(session, experiment_id),
        lambda session: views.matrix_changes(session, experiment_id),
    )


class Again(BaseModel):
    """An experiment's spec once more."""

    model_config = ConfigDict(extra="forbid")

    blocks: Annotated[int, Field(ge=1, le=MAX_BLOCKS)]


@router.get("/{experiment_id}/undecided")
def show_undecided(experiment_id: Id, session: Database) -> Undecided:
    """What is undecided, why, and the blocks, boots and hours that would decide it."""
    return undecided(session, experiment_id)


@router.get("/{experiment_id}/publications")
def list_publications(experiment_id: Id, session: Database) -> list[PublicationView]:
    """Where its result went (KCIDB, patchwork, GitHub), and what each said."""
    return publications.show(session, experiment_id)


@router.get("/{experiment_id}/limits")
def show_experiment_limits(
    experiment_id: Id,
    session: Database,
    over: Annotated[bool, Query(description="refuse one that is not over with 409")] = False,
) -> ExperimentLimits:
    """What the limits of its spec said of the experiment at its end; broken ones first."""
    if over:
        limit_service.require_over(session, experiment_id)
    return limit_service.show_outcome(session, experiment_id)


@router.post("/{experiment_id}/limits", dependencies=[Depends(needs(Right.READ))])
def judge_limits(experiment_id: Id, limits: Limits, session: Database) -> list[LimitRow]:
    """The experiment beside limits on metrics; nothing is stored."""
    return limit_service.preview(session, experiment_id, limits)


@router.post("/{experiment_id}/again", status_code=201, dependencies=[Depends(needs(Right.SUBMIT))])
def measure_once_more(
    experiment_id: Id, wanted: Again, session: Database, caller: Known
) -> ExperimentHead:
    """Submit the spec of an experiment that is over once more, with so many blocks."""
    again = measure_again(session, experiment_id, wanted.blocks, by=caller.subject)
    return views.show_head(session, again)


@router.post(
    "/{experiment_id}/cancel",
    dependencies=[Depends(needs(Right.CANCEL_OWN))],
    openapi_extra=UNREAD_BODY,
)
def cancel_experiment(experiment_id: Id, session: Database, caller: Known) -> ProgressView:
    """Ask an experiment to stop; its hosts are restored first. A body is not read."""
    owner = experiment_rows.experiment(session, experiment_id, with_cases=False).submitted_by
    if not caller.may_cancel(owner):
        raise Forbidden(
            f"experiment {experiment_id} was submitted by {owner}, not by {caller.subject}",
            hint=f"Roles that may cancel it: {', '.join(roles_with(Right.CANCEL_ANY))}.",
        )
    service.cancel(session, experiment_id)
    return views.show_progress(session, experiment_id)


@router.get("/{experiment_id}/progress", response_model=ProgressView, responses=HAS_IT)
async def show_progress(experiment_id: Id, request: Request) -> Response:
    """Where it stands right now."""
    return await _page(
        request,
        ("progress", experiment_id),
        lambda session: views.show_progress(session, experiment_id),
        lambda session: views.stamp_once_over(session, experiment_id),
        polled=True,
    )


@router.get("/{experiment_id}/log")
def show_log(
    experiment_id: Id,
    session: Database,
    after: EventId = 0,
    limit: Annotated[int, Query(ge=1, le=2000)] = 500,
) -> list[EventView]:
    """The event log, oldest first, from *after* on."""
    return views.list_events(session, experiment_id, after, limit)


@router.get("/{experiment_id}/cases/{case_id}", response_model=CaseView, responses=HAS_IT)
async def show_case(
    experiment_id: Id, case_id: Id, request: Request, host: Word | None = None
) -> Response:
    """One case on one host, every boot a point."""
    return await _page(
        request,
        ("case", experiment_id, case_id, host),
        lambda session: case.show_case(session, experiment_id, case_id, host),
        lambda session: run_rows.stamp(session, experiment_id),
    )


@router.get(
    "/{experiment_id}/cases/{case_id}/collected", response_model=CollectedView, responses=HAS_IT
)
async def show_collected(
    experiment_id: Id, case_id: Id, request: Request, host: Word | None = None
) -> Response:
    """What was collected once a second beside one case on one host, arms over one another."""
    return await _page(
        request,
        ("collected", experiment_id, case_id, host),
        lambda session: samples.show_collected(session, experiment_id, case_id, host),
        lambda session: run_rows.stamp(session, experiment_id),
    )


async def _page(
    request: Request,
    key: Hashable,
    read: Read,
    stamp: Stamp | None = None,
    *,
    polled: bool = False,
) -> Response:
    pages: StoredPages = request.app.state.pages
    return await pages.answer(request, key, read, stamp, polled=polled)


@router.get("/{experiment_id}/claims")
def show_claims(experiment_id: Id, session: Database) -> list[ClaimSourceView]:
    """Published figures about what the experiment measures, set beside its own."""
    return claims_beside(session, experiment_id)


@router.get("/{experiment_id}/report", response_class=PlainTextResponse, responses={**AS_JSON})
def report(
    experiment_id: Id,
    session: Database,
    format: Literal["text", "markdown"] = "text",  # noqa: A002
) -> PlainTextResponse:
    """The matrix as text for a mailing list, plain or Markdown."""
    view = views.show_experiment(session, experiment_id)
    whole = gathered(session, view)
    return PlainTextResponse(whole.text() if format == "text" else whole.markdown())
