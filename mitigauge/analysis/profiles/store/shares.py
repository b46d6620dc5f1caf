"""What each function of one profile costs, in shares of all samples. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.store.functions import (
    function_weights,
    truncated_weight,
    unknown_weight,
)
from mitigauge.core.view import View

# The tool of a pass whose stacks came folded.
FOLDED = "folded"


class FunctionShare(View):
    """One function, in percent of all samples."""

    function: str
    self_percent: float = Field(description="of its own: what a flame graph shows as a flat top")
    total_percent: float = Field(description="with all that it calls")


class ProfileShares(View):
    """One profile, function by function in no order."""

    event: str
    samples: int = Field(description="of a recording; of folded stacks, the sum of their counts")
    is_recording: bool = Field(description="whether perf's own text was read, no folded stacks")
    unknown_percent: float = Field(
        description="in stacks with a frame of which neither function nor file is known"
    )
    truncated_percent: float = Field(
        description="in a recording's stacks that are as deep as perf goes; 0 of folded stacks"
    )
    functions: list[FunctionShare]


def shares_of(stacks: Mapping[bytes, int], of: Pass) -> ProfileShares:
    """Shares of the functions of *stacks*, which are not empty."""
    whole = sum(stacks.values())
    names: dict[bytes, int] = {}
    weights = function_weights(stacks, lambda frame, _: names.setdefault(frame, len(names)))
    return ProfileShares(
        event=of.event,
        samples=of.samples or 0,
        unknown_percent=100 * unknown_weight(stacks) / whole,
        is_recording=of.tool != FOLDED,
        truncated_percent=0.0 if of.tool == FOLDED else 100 * truncated_weight(stacks) / whole,
        functions=[
            FunctionShare(
                function=name.decode(errors="replace"),
                self_percent=100 * weights[number][0] / whole,
                total_percent=100 * weights[number][1] / whole,
            )
            for name, number in names.items()
        ],
    )
