"""Limits that hold on both sides."""

from __future__ import annotations

from typing import Final

# JSON's whole numbers are exact below it, in every reader.
LARGEST_WHOLE: Final = 1 << 53
# No quantity is as large, and squares of sums of such values are still numbers.
LARGEST_VALUE: Final = 1e100
# Values of one metric.
MOST_ITERATIONS: Final = 10_000
# Of a profile's compressed text.
CAPTURE_BYTES: Final = 32 << 20
# Of what a host says of why something failed.
LONGEST_DETAIL: Final = 600
