"""Loggers that take what a line is about by name: ``log.warning("not noted", job=12)``.

structlog makes the lines' values; where they go, and in what form, is :mod:`logging`'s alone, so
that libraries' lines and ours come out alike.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import structlog

from mitigauge.core.logs.forms import with_fields


def _to_logging(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    """The arguments of a method of :class:`logging.Logger`."""
    message = event.pop("event", "")
    how = {name: event.pop(name) for name in ("exc_info", "stack_info") if name in event}
    return {"msg": message, "extra": with_fields(**event), **how}


structlog.configure(
    processors=[structlog.stdlib.filter_by_level, _to_logging],
    wrapper_class=structlog.stdlib.BoundLogger,
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=False,
)


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """The logger of that name."""
    found: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return found
