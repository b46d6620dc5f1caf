"""Limits in the weekly report: the broken and those that cannot be told, and nothing else."""

from __future__ import annotations

from typing import Any

from mitigauge.analysis.verdicts.limit_schemas import LimitRow
from mitigauge.core.documents.plain_text import width
from mitigauge.reporting.letters.weekly.arrangement import arrange
from mitigauge.reporting.letters.weekly.data import LimitLine, LimitsOfWeek
from mitigauge.reporting.letters.weekly.html import render_html
from mitigauge.reporting.letters.weekly.limit_section import MOST, limit_section
from mitigauge.reporting.letters.weekly.text import render_markdown, render_text
from tests.unit.letters.weekly.made import week_of, word

EVIL = "<script>alert(1)</script> | [x](http://y) \x1b[31m"


def line(**more: Any) -> LimitLine:
    said = {
        "file": "ours", "line": 3, "limit": "syscall/time_per_call at most 101 ns",
        "because": "the budget", "case": "syscall basic", "case_id": 7, "host": "spr-1",
        "arm": "after", "value": 103.0, "low": 102.9, "high": 103.2, "unit": "ns",
        "kept": "fail", "why": "",
    }  # fmt: skip
    row = LimitRow.model_validate({**said, **more})
    return LimitLine(experiment_id=12, experiment="toys-v2", row=row)


def week(*lines: LimitLine, kept: int = 3) -> LimitsOfWeek:
    broken = sum(each.row.kept == "fail" for each in lines)
    unsure = len(lines) - broken
    return LimitsOfWeek(broken=broken, cannot_tell=unsure, kept=kept, lines=list(lines))


def texts(limits: LimitsOfWeek | None) -> list[str]:
    data = week_of(word("worse", 5)).model_copy(update={"limits": limits})
    document = arrange(data)
    html = render_html(document, base="http://here")
    return [render_text(document), render_markdown(document, base="http://here"), html]


def test_what_is_broken_is_said_with_its_figure_and_its_page() -> None:
    found = limit_section(week(line(), line(kept="cannot_tell", why="2 boots that count")))
    assert found
    assert found.title == "Limits: 1 broken, 1 cannot be told"
    assert [entry.head[0].text for entry in found.entries] == ["broken: ", "cannot be told: "]
    assert found.entries[0].head[1].href == "/experiments/12/cases/7?host=spr-1"
    text = " ".join(texts(week(line()))[0].split())
    assert "syscall basic, after on spr-1 is 103 [102.9, 103.2] ns" in text
    assert "experiment 12, toys-v2; the budget" in text


def test_without_one_that_is_not_kept_there_is_no_section() -> None:
    assert limit_section(None) is None
    assert limit_section(week()) is None
    assert all("Limits:" not in each for each in texts(week()))


def test_more_than_can_be_told_is_counted() -> None:
    found = limit_section(week(*[line()] * (MOST + 2)))
    assert found
    assert (len(found.entries), found.more) == (MOST, "2 more.")


def test_hostile_names_are_no_markup() -> None:
    text, markdown, html = texts(week(line(case=EVIL, host=EVIL, because=EVIL, arm=EVIL)))
    assert "<script" not in html
    assert "\x1b" not in text + markdown + html
    assert "[x](http://y)" not in markdown
    assert max(map(width, text.splitlines())) <= 78
