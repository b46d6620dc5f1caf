"""Names in the order in which people count, where the database orders a part of a long list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

# A number becomes its last so many digits, filled with zeros from the left.
_DIGITS = 40
_FILLED = (r"([0-9]+)", "0" * _DIGITS + r"\1"), (rf"[0-9]*([0-9]{{{_DIGITS}}})", r"\1")


def natural_sql(column: str) -> str:
    """An expression that sorts ``column`` as text with numbers in it: v2 before v10."""
    for pattern, instead in _FILLED:
        column = f"regexp_replace({column}, '{pattern}', '{instead}', 'g')"
    return column


def natural(column: Any) -> ColumnElement[str]:
    """The same of a column of a table."""
    # Who lists experiments from the command line does without what takes long to load.
    from sqlalchemy import func

    for pattern, instead in _FILLED:
        column = func.regexp_replace(column, pattern, instead, "g")
    return column  # type: ignore[no-any-return]
