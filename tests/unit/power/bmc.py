"""A controller over HTTP, made for misbehaving: each test says how."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.lab.certificates import Issued

SYSTEM = "/redfish/v1/Systems/1"
SESSIONS = "/redfish/v1/SessionService/Sessions"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
PASSWORD = "open sesame"

Answer = tuple[int, Mapping[str, str], bytes]


@dataclass
class Bmc:
    """The system behind it, the requests that came, and what is answered out of the ordinary."""

    power: str = "On"
    resets: list[str] | None = field(default_factory=lambda: ["On", "ForceOff", "ForceRestart"])
    progress: str = ""
    sessions: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    obeys: bool = True
    instead: dict[str, Callable[[], Answer]] = field(default_factory=dict)
    stream: Callable[[BaseHTTPRequestHandler], None] | None = None
    port: int = 0

    def answer(self, request: str, body: Mapping[str, Any], token: str) -> Answer:
        """What is answered to a request, ``METHOD /path``."""
        if request in self.instead:
            return self.instead[request]()
        if request == "GET /redfish/v1/":
            return as_json({"Links": {"Sessions": {"@odata.id": SESSIONS}}})
        if request == f"POST {SESSIONS}":
            return self._log_in(body)
        return self._known(request, body) if token in self.sessions else as_json({}, 401)

    def _known(self, request: str, body: Mapping[str, Any]) -> Answer:
        if request.startswith("DELETE "):
            self.sessions.discard(request.rpartition("/")[2])
            return 204, {}, b""
        if request == f"POST {RESET}":
            return self.reset(str(body.get("ResetType")))
        return self.system() if request == f"GET {SYSTEM}" else as_json({}, 404)

    def _log_in(self, body: Mapping[str, Any]) -> Answer:
        if body.get("Password") != PASSWORD:
            return as_json({"error": {"message": "no"}}, 401)
        token = f"t{len(self.requests)}"
        self.sessions.add(token)
        made = {"X-Auth-Token": token, "Location": f"{SESSIONS}/{token}"}
        return 201, made, b"{}"

    def system(self) -> Answer:
        """What the system is shown as."""
        action: dict[str, Any] = {"target": RESET}
        if self.resets is not None:
            action["ResetType@Redfish.AllowableValues"] = self.resets
        shown: dict[str, Any] = {
            "PowerState": self.power,
            "Actions": {"#ComputerSystem.Reset": action},
        }
        if self.progress:
            shown["BootProgress"] = {"LastState": self.progress}
        return as_json(shown)

    def reset(self, kind: str) -> Answer:
        """Do what was told."""
        self.told.append(kind)
        if self.obeys:
            self.power = {"ForceOff": "Off"}.get(kind, "On")
        return 204, {}, b""


def as_json(said: Mapping[str, Any], status: int = 200) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(said).encode()


@contextmanager
def served(
    bmc: Bmc, issued: Issued | None = None, *, newest: ssl.TLSVersion | None = None
) -> Iterator[str]:
    """Serve it on loopback, with TLS no newer than *newest*; the address of its system."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            request = f"{self.command} {self.path}"
            bmc.requests.append(request)
            token = self.headers.get("X-Auth-Token", "")
            bmc.secrets += [token or self.headers.get("Authorization", "")]
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            if bmc.stream is not None:
                with suppress(OSError):
                    bmc.stream(self)
                self.close_connection = True
                return
            status, headers, said = bmc.answer(request, body, token)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(said))}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(said)

        do_GET = do_POST = do_DELETE = _any  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that goes away is what these tests are about

    with Server(("127.0.0.1", 0), Handler) as server:
        if issued is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            # As old controllers are: keys of 1,024 bits, signatures by SHA-1.
            context.set_ciphers("DEFAULT:@SECLEVEL=0")
            if newest is not None:
                context.minimum_version = context.maximum_version = newest
            context.load_cert_chain(issued.certificate, issued.key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        bmc.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        scheme = "http" if issued is None else "https"
        try:
            yield f"{scheme}://127.0.0.1:{bmc.port}{SYSTEM}"
        finally:
            server.shutdown()
            thread.join()


def values(url: str, secret: Path, **more: Any) -> dict[str, Any]:
    """Values of an inventory for it."""
    said = {"driver": "redfish", "url": url, "user": "ops", "password_file": str(secret), **more}
    return {"mitigauge_power": said}
