"""Profiles: two groups of boots as a differential flame graph, and what explains a verdict."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic.json_schema import models_json_schema

from api.database import Database
from api.parameters import IdQuery, MaybeIdQuery, Word
from api.problems import AS_JSON
from mitigauge.analysis.profiles.diff.compare import Basis
from mitigauge.analysis.profiles.diff.instruction_table import instruction_table
from mitigauge.analysis.profiles.diff.payload import MEDIA_TYPE, DiffHeader
from mitigauge.analysis.profiles.diff.schemas import InstructionTable
from mitigauge.analysis.profiles.diff.service import diff_payload, diff_svg, imported_sides
from mitigauge.analysis.profiles.diff.sides import Selection, Sides
from mitigauge.analysis.profiles.exact.schemas import ExactTable
from mitigauge.analysis.profiles.store.tables import System
from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.pages import profile_functions
from mitigauge.reporting.pages import profiles as profile_views
from mitigauge.reporting.pages.exact import exact_difference
from mitigauge.reporting.pages.function_schemas import FunctionSort, FunctionsView, Measure
from mitigauge.reporting.pages.profile_schemas import CaseProfilesView, ProfileGroupView

router = APIRouter(prefix="/api/profiles", tags=["profiles"])

_SCHEMAS = "#/components/schemas/"
# Of what is no JSON answer by itself; the whole API's description takes them in.
DESCRIBED: dict[str, Any] = models_json_schema(
    [(DiffHeader, "serialization")], ref_template=_SCHEMAS + "{model}"
)[1]["$defs"]
_BINARY = {
    "type": "string",
    "format": "binary",
    "description": "A header in JSON, then arrays: see docs/results.md.",
    "x-header": {"$ref": f"{_SCHEMAS}{DiffHeader.__name__}"},
}

AskedSystem = Annotated[System, Query(description="which system was profiled")]


def asked_selections(
    a: Annotated[Word, Query(description="arm")],
    b: Annotated[Word, Query(description="arm that is compared with a")],
    experiment: IdQuery,
    case: IdQuery,
    host: Word,
    b_experiment: MaybeIdQuery = None,
    b_case: MaybeIdQuery = None,
    b_host: Word = "",
) -> tuple[Selection, Selection]:
    """Both sides, of one case on one host unless parameters of b say otherwise."""
    left = Selection(experiment, case, host, a)
    return left, Selection(b_experiment or experiment, b_case or case, b_host or host, b)


def asked_sides(
    session: Database,
    a: Annotated[Word, Query(description="arm, or group of imported profiles")],
    b: Annotated[Word, Query(description="arm or group that is compared with a")],
    experiment: MaybeIdQuery = None,
    case: MaybeIdQuery = None,
    host: Word = "",
    b_experiment: MaybeIdQuery = None,
    b_case: MaybeIdQuery = None,
    b_host: Word = "",
    tree: Annotated[Word, Query(description="of imported profiles: what was profiled")] = "",
    where: AskedSystem = "host",
) -> Sides:
    """Both sides, of one case on one host unless parameters of b say otherwise.

    b may be of another host, or of the same workload and parameters in another experiment.
    """
    if experiment is not None and case is not None:
        left, right = asked_selections(a, b, experiment, case, host, b_experiment, b_case, b_host)
        return profile_views.case_sides(session, left, right, system=where)
    if tree:
        return imported_sides(session, tree=tree, a=a, b=b)
    raise InvalidInput(
        "neither a case nor imported profiles are named",
        hint="Give experiment, case and host, or tree.",
    )


AskedSides = Annotated[Sides, Depends(asked_sides)]
Merge = Annotated[bool, Query(description="show numbered threads and compiled clones as one")]


@router.get(
    "/diff",
    response_class=Response,
    responses={
        200: {"content": {MEDIA_TYPE: {"schema": _BINARY}}},
        **AS_JSON,
    },
)
def diff(
    session: Database, sides: AskedSides, basis: Basis | None = None, merge: Merge = True
) -> Response:
    """The diff of *b* against *a*, in binary: see docs/results.md."""
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
    """The same diff, drawn by inferno or FlameGraph if one is installed with the service."""
    return Response(
        diff_svg(session, sides, basis=basis, merged=merge),
        media_type="image/svg+xml",
        headers={
            "Content-Disposition": 'attachment; filename="flame-graph.svg"',
            # Their SVG has a script of its own, which must not run as a page of ours.
            "Content-Security-Policy": "sandbox",
        },
    )


@router.get("/instructions")
def instructions(
    session: Database,
    sides: AskedSides,
    function: Annotated[
        Word, Query(description="by its name in B's kernel; none: which functions have some")
    ] = "",
    basis: Basis | None = None,
) -> InstructionTable:
    """A function's instructions on both sides, as they ran, with their samples."""
    return instruction_table(session, sides, function=function, basis=basis)


@router.get("/exact")
def exact_counts(
    session: Database,
    sides: Annotated[tuple[Selection, Selection], Depends(asked_selections)],
    function: Annotated[
        Word, Query(description="whose instructions to list, by its name in B's kernel")
    ] = "",
) -> ExactTable:
    """What an operation runs on both sides, to the instruction, as an emulator counted it."""
    return exact_difference(session, *sides, function=function)


@router.get("/groups")
def groups(
    session: Database, experiment: IdQuery, case: IdQuery, where: AskedSystem = "host"
) -> list[ProfileGroupView]:
    """What a case's profiles can be compared with: other arms, hosts and experiments."""
    return profile_views.comparable_groups(
        session, experiment_id=experiment, case_id=case, system=where
    )


@router.get("/case")
def case_profiles(
    session: Database, experiment: IdQuery, case: IdQuery, host: Word, where: AskedSystem = "host"
) -> CaseProfilesView:
    """Every arm's profiles of a case on a host: totals, functions that explain, counters."""
    return profile_views.case_profiles(
        session, experiment_id=experiment, case_id=case, host=host, system=where
    )


@router.get("/functions")
def functions(
    session: Database,
    experiment: IdQuery,
    case: IdQuery,
    host: Word,
    where: AskedSystem = "host",
    basis: Basis | None = None,
    measure: Annotated[Measure, Query(description="what differences and costs are of")] = "self",
    sort: FunctionSort = "difference",
    arm: Annotated[Word, Query(description="sort by this arm; empty: by all of them")] = "",
    upwards: Annotated[bool, Query(description="turn the order round")] = False,
    search: Annotated[Word, Query(description="part of a function's name")] = "",
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=profile_functions.MOST_ROWS)] = 50,
) -> FunctionsView:
    """Functions of a case's profiles over all its arms, each against the baseline."""
    asked = profile_functions.FunctionQuery(
        measure=measure,
        sort=sort,
        arm=arm,
        upwards=upwards,
        search=search,
        offset=offset,
        limit=limit,
    )
    return profile_functions.functions_view(
        session,
        experiment_id=experiment,
        case_id=case,
        host=host,
        system=where,
        basis=basis,
        asked=asked,
    )
