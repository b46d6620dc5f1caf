"""A file of limits as people write it: what is taken, and what is said of what is not."""

from __future__ import annotations

import pytest

from mitigauge.analysis.verdicts.limit_text import LARGEST_BYTES, read_limits
from mitigauge.core.errors import InvalidInput, TooLarge

FILE = """\
# The desktops' budget.
limits: ours
lines:
- workload: syscall
  metric: time_per_call
  case: {test: basic}
  mode: vmscape/ibpb
  at_most: 120
- {workload: syscall, metric: time_per_call, worse_by_percent: 1, than: before}
"""


def refusal(text: str) -> str:
    with pytest.raises(InvalidInput) as error:
        read_limits(text, "limits.yml")
    return error.value.message


def test_a_file_is_read() -> None:
    found = read_limits(FILE, "limits.yml")
    assert found.limits == "ours"
    assert [line.than for line in found.lines] == ["", "before"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("at_most: 120", "at_mots: 120", "limits.yml:8: lines.0.at_mots: Extra inputs"),
        ("at_most: 120", "at_most: 1 2", "limits.yml:8: lines.0.at_most"),
        ("lines:\n", "lines: [\n", "not valid YAML"),
        ("limits: ours", "limits: ../ours", "limits.yml:2: limits: '../ours' is not a name"),
        ("limits: ours", "limit: ours", "limits.yml:2: limit: Extra inputs"),
    ],
)  # fmt: skip
def test_a_slip_of_the_pen_is_named_by_its_line(old: str, new: str, said: str) -> None:
    assert old in FILE
    assert said in refusal(FILE.replace(old, new, 1))


def test_the_limit_of_size_stands_before_the_parsing() -> None:
    with pytest.raises(TooLarge, match="over 64 KiB"):
        read_limits("[" * (LARGEST_BYTES + 1), "limits.yml")
    # Characters that take more than one byte are counted by their bytes.
    with pytest.raises(TooLarge):
        read_limits("#" + "é" * (LARGEST_BYTES // 2), "limits.yml")
