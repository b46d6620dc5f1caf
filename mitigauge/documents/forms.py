"""The forms in which a view of tables is told: plain text, Markdown, CSV. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from mitigauge.documents.csv_text import as_csv

Form = Literal["text", "markdown", "csv"]
Told = TypeVar("Told", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Forms(Generic[Told]):
    """How one kind of view is written; ``rows`` are those of the CSV file, with ``columns``."""

    text: Callable[[Told], str]
    markdown: Callable[[Told], str]
    columns: Sequence[str]
    rows: Callable[[Told], Iterable[Mapping[str, Any]]]

    def written(self, view: Told, form: Form) -> str:
        """*view* as *form*."""
        if form == "csv":
            return "".join(as_csv(self.columns, self.rows(view)))
        return (self.text if form == "text" else self.markdown)(view)
