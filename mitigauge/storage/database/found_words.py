"""Rows that have words in some of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import Select, or_
from sqlalchemy.orm import InstrumentedAttribute

from mitigauge.storage.database.like import ESCAPE, within

Asked = TypeVar("Asked", bound=Select)  # type: ignore[type-arg]


def with_words(asked: Asked, text: str, columns: Sequence[InstrumentedAttribute[str]]) -> Asked:
    """*asked*, of rows each of whose columns together have every word of *text*, in any case."""
    for word in text.split():
        pattern = within(word)
        asked = asked.where(or_(*(column.ilike(pattern, escape=ESCAPE) for column in columns)))
    return asked
