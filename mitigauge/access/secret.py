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

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import get_settings

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


def key_id() -> str:
    """What names the installation's key without telling it: 16 hexadecimal digits."""
    return stored_form("key", "id")[:16]


def stored_key(home: Path) -> bytes | None:
    """The key of the installation in *home*; None where it has none yet.

    Raises :class:`MitigaugeError` for one that cannot be read.
    """
    path = home / "access-key"
    return _read(path) if path.exists() else None


def keep_key(home: Path, key: bytes) -> None:
    """Make *key* the key of the installation in *home*.

    Raises :class:`MitigaugeError` where it has another one, or where it cannot be written.
    """
    path = home / "access-key"
    try:
        _create(path, key)
    except OSError as error:
        raise _unusable(path, error) from error
    if stored_key(home) != key:
        raise MitigaugeError(
            f"the installation has another key already, {path}",
            hint="Move it aside; tokens that were made under it are invalid then.",
        )


@lru_cache(maxsize=8)
def _key(path: Path) -> bytes:
    try:
        if not path.exists():
            _create(path, secrets.token_bytes(KEY_BYTES))
    except OSError as error:
        raise _unusable(path, error) from error
    return _read(path)


def _read(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except OSError as error:
        raise _unusable(path, error) from error
    if len(key) != KEY_BYTES:
        raise MitigaugeError(
            f"the key of this installation, {path}, has {len(key)} bytes instead of {KEY_BYTES}",
            hint="Restore it from a backup, or remove it: then every token must be made again.",
        )
    return key


def _unusable(path: Path, error: OSError) -> MitigaugeError:
    return MitigaugeError(
        f"the key of this installation, {path}, cannot be read or made: {error.strerror}",
        hint="Check who may write to the state directory (MITIGAUGE_HOME).",
    )


def _create(path: Path, key: bytes) -> None:
    """Write a key, readable for its owner alone; the first of several processes wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
