"""The metadata of all tables: every `tables.py` of the package registers its own.

A new file of tables is found by its name; nothing lists them.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path

from sqlalchemy import MetaData

import mitigauge
from mitigauge.storage.database.base import Base

FILE = "tables.py"
PACKAGE = Path(mitigauge.__path__[0])


@lru_cache(maxsize=1)
def register_tables() -> None:
    """Import every file of tables, once a process."""
    for path in sorted(PACKAGE.rglob(FILE)):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        import_module(".".join((mitigauge.__name__, *parts)))


def whole_metadata() -> MetaData:
    """The metadata with all tables."""
    register_tables()
    return Base.metadata
