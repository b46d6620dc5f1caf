"""The table of threads by name: what is kept, what is summed, and what the schema takes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from mitigauge.core.wire.threads import MOST_NAMES
from mitigauge.measurement.results.threads import ThreadsBody
from tests.loading import load

load("workloads/wakeups/parse.py")
# The kit lies beside the workloads, on the path that a workload makes for itself.
from _kit import threads  # type: ignore[import-not-found]  # noqa: E402


def is_own(name: str) -> bool:
    return bool(name == "own")


def table(*windows: dict[str, Any]) -> Any:
    told = threads.table([(1.5, list(window.items())) for window in windows], is_own)
    # The schema must take whatever the kit makes.
    ThreadsBody.model_validate(orjson.loads(orjson.dumps(told)))
    return told


def test_windows_are_summed_and_threads_are_those_at_a_time() -> None:
    first = {"own": threads.Activity(4, 10, 100, 5), "a": threads.Activity(1, 2, 7, 0)}
    second = {"own": threads.Activity(3, 30, 200, 6)}
    told = table(first, second)
    assert told["seconds"] == 3.0
    assert told["others"] is None
    assert told["rows"] == [
        {"name": "own", "own": True, "threads": 4, "wakeups": 40, "run_ns": 300, "wait_ns": 11},
        {"name": "a", "own": False, "threads": 1, "wakeups": 2, "run_ns": 7, "wait_ns": 0},
    ]


def test_own_names_are_kept_and_those_high_in_either_list_and_the_rest_is_summed() -> None:
    many = {f"n{n:03}": threads.Activity(2, 1000 - n, 1, 1) for n in range(200)}
    many |= {"own": threads.Activity(1, 0, 0, 0), "hog": threads.Activity(1, 0, 10**9, 0)}
    told = table(many)
    kept = [row["name"] for row in told["rows"]]
    assert (len(kept), kept[0]) == (MOST_NAMES, "own")
    assert "hog" in kept
    assert kept[1:5] == ["n000", "n001", "n002", "n003"]
    others = told["others"]
    assert others["names"] == 202 - MOST_NAMES
    shown = sum(row["wakeups"] for row in told["rows"])
    assert shown + others["wakeups"] == sum(one.wakeups for one in many.values())
    assert others["threads"] == 2 * others["names"]


def test_names_that_did_nothing_are_left_out_unless_they_are_the_load_s() -> None:
    told = table({"own": threads.Activity(1, 0, 0, 0), "idle": threads.Activity(9, 0, 0, 0)})
    assert [row["name"] for row in told["rows"]] == ["own"]


def test_a_time_that_one_window_lacks_is_not_known() -> None:
    told = table({"a": threads.Activity(1, 1, 5, 5)}, {"a": threads.Activity(1, 1, None, 5)})
    [row] = told["rows"]
    assert (row["run_ns"], row["wait_ns"]) == (None, 10)


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "\u202eevil", "x\ud800", "a\nb", "\x9b1m"])
def test_a_hostile_name_is_cleaned_and_two_that_look_alike_are_one(name: str) -> None:
    told = table({name: threads.Activity(1, 1), threads.shown(name): threads.Activity(1, 2)})
    [row] = told["rows"]
    assert row["wakeups"] == 3
    assert "\N{REPLACEMENT CHARACTER}" in row["name"]


def test_both_sides_keep_as_many_names() -> None:
    assert threads.MOST_NAMES == MOST_NAMES
