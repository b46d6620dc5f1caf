"""A claim beside a measurement: reproduced, contradicted, undecided. Pure.

With I our 95 % interval, c the claimed range and δ = 1 % (published figures are
rounded, and less than δ counts as no difference anywhere here):

- *contradicted*: c, widened by δ, and I have nothing in common;
- *reproduced*: they have, and I is narrow enough to tell the claim from its
  opposite: for a claimed change it leaves out 0, for a claim of no change
  (within ±δ) it lies within ±2 δ;
- *undecided*: otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.effect import CellState

DELTA_PERCENT = 1.0
# A host says what it is called; searching a pattern in a text takes more than linear time.
LONGEST_PROCESSOR = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """What an experiment has for one claim; percent of the baseline."""

    emulated: bool
    processor: str
    state: str  # of the matrix' cell
    low: float | None
    high: float | None
    note: str


def weigh(low: float, high: float, pattern: str, finding: Finding) -> tuple[ClaimOutcome, str]:
    """Outcome and reason for a claim of *low* to *high* percent."""
    if finding.state != CellState.MEASURED:
        return ClaimOutcome.NOT_MEASURED, finding.note or "no boot that counts"
    if finding.emulated:
        return (
            ClaimOutcome.EMULATED,
            "an emulated host can neither reproduce nor contradict a claim about hardware",
        )
    processor = finding.processor[:LONGEST_PROCESSOR]
    if pattern and not re.search(pattern, processor):
        return (
            ClaimOutcome.NOT_MEASURED,
            f"claimed for another processor than {processor or 'one unknown'}",
        )
    if finding.low is None or finding.high is None:
        return ClaimOutcome.UNDECIDED, "too few boots for an interval"
    return _against_interval(low, high, finding.low, finding.high)


def _against_interval(
    low: float, high: float, ours_low: float, ours_high: float
) -> tuple[ClaimOutcome, str]:
    if high + DELTA_PERCENT < ours_low or low - DELTA_PERCENT > ours_high:
        return ClaimOutcome.CONTRADICTED, "the claim lies outside our interval"
    claims_nothing = low >= -DELTA_PERCENT and high <= DELTA_PERCENT
    if claims_nothing:
        narrow = ours_low > -2 * DELTA_PERCENT and ours_high < 2 * DELTA_PERCENT
    else:
        narrow = not ours_low <= 0.0 <= ours_high
    if narrow:
        return ClaimOutcome.REPRODUCED, "the claim lies within our interval"
    return ClaimOutcome.UNDECIDED, "our interval holds the claim, and its opposite too"
