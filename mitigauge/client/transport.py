"""How the client asks: one request, one answer, every failure as a :class:`ServiceError`."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

# A table of thousands of rows takes seconds to make.
TIMEOUT_S = 60.0
LONGEST_PROBLEM = 65_536

Parameter = str | int | float | bool | Sequence[str] | None


class ServiceError(Exception):
    """What a service refused, or that none answered.

    *status*: of HTTP; 0 where nothing answered. *hint*: the way out, in the service's words.
    """

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.status, self.message, self.hint = status, message, hint


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A service of ours redirects no request: whoever does would get the token."""

    def redirect_request(self, *asked: Any) -> None:
        """Raise :class:`ServiceError`."""
        request, _, status, *_ = asked
        raise ServiceError(
            status, f"{request.full_url} redirects to {asked[-1]}", "Give its own address."
        )


class Transport:
    """Asks one service; *token* as ``mitigauge token create`` prints it, empty for none."""

    def __init__(self, url: str, token: str = "", *, timeout_s: float = TIMEOUT_S) -> None:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is no address of a service, such as https://HOST")
        self._url = url.rstrip("/")
        self._token = token
        self._timeout_s = timeout_s
        self._opener = urllib.request.build_opener(_NoRedirect)

    def _json(
        self, method: str, path: str, query: Mapping[str, Parameter], body: Any = None
    ) -> Any:
        content = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
        return json.loads(self._content(method, path, query, content) or b"null")

    def _json_of_text(
        self, method: str, path: str, query: Mapping[str, Parameter], text: str
    ) -> Any:
        sent = self._content(method, path, query, text.encode(), kind="application/yaml")
        return json.loads(sent or b"null")

    def _text(self, method: str, path: str, query: Mapping[str, Parameter]) -> str:
        return self._content(method, path, query).decode(errors="replace")

    def _content(
        self,
        method: str,
        path: str,
        query: Mapping[str, Parameter],
        content: bytes | None = None,
        *,
        kind: str = "application/json",
    ) -> bytes:
        words = urllib.parse.urlencode(list(_words(query)))
        request = urllib.request.Request(
            f"{self._url}{path}{'?' if words else ''}{words}", data=content, method=method
        )
        if content is not None:
            request.add_header("Content-Type", kind)
        if self._token:
            # Not sent along by a redirect, which is refused anyway.
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise _refused(error) from None
        except (urllib.error.URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise ServiceError(
                0, f"{self._url} does not answer: {reason}", "Is `mitigauge serve` running?"
            ) from error


def _words(query: Mapping[str, Parameter]) -> Iterator[tuple[str, str]]:
    for name, value in query.items():
        if value is None:
            continue
        several = [value] if isinstance(value, str | int | float) else value
        for each in several:
            yield name, str(each).lower() if isinstance(each, bool) else str(each)


def _refused(error: urllib.error.HTTPError) -> ServiceError:
    try:
        said = json.loads(error.read(LONGEST_PROBLEM))
        return ServiceError(error.code, str(said["message"]), str(said.get("hint", "")))
    except (ValueError, KeyError, TypeError, OSError):
        return ServiceError(error.code, f"{error.url} answered {error.code} without saying why")


def in_path(value: object) -> str:
    """A name as one part of an address."""
    return urllib.parse.quote(str(value), safe="")


def pages(list_page: Callable[..., Any], field: str, **asked: Any) -> Iterator[Any]:
    """All entries of a list that comes in pages, one after the other.

    ``pages(client.list_regressions, "regressions", state=["new"])``: *field* has the entries of a
    page. Entries that come while it is read may be left out.
    """
    offset: int | None = 0
    while offset is not None:
        page = list_page(offset=offset, **asked)
        yield from page[field]
        offset = page.get("next_offset", page.get("next"))
