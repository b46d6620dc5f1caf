"""Whether a command goes to a service, and to which. Imports nothing that takes long to load."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mitigauge.core.errors import MitigaugeError

_VARIABLES: Final = ("MITIGAUGE_SERVER", "MITIGAUGE_SERVER_FILE")


class LocalOnly(MitigaugeError):
    """What was asked for has no way through the API."""

    status = 422


@dataclass(slots=True)
class Options:
    """What stands before the command; None: it was not given."""

    server: str | None = None
    token_file: Path | None = None


_given = Options()


def choose(server: str | None, token_file: Path | None) -> None:
    """Keep the options of this call of the command."""
    _given.server, _given.token_file = server, token_file


def chosen_server() -> str:
    """The address of the service; empty: commands use this machine's own state."""
    if _given.server is not None:
        return _given.server
    if not any(os.environ.get(name) for name in _VARIABLES):
        return ""
    from mitigauge.core.settings import get_settings

    return get_settings().server


def chosen_token() -> str:
    """The token; empty: none is given. Raises InvalidInput for a file that cannot be read."""
    if _given.token_file is not None:
        from mitigauge.core.variables import content_of

        return content_of("--token-file", str(_given.token_file)).strip()
    from mitigauge.core.settings import get_settings

    return get_settings().token.strip()


def require_local(what: str, instead: str = "") -> None:
    """Refuse *what* where a service is given. Raises :class:`LocalOnly`.

    *instead*: what does the same, or why there is no way.
    """
    if not chosen_server():
        return
    hint = f"{instead} " if instead else ""
    raise LocalOnly(
        f"`mitigauge {what}` works on the service's own machine alone; run it there",
        hint=f"{hint}For this machine's own state leave --server and MITIGAUGE_SERVER out.",
    )
