"""Lines of a log as text for people or as JSON for programs."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from mitigauge.core.actor import known_actor
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.redaction import without_secrets

# The attribute of a record that holds what a line says beside its message.
FIELDS: Final = "mitigauge_fields"
LONGEST_VALUE: Final = 2_000
LONGEST_MESSAGE: Final = 8_000
LONGEST_TRACE: Final = 32_000


def with_fields(**fields: object) -> dict[str, dict[str, object]]:
    """What ``extra`` of a line of :mod:`logging` is to be, so that *fields* stand in the line."""
    return {FIELDS: fields}


class ActorFilter(logging.Filter):
    """Adds for whom a line was written: the request's id, and the job or run."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        actor = known_actor()
        about = {}
        if actor is not None:
            about = {"request": actor.request_id, "job": actor.job}
        own = getattr(record, FIELDS, None) or {}
        # Told alike in every line, whatever a line itself calls it.
        setattr(record, FIELDS, {**own, **{name: said for name, said in about.items() if said}})
        return True


class _Form(logging.Formatter):
    """What both forms have in common."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        """*secrets*: values that no line may hold."""
        super().__init__()
        self.secrets = secrets

    def harmless(self, text: object, longest: int) -> str:
        """*text* cleaned, without secrets, and cut."""
        # Before it is cut: half of a secret would not be known as one.
        said = without_secrets(clean_text(str(text)), self.secrets)
        return said if len(said) <= longest else f"{said[:longest]}…"

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """The line's values by name."""
        fields: Mapping[str, object] = getattr(record, FIELDS, None) or {}
        found: dict[str, Any] = {name: self._value(value) for name, value in fields.items()}
        found["message"] = self.harmless(record.getMessage(), LONGEST_MESSAGE)
        trace = self._trace(record)
        if trace:
            found["exception"] = trace
        return found

    def _value(self, value: object) -> object:
        if value is None or isinstance(value, bool | int | float):
            return value
        return self.harmless(value, LONGEST_VALUE)

    def _trace(self, record: logging.LogRecord) -> str:
        lines = []
        if record.exc_info:
            lines.append(self.formatException(record.exc_info))
        if record.stack_info:
            lines.append(record.stack_info)
        # Where an error is long, what it says at its end tells more.
        trace = self.harmless("\n".join(lines), 1 << 30)
        return trace if len(trace) <= LONGEST_TRACE else f"…{trace[-LONGEST_TRACE:]}"


def _moment(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonForm(_Form):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        head = {"at": _moment(record), "level": record.levelname.lower(), "logger": record.name}
        # No field of a line can pass for its head.
        whole = {**head, **self.fields(record), **head}
        return json.dumps(whole, ensure_ascii=False)


class TextForm(_Form):
    """Time, level, logger and message, then NAME=VALUE; a traceback on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said = self.fields(record)
        message, trace = said.pop("message"), said.pop("exception", "")
        words = [_moment(record), record.levelname, f"{record.name}:", _in_one_line(message)]
        words += [f"{name}={_quoted(value)}" for name, value in said.items()]
        return " ".join(words) + (f"\n{trace}" if trace else "")


def _in_one_line(text: str) -> str:
    return text.replace("\n", "\\n").replace("\t", " ")


def _quoted(value: object) -> str:
    text = str(value)
    plain = text and not any(each in text for each in ' "=\n\t')
    return text if plain else json.dumps(text, ensure_ascii=False)
