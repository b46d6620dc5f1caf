"""What a mail asks of the service: from one line of it, and the diff it brings. Pure.

A request is a line of a person's own that begins with ``#mitigauge``; the first one counts. What
stands in a code fence, below a signature's mark, or in a mail that is forwarded or answered as a
whole is none.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.diff import diff_in
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.subject import patch_subject
from mitigauge.kernels.patch import LARGEST_BYTES, Patch, read_patch

COMMAND = "#mitigauge"
FORMS = (
    (f"{COMMAND} test", "measure the revision that is answered; with a diff: with that on top"),
    (f"{COMMAND} test base VERSION", "the same on another base"),
    (f"{COMMAND} which-patch", "what each patch of the revision costs, by exact counts"),
    (f"{COMMAND} select", "which mitigation it chooses, by processor and options"),
    (f"{COMMAND} variants", "which revision costs least and does as much of what protects"),
    (f"{COMMAND} stop", "no more answers to you, nor to this series"),
)
LONGEST_LINE = 200
_LINE = re.compile(rf"{COMMAND}(?![\w-])[ \t]*+(.*)")
# Below such a line nothing is the sender's own words: a signature's mark, whatever blanks are
# behind it, and what programs put above an old mail in any language. Git's own "---" is none.
_SIGNATURE = "--"
_OTHERS_BELOW = re.compile(
    r"-{2,60} ?(?:original message|forwarded message|forwarded by\b.{0,200}) ?-{0,60}"
    r"|[-_=*]{5,200}.{0,200}"
    r"|begin forwarded message:?",
    re.IGNORECASE,
)
# Heads of a mail as Outlook puts them above one that is answered; git's own "From:" stands alone.
_OLD_FROM = re.compile(
    r"\*?(?:from|von|de|da|van|från|fra|od|lähettäjä|от|від|发件人|差出人)\*? ?[:：]\*?[ \t]"
    r".{1,300}",
    re.IGNORECASE,
)
_OLD_HEAD = re.compile(r"\*?[^\W\d_][\w -]{0,30}\*? ?[:：]\*?[ \t].{1,1000}")
# A fence may stand below at most three blanks; it ends with as many marks, and nothing behind them.
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,200}|~{3,200})(?P<more>.*)")
_BASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+~:_-]{0,79}")
_SIGNED = re.compile(r"(?:^|;)b=([^;]*)")
_ATTACHED_SUBJECT = re.compile(r"^Subject: (.+)$", re.MULTILINE)
_PROGRAMS = frozenset({"bulk", "junk", "auto_reply", "auto-reply"})
# Heads that programs alone write, and those that a list writes around a person's mail.
_AUTOMATIC = (
    "x-autoreply", "x-auto-reply", "x-autorespond", "x-auto-response-suppress", "x-loop",
    "x-vacation",
)  # fmt: skip
_OF_LISTS = ("list-id", "list-post")


class RequestKind(StrEnum):
    """What is asked for."""

    TEST = "test"
    """The revision, once more or for the first time."""
    FIX = "fix"
    """The revision with a diff on top."""
    WHICH_PATCH = "which-patch"
    """What each patch of the revision costs."""
    SELECT = "select"
    """Which mitigation the revision chooses where."""
    VARIANTS = "variants"
    """Which revision of the series costs least, of those that protect as much."""
    STOP = "stop"
    UNCLEAR = "unclear"


# Those of the revision whose thread is answered.
STUDIES = (RequestKind.WHICH_PATCH, RequestKind.SELECT, RequestKind.VARIANTS)
# Verbs that nothing follows.
_PLAIN = {str(kind): kind for kind in (*STUDIES, RequestKind.STOP)}


@dataclass(frozen=True, slots=True)
class Request:
    """One request. *line*: as it was written; *why*: what is wrong with it, empty: nothing."""

    asked: RequestKind
    line: str
    base: str = ""
    """The base that it names; empty: the series' own."""
    fix: tuple[Patch, ...] = ()
    why: str = ""


def request_in(mail: Mail) -> Request | None:
    """What *mail* asks for; None where nothing of it speaks to us.

    Quoted lines are somebody else's, and a mail that a program sent by itself asks for nothing.
    Nothing is raised for a mail that is wrong.
    """
    if _is_automatic(mail):
        return None
    found = next(filter(None, map(_LINE.fullmatch, _own_lines(mail.body))), None)
    if found is None:
        return _hidden_in_html(mail)
    return _understood(mail, clean_text(found[0].strip())[:LONGEST_LINE], found[1].split())


def _understood(mail: Mail, line: str, words: Sequence[str]) -> Request:
    """What the *words* behind the command in *line* ask for."""
    match words:
        case ["test" | "retest"]:
            return _test(mail, line, "")
        case ["test", "base", base] if _BASE.fullmatch(base):
            return _test(mail, line, base)
        case [word] if word in _PLAIN:
            return Request(_PLAIN[word], line)
        case ["regression", *_]:
            why = "a regression is judged on its page, or with `mitigauge regression set`"
            return Request(RequestKind.UNCLEAR, line, why=why)
    return Request(RequestKind.UNCLEAR, line, why=f"“{line}” is no request that is known here")


def _own_lines(text: str) -> Iterator[str]:
    """The lines of *text* that are its sender's own words, without ends of lines."""
    fence, before = "", ""
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        if _OLD_FROM.fullmatch(before) and _OLD_HEAD.fullmatch(line):
            return
        before = line
        marks = _FENCE.fullmatch(line)
        if fence:
            if marks and marks["marks"].startswith(fence) and not marks["more"].strip():
                fence = ""
        elif marks:
            fence = marks["marks"]
        elif line.rstrip() == _SIGNATURE or _OTHERS_BELOW.fullmatch(line.strip()):
            return
        else:
            yield line


def _is_automatic(mail: Mail) -> bool:
    """Whether a program sent it by itself; a list may call a person's mail bulk."""
    precedence = _word(mail, "precedence")
    by_list = precedence == "bulk" and any(mail.values(name) for name in _OF_LISTS)
    return (
        bool(_word(mail, "auto-submitted"))
        or any(mail.values(name) for name in _AUTOMATIC)
        or (precedence in _PROGRAMS and not by_list)
    )


def _test(mail: Mail, line: str, base: str) -> Request:
    try:
        fix = tuple(_fixes(mail))
    except InvalidInput as error:
        return Request(
            RequestKind.FIX, line, base, why=clean_text(f"{error.message}. {error.hint}")
        )
    return Request(RequestKind.FIX if fix else RequestKind.TEST, line, base, fix)


def _fixes(mail: Mail) -> Iterator[Patch]:
    """The diffs of its text and of what is attached. Raises InvalidInput for a bad one."""
    for number, text in enumerate((mail.body, *mail.attached)):
        name = "the diff in this mail" if number == 0 else f"attached text {number}"
        if len(text) > LARGEST_BYTES:
            raise InvalidInput(f"{name} is larger than 4 MiB", hint="Send a patch of the kernel.")
        diff = diff_in(text, name).text
        if diff:
            yield read_patch(diff, name, _title(mail, text, attached=number > 0))


def _title(mail: Mail, text: str, *, attached: bool) -> str:
    """What a fix is called: a patch's own subject, else whose it is."""
    own = _ATTACHED_SUBJECT.search(text) if attached else None
    subject = patch_subject(own[1] if own else mail.subject)
    title = subject.title if subject else ""
    return clean_text(title or f"a fix from {mail.sender.address}")[:LONGEST_LINE]


def _hidden_in_html(mail: Mail) -> Request | None:
    """A mail without any plain text that seems to speak to us."""
    if mail.body.strip() or COMMAND.encode() not in mail.raw:
        return None
    if "text/html" not in mail.kinds:
        return None
    return Request(RequestKind.UNCLEAR, COMMAND, why="its text is HTML; only plain text is read")


def why_unanswered(mail: Mail, own: Collection[str], *, asks: bool) -> str:
    """Why a mail gets no answer whatever it says; empty where a person seems to have sent it.

    *own*: our addresses in small letters. *asks*: whether it has a request: a list marks
    persons' mails as ``bulk`` or ``list`` too. Programs that answer each other never end.
    """
    precedence = _word(mail, "precedence")
    bounce = (
        _word(mail, "return-path") == "<>"
        or "multipart/report" in mail.kinds
        or mail.sender.address.startswith("mailer-daemon@")
    )
    found = {
        "it is a bounce": bounce,
        "it has no sender": not mail.sender.address,
        "it is our own": mail.sender.address in own,
        "a program sent it": _is_automatic(mail),
        "it is a list's": precedence in ("bulk", "list") and not asks,
    }
    return next((why for why, holds in found.items() if holds), "")


def _word(mail: Mail, name: str) -> str:
    """The first word of a head, in small letters; the one that says most where it stands twice."""
    words = [value.split(";")[0].strip().lower() for value in mail.values(name)]
    return next((word for word in words if word not in ("", "no")), "")


def signature_of(mail: Mail) -> str:
    """SHA-256 over the mail's signatures; empty where it has none.

    A mail that is sent again with other heads around what is signed has the same.
    """
    found = set()
    for value in mail.values("x-developer-signature"):
        tags = _SIGNED.search("".join(value.split()))
        try:
            found.add(base64.b64decode(tags[1] if tags else "", validate=True))
        except (binascii.Error, ValueError):
            continue
    signatures = sorted(found - {b""})
    return hashlib.sha256(b"".join(signatures)).hexdigest() if signatures else ""


def base_named(said: str, known: Mapping[str, str]) -> str | None:
    """The source package that *said* means, or None. *known*: its name → its version.

    ``7.2``, ``linux-source-7.2`` and the package's whole version (``7.2.12-1``) name it.
    """
    for name, version in known.items():
        if said in (name, name.removeprefix("linux-source-"), version):
            return name
    return None
