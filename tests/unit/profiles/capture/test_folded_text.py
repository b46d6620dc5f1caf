"""Folded text is read, checked and written."""

from __future__ import annotations

import io

import pytest

from mitigauge.analysis.profiles.capture.folded_text import read_folded, write_folded
from mitigauge.core.errors import InvalidInput

TEXT = b"perf;main;f 3\nperf;main;g 4\n"


def test_folded_text_is_read_and_written_back() -> None:
    out = io.BytesIO()
    write_folded(read_folded([TEXT], name="file"), out)
    assert out.getvalue() == TEXT


def test_a_stack_that_stands_twice_is_added_up() -> None:
    assert read_folded([b"a;b 1\na;", b"b 2\n"], name="file") == {b"a;b": 3}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"a;b -3\n", "file:1: a count of '-3'"),
        (b"a;b 0\n", "file:1: a count of '0'"),
        (b"a;b 1\na;b x\n", "file:2: 'x' is no count"),
        (b"a;b 1.5\n", "file:1: '1.5' is no count"),
        (b"a;b 99999999999999999999\n", "file:1: a count of '9999"),
        (b"a 9007199254740990\nb 9007199254740990\n", "add up to more than"),
        (b"nothing\n", "file:1: no `stack count`"),
        (b"\n\n", "file has no stack"),
        (b";".join([b"f"] * 2000) + b" 1\n", "a stack of 2000 frames"),
        (b"x" * (3 << 20) + b" 1\n", "file:1: .*characters in one line|no `stack count`"),
    ],
)
def test_bad_folded_text_is_refused_by_line(data: bytes, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_folded([data], name="file")


def test_a_comment_is_one_wherever_it_stands() -> None:
    text = b"# first\na;b 4\n# second boot, host 7\n#\na;c 3\n#x;y 2\n"
    assert read_folded([text], name="file") == {b"a;b": 4, b"a;c": 3, b"#x;y": 2}


@pytest.mark.parametrize("count", [b"1_0", b"+5", b"0x5"])
def test_a_count_is_written_with_digits_alone(count: bytes) -> None:
    with pytest.raises(InvalidInput, match="is no count"):
        read_folded([b"a;b " + count], name="file")
