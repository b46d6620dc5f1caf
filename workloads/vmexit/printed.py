"""The names of the tests, and what one prints: shared by the host's side and ours."""

from __future__ import annotations

import re

TESTS = (
    "cpuid", "vmcall", "mov_from_cr8", "mov_to_cr8", "inl_from_pmtimer", "inl_from_qemu",
    "inl_from_kernel", "outl_to_kernel", "mov_dr", "tscdeadline_immed", "self_ipi_sti_nop",
    "wr_kernel_gs_base", "wr_ibrs_msr", "wr_ibpb_msr", "toggle_cr0_wp", "toggle_cr4_pge",
)  # fmt: skip
# A test's cycles, a whole number of 31 bits at most, are printed on a line of their own.
_LINE = r"^{test} (?:([1-9][0-9]{{0,9}})|(\(skipped\)))\r?$"


def cycles_in(text: str, test: str) -> int:
    """Cycles an operation that *test* printed. Raises ValueError where it printed none, or two."""
    found = re.findall(_LINE.format(test=re.escape(test)), text, re.M)
    if len(found) != 1:
        raise ValueError(f"{test} printed {len(found)} figures, not one")
    [(cycles, skipped)] = found
    if skipped:
        raise ValueError(f"{test} skips itself: this guest's processor has not what it tests")
    return int(cycles)
