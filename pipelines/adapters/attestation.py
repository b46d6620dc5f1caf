"""Who signed a mail, by patatt: the program by which b4 checks developers' signatures."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from mitigauge.errors import NotReady
from mitigauge.series.mail import Mail
from mitigauge.series.states import Attested
from mitigauge.settings import REPOSITORY

LIMIT_S = 30.0
OUTPUT_LIMIT = 1 << 20
PROGRAM = REPOSITORY / ".mitigauge" / "tools" / "b4" / "bin" / "patatt"
# Exit codes of `patatt validate`: no signature, and no key of ours for it.
NO_SIGNATURE, NO_KEY = 4, 8
# Without it patatt takes a mail for an empty mailbox.
_BEGINS = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
# The identity whose key it was. Later lines hold the subject, which anybody writes.
_PASSED = re.compile(r"\s*PASS \| (?P<who>[^\s,|]{3,200}), ")


def attested(mails: Iterable[Mail], keyring: Path) -> dict[str, Attested]:
    """Message-id → whether its From's own key signed it.

    *keyring*: a directory of public keys as patatt lays them out, for example
    ``ed25519/example.org/name/selector``. A signature of somebody else's key is a failure: it
    says nothing of whom the mail claims to be from. Raises NotReady where the program or the
    directory is not there.
    """
    if not PROGRAM.is_file():
        raise NotReady("patatt is not installed", hint="Run `make setup`: it brings b4.")
    if not keyring.is_dir():
        raise NotReady(
            f"{keyring} is no directory of keys",
            hint="MITIGAUGE_KEYRING names one; https://docs.kernel.org/process/maintainer-pgp-guide.html",
        )
    with tempfile.TemporaryDirectory(prefix="mitigauge-attest-") as home:
        Path(home, ".gitconfig").write_text(f'[patatt]\n\tkeyringsrc = "{_quoted(keyring)}"\n')
        return {mail.message_id: _of(mail, Path(home)) for mail in mails}


def _of(mail: Mail, home: Path) -> Attested:
    file = home / "mail"
    file.write_bytes(_BEGINS + mail.raw)
    try:
        done = subprocess.run(
            [PROGRAM, "validate", file],
            env={"HOME": str(home), "PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1"},
            cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=LIMIT_S, check=False, preexec_fn=_limited,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, OSError):
        return Attested.FAIL
    if done.returncode in (NO_SIGNATURE, NO_KEY):
        return Attested.MISSING
    first = done.stderr[:OUTPUT_LIMIT].decode(errors="replace").split("\n", 1)[0]
    passed = _PASSED.match(first)
    whole = done.returncode == 0 and passed is not None
    own = passed is not None and passed["who"].lower() == mail.sender.address
    return Attested.PASS if whole and own else Attested.FAIL


def _limited() -> None:
    """A signature is checked with little; a hostile mail gets no more."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_LIMIT, OUTPUT_LIMIT))
    resource.setrlimit(resource.RLIMIT_CPU, (int(LIMIT_S), int(LIMIT_S)))


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("\\", "\\\\").replace('"', '\\"')
