"""Profiles: two groups of boots as a differential flame graph, and what explains a verdict."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from api.database import Database
from mitigauge.errors import InvalidInput
from mitigauge.profiles import service
from mitigauge.profiles.diff import Basis
from mitigauge.profiles.payload import MEDIA_TYPE
from mitigauge.profiles.schemas import CaseProfilesView

router = APIRouter(prefix="/api/profiles", tags=["profiles"])

Number = Annotated[int, Query(ge=1, lt=2**31)]
Side = Annotated[Literal["host", "guest"], Query(description="which system was profiled")]


@router.get(
    "/diff",
    response_class=Response,
    responses={200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}},
)
def diff(
    session: Database,
    a: Annotated[str, Query(description="arm, or group of imported profiles")],
    b: Annotated[str, Query(description="the other one")],
    experiment: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
    case: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
    host: str = "",
    tree: Annotated[str, Query(description="of imported profiles")] = "",
    where: Side = "host",
    basis: Basis | None = None,
    merge: Annotated[bool, Query(description="threads and compiled clones as one")] = True,
) -> Response:
    """The diff of *b* against *a*, in binary: see docs/profiles.md."""
    if experiment is not None and case is not None:
        body = service.case_diff(
            session, experiment_id=experiment, case_id=case, host=host,
            a=a, b=b, side=where, basis=basis, merged=merge,
        )  # fmt: skip
    elif tree:
        body = service.imported_diff(session, tree=tree, a=a, b=b, basis=basis, merged=merge)
    else:
        raise InvalidInput(
            "neither a case nor imported profiles are named",
            hint="Give experiment, case and host, or tree.",
        )
    return Response(body, media_type=MEDIA_TYPE)


@router.get("/case")
def case_profiles(
    session: Database, experiment: Number, case: Number, host: str, where: Side = "host"
) -> CaseProfilesView:
    """Every arm's profiles of a case on a host: totals, functions that explain, counters."""
    return service.case_profiles(
        session, experiment_id=experiment, case_id=case, host=host, side=where
    )
