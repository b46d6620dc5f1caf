"""Columns of words that are an enumeration in the program."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import Dialect, String
from sqlalchemy.types import TypeDecorator


class EnumWord(TypeDecorator[StrEnum]):
    """Text that holds one word of an enumeration; a check of the table holds it to that too."""

    impl = String
    cache_ok = True

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The word; raises ValueError for one that is none of them."""
        return None if value is None else self.kind(value).value

    def process_result_value(self, value: Any, dialect: Dialect) -> StrEnum | None:  # noqa: ARG002
        """The stored word as the enumeration's member."""
        return None if value is None else self.kind(value)
