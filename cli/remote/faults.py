"""What may go wrong between a command and a service, a sentence each."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import httpx2

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotReady
from mitigauge.core.version import VERSION

# What a proxy, or a service that is starting, answers meanwhile.
AWAY_STATUSES = (502, 503, 504)
_WHERE = "Is the address right, and does the service run there?"
GET_TOKEN = (
    "Give a token by MITIGAUGE_TOKEN_FILE, MITIGAUGE_TOKEN or --token-file. Whoever runs the "
    "service makes one there: `mitigauge token create NAME --role submitter`."
)


class Away(NotReady):
    """The service does not answer now; it may in a moment."""


class ForeignServer(MitigaugeError):
    """What answers is no service of ours, or none that can be talked to."""

    status = 502


class Problem(MitigaugeError):
    """The service said no."""

    def __init__(self, status: int, kind: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.kind = kind


def fault_of(error: httpx2.HTTPError, url: str) -> MitigaugeError:
    """Why nothing came back."""
    refused = next((e for e in _causes(error) if isinstance(e, ssl.SSLError)), None)
    if refused is not None:
        why = getattr(refused, "verify_message", "") or refused.reason or str(refused)
        return ForeignServer(
            f"no encrypted connection to {url}: {why}",
            hint="Name the file of its certificate's authority in MITIGAUGE_SERVER_CA_FILE, "
            "if it is one of your own.",
        )
    if isinstance(error, httpx2.TimeoutException):
        return Away(f"{url} does not answer in time", hint=_WHERE)
    if isinstance(error, httpx2.ConnectError):
        return Away(f"{url} does not answer: {error}", hint=_WHERE)
    return Away(
        f"the connection to {url} broke off: {error or type(error).__name__}",
        hint="Whether a change was made shows `mitigauge … list` or `show`; try again.",
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def redirected(url: str, to: str) -> MitigaugeError:
    """The answer was a redirect: what is asked for and the token go to one address alone."""
    return ForeignServer(
        f"{url} redirects to {to[:200] or 'nowhere'}, which is not followed",
        hint="Give the service's own address, as the dashboard has it in a browser.",
    )


def no_service(url: str, kind: str) -> MitigaugeError:
    """Something else than JSON came."""
    return ForeignServer(
        f"{url} is no Mitigauge service, or a proxy stands before it: "
        f"it answers {kind[:80] or 'nothing'} in place of JSON",
        hint=_WHERE,
    )


def not_understood(url: str, path: str, version: str) -> MitigaugeError:
    """JSON of another form came."""
    return ForeignServer(
        f"{url} answers at {path} what this command does not understand",
        hint=f"This command is version {VERSION}, the service {version}: use the same one.",
    )


def unknown_route(url: str, path: str, version: str) -> MitigaugeError:
    """The service has no such address: it is older."""
    return ForeignServer(
        f"{url} does not know {path}: its version, {version}, is older than this command's",
        hint=f"This command is version {VERSION}: upgrade the service, or use its version.",
    )


def bad_token() -> MitigaugeError:
    """The token could not stand in a header."""
    return InvalidInput(
        "the token has a blank, a line break or another sign that no token has",
        hint="The file's whole content is the token, as `mitigauge token create` printed it.",
    )


def problem_of(status: int, said: object, url: str) -> MitigaugeError | None:
    """The error in an answer's body; None where it is none of ours."""
    if not isinstance(said, dict) or not isinstance(said.get("message"), str):
        return None
    hint = GET_TOKEN if status == 401 else str(said.get("hint", ""))
    request = said.get("request_id")
    if isinstance(request, str) and request:
        hint = f"{hint} [{url}, request {request}]".strip()
    if status in AWAY_STATUSES:
        return Away(said["message"], hint=hint)
    return Problem(status, str(said.get("error", "")), said["message"], hint=hint)
