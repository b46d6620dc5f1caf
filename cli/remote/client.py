"""A client of one service: what it asks, and the answers as the models that commands print."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, TypeVar

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from cli.output import remark
from cli.remote import faults
from cli.remote.address import ServerAddress
from cli.remote.choice import chosen_server, chosen_token
from mitigauge.core.errors import InvalidInput
from mitigauge.core.version import VERSION

Answer = TypeVar("Answer")
Parameter = str | int | float | bool | list[str] | None

# A table of thousands of rows takes seconds to make.
TIMEOUT: Final = httpx2.Timeout(60.0, connect=10.0)
LIVE: Final = "/api/health/live"
JSON: Final = "application/json"
YAML: Final = "application/yaml"


class Client:
    """Asks one service. The token goes there alone, and once it said that it is one of ours."""

    def __init__(self, server: ServerAddress, token: str, ca_file: str = "") -> None:
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise faults.bad_token()
        self.url = server.url
        self.version = ""
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx2.Client(
            base_url=server.url,
            headers={"User-Agent": f"mitigauge/{VERSION}"},
            verify=_authorities(ca_file) if server.is_encrypted else False,
            timeout=TIMEOUT,
            follow_redirects=False,
            # A proxy between would read what goes to this machine unencrypted.
            trust_env=server.is_encrypted,
        )

    def get(self, path: str, shape: type[Answer], **parameters: Parameter) -> Answer:
        """What *path* answers, as *shape*."""
        return self._read(path, shape, self._ask("GET", path, parameters))

    def json(self, path: str, **parameters: Parameter) -> str:
        """The same as JSON for programs, indented as commands print it."""
        answer = self._ask("GET", path, parameters)
        return to_json(from_json(answer.content), indent=2).decode()

    def text(self, path: str, **parameters: Parameter) -> str:
        """What *path* answers, where that is no JSON."""
        return self.content(path, **parameters).decode(errors="replace")

    def content(self, path: str, **parameters: Parameter) -> bytes:
        """The same as bytes."""
        return self._ask("GET", path, parameters, kind="").content

    @contextmanager
    def pieces(self, path: str, **parameters: Parameter) -> Iterator[Iterator[str]]:
        """What *path* answers, piece by piece, however long it is."""
        self.introduce()
        with (
            self._faults(),
            self._http.stream(
                "GET", path, params=_without_none(parameters), headers=self._headers
            ) as answer,
        ):
            if not answer.is_success:
                answer.read()
            self._check(answer, path, kind="")
            yield answer.iter_text()

    def post(
        self,
        path: str,
        shape: type[Answer],
        body: BaseModel | Mapping[str, object] | str | None = None,
        **parameters: Parameter,
    ) -> Answer:
        """Change something; what *path* answers. A text is sent as YAML, all else as JSON."""
        kind = YAML if isinstance(body, str) else JSON
        content = body.encode() if isinstance(body, str) else to_json(body if body else {})
        answer = self._ask("POST", path, parameters, content=content, content_type=kind)
        return self._read(path, shape, answer)

    def put(self, path: str, shape: type[Answer], text: str) -> Answer:
        """Put *text*, YAML, at *path*; what it answers."""
        answer = self._ask("PUT", path, {}, content=text.encode(), content_type=YAML)
        return self._read(path, shape, answer)

    def delete(self, path: str, shape: type[Answer]) -> Answer:
        """Remove what is at *path*; what it answers."""
        return self._read(path, shape, self._ask("DELETE", path, {}))

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def introduce(self) -> None:
        """See once that it is a service of ours, and say where its version is another."""
        if self.version:
            return
        with self._faults():
            answer = self._http.get(LIVE)
        self._check(answer, LIVE)
        said = _parsed(answer)
        if not isinstance(said, dict) or "status" not in said:
            raise faults.no_service(self.url, "other JSON")
        self.version = str(said.get("version") or "that of a time when it did not say it")
        if self.version.split(".")[:2] != VERSION.split(".")[:2]:
            remark(
                f"{self.url} has version {self.version}, this command {VERSION}: "
                "some things may be missing or look different"
            )

    def _ask(
        self, method: str, path: str, parameters: Mapping[str, Parameter], *,
        kind: str = JSON, content: bytes | None = None, content_type: str = "",
    ) -> httpx2.Response:  # fmt: skip
        self.introduce()
        headers = {**self._headers, **({"Content-Type": content_type} if content_type else {})}
        with self._faults():
            answer = self._http.request(
                method, path, params=_without_none(parameters), content=content, headers=headers
            )
        self._check(answer, path, kind=kind)
        return answer

    def _check(self, answer: httpx2.Response, path: str, *, kind: str = JSON) -> None:
        """Raise for every answer but one that was asked for."""
        if answer.is_redirect:
            raise faults.redirected(self.url, answer.headers.get("location", ""))
        came = answer.headers.get("content-type", "").partition(";")[0].strip()
        if answer.is_success:
            if kind and came != kind:
                raise faults.no_service(self.url, came)
            return
        said = _parsed(answer) if came == JSON else None
        problem = faults.problem_of(answer.status_code, said, self.url)
        if problem is None and answer.status_code in faults.AWAY_STATUSES:
            raise faults.Away(f"{self.url} answers {answer.status_code}", hint="Try again soon.")
        if problem is None:
            raise faults.no_service(self.url, came)
        is_route = isinstance(problem, faults.Problem) and problem.kind == "HTTP"
        if is_route and answer.status_code in (404, 405):
            raise faults.unknown_route(self.url, path, self.version)
        raise problem

    def _read(self, path: str, shape: type[Answer], answer: httpx2.Response) -> Answer:
        try:
            # A newer service says more.
            return TypeAdapter(shape).validate_json(answer.content, extra="ignore")
        except ValidationError:
            raise faults.not_understood(self.url, path, self.version) from None

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except httpx2.HTTPError as error:
            raise faults.fault_of(error, self.url) from None


def client() -> Client:
    """The client of the service that is given."""
    from mitigauge.core.settings import get_settings

    address = ServerAddress.read(chosen_server())
    return _client(address, chosen_token(), get_settings().server_ca_file)


@cache
def _client(server: ServerAddress, token: str, ca_file: str) -> Client:
    return Client(server, token, ca_file)


def _authorities(ca_file: str) -> ssl.SSLContext:
    """What a certificate is checked against: the machine's authorities, or those of the file."""
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise InvalidInput(
            f"MITIGAUGE_SERVER_CA_FILE, {ca_file}, cannot be used: {error}",
            hint="Name a file of certificates in PEM form.",
        ) from None


def _without_none(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _parsed(answer: httpx2.Response) -> object:
    try:
        return from_json(answer.content)
    except ValueError:
        return None
