"""What a kind of table is: how it is read, arranged and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from mitigauge.core.documents.csv_text import as_csv
from mitigauge.core.documents.table import TableView
from mitigauge.core.documents.table_csv import table_csv
from mitigauge.core.documents.table_markdown import table_markdown
from mitigauge.core.documents.table_text import table_text
from mitigauge.core.errors import InvalidInput

Form = Literal["text", "markdown", "csv"]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which part of a kind's tables is asked for; None: all, or the first."""

    case: int | None = None
    host: str | None = None
    metric: str | None = None
    seconds: float | None = None
    figure: str | None = None
    arm: str | None = None
    function: str | None = None
    baseline: str | None = None

    def names(self) -> list[str]:
        """Names of what is asked for."""
        return [each.name for each in fields(self) if getattr(self, each.name) is not None]


class EmptyTable(BaseModel):
    """That an experiment has no table of a kind, and what would make one."""

    experiment_id: int
    experiment: str
    why: str


@dataclass(frozen=True, slots=True)
class Kind(Generic[Model]):
    """One kind of an experiment's tables.

    *read* raises :class:`mitigauge.core.errors.NotFound`; *rows* gives the columns and rows of a
    CSV file whose layout is published, without it each answer is a row.
    """

    name: str
    help: str
    takes: Sequence[str]
    read: Callable[[Session, int, TableQuery], Model | EmptyTable]
    arrange: Callable[[Model, TableQuery], TableView]
    rows: (
        Callable[[Model, TableQuery], tuple[Sequence[str], Iterable[Mapping[str, Any]]]] | None
    ) = None
    of_runs: bool = False
    """Whether runs of the experiment and claims alone change its tables: such a page is kept."""

    def view(self, session: Session, experiment_id: int, query: TableQuery) -> TableView:
        """The tables, before anybody decides how they look."""
        return self._arranged(self.checked_read(session, experiment_id, query), query)

    def checked_read(
        self, session: Session, experiment_id: int, query: TableQuery
    ) -> Model | EmptyTable:
        """What the tables are made of. Raises :class:`InvalidInput` for what the kind lacks."""
        unknown = [name for name in query.names() if name not in self.takes]
        if unknown:
            raise InvalidInput(
                f"a table of {self.name} cannot be asked for by {', '.join(unknown)}",
                hint=f"It takes {', '.join(self.takes) or 'nothing'}.",
            )
        return self.read(session, experiment_id, query)

    def write(self, session: Session, experiment_id: int, query: TableQuery, form: Form) -> str:
        """The tables as *form*."""
        return self.written(self.checked_read(session, experiment_id, query), query, form)

    def written(self, model: Model | EmptyTable, query: TableQuery, form: Form) -> str:
        """*model* as *form*."""
        if form == "csv" and self.rows is not None and not isinstance(model, EmptyTable):
            return "".join(as_csv(*self.rows(model, query)))
        view = self._arranged(model, query)
        write = {"text": table_text, "markdown": table_markdown, "csv": table_csv}[form]
        return write(view)

    def _arranged(self, model: Model | EmptyTable, query: TableQuery) -> TableView:
        if not isinstance(model, EmptyTable):
            return self.arrange(model, query)
        return TableView(
            table=self.name,
            title=f"{model.experiment}: no {self.name}",
            experiment_id=model.experiment_id,
            experiment=model.experiment,
            state="",
            notes=[model.why],
            sections=[],
        )
