"""The address of a service, as a person gives it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from api.addresses import is_loopback
from mitigauge.core.errors import InvalidInput

_EXAMPLE = "Give it as https://mitigauge.example.org, or http://localhost:8600 for this machine's."


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Scheme, name and port of a service."""

    url: str
    is_encrypted: bool

    @classmethod
    def read(cls, text: str) -> ServerAddress:
        """The address in *text*. Raises :class:`InvalidInput`.

        A token goes unencrypted to this very machine alone.
        """
        try:
            parts = urlsplit(text.strip())
            port = parts.port
        except ValueError:
            raise InvalidInput(f"the server {text[:100]!r} is no address", hint=_EXAMPLE) from None
        name = parts.hostname or ""
        # What stands before an @ may be a password: it is not quoted.
        if parts.username is not None or parts.password is not None:
            raise InvalidInput(
                "the server's address has a user or a password in it",
                hint="Give the address alone; a token goes into MITIGAUGE_TOKEN_FILE.",
            )
        beyond = parts.path.strip("/") or parts.query or parts.fragment
        if parts.scheme not in ("http", "https") or not name or beyond:
            raise InvalidInput(f"the server {text[:100]!r} is no address", hint=_EXAMPLE)
        if parts.scheme == "http" and not is_loopback(name):
            raise InvalidInput(
                f"the server {text[:100]!r} would get the token unencrypted",
                hint=f"Give https://{name[:100]}; http:// is for this machine's own service.",
            )
        host = f"[{name}]" if ":" in name else name
        return cls(f"{parts.scheme}://{host}{f':{port}' if port else ''}", parts.scheme == "https")
