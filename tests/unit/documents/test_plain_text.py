"""Names from outside cannot forge lines, drive a terminal or become markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.core.documents.plain_text import (
    indented,
    markdown,
    neutralise,
    paragraph,
    unstructured,
    width,
    wrap,
)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\nb\tc", "a b c"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("a\u202eb\u200bc\x00d", "abcd"),
        ("a\u2028b\x85c", "a b c"),
    ],
)
def test_what_drives_a_terminal_is_taken_out(hostile: str, shown: str) -> None:
    assert neutralise(hostile) == shown


@given(st.text())
def test_neutral_text_is_one_printable_line(text: str) -> None:
    shown = neutralise(text)
    assert shown.isprintable()
    assert len(shown) <= 400


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a|b", r"a\|b"),
        ("`rm`", r"\`rm\`"),
        ("<img>", "&lt;img&gt;"),
        ("a&lt;b", "a&amp;lt;b"),
        ("[x](http://y)", r"\[x\](http://y)"),
        ("# head", r"\# head"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("2.32 Gbit/s", "2.32 Gbit/s"),
        (r"a\|b", r"a\\\|b"),
    ],
)
def test_markdown_shows_text_as_text(hostile: str, shown: str) -> None:
    assert markdown(hostile) == shown


@given(st.text(), st.integers(2, 40))
def test_wrapped_lines_keep_within_their_columns_and_lose_nothing(text: str, columns: int) -> None:
    shown = neutralise(text)
    lines = wrap(shown, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


def test_later_lines_stand_below_the_first_ones_text() -> None:
    assert indented("- ", "aa bb cc", 7) == ["- aa bb", "  cc"]


@pytest.mark.parametrize(
    "line",
    ["---", "-- ", "--", "> said", "From me", "diff --git a b", "+++ b", "@@ -1 +1", "Subject: x",
     "Signed-off-by: me", "====="],
)  # fmt: skip
def test_no_line_of_a_paragraph_is_a_mails_structure(line: str) -> None:
    said = f"{'x' * 69} {line} {'y' * 60}"
    assert paragraph(line.strip(), 72)[0].startswith(" ")
    for shown in paragraph(said, 72):
        assert unstructured(shown) == shown
        assert len(shown) <= 72


@given(st.text(max_size=300))
def test_a_paragraph_has_every_word_of_its_text(text: str) -> None:
    assert " ".join(paragraph(text, 40)).split() == " ".join(wrap(neutralise(text), 39)).split()
