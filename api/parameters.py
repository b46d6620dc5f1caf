"""What parameters of addresses may hold, as it stands in the OpenAPI document too."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Path, Query
from pydantic import AwareDatetime, BeforeValidator

# Without control characters, which :mod:`api.guard` refuses anywhere in an address.
PLAIN = r"^[^\x00-\x1f\x7f]*$"
LONGEST = 200

Id = Annotated[int, Path(ge=1, lt=2**31)]
IdQuery = Annotated[int, Query(ge=1, lt=2**31)]
MaybeIdQuery = Annotated[int | None, Query(ge=1, lt=2**31)]
# The database counts events with 64 bits.
EventId = Annotated[int, Query(ge=0, lt=2**63)]
NameInPath = Annotated[str, Path(max_length=LONGEST, pattern=PLAIN)]
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")


def _in_words(value: object) -> object:
    """Refuse a time as a number, which would be taken for seconds."""
    if isinstance(value, str) and not _DATE_TIME.match(value):
        raise ValueError("give a time as 2026-12-01T18:00:00Z")
    return value


# With its zone.
Moment = Annotated[AwareDatetime, BeforeValidator(_in_words)]
Word = Annotated[str, Query(max_length=LONGEST, pattern=PLAIN)]
