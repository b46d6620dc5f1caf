"""How the service and the worker log: once, at their start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, TextIO

from mitigauge.core.logs.forms import JsonForm, TextForm
from mitigauge.core.logs.handler import install_handler, others_secrets
from mitigauge.core.logs.redaction import worth_hiding
from mitigauge.core.settings import Settings, get_settings

# Whose lines the level of the settings is for; libraries say what goes wrong, and no more.
OURS: Final = ("mitigauge", "api", "cli", "pipelines", "lab")


def configure_logs(settings: Settings | None = None, stream: TextIO | None = None) -> None:
    """Let this process log to *stream*, stderr, as *settings* say.

    Raises :class:`mitigauge.core.errors.InvalidInput` for levels that cannot be read.
    """
    settings = settings or get_settings()
    levels = {**dict.fromkeys(OURS, settings.log_level), **settings.logger_levels}
    secrets = worth_hiding([*settings_secrets(settings), *others_secrets(os.environ)])
    form = JsonForm if settings.log_format == "json" else TextForm
    install_handler(form(secrets), levels, stream)


def settings_secrets(settings: Settings) -> list[str]:
    """Values of *settings* that nobody is to read."""
    found = settings.secrets
    if settings.proxy_secret_file:
        try:
            found.append(Path(settings.proxy_secret_file).read_text("utf-8").strip())
        except (OSError, UnicodeDecodeError):
            return found  # the service refuses it, by name
    return found
