"""Who signed a mail, by patatt: the program by which b4 checks developers' signatures."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY
from mitigauge.kernels.mails.mail import Mail
from mitigauge.tracking.series.states import Attested

LIMIT_S = 30.0
OUTPUT_LIMIT = 1 << 20
FILE_LIMIT = 8 << 20
# What set-up brings; an installed package takes the machine's.
_OF_SETUP = REPOSITORY / ".mitigauge" / "tools" / "b4" / "bin" / "patatt"
PROGRAM = _OF_SETUP if _OF_SETUP.is_file() else Path(shutil.which("patatt") or _OF_SETUP)
# Exit codes of `patatt validate`: no signature, and no key of ours for it.
NO_SIGNATURE, NO_KEY = 4, 8
# Heads that git takes out of the beginning of a text, with their further lines.
_HEADS = re.compile(
    r"(?:[ \t]*\n|(?:(?:From|Subject|Date):|>From |\[PATCH\]\s)[^\n]*\n(?:[ \t]+\S[^\n]*\n)*)*",
    re.IGNORECASE,
)
# The identity whose key it was. Later lines hold the subject, which anybody writes.
_PASSED = re.compile(r"\s*PASS \| (?P<who>[^\s,|]{3,200}), ")


def attested(mails: Iterable[Mail], keyring: Path) -> dict[str, Attested]:
    """Message-id → whether its From's own key signed it.

    *keyring*: a directory of public keys as patatt lays them out, for example
    ``ed25519/example.org/name/selector``. A signature of somebody else's key is a failure: it
    says nothing of whom the mail claims to be from. So is one that does not cover every text
    that is read of the mail. Raises NotReady where the program or the
    directory is not there.
    """
    if not PROGRAM.is_file():
        raise NotReady(
            "patatt is not installed",
            hint="`make setup` brings it to a checkout; beside a package, `pipx install patatt`.",
        )
    if not keyring.is_dir():
        raise NotReady(
            f"{keyring} is no directory of keys",
            hint="MITIGAUGE_KEYRING names one; https://docs.kernel.org/process/maintainer-pgp-guide.html",
        )
    with tempfile.TemporaryDirectory(prefix="mitigauge-attest-") as home:
        Path(home, ".gitconfig").write_text(f'[patatt]\n\tkeyringsrc = "{_quoted(keyring)}"\n')
        return {mail.message_id: _of(mail, Path(home)) for mail in mails}


def _of(mail: Mail, home: Path) -> Attested:
    # Not by a file's name: patatt takes one file for a mailbox, and a signed mail inside of
    # another one for that one.
    done = _ran([PROGRAM, "validate"], home, mail.raw)
    if done is None:
        return Attested.FAIL
    if done.returncode in (NO_SIGNATURE, NO_KEY):
        return Attested.MISSING
    first = done.stderr[:OUTPUT_LIMIT].decode(errors="replace").split("\n", 1)[0]
    passed = _PASSED.match(first)
    whole = done.returncode == 0 and passed is not None
    own = passed is not None and passed["who"].lower() == mail.sender.address
    return Attested.PASS if whole and own and _covered(mail, home) else Attested.FAIL


def _covered(mail: Mail, home: Path) -> bool:
    """Whether every text that is read of the mail stands in what is signed.

    That is what `git mailinfo` makes of a mail, as patatt asks it. Git joins parts of which we
    read one, and others read such mails differently again.
    """
    message, patch = home / "message", home / "patch"
    command: list[str | Path] = [
        "git",
        "mailinfo",
        "--encoding=utf-8",
        "--no-scissors",
        message,
        patch,
    ]
    done = _ran(command, home, mail.raw.replace(b"\r\n", b"\n"))
    if done is None or done.returncode:
        return False
    content = message.read_bytes() + patch.read_bytes()
    signed = _lines("\n".join(map(_decoded, content.split(b"\n"))))
    begin = _HEADS.match(mail.body)
    texts = (mail.body[begin.end() if begin else 0 :], *mail.attached)
    return all(_lines(text) in signed for text in texts)


def _decoded(line: bytes) -> str:
    """A line in UTF-8, or byte by byte: git leaves a diff in the charset that it came in."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _lines(text: str) -> str:
    """*text* as lines with one end, without empty ones around."""
    lines = "\n".join(line.rstrip("\r") for line in text.split("\n"))
    return "\n" + lines.strip("\n") + "\n"


def _ran(
    command: Sequence[str | Path], home: Path, given: bytes
) -> subprocess.CompletedProcess[bytes] | None:
    """What a program says of *given*, with little of everything; None: nothing in time."""
    try:
        return subprocess.run(
            command, input=given,
            env={"HOME": str(home), "PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1"},
            cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=LIMIT_S, check=False, preexec_fn=_limited,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, OSError):
        return None


def _limited() -> None:
    """A signature is checked with little; a hostile mail gets no more."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
    resource.setrlimit(resource.RLIMIT_CPU, (int(LIMIT_S), int(LIMIT_S)))


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("\\", "\\\\").replace('"', '\\"')
