"""What is said of trends in more than one place. Pure."""

from __future__ import annotations

NO_PAIR_YET = (
    "Measure the same two kernels again: `mitigauge experiment submit SPEC` with the spec of an "
    "experiment that is over."
)
