"""Developers who sign their mails with patatt, as b4 checks them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipelines.adapters.attestation import PROGRAM


def developer(home: Path, address: str = "one@example.org") -> Path:
    """A developer's home with a key of that address; its public half is in :func:`ring`."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(
        f"[user]\n\tname = Developer\n\temail = {address}\n"
        "[patatt]\n\tsigningkey = ed25519:k1\n\tselector = k1\n"
    )
    patatt(home, "genkey", "-n", "k1")
    return home


def patatt(home: Path, *words: str | Path, mail: bytes = b"") -> None:
    """Run it in that home."""
    subprocess.run(
        [PROGRAM, *words], env={"HOME": str(home), "PATH": os.defpath}, cwd=home, input=mail,
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip


def ring(home: Path) -> Path:
    """The keyring that has the home's public key."""
    return home / ".local" / "share" / "patatt" / "public"


def signed(home: Path, mails: Sequence[bytes]) -> list[bytes]:
    """The mails with that developer's signature in each."""
    found = []
    for mail in mails:
        file = home / "mail.eml"
        file.write_bytes(b"From git@z Thu Jan  1 00:00:00 1970\n" + mail)
        patatt(home, "sign", file)
        found.append(file.read_bytes().split(b"\n", 1)[1])
    return found
