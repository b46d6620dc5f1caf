"""Commits that wait for a database that is away."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

from mitigauge.core.logs.logger import get_logger
from mitigauge.storage.database.engine import in_words, is_away
from pipelines.lease import clock

log = get_logger(__name__)
_T = TypeVar("_T")

DATABASE_RETRY_S = 1.0


def insist(commit: Callable[[], _T], patience_s: float) -> _T:
    """Commit once the database is back, so that a finished step is not thrown away.

    A commit may be asked for again whose answer was lost: it must look before it books. Raises
    what the database did once *patience_s* are over.
    """
    deadline = math.inf
    while True:
        try:
            return commit()
        except Exception as error:
            # From the first refusal on: a worker may have slept within its commit.
            deadline = min(deadline, clock() + patience_s)
            if not is_away(error) or clock() > deadline:
                raise
            log.warning("database away, commit waits", error=in_words(error))
            time.sleep(DATABASE_RETRY_S)
