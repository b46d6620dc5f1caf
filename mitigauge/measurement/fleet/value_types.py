"""Types that values of an inventory are made of. Pure."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from mitigauge.core.hostile_text import HOSTILE

_TEMPLATE = re.compile(r"\{[{%#]")


def _plain(text: str) -> str:
    if HOSTILE.search(text) or "\n" in text:
        raise ValueError("has a control character")
    if _TEMPLATE.search(text):
        raise ValueError("has a template, which is not evaluated here")
    return text


Line = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_plain)]
File = Annotated[
    str, StringConstraints(pattern=r"^/[^\x00]+$", max_length=4096), AfterValidator(_plain)
]
# A name or an address; never something that a program could take for an option.
Machine = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9:][A-Za-z0-9._:%-]{0,252}$")]
