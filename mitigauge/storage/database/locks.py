"""Advisory locks of the database: each purpose has a number of its own, here and nowhere else.

A lock is its purpose and a number within it, an experiment's or a bisection's. Were the two added
up, the 1,001st bisection would hold the lock of something else.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Lock(IntEnum):
    """First number of a lock; what the second one is stands beside."""

    EVENTS = 7340221  # an experiment's
    VERDICTS = 7340222  # a run's
    BISECTION = 7340223  # a bisection's
    FRAME_TREE = 7340224  # hash of a tree's name
    MACHINE = 7340225  # hash of a machine's name
    REQUESTS = 7340226
    RETENTION = 7340227
    TRENDS = 7340228
    WEEKLY = 7340229
    IMPORT = 7340230  # of a file of an older version, by its scratch database
    RESTORE = 7340231
    NOTICES = 7340232
    EXACT_OPERATIONS = 7340233
    BISECTION_START = 7340234
    CONFIRMATIONS = 7340235


# Of one part, which PostgreSQL keeps apart from the others. It is as it always was: who brings the
# schema up to date may meet an older version of this program.
SCHEMA_LOCK = 7_340_221_905

# Of a row: nobody else changes it, and rows that name it may still be added. Without that, who
# adds an event of an experiment waits for who ends one of its runs, and the other way round.
AGAINST_CHANGES: Final = {"key_share": True}
