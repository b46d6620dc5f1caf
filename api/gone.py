"""Addresses of what the service has no longer: each answers 410, with one sentence on the way out.

Such an address needs no rights and reads nothing. It redirects where a successor takes its query.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from api.problems import problem

# An old client that changes something there is told the same.
METHODS = ["GET", "POST", "PUT", "DELETE"]
_EXPERIMENT = "/api/experiments/{experiment_id}"
_TABLES = f"{_EXPERIMENT}/tables"
# Kinds of tables that had addresses of their own.
OF_OLD = ("loss", "counters", "threads")
_SUFFIXES = {"text": "txt", "markdown": "md", "csv": "csv"}
GONE: dict[str, str] = {
    **dict.fromkeys(
        (
            f"{_EXPERIMENT}/consequences",
            f"{_TABLES}/consequences",
            f"{_TABLES}/consequences.{{suffix}}",
        ),
        "Costs beside real work are no longer computed. The bill of an operation (`mitigauge price "
        "predict`) and the matrix tell both.",
    ),
    **dict.fromkeys(
        (f"{_TABLES}/side-by-side", f"{_TABLES}/side-by-side.{{suffix}}"),
        "Two experiments have no table of their own: /api/pairs?a=ID&b=ID has both.",
    ),
    "/api/profiles/exact/graph": "The graph in the shape of samples with exact totals went. The "
    "table of functions (`/api/profiles/exact`) has the totals, the sampled graph has the shape.",
    "/api/prices/checks/{check_id}": "Predictions are no longer tallied against measurements: "
    "`mitigauge price predict` sets a published table beside them.",
    **dict.fromkeys(
        ("/api/limits", "/api/limits/{name}"),
        "Limits are lines of a spec (`limits:`), or of a file that `mitigauge experiment limits "
        "NUMBER --file FILE` judges by.",
    ),
    "/api/trends/stability": "How often verdicts of one question are opposite stands in "
    "/api/error-rates.",
    f"{_EXPERIMENT}/events": "Progress is no longer streamed: ask /progress and /log again "
    "and again.",
    "/api/feeds/{name}": "Feeds are no longer made: subscribe by mail or webhook, or read "
    "the lists.",
    "/api/error-rates/badge.svg": "The badge is no longer drawn: /api/error-rates has the numbers.",
    **dict.fromkeys(
        ("/api/session/ways", "/api/session/oidc", "/api/session/oidc/callback"),
        "People log in at the proxy in front of the service, such as oauth2-proxy: open the "
        "dashboard's own address.",
    ),
}
MOVED: dict[str, str] = {
    "/docs": "/api/v1/openapi.json",
    **{f"{_EXPERIMENT}/{kind}": f"{_TABLES}/{kind}.json?figures=true" for kind in OF_OLD},
    **{f"{_EXPERIMENT}/{kind}/report": f"{_TABLES}/{kind}.{{suffix}}" for kind in OF_OLD},
    f"{_EXPERIMENT}/cases/{{case_id}}/details/report": f"{_TABLES}/details.{{suffix}}"
    "?case={case_id}",
}

router = APIRouter(include_in_schema=False)


def _refuse(path: str, sentence: str) -> None:
    def gone() -> Response:
        return problem(410, "Gone", "what was at this address is no longer there", sentence)

    router.add_api_route(path, gone, methods=METHODS, name=f"gone {path}")


def _redirect(path: str, successor: str) -> None:
    def moved(request: Request) -> Response:
        query = dict(request.query_params)
        suffix = _SUFFIXES.get(query.pop("format", "text"), "txt")
        place = successor.format(**request.path_params, suffix=suffix)
        joint = "&" if "?" in place else "?"
        return RedirectResponse(place + (joint + urlencode(query) if query else ""), 308)

    router.add_api_route(path, moved, methods=["GET"], name=f"moved {path}")


for _path, _sentence in GONE.items():
    _refuse(_path, _sentence)
for _path, _successor in MOVED.items():
    _redirect(_path, _successor)
