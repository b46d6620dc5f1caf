"""A diff as bytes: a header that is told, and arrays where it says they are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mitigauge.analysis.profiles.diff.payload import (
    DiffHeader,
    DiffPruned,
    DiffSide,
    encoded,
    laid_out,
)

ARRAYS = {
    "a": np.arange(3, dtype=np.int32),
    "b": np.zeros(2, np.uint8),
    "c": np.array([1.5, np.nan], np.float32),
    "d": np.array([1e9 + 0.001], dtype=np.float32),
}


def header(**fields: object) -> DiffHeader:
    side = DiffSide(
        label="é", of=None, boots=2, samples=3, lost=0, operations=None, total=1.5,
        unknown_percent=0.0, truncated_percent=0.0, idle_percent=50.0,
    )  # fmt: skip
    every = {
        "a": side, "b": side, "basis": "raw", "bases": ["raw"], "unit": "ns",
        "title": "t", "host": "", "emulated": False, "counted": False,
        "event": "cpu-clock", "merged": True,
        "rules_version": 1, "names": ["all"], "raw_names": {}, "renamed": {},
        "pruned": DiffPruned(nodes=0, a=0.0, b=0.0),
        "experiment": None, "case": None, "where": "host", "wheres": ["host"], "svg_by": None,
        "arrays": {},
    }  # fmt: skip
    return DiffHeader.model_validate(every | fields)


def test_arrays_are_aligned_and_read_back_from_where_the_header_says() -> None:
    places, body = laid_out(ARRAYS)
    answer = encoded(header(arrays=places), body)
    assert answer[:4] == b"MGPD"
    begin = 16 + int.from_bytes(answer[8:12], "little")
    told = json.loads(answer[16:begin])
    assert (told["a"]["label"], told["a"]["operations"]) == ("é", None)
    assert begin % 8 == (len(answer) - begin) % 8 == 0
    for name, array in ARRAYS.items():
        place = told["arrays"][name]
        assert place["offset"] % 8 == 0
        read = np.frombuffer(answer, place["type"], place["length"], begin + place["offset"])
        assert np.array_equal(read, array, equal_nan=array.dtype.kind == "f")


def test_an_array_that_the_viewer_does_not_read_is_a_fault() -> None:
    with pytest.raises(ValueError, match="int64"):
        laid_out({"a": np.zeros(1, np.int64)})


def test_a_field_that_is_not_described_is_a_fault() -> None:
    with pytest.raises(ValueError, match="sites"):
        header(sites=2)
