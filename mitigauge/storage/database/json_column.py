"""Columns of JSON that are a type in the program: parsed as they are read, checked as written."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator


class JsonOf(TypeDecorator[Any]):
    """JSONB that holds values of one type, whatever pydantic knows as one."""

    impl = JSONB
    cache_ok = True

    def __init__(self, kind: Any, *, exclude_unset: bool = False) -> None:
        """*exclude_unset*: fields that were not given are not stored."""
        super().__init__()
        self.kind = kind
        self.exclude_unset = exclude_unset
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """The value as JSON; what is none of the type raises pydantic's error."""
        if value is None:
            return None
        checked = self._adapter.validate_python(value)
        return self._adapter.dump_python(checked, mode="json", exclude_unset=self.exclude_unset)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """The stored JSON as the type."""
        return None if value is None else self._adapter.validate_python(value)
