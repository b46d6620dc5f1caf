"""An OpenID provider of the tests' own that does wrong whatever a test asks of it."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "mitigauge", "a secret of the client's: +/&="
ROLES = "kernel-team=submitter,perf-leads=approver,kernel-admins=admin"
HERE = "http://localhost:8600"


def new_key(kid: str = "first") -> RSAKey:
    """A key to sign with."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"})


KEY = new_key()


def settings_of(issuer: str, **more: str) -> dict[str, str]:
    """The settings of a service that logs people in by *issuer*, without their prefix."""
    return {
        "OIDC_ISSUER": issuer,
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_CLIENT_SECRET": SECRET,
        "OIDC_ROLES": ROLES,
        "PUBLIC_URL": HERE,
        **more,
    }


@dataclass
class Answer:
    """What the provider sends at one path."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0.0


def as_json(document: object, status: int = 200) -> Answer:
    return Answer(json.dumps(document).encode(), status)


@dataclass
class MadeProvider:
    """The provider; a test sets what it says, or a whole *answer* by path."""

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    """Of the ID token, over those that it would have."""
    header: dict[str, Any] = field(default_factory=dict)
    description: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: KEY)
    published: list[RSAKey] = field(default_factory=lambda: [KEY])
    id_token: str | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)
    nonce: str = ""
    challenge: str = ""

    def says(self) -> dict[str, Any]:
        """The claims of the next ID token; None leaves one out."""
        now = int(time.time())
        usual = {
            "iss": self.issuer, "sub": "number-1", "aud": CLIENT, "iat": now, "exp": now + 300,
            "nonce": self.nonce, "preferred_username": "alice", "groups": ["kernel-team"],
        }  # fmt: skip
        said = usual | self.claims
        return {name: value for name, value in said.items() if value is not None}

    def signed(self) -> str:
        """The ID token."""
        if self.id_token is not None:
            return self.id_token
        header = {"alg": "RS256", "kid": self.key.kid} | self.header
        return jwt.encode(header, self.says(), self.key)

    def times_asked(self, path: str) -> int:
        return sum(asked == path for asked, _, _ in self.asked)

    def answer(self, path: str, form: dict[str, str], headers: dict[str, str]) -> Answer:
        self.asked.append((path, form, headers))
        if path in self.answers:
            return self.answers[path]
        ways: dict[str, Callable[[], Answer]] = {
            "/.well-known/openid-configuration": self._description,
            "/keys": lambda: as_json({"keys": [key.as_dict() for key in self.published]}),
            "/token": lambda: self._tokens(form),
            "/me": lambda: as_json({"sub": "number-1", "groups": ["perf-leads"]}),
        }
        return ways[path]() if path in ways else Answer(b"", 404)

    def _description(self) -> Answer:
        usual = {
            "issuer": self.issuer,
            "authorization_endpoint": self.issuer + "/login",
            "token_endpoint": self.issuer + "/token",
            "jwks_uri": self.issuer + "/keys",
        }
        return as_json(usual | self.description)

    def _tokens(self, form: dict[str, str]) -> Answer:
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if urlsafe_b64encode(digest).decode().rstrip("=") != self.challenge:
            return as_json({"error": "invalid_grant"}, 400)
        if form.get("code") != "good":
            return as_json({"error": "invalid_grant", "error_description": "expired"}, 400)
        return as_json(
            {"access_token": "x" * 20, "token_type": "Bearer", "id_token": self.signed()}
        )


@contextmanager
def made_provider() -> Iterator[MadeProvider]:
    """One on loopback, for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            form = {k: v[0] for k, v in parse_qs(self.rfile.read(length).decode()).items()}
            answer = provider.answer(urlsplit(self.path).path, form, dict(self.headers))
            ended.wait(answer.after_s)
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                pass  # the service waits no more

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    ended = threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = MadeProvider(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield provider
        finally:
            ended.set()
            server.shutdown()
            thread.join()
