"""The one handler of a process's log. No setting is read here."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from typing import Final, TextIO

from mitigauge.core.logs.forms import ActorFilter, TextForm
from mitigauge.core.logs.redaction import worth_hiding

# Secrets of others that a process is handed.
OTHERS_SECRETS: Final = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "PGPASSWORD")


class ProcessHandler(logging.StreamHandler[TextIO]):
    """Writes to one stream, or to whatever stderr is at the time."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__(stream or sys.stderr)
        self._own = stream

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        self.stream = self._own or sys.stderr
        super().emit(record)


def log_for_command() -> None:
    """Let a command of a person's say on stderr what goes wrong."""
    install_handler(TextForm(worth_hiding(others_secrets(os.environ))), {})


def others_secrets(environment: Mapping[str, str]) -> list[str]:
    """Secrets of others in the environment."""
    return [environment[name] for name in OTHERS_SECRETS if name in environment]


def install_handler(
    form: logging.Formatter, levels: Mapping[str, str], stream: TextIO | None = None
) -> None:
    """Let all loggers write to *stream*, stderr, in that form, in place of an earlier handler.

    *levels* by logger; of all others the log has warnings.
    """
    handler = ProcessHandler(stream)
    handler.setFormatter(form)
    handler.addFilter(ActorFilter())
    root = logging.getLogger()
    for before in [each for each in root.handlers if isinstance(each, ProcessHandler)]:
        root.removeHandler(before)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level.upper())
