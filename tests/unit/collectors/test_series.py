"""Series of collectors: read from what a host left, refused where they are none, packed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire.collectors import SUMMARY_FILE
from mitigauge.measurement.collectors.samples import (
    MOST_SAMPLES,
    Samples,
    packed,
    read_series,
    read_summary,
    unpacked,
)
from mitigauge.measurement.collectors.service import read_collected

HEAD = {"collector": "cpu", "columns": [["idle", "count"], ["load", "level"]]}
ROWS = ["1000000000 5 7", "2000000000 9 3", "3000000000 12 4"]


def written(directory: Path, head: Any = None, rows: list[str] | None = None) -> Path:
    path = directory / "cpu.txt"
    lines = [json.dumps(head or HEAD), *(ROWS if rows is None else rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_series_is_read_by_column(tmp_path: Path) -> None:
    series = read_series(written(tmp_path), "cpu")
    assert series.times_ns.tolist() == [10**9, 2 * 10**9, 3 * 10**9]
    idle, load = series.column("idle"), series.column("load")
    assert idle is not None
    assert load is not None
    assert (idle.tolist(), load.tolist()) == ([5, 9, 12], [7, 3, 4])
    assert series.column("user") is None


def test_a_count_that_falls_has_begun_again_and_a_level_may_fall(tmp_path: Path) -> None:
    rows = ["1 100 9", "2 130 2", "3 20 8", "4 25 1"]
    series = read_series(written(tmp_path, rows=rows), "cpu")
    assert series.values.tolist() == [[100, 130, 150, 155], [9, 2, 8, 1]]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["1 2 3"], "3 numbers in 1 lines"),
        (["1 2 3", "2 2"], "of 3 each"),
        (["1 2 3", "2 2 3 4", "3 3"], "a line has not 3 numbers"),
        (["1 2 3", "1 2 3"], "times do not ascend"),
        (["2 2 3", "1 2 3"], "times do not ascend"),
        (["1 2 3", "2 -2 3"], "something else in it than whole numbers"),
        (["1 2 3", "2 2.5 3"], "something else in it than whole numbers"),
        (["1 2 3", "2 nan 3"], "something else in it than whole numbers"),
        (["1 2 3", f"2 {10**18} 3"], "something else in it than whole numbers"),
        ([f"{n} 1 1" for n in range(MOST_SAMPLES + 1)], "numbers in 4097 lines"),
    ],
)
def test_what_is_no_series_is_refused(tmp_path: Path, rows: list[str], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_series(written(tmp_path, rows=rows), "cpu")


@pytest.mark.parametrize(
    "head",
    [
        {"collector": "memory", "columns": [["idle", "count"], ["load", "level"]]},
        {"collector": "cpu", "columns": [["idle", "count"], ["idle", "level"]]},
        {"collector": "cpu", "columns": [["\x1b[31m", "count"], ["load", "level"]]},
        {"collector": "cpu", "columns": [["idle", "gauge"], ["load", "level"]]},
        {"collector": "cpu", "columns": []},
        {"collector": "cpu", "columns": [[f"c{n}", "count"] for n in range(65)]},
        [1, 2],
    ],
)
def test_a_head_that_cannot_be_is_refused(tmp_path: Path, head: Any) -> None:
    with pytest.raises(InvalidInput, match=r"collected/cpu\.txt: its first line"):
        read_series(written(tmp_path, head=head), "cpu")


def test_a_link_and_a_file_too_large_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "cpu.txt").symlink_to("/etc/passwd")
    with pytest.raises(InvalidInput, match="missing"):
        read_series(tmp_path / "cpu.txt", "cpu")
    (tmp_path / "cpu.txt").unlink()
    (tmp_path / "cpu.txt").write_bytes(b"0" * (4 << 20))
    with pytest.raises(InvalidInput, match="4194304 bytes"):
        read_series(tmp_path / "cpu.txt", "cpu")


def test_counts_whose_sum_is_no_number_say_nothing(tmp_path: Path) -> None:
    large = 9 * 10**17
    rows = [f"{n} {large if n % 2 else 0} 1" for n in range(1, 60)]
    series = read_series(written(tmp_path, rows=rows), "cpu")
    assert not series.values[0].any()


def test_without_a_summary_nothing_of_what_was_asked_is_there(tmp_path: Path) -> None:
    written(tmp_path)
    found = read_collected(tmp_path, ["cpu", "memory"], None)
    assert set(found.absent) == {"cpu", "memory"}
    assert not found.series


def test_what_is_absent_says_why_and_what_was_not_asked_for_is_not_looked_at(
    tmp_path: Path,
) -> None:
    written(tmp_path)
    summary = {"absent": {"power": "no RAPL\x1b[2J"}, "processors": 4, "spent_ns": 4_000_000,
               "lasted_ns": 10**9, "samples": 3}  # fmt: skip
    (tmp_path / SUMMARY_FILE).write_text(json.dumps(summary))
    assert read_summary(tmp_path / SUMMARY_FILE).cost_percent == pytest.approx(0.1)
    found = read_collected(tmp_path, ["power", "disk"], None)
    assert found.absent["power"] == "no RAPL�[2J"
    assert "disk.txt: it is missing" in found.absent["disk"]
    assert not found.series
    assert list(read_collected(tmp_path, ["cpu"], None).series) == ["cpu"]


@pytest.mark.parametrize(
    "change", [{"processors": 0}, {"lasted_ns": 0}, {"spent_ns": -1}, {"x": 1}]
)
def test_a_summary_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    good = {"absent": {}, "processors": 1, "spent_ns": 1, "lasted_ns": 1, "samples": 1}
    (tmp_path / SUMMARY_FILE).write_text(json.dumps(good | change))
    with pytest.raises(InvalidInput, match="no summary of collectors"):
        read_summary(tmp_path / SUMMARY_FILE)


@given(st.lists(st.lists(st.integers(0, 2**62), min_size=3, max_size=3), min_size=2, max_size=30))
def test_what_is_packed_comes_back(rows: list[list[int]]) -> None:
    times = np.arange(1, len(rows) + 1, dtype=np.int64) * 10**9
    series = Samples(
        "x", {"a": "count", "b": "level", "c": "count"}, times, np.array(rows, np.int64).T
    )
    again = unpacked(packed(series))
    assert again.columns == series.columns
    assert np.array_equal(again.times_ns, times)
    assert np.array_equal(again.values, series.values)


def test_an_hour_of_ten_columns_takes_few_bytes_a_sample() -> None:
    generator = np.random.default_rng(7)
    times = np.cumsum(generator.integers(999_000_000, 1_001_000_000, 1800))
    values = np.cumsum(generator.integers(0, 5000, (10, 1800)), axis=1)
    data = packed(Samples("x", {f"c{n}": "count" for n in range(10)}, times, values))
    assert len(data) / 1800 < 25


@pytest.mark.parametrize("damage", [b"", b"MGC1", b"XXXX" + bytes(40)])
def test_what_is_no_packed_series_is_refused(damage: bytes) -> None:
    with pytest.raises(ValueError, match="series"):
        unpacked(damage)


def test_a_damaged_blob_is_refused(tmp_path: Path) -> None:
    data = packed(read_series(written(tmp_path), "cpu"))
    with pytest.raises(ValueError, match="series"):
        unpacked(data[:-4])
