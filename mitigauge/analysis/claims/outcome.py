"""What is said of a claim."""

from __future__ import annotations

from enum import StrEnum


class ClaimOutcome(StrEnum):
    """What a finished experiment says about a claim."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not_measured"
    OTHER_PROCESSOR = "another_processor"
    # The source does not say which of several cases, or of several figures, it means.
    UNMATCHED = "cannot_be_matched"
    # An emulated run says nothing about hardware.
    EMULATED = "emulated"
