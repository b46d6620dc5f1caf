"""Taking secrets out of texts that are kept or shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

HIDDEN: Final = "[secret]"
# Shorter ones would be found in ordinary words.
SHORTEST: Final = 6
_FORMS: Final = (
    # Tokens of ours, whole or with a typing error.
    (re.compile(r"mgt_[A-Za-z0-9_-]{8,}"), HIDDEN),
    # Tokens of GitHub and GitLab.
    (re.compile(r"\b(?:gh[a-z]_|github_pat_|glpat-)[A-Za-z0-9_-]{8,}"), HIDDEN),
    # The value of an Authorization header, whatever its scheme.
    (
        re.compile(
            r"(?i)\b(authorization[\"']?\s?[:=]\s{0,4}[\"']?[a-z0-9-]{1,40}(?:\s|%20){1,4})"
            r"[^\s\"',;]+"
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}"), rf"\1\2{HIDDEN}"),
    # Words may follow "token" as well: a digit tells them apart.
    (re.compile(r"(?i)\b(token\s)(?=[a-z._~+/=-]{0,60}\d)[a-z0-9._~+/=-]{8,}"), rf"\1{HIDDEN}"),
    (
        re.compile(r"(?i)((?:token|api[-_]?key|secret)[\"']?\s?[:=]\s?[\"']?)[^\s\"',;]{6,}"),
        rf"\1{HIDDEN}",
    ),
    # What services give out as keys: a JSON web token, Slack's, Amazon's.
    (re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"), HIDDEN),
    (re.compile(r"\bxox[a-z]-[A-Za-z0-9-]{8,}|\bAKIA[A-Z0-9]{12,}"), HIDDEN),
    # The password of a URL, and of libpq's other form.
    (re.compile(r"(://[^\s:/@]*):[^\s/]*@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"(?i)\b(password|passwd|secret)=('[^']*'|\S+)"), rf"\1={HIDDEN}"),
)


def without_secrets(text: str, known: Collection[str] = ()) -> str:
    """*text* without what looks like a secret of ours, and without those *known* to be one."""
    for secret in known:
        text = text.replace(secret, HIDDEN)
    for form, instead in _FORMS:
        text = form.sub(instead, text)
    return text


def worth_hiding(values: Collection[str]) -> tuple[str, ...]:
    """Those of *values* that can be looked for, the longest first."""
    long = {value for value in values if len(value) >= SHORTEST}
    return tuple(sorted(long, key=len, reverse=True))
