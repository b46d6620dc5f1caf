"""A figure that is a bound is shown as one, in every answer that has it.

Events of the hardware cost nothing where instructions are counted, so that a mode that works by
them costs at least what was measured.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Engine, text

from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service
from mitigauge.tracking.regressions.schemas import NewRegression
from tests.golden.answers import answers
from tests.golden.scenes import SCENES
from tests.regressions_made import decided_cell

# No other figure of these answers looks like it.
EFFECT = 25.93
SHOWN = re.compile(r".{0,14}25\.93?%?")
MARKS = ("≥", "at least", "&ge;")


def test_every_answer_says_at_least_where_a_figure_is_a_bound(engine: Engine) -> None:
    SCENES["loss"](engine)
    cell = decided_cell(engine)
    with engine.begin() as connection:
        # What decides which sign a loss has: times, lower is better.
        connection.execute(
            text(
                "update verdict set effect_percent = :e, ci_low_percent = 25.11,"
                " ci_high_percent = 26.77, verdict = 'worse', bound = 'at_least'"
                " where effect_percent is not null and superseded_at is null"
            ),
            {"e": EFFECT},
        )
    with transaction(engine) as session:
        service.file_regression(session, NewRegression(**cell), by="mira")
    seen, lacking = 0, []
    for name, content in answers(engine):
        if "prices" in name:
            continue
        shown, wrong = looked_at(content.decode(errors="replace").partition("\n")[2])
        seen += shown
        lacking += [(name, each) for each in wrong]
    assert lacking == []
    assert seen > 40


def looked_at(body: str) -> tuple[int, list[str]]:
    """How often the figure stands there, and where without its mark."""
    try:
        found = list(in_json(json.loads(body)))
    except ValueError:
        found = list(in_csv(body)) if body[:200].count(",") > 8 else list(in_text(body))
    return len(found), [where for where, marked in found if not marked]


def in_json(value: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(value, dict):
        if any(isinstance(of, float) and abs(of - EFFECT) < 1e-6 for of in value.values()):
            yield str(value)[:300], value.get("bound") == "at_least"
        for of in value.values():
            yield from in_json(of)
    elif isinstance(value, list):
        for of in value:
            yield from in_json(of)
    elif isinstance(value, str):
        yield from in_text(value)


def in_csv(body: str) -> Iterator[tuple[str, bool]]:
    for row in csv.DictReader(io.StringIO(body)):
        if str(EFFECT) in row.values():
            yield str(row)[:300], row.get("bound") == "at_least"


def in_text(body: str) -> Iterator[tuple[str, bool]]:
    words = " ".join(body.split())
    for match in SHOWN.finditer(words):
        yield match[0], any(mark in match[0] for mark in MARKS)
