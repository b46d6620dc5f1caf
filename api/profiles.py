"""Profiles: two groups of boots as a differential flame graph, and what explains a verdict."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response

from api.database import Database
from api.parameters import IdQuery, MaybeIdQuery, Word
from api.problems import AS_JSON
from mitigauge.errors import InvalidInput
from mitigauge.profiles import service
from mitigauge.profiles.comparing import Selection, Sides, diff_payload, diff_svg
from mitigauge.profiles.diff import Basis
from mitigauge.profiles.payload import MEDIA_TYPE
from mitigauge.profiles.schemas import CaseProfilesView, ProfileGroupView

router = APIRouter(prefix="/api/profiles", tags=["profiles"])

Side = Annotated[Literal["host", "guest"], Query(description="which system was profiled")]


def asked_sides(
    session: Database,
    a: Annotated[Word, Query(description="arm, or group of imported profiles")],
    b: Annotated[Word, Query(description="the other one")],
    experiment: MaybeIdQuery = None,
    case: MaybeIdQuery = None,
    host: Word = "",
    b_experiment: MaybeIdQuery = None,
    b_case: MaybeIdQuery = None,
    b_host: Word = "",
    tree: Annotated[Word, Query(description="of imported profiles")] = "",
    where: Side = "host",
) -> Sides:
    """Both are of one case on one host, unless b's own are named.

    That is another host, or the same workload and parameters in another experiment.
    """
    if experiment is not None and case is not None:
        left = Selection(experiment, case, host, a)
        right = Selection(b_experiment or experiment, b_case or case, b_host or host, b)
        return service.case_sides(session, left, right, side=where)
    if tree:
        return service.imported_sides(session, tree=tree, a=a, b=b)
    raise InvalidInput(
        "neither a case nor imported profiles are named",
        hint="Give experiment, case and host, or tree.",
    )


AskedSides = Annotated[Sides, Depends(asked_sides)]
Merge = Annotated[bool, Query(description="threads and compiled clones as one")]


@router.get(
    "/diff",
    response_class=Response,
    responses={
        200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}},
        **AS_JSON,
    },
)
def diff(
    session: Database, sides: AskedSides, basis: Basis | None = None, merge: Merge = True
) -> Response:
    """The diff of *b* against *a*, in binary: see docs/profiles.md."""
    body = diff_payload(session, sides, basis=basis, merged=merge)
    return Response(body, media_type=MEDIA_TYPE)


@router.get(
    "/diff.svg",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}, **AS_JSON},
)
def diff_as_svg(
    session: Database, sides: AskedSides, basis: Basis | None = None, merge: Merge = True
) -> Response:
    """The same drawn by inferno or FlameGraph, where the service has one of them."""
    return Response(
        diff_svg(session, sides, basis=basis, merged=merge),
        media_type="image/svg+xml",
        headers={
            "Content-Disposition": 'attachment; filename="flame-graph.svg"',
            # Their SVG has a script of its own, which must not run as a page of ours.
            "Content-Security-Policy": "sandbox",
        },
    )


@router.get("/groups")
def groups(
    session: Database, experiment: IdQuery, case: IdQuery, where: Side = "host"
) -> list[ProfileGroupView]:
    """What a case's profiles can be compared with: other arms, hosts and experiments."""
    return service.comparable_groups(session, experiment_id=experiment, case_id=case, side=where)


@router.get("/case")
def case_profiles(
    session: Database, experiment: IdQuery, case: IdQuery, host: Word, where: Side = "host"
) -> CaseProfilesView:
    """Every arm's profiles of a case on a host: totals, functions that explain, counters."""
    return service.case_profiles(
        session, experiment_id=experiment, case_id=case, host=host, side=where
    )
