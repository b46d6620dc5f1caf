"""A table before anybody decides how it looks: sections, tables, typed cells.

Texts are still as hostile as they came; each renderer makes them harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.effect import CellState, Effect

Part = Literal["change", "interval", "n", "verdict"]
DECIDED: tuple[Part, ...] = ("change", "interval", "n", "verdict")


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Quantity(_Closed):
    """A value in its unit; without one, the words that stand in its place."""

    kind: Literal["quantity"] = "quantity"
    value: float | None = None
    unit: str = ""
    low: float | None = Field(None, description="of its 95 % interval over boots")
    high: float | None = None
    boots: int = Field(0, description="that have a value")
    of: int = Field(0, description="boots that could have one")
    at_least: bool = Field(False, description="some boots count as the most that was tried")
    whole: bool = Field(False, description="told in whole numbers, from 100 on")
    words: str = Field("", description="in place of a value")


class TextCell(_Closed):
    """Words, perhaps with a page behind them."""

    kind: Literal["text"] = "text"
    text: str
    title: str = Field("", description="the longer name, where there is room")
    href: str = Field("", description="path of the dashboard")
    mark: str = Field("", description="what else to know of it, in a word")


class ClaimFigure(_Closed):
    """A published figure that stands beside an answer. Percent, as the answer's effect."""

    source: str
    label: str = Field(description="which of the source's figures")
    low: float
    high: float
    outcome: str
    reason: str


class Answer(_Closed):
    """What was measured of one arm: a value, its effect, or why there is none."""

    kind: Literal["answer"] = "answer"
    state: CellState
    n: int = Field(0, description="boots that count")
    value: Quantity | None = None
    effect: Effect | None = None
    more: dict[str, Quantity] = Field(
        default_factory=dict, description="further figures, by the names in the table's `more`"
    )
    claims: list[ClaimFigure] = Field(default_factory=list)
    note: str = Field("", description="why there is no effect, or what to know of it")
    href: str = Field("", description="page of the dashboard behind it")


Cell = Annotated[TextCell | Quantity | Answer, Field(discriminator="kind")]


class ArmHead(_Closed):
    """The arm that a column is of."""

    id: int
    name: str
    mode: str = ""
    kernel: str = Field("", description="empty: the host's own")
    is_baseline: bool = False


class TableColumn(_Closed):
    """One column: what it holds, and how much of it a text shows."""

    key: str
    title: str
    kind: Literal["text", "quantity", "answer"] = "text"
    arm: ArmHead | None = None
    parts: Sequence[Part] = Field((), description="of an effect, each in a column; none: in one")
    with_interval: bool = Field(False, description="whether a quantity's interval is shown")


class TableNote(_Closed):
    """A line below a table."""

    text: str
    label: str = ""


class DataTable(_Closed):
    """Rows of cells, one for each column. Columns of arms begin with the baseline's."""

    caption: str = ""
    columns: list[TableColumn]
    rows: list[list[Cell]]
    more: dict[str, str] = Field(
        default_factory=dict, description="titles of further figures, with their unit"
    )
    claims: Literal["beside", "below"] = Field(
        "beside", description="where a text has claims: in a column if it fits, or a line each"
    )
    claims_title: str = ""
    crossed: bool = Field(
        False, description="the first two columns cross: a page may show them as rows and columns"
    )
    notes: list[TableNote] = Field(default_factory=list)


class TableSection(_Closed):
    """Tables of one thing, with what their figures mean."""

    title: str
    meaning: str = ""
    href: str = Field("", description="page of what it is of")
    emulated: bool = False
    counted: bool = Field(False, description="whether the host's time counts instructions")
    tables: list[DataTable]
    notes: list[TableNote] = Field(default_factory=list)


class TableChoice(_Closed):
    """Another table of the same kind that can be asked for."""

    title: str
    query: dict[str, str]


class TableView(_Closed):
    """All tables of one kind that were asked for."""

    table: str = Field(description="the kind")
    title: str
    experiment_id: int
    experiment: str
    state: str
    emulated: bool = False
    counted: bool = False
    notes: list[str] = Field(default_factory=list, description="said before the first table")
    sections: list[TableSection]
    choices: list[TableChoice] = Field(default_factory=list)
    more: str = Field("", description="what was left out")
