"""Routes that change something, as the audit log calls it, and who is refused them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from api.database import begin
from api.problems import refusal
from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.roles import Caller
from mitigauge.core.errors import Forbidden
from mitigauge.core.logs.logger import get_logger

# So many of one caller's refusals go into the audit log within this time; the others are lines of
# the log, so that nobody who may do nothing fills the database.
MOST_REFUSALS: Final = 20
WINDOW_S: Final = 60.0

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """What a route does. *name*: the subject's, made of the address's parameters."""

    action: Action
    kind: SubjectKind
    name: str = ""

    def subject(self, parameters: dict[str, object]) -> Subject:
        """What a request is about."""
        return Subject(self.kind, self.name.format_map(parameters))


_HOST = "{environment}/{name}"
# Routes that take a body and change nothing.
READS: Final = frozenset({"POST /api/forecasts", "POST /api/experiments/{experiment_id}/limits"})
# Every other route but reading ones; a test holds it complete.
CHANGES: Final = {
    "POST /api/session": Change(Action.SESSION_BEGIN, SubjectKind.SESSION),
    "DELETE /api/session": Change(Action.SESSION_END, SubjectKind.SESSION),
    "POST /api/experiments": Change(Action.EXPERIMENT_SUBMIT, SubjectKind.EXPERIMENT),
    "POST /api/experiments/{experiment_id}/cancel": Change(
        Action.EXPERIMENT_CANCEL, SubjectKind.EXPERIMENT, "{experiment_id}"
    ),
    "POST /api/experiments/{experiment_id}/again": Change(
        Action.EXPERIMENT_SUBMIT, SubjectKind.EXPERIMENT
    ),
    "POST /api/hosts/{environment}/{name}/resume": Change(
        Action.HOST_RESUME, SubjectKind.HOST, _HOST
    ),
    "POST /api/hosts/{environment}/{name}/set-aside": Change(
        Action.HOST_SET_ASIDE, SubjectKind.HOST, _HOST
    ),
    "POST /api/hosts/{environment}/{name}/reserve": Change(
        Action.HOST_RESERVE, SubjectKind.HOST, _HOST
    ),
    "POST /api/hosts/{environment}/{name}/release": Change(
        Action.HOST_RELEASE, SubjectKind.HOST, _HOST
    ),
    "POST /api/trends/{trend_id}/annotations": Change(
        Action.TREND_ANNOTATE, SubjectKind.TREND, "{trend_id}"
    ),
    "POST /api/trends/changes/{change_id}/accept": Change(
        Action.TREND_ACCEPT, SubjectKind.TREND, "change {change_id}"
    ),
    "POST /api/regressions": Change(Action.REGRESSION_FILE, SubjectKind.REGRESSION),
    "POST /api/regressions/{regression_id}": Change(
        Action.REGRESSION_CHANGE, SubjectKind.REGRESSION, "{regression_id}"
    ),
    "POST /api/regressions/{regression_id}/fresh-boots": Change(
        Action.REGRESSION_CHANGE, SubjectKind.REGRESSION, "{regression_id}"
    ),
    "POST /api/subscriptions": Change(Action.SUBSCRIPTION_ADD, SubjectKind.SUBSCRIPTION),
    "POST /api/subscriptions/{subscription_id}/pause": Change(
        Action.SUBSCRIPTION_PAUSE, SubjectKind.SUBSCRIPTION, "{subscription_id}"
    ),
    "POST /api/subscriptions/{subscription_id}/resume": Change(
        Action.SUBSCRIPTION_RESUME, SubjectKind.SUBSCRIPTION, "{subscription_id}"
    ),
    "POST /api/subscriptions/{subscription_id}/remove": Change(
        Action.SUBSCRIPTION_REMOVE, SubjectKind.SUBSCRIPTION, "{subscription_id}"
    ),
    "POST /api/series/{name}/{revision}/approve": Change(
        Action.SERIES_APPROVE, SubjectKind.SERIES, "{name} {revision}"
    ),
    "POST /api/requests/{request_id}/approve": Change(
        Action.REQUEST_APPROVE, SubjectKind.REQUEST, "{request_id}"
    ),
    "POST /api/requests/{request_id}/ignore": Change(
        Action.REQUEST_IGNORE, SubjectKind.REQUEST, "{request_id}"
    ),
    "POST /api/series/{name}/{revision}/start": Change(
        Action.JOB_ASK, SubjectKind.SERIES, "{name} {revision}"
    ),
    "POST /api/series/{name}/{revision}/studies/{kind}": Change(
        Action.JOB_ASK, SubjectKind.SERIES, "{name} {revision}"
    ),
    "POST /api/bisections": Change(Action.BISECTION_START, SubjectKind.BISECTION),
    "POST /api/bisections/{bisection_id}/cancel": Change(
        Action.BISECTION_CANCEL, SubjectKind.BISECTION, "{bisection_id}"
    ),
    "POST /api/kernels": Change(Action.JOB_ASK, SubjectKind.KERNEL),
    "POST /api/jobs/{job_id}/cancel": Change(Action.JOB_CANCEL, SubjectKind.JOB, "{job_id}"),
}


@dataclass(slots=True)
class Quota:
    """How often each caller's refusals are taken down within a window of time."""

    most: int = MOST_REFUSALS
    now: Callable[[], float] = time.monotonic
    _until: float = 0.0
    _counts: Counter[str] = field(default_factory=Counter)

    def allows(self, subject: str) -> bool:
        """Whether one more of *subject* is taken down; it is counted."""
        now = self.now()
        if now >= self._until:
            self._counts.clear()
            self._until = now + WINDOW_S
        self._counts[subject] += 1
        return self._counts[subject] <= self.most


def install(app: FastAPI) -> None:
    """Let the audit log have changes that are refused for lack of rights."""
    quota = Quota()

    @app.exception_handler(Forbidden)
    async def forbidden(request: Request, error: Forbidden) -> JSONResponse:
        caller: Caller | None = getattr(request.state, "caller", None)
        change = CHANGES.get(f"{request.method} {getattr(request.scope.get('route'), 'path', '')}")
        # Whoever is not known has no rights that could be lacking.
        if caller is not None and change is not None and quota.allows(caller.subject):
            await asyncio.to_thread(_note, request, change, error.message)
        return refusal(error)


def _note(request: Request, change: Change, why: str) -> None:
    """Store a refusal in a transaction of its own; the request's is taken back."""
    try:
        with begin(request.app) as session:
            subject = change.subject(request.path_params)
            audit.record_refusal(session, change.action, subject, why)
    except Exception:
        # It is refused all the same.
        log.exception("refusal not noted", action=change.action)
