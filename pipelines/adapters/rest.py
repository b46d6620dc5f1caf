"""JSON over HTTP to a server that the operator named: one request, within limits, no redirect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.version import VERSION

WHOLE_S: Final = 30.0
ANSWER_LIMIT: Final = 4 << 20
LONGEST_DETAIL: Final = 20_000


class NoAnswer(MitigaugeError):
    """The server gave no answer that can be read: it may have done what was asked."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a server answered; *body*: None where it is no JSON."""

    status: int
    body: Any

    @property
    def is_done(self) -> bool:
        """Whether it did what was asked."""
        return 200 <= self.status < 300

    @property
    def in_words(self) -> str:
        """For people."""
        detail = self.body.get("detail") or self.body.get("message") if self._is_object else ""
        # Whoever keeps it takes secrets out first, and cuts it then: a cut one is not found.
        return f"it answers {self.status}" + (f": {detail}"[:LONGEST_DETAIL] if detail else "")

    @property
    def _is_object(self) -> bool:
        return isinstance(self.body, Mapping)


@dataclass(frozen=True, slots=True)
class RestServer:
    """A server and what proves to it who asks."""

    base: str
    headers: Mapping[str, str]
    limit_s: float = WHOLE_S

    def get(self, path: str, **query: str) -> Said:
        """Raises NoAnswer."""
        return self._ask("GET", path, query, None)

    def post(self, path: str, body: object) -> Said:
        """Raises NoAnswer."""
        return self._ask("POST", path, {}, body)

    def _ask(self, method: str, path: str, query: Mapping[str, str], body: object) -> Said:
        own = {"User-Agent": f"mitigauge/{VERSION}", "Accept-Encoding": "identity"}
        try:
            with (
                httpx2.Client(follow_redirects=False, timeout=self.limit_s) as client,
                client.stream(
                    method, self.base.rstrip("/") + path, params=dict(query),
                    headers={**own, **self.headers}, json=body,
                ) as response,
            ):  # fmt: skip
                return Said(response.status_code, _read(response))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise NoAnswer(
                f"{self.base}: {error or type(error).__name__}", hint="It is asked again later."
            ) from error


def _read(response: httpx2.Response) -> Any:
    """The body; None where it is no JSON. Raises ValueError where it is too long."""
    text = bytearray()
    for piece in response.iter_raw():
        text += piece
        if len(text) > ANSWER_LIMIT:
            raise ValueError(f"its answer has more than {ANSWER_LIMIT} bytes")
    try:
        return json.loads(text)
    except ValueError:
        return None
