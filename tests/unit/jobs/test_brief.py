"""What a list says of a job: one line, whatever its error holds."""

from __future__ import annotations

import pytest

from cli.jobs import LONGEST_BRIEF, brief


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", ""),
        ("patch 1/1 does not apply", "patch 1/1 does not apply"),
        (
            "the build root cannot be made:\\nI: chroot\\nE: failed",
            "the build root cannot be made:",
        ),
        ("first\nsecond", "first"),
        ("word " * 100, "word " * 15 + "…"),
    ],
)
def test_a_list_has_the_beginning_alone(said: str, told: str) -> None:
    assert brief(said) == told
    assert len(brief(said)) <= LONGEST_BRIEF
