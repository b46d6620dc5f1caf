"""The badge of a rate: what it says, and that no text is markup in it."""

from __future__ import annotations

from typing import Any
from xml.dom import minidom

import pytest

from mitigauge.reporting.pages.error_rate_badge import LONGEST_TEXT, badge_of, draw_badge
from mitigauge.reporting.pages.error_rates import ErrorRate

EVIL = "<script>alert(1)</script>\" onload='x' & ]]> \x1b[31m\u202e"


def rate(**more: Any) -> ErrorRate:
    said = {
        "name": "confirmed", "title": "t", "badge": "confirmed false", "meaning": "m",
        "emulated": False, "of": 40, "wrong": 1, "percent": 2.5, "low": 0.0633, "high": 13.16,
    }  # fmt: skip
    return ErrorRate.model_validate({**said, **more})


def texts(svg: str) -> list[str]:
    root = minidom.parseString(svg).documentElement
    assert root is not None
    found = [*root.getElementsByTagName("title"), *root.getElementsByTagName("text")]
    return ["".join(getattr(node, "data", "") for node in each.childNodes) for each in found]


@pytest.mark.parametrize(
    ("of", "label", "words"),
    [
        (rate(), "confirmed false", "1 of 40 [0.063, 13 %]"),
        (rate(emulated=True), "confirmed false, emulated", "1 of 40 [0.063, 13 %]"),
        (rate(of=40, wrong=0, low=0.0, high=8.81), "confirmed false", "0 of 40 [0, 8.8 %]"),
        (rate(of=0, wrong=0, percent=None, low=None, high=None), "confirmed false", "none yet"),
    ],
)
def test_it_says_how_many_of_how_many_with_the_interval(
    of: ErrorRate, label: str, words: str
) -> None:
    assert texts(badge_of(of)) == [f"{label}: {words}", label, words]


def test_hostile_texts_are_escaped_and_cut() -> None:
    svg = draw_badge(EVIL, EVIL * 20)
    root = minidom.parseString(svg).documentElement
    assert root is not None
    assert {each.tagName for each in root.getElementsByTagName("*")} == {
        "title", "rect", "g", "text",
    }  # fmt: skip
    assert set(root.attributes.keys()) == {"xmlns", "width", "height", "role", "aria-label"}
    assert "\x1b" not in svg
    assert all(len(each) <= LONGEST_TEXT for each in texts(svg)[1:])


def test_it_has_no_script_no_style_and_no_address_but_its_own_name_space() -> None:
    svg = badge_of(rate())
    assert svg.count("http") == 1
    assert all(word not in svg for word in ("<script", "<style", "href", "url("))
