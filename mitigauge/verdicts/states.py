"""What was decided, and what an arm's cell of the matrix stands for."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What the numbers say about one arm against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNDECIDED = "undecided"


class CellState(StrEnum):
    """What there is to say of an arm for one case and metric."""

    BASELINE = "baseline"
    MEASURED = "measured"
    NOT_EFFECTIVE = "not_effective"
    NO_DATA = "no_data"
