"""What parameters of addresses may hold, as it stands in the OpenAPI document too."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

# Without control characters, which :mod:`api.guard` refuses anywhere in an address.
PLAIN = r"^[^\x00-\x1f\x7f]*$"
LONGEST = 200

Id = Annotated[int, Path(ge=1, lt=2**31)]
IdQuery = Annotated[int, Query(ge=1, lt=2**31)]
MaybeIdQuery = Annotated[int | None, Query(ge=1, lt=2**31)]
# The database counts events with 64 bits.
EventId = Annotated[int, Query(ge=0, lt=2**63)]
NameInPath = Annotated[str, Path(max_length=LONGEST, pattern=PLAIN)]
Word = Annotated[str, Query(max_length=LONGEST, pattern=PLAIN)]
