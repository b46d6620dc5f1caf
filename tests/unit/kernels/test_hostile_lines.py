"""Lines that were written to keep a pattern busy: each is read at once, or its test never ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from mitigauge.kernels.build_log import _KCONFIG
from mitigauge.kernels.diff import _MOMENT
from mitigauge.kernels.loose_patch import _FUNCTION
from mitigauge.kernels.mails.subject import LONGEST_TITLE, patch_subject

# The square of it is hours.
LONG = 1_000_000


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError("a pattern takes more than a time that grows with the line")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_blanks_behind_a_files_name_are_no_moment() -> None:
    assert _MOMENT.sub("", "a/file" + " " * LONG + "!") == "a/file" + " " * LONG + "!"
    assert _MOMENT.sub("", "a/file   2026-11-01 12:00:00 +0100") == "a/file"
    assert _MOMENT.sub("", "a/file\tMon Nov  2 12:00:00 2026") == "a/file"


def test_a_word_without_end_is_no_function() -> None:
    assert _FUNCTION.search("a" * LONG) is None
    assert _FUNCTION.search("a" + " " * LONG) is None
    found = _FUNCTION.search("static int do_it (void)")
    assert found
    assert found["name"] == "do_it"


def test_a_subject_is_read_as_far_as_people_write_one() -> None:
    for text in ("[" * LONG, "[a," * LONG, "[PATCH]" * LONG, "[PATCH v1] " + "x" * LONG,
                 "[" + "1/" * LONG):  # fmt: skip
        subject = patch_subject(text)
        assert subject is None or len(subject.title) <= LONGEST_TITLE
    plain = patch_subject("[net,v2,1/2] a title")
    assert plain
    assert (plain.version, plain.position, plain.total) == (2, 1, 2)


def test_a_line_of_a_log_is_no_place_however_long() -> None:
    assert _KCONFIG.fullmatch("a/" * LONG + "Kconfig") is None
