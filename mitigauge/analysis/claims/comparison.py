"""A claim beside a measurement: reproduced, contradicted, undecided. Pure.

With I our 95 % interval, c the claimed range and δ = 1 % (published figures are
rounded, and less than δ counts as no difference anywhere here):

- *contradicted*: c, widened by δ, and I have nothing in common;
- *reproduced*: they have, and I is narrow enough to tell the claim from its
  opposite: for a claimed change it leaves out 0, for a claim of no change
  (within ±δ) it lies within ±2 δ;
- *undecided*: otherwise.

On another processor than the claim's none of these is said: sign and size are set beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.effect import CellState

DELTA_PERCENT = 1.0
OF_HARDWARE = "an emulated host can neither reproduce nor contradict a claim about hardware"
# A host says what it is called; searching a pattern in a text takes more than linear time.
LONGEST_PROCESSOR = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """What an experiment has for one claim; percent of the baseline."""

    emulated: bool
    processor: str
    state: str  # of the matrix' cell
    effect: float | None
    low: float | None
    high: float | None
    note: str


def weigh(low: float, high: float, pattern: str, finding: Finding) -> tuple[ClaimOutcome, str]:
    """Outcome and reason for a claim of *low* to *high* percent."""
    if finding.state != CellState.MEASURED:
        return ClaimOutcome.NOT_MEASURED, finding.note or "no boot that counts"
    if finding.emulated:
        return ClaimOutcome.EMULATED, OF_HARDWARE
    elsewhere = _elsewhere(low, high, pattern, finding)
    if elsewhere is not None:
        return elsewhere
    if finding.low is None or finding.high is None:
        return ClaimOutcome.UNDECIDED, "too few boots for an interval"
    return _against_interval(low, high, finding.low, finding.high)


def _elsewhere(
    low: float, high: float, pattern: str, finding: Finding
) -> tuple[ClaimOutcome, str] | None:
    """Of a claim for another processor, or where ours is not known; None for the claim's own."""
    processor = finding.processor[:LONGEST_PROCESSOR]
    # What is "Xeon Platinum" to a mail is "INTEL(R) XEON(R) PLATINUM" to some processors.
    if not pattern or re.search(pattern, processor, re.IGNORECASE):
        return None
    if not processor:
        return ClaimOutcome.NOT_MEASURED, "nobody knows which processor this host has"
    likeness = _likeness(low, high, finding)
    return (
        ClaimOutcome.OTHER_PROCESSOR,
        f"claimed for another processor than {processor}: {likeness}",
    )


def _likeness(low: float, high: float, finding: Finding) -> str:
    """Sign and size of ours beside the claimed range, in words."""
    ours = finding.effect
    if ours is None or finding.low is None or finding.high is None:
        return "too few boots for an interval"
    outcome, _ = _against_interval(low, high, finding.low, finding.high)
    if outcome is ClaimOutcome.REPRODUCED:
        return "ours agrees with it"
    if finding.low <= 0.0 <= finding.high:
        return "ours tells no change from none"
    is_nothing = low >= -DELTA_PERCENT and high <= DELTA_PERCENT
    if is_nothing or low < 0.0 < high:
        claim = "no change" if is_nothing else "either sign"
        return f"{claim} was claimed, ours is {ours:+.1f} %"
    claimed = (low + high) / 2
    if (claimed > 0) != (ours > 0):
        return "the opposite sign"
    return f"the same sign, {ours / claimed:.2g} times the size"


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
