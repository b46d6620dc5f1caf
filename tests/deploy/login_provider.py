"""The least of an OpenID provider: whoever comes is logged in at once, as whom the test says."""

from __future__ import annotations

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

CLIENT = "mitigauge"


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _number(value: int) -> str:
    return _text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


@dataclass
class LoginProvider:
    """The provider at *issuer*; *claims* are those of who sits before the browser."""

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    nonce: str = ""
    published: rsa.RSAPublicKey = field(init=False)

    def __post_init__(self) -> None:
        self.published = self.key.public_key()

    def answer(self, path: str, asked: dict[str, str]) -> tuple[int, dict[str, Any] | str]:
        """Status, and what is sent: a document, or the address to go to."""
        if path == "/login":
            self.nonce = asked.get("nonce", "")
            back = urlencode({"code": "good", "state": asked["state"]})
            return 302, f"{asked['redirect_uri']}?{back}"
        documents: dict[str, dict[str, Any]] = {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/login",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
            },
            "/keys": {"keys": [self._published()]},
            "/token": {"access_token": "x", "token_type": "Bearer", "id_token": self._signed()},
        }
        return (200, documents[path]) if path in documents else (404, {})

    def _published(self) -> dict[str, str]:
        numbers = self.published.public_numbers()
        modulus, exponent = _number(numbers.n), _number(numbers.e)
        return {"kty": "RSA", "kid": "k", "use": "sig", "alg": "RS256", "n": modulus, "e": exponent}

    def _signed(self) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300,
                  "nonce": self.nonce, **self.claims}  # fmt: skip
        parts = ({"alg": "RS256", "kid": "k"}, claims)
        body = ".".join(_text(json.dumps(part).encode()) for part in parts)
        signature = self.key.sign(body.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{body}.{_text(signature)}"


@contextmanager
def login_provider() -> Iterator[LoginProvider]:
    """One on loopback, for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            asked = {name: values[0] for name, values in parse_qs(parts.query or body).items()}
            status, sent = provider.answer(parts.path, asked)
            content = b"" if isinstance(sent, str) else json.dumps(sent).encode()
            self.send_response(status)
            if isinstance(sent, str):
                self.send_header("Location", sent)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = LoginProvider(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
