"""Counts in a few bytes each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.analysis.profiles.store.pack import packed, unpacked


@given(st.dictionaries(st.integers(0, 10**9), st.integers(0, 2**53), max_size=50))
def test_packed_counts_come_back(counts: dict[int, int]) -> None:
    numbers = np.array(sorted(counts), np.int64)
    weights = np.array([counts[n] for n in sorted(counts)], np.int64)
    back = unpacked(packed(numbers, weights))
    assert [part.tolist() for part in back] == [numbers.tolist(), weights.tolist()]


@pytest.mark.parametrize("data", [b"", b"MGP0" + bytes(20), b"x" * 50])
def test_other_bytes_are_no_counts(data: bytes) -> None:
    with pytest.raises(Exception, match=r"no packed counts|buffer"):
        unpacked(data)
