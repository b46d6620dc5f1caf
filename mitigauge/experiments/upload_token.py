"""Tokens that let a host write the results of one boot and nothing else.

A token is an HMAC-SHA-256 over the boot's id under a key of this installation, so
that none needs to be stored.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from mitigauge.settings import get_settings

PREFIX = "mgu_"


def token_for(boot_id: int) -> str:
    """The token of a boot."""
    digest = hmac.new(_key(), f"upload/boot/{boot_id}".encode(), hashlib.sha256)
    return PREFIX + digest.hexdigest()


def is_valid(token: str, boot_id: int) -> bool:
    """Whether *token* is the boot's, in constant time."""
    return hmac.compare_digest(token.encode(), token_for(boot_id).encode())


def _key() -> bytes:
    path = get_settings().home / "upload-key"
    if not path.exists():
        _create(path)
    return path.read_bytes()


def _create(path: Path) -> None:
    """Write a fresh key; the first of several processes wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(32))
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
