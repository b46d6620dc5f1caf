"""What a Redfish controller says of a refusal, and what that asks of a person. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from mitigauge.core.hostile_text import clean_text

_EXTENDED = "@Message.ExtendedInfo"
_MESSAGES_LIMIT = 3
_PLAIN_BYTES = 1000

_NOT_READY = re.compile(r"not\s?(yet\s?)?ready|temporarily\s?unavailable", re.IGNORECASE)
# What is said, in words or by a message's name, and the way out.
_WAYS_OUT = (
    (
        re.compile(
            r"password\s?change|(must|has to|needs to) be changed|change .{0,30}password", re.I
        ),
        "Log in at the controller, give the user a password of its own, and write that into "
        "password_file.",
    ),
    (
        re.compile(r"licen[sc]e", re.IGNORECASE),
        "The controller wants a licence for this. Without it, try the driver ipmi.",
    ),
    (
        re.compile(
            r"session\s?limit|(maximum|many|number of).{0,30}sessions|no more sessions", re.I
        ),
        "End sessions at the controller, or set login: basic, which opens none.",
    ),
    (
        re.compile(r"insufficient\s?privilege|not have .{0,20}privilege", re.IGNORECASE),
        "Give the user the right to operate the power, at the controller.",
    ),
)


def words_of(said: bytes) -> str:
    """Why, in the controller's words: its messages, else their names, else a plain text.

    It is hostile text: not cleaned, and of any length up to that of *said*.
    """
    try:
        answer = orjson.loads(said)
    except orjson.JSONDecodeError:
        text = said[:_PLAIN_BYTES].decode(errors="replace").strip()
        return "" if text.startswith("<") else text
    messages = list(_messages(answer))[:_MESSAGES_LIMIT]
    return " ".join(messages) or str(_at(answer, "error", "message") or "")


def way_out(words: str) -> str | None:
    """What a person does about *words*; None where they are of no known kind."""
    return next((hint for known, hint in _WAYS_OUT if known.search(_short(words))), None)


def is_not_ready(words: str) -> bool:
    """Whether the controller asks for patience, as it does while the host starts."""
    return _NOT_READY.search(_short(words)) is not None


def _short(words: str) -> str:
    return " ".join(clean_text(words[:_PLAIN_BYTES]).split())


def _messages(answer: object) -> Iterator[str]:
    for place in (_at(answer, "error", _EXTENDED), _at(answer, _EXTENDED)):
        for each in place if isinstance(place, list) else []:
            text = _at(each, "Message")
            # Registry and version stand before the name: iLO.2.14.LicenseKeyRequired.
            name = str(_at(each, "MessageId") or _at(each, "MessageID") or "").rpartition(".")[2]
            if text or name:
                yield f"{text} ({name})" if text and name else str(text or name)


def _at(value: object, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
