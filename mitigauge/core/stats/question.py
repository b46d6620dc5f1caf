"""What goes into a judgement and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.boot_means import Arm, Boots
from mitigauge.core.stats.scale import Scale
from mitigauge.core.stats.terms import DELTA_PERCENT, Direction

Verdict = Literal["better", "worse", "same", "undecided"]


@dataclass(frozen=True, slots=True)
class ArmVerdict:
    """What the boots say about one arm.

    Percent are of the baseline, signed as measured: +3 means the value is 3 %
    larger. The 95 % interval covers all arms of the case at once. ``blocks`` are
    those in which arm and baseline both count. Figures are those of the look that
    decided, else of all boots; ``None`` where the boots cannot give them, and
    ``note`` says why. The baseline has n, blocks and mean only.
    """

    n: int
    blocks: int
    mean: float | None
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    p: float | None
    mde_percent: float | None
    verdict: Verdict | None
    note: str
    scale: Scale
    until_block: int | None
    """The last block whose boots the figures are of."""
    decided_at_look: int | None
    q: float | None = None  # of exploratory metrics: the false discovery rate
    has_few_boots: bool = False
    """Whether the arm has fewer boots than a verdict needs."""


@dataclass(frozen=True, slots=True)
class Question(Generic[Arm]):
    """One case and metric to judge; ``boots[arm][block]`` is a boot's values after warm-up.

    *ended*: no further block will come, though fewer than planned are there. *layouts*: in how
    many layouts each kernel was built; block b boots number (b - 1) mod layouts.

    Raises :class:`InvalidInput` for options out of range.
    """

    boots: Boots[Arm]
    direction: Direction
    unit: str = ""
    delta_percent: float = DELTA_PERCENT
    planned_blocks: int | None = None
    ended: bool = False
    layouts: int = 1

    def __post_init__(self) -> None:
        if self.direction not in ("lower", "higher"):
            raise InvalidInput(
                f"direction {self.direction!r} is unknown", hint="Say 'lower' or 'higher'."
            )
        if not 0.0 < self.delta_percent < 100.0:
            raise InvalidInput(
                f"delta {self.delta_percent} % is out of range",
                hint="Give the largest change that is still 'same', such as 1.",
            )
        if self.planned_blocks is not None and self.planned_blocks < 1:
            raise InvalidInput(
                f"a budget of {self.planned_blocks} blocks is out of range",
                hint="Give at least 1, better 4.",
            )
