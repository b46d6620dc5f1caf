"""A file of limits as people write it: what is taken, and what is said of what is not."""

from __future__ import annotations

import pytest

from mitigauge.analysis.verdicts.limit_text import LARGEST_BYTES, read_known_limits, read_limits
from mitigauge.core.errors import InvalidInput, TooLarge
from mitigauge.measurement.catalog import Catalog

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
    catalog = Catalog()
    with pytest.raises(InvalidInput) as error:
        read_known_limits(text, "limits.yml", catalog.workloads, catalog.mode_names)
    return error.value.message


def test_a_file_is_read() -> None:
    catalog = Catalog()
    found = read_known_limits(FILE, "limits.yml", catalog.workloads, catalog.mode_names)
    assert found.limits == "ours"
    assert [line.than for line in found.lines] == ["", "before"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("metric: time_per_call\n", "metric: time_per_cal\n", "limits.yml:5: lines.0.metric: "
         "syscall has no metric time_per_cal; known: time_per_call"),
        ("workload: syscall\n", "workload: sycall\n", "limits.yml:4: lines.0.workload: there is no "
         "workload sycall"),
        ("test: basic", "tets: basic", "limits.yml:6: lines.0.case: syscall has no parameter tets"),
        ("test: basic", "test: basics", "limits.yml:6: lines.0.case: test is never 'basics'"),
        ("vmscape/ibpb", "vmscape/idpb", "limits.yml:7: lines.0.mode: there is no mode"),
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


def test_what_is_wrong_many_times_is_said_some_times() -> None:
    line = "- {workload: syscall, metric: nothing, at_most: 1}\n"
    said = refusal("limits: ours\nlines:\n" + 30 * line)
    assert len(said.splitlines()) == 21
    assert said.endswith("and 10 more")


def test_the_limit_of_size_stands_before_the_parsing() -> None:
    with pytest.raises(TooLarge, match="over 64 KiB"):
        read_limits("[" * (LARGEST_BYTES + 1), "limits.yml")
    # Characters that take more than one byte are counted by their bytes.
    with pytest.raises(TooLarge):
        read_limits("#" + "é" * (LARGEST_BYTES // 2), "limits.yml")
