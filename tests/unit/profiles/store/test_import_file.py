"""A file is recognised as folded stacks or as perf's text."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import pytest

from mitigauge.analysis.profiles.store import import_file
from mitigauge.analysis.profiles.store.import_file import read_profile
from mitigauge.core.errors import InvalidInput
from tests.measuring import within_processor_s

TEXT = b"perf;main;f 3\nperf;main;g 4\n"


def profile(data: bytes, event: str = "") -> dict[bytes, int]:
    return read_profile(io.BytesIO(data), name="file", digest="0" * 64, event=event)[0]


def test_a_file_is_known_by_its_first_line() -> None:
    capture = b"perf 1 [000] 1.5: 7 cycles:\n\t1 f (x)\n\n"
    assert profile(capture) == {b"perf;f": 7}
    assert profile(gzip.compress(capture)) == {b"perf;f": 7}
    assert profile(TEXT) == {b"perf;main;f": 3, b"perf;main;g": 4}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "file is empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20, "neither folded stacks nor"),
        (b"PERFILE2" + b"h" * 100, "neither folded stacks nor"),
        (b"<html><body>no</body></html>\n", "neither folded stacks nor"),
    ],
)
def test_another_file_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        profile(data)


def test_names_with_markup_are_names() -> None:
    assert profile(b"<script>;alert(1)&amp; 2\n") == {b"<script>;alert(1)&amp;": 2}


def test_comments_at_the_head_say_nothing_of_the_form() -> None:
    head = b"# mode: wall\n#\n\n"
    assert profile(head + b"a;f 3\n#b;f 4\n") == {b"a;f": 3, b"#b;f": 4}
    assert profile(head + b"perf 1 [000] 1.5: 7 cycles:\n\t1 f (x)\n\n") == {b"perf;f": 7}


def test_a_difference_of_two_profiles_is_refused_and_a_name_with_a_number_is_not() -> None:
    with pytest.raises(InvalidInput, match=r"file:2: two counts, 31 and 56"):
        profile(b"# x\na;f 31 56\na 1 2\na;g 4 5\n")
    assert profile(b"a;f 31 56\na;g 5\n") == {b"a;f 31": 56, b"a;g": 5}
    assert profile(b"CPU 1 56\n") == {b"CPU 1": 56}


@pytest.mark.parametrize(
    ("name", "limit"), [("MOST_BYTES", 20), ("MOST_SYMBOLS", 3), ("MOST_FRAMES", 5)]
)
@pytest.mark.parametrize("perf", [False, True])
def test_a_file_that_holds_too_much_is_refused_as_it_is_read(
    monkeypatch: pytest.MonkeyPatch, name: str, limit: int, perf: bool
) -> None:
    text = TEXT + b"perf;main;other 3\n"
    if perf:
        text = b"".join(
            b"perf 1 [000] 1.5: 7 cycles:\n\t1 %b (x)\n\t1 main (x)\n\n" % leaf
            for leaf in (b"f", b"g", b"other")
        )
    assert len(profile(text)) == 3
    monkeypatch.setattr(import_file, name, limit)
    with pytest.raises(InvalidInput, match=f"more than {limit} bytes|{limit} (different|frames)"):
        profile(text)


def test_a_large_file_takes_little_memory_and_time() -> None:
    """30 MB, each stack with names of its own: refused by the names, long before its end."""
    lines = (f"app;main;a_{n};b_{n};c_{n};d_{n} 1\n".encode() for n in range(800_000))
    text = b"".join(lines)
    tracemalloc.start()
    with (
        within_processor_s(60),
        pytest.raises(InvalidInput, match="more than 200000 different names"),
    ):
        profile(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(text)
