"""Downloads: no cell is a formula, and every value is there."""

from __future__ import annotations

import csv
import io
import json

import pytest

from mitigauge.core.documents.csv_text import as_csv, as_json_lines, harmless


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0"]
)
def test_a_text_that_a_spreadsheet_would_run_is_made_a_text(text: str) -> None:
    assert harmless(text) == f"'{text}"
    written = "".join(as_csv(["name"], [{"name": text}]))
    [_, [cell]] = list(csv.reader(io.StringIO(written, newline="")))
    assert cell[0] == "'"


@pytest.mark.parametrize("value", [-3.5, 7, None, "off", "a=b", "x-y"])
def test_numbers_and_plain_texts_stay_as_they_are(value: object) -> None:
    assert harmless(value) == value


def test_a_table_comes_back_whole_however_long_it_is() -> None:
    rows = [{"case": f'say "{i}", please\n', "value": i / 3} for i in range(5000)]
    pieces = list(as_csv(["case", "value"], rows))
    assert len(pieces) > 1
    read = list(csv.DictReader(io.StringIO("".join(pieces), newline="")))
    assert [(row["case"], float(row["value"])) for row in read] == [
        (row["case"], row["value"]) for row in rows
    ]


def test_lines_of_json_hold_one_row_each() -> None:
    lines = list(as_json_lines([{"a": 1.5, "b": None}, {"a": -2.0, "b": "x"}]))
    assert [json.loads(line) for line in lines] == [{"a": 1.5, "b": None}, {"a": -2.0, "b": "x"}]
