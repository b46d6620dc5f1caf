"""This installation's key, under which tokens and sessions are hashed.

Who reads the database alone can neither use what it holds nor try words against it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from functools import lru_cache
from pathlib import Path

from mitigauge.errors import MitigaugeError
from mitigauge.settings import get_settings

KEY_BYTES = 32
RANDOM_BYTES = 32


def new_secret() -> str:
    """256 random bits as 43 characters that need no escaping in a URL or header."""
    return secrets.token_urlsafe(RANDOM_BYTES)


def stored_form(kind: str, secret: str) -> str:
    """HMAC-SHA-256 of a secret in hexadecimal; one *kind* never passes for another.

    Raises :class:`MitigaugeError` if the installation's key cannot be used.
    """
    key = _key(get_settings().home / "access-key")
    return hmac.new(key, f"{kind}/{secret}".encode(), hashlib.sha256).hexdigest()


@lru_cache(maxsize=8)
def _key(path: Path) -> bytes:
    try:
        if not path.exists():
            _create(path)
        key = path.read_bytes()
    except OSError as error:
        raise MitigaugeError(
            f"the key of this installation, {path}, cannot be read or made: {error.strerror}",
            hint="Check who may write to the state directory (MITIGAUGE_HOME).",
        ) from error
    if len(key) != KEY_BYTES:
        raise MitigaugeError(
            f"the key of this installation, {path}, has {len(key)} bytes instead of {KEY_BYTES}",
            hint="Restore it from a backup, or remove it: then every token must be made again.",
        )
    return key


def _create(path: Path) -> None:
    """Write a fresh key, readable for its owner alone; the first of several processes wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
