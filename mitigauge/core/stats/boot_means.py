"""From iterations to boot means, the only thing that is ever replicated.

A boot is the unit of replication: iterations within one share its layout, its
caches and its luck, so they make the boot's mean more exact and nothing else
(Georges et al., OOPSLA 2007; Kalibera & Jones, ISMM 2013).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.errors import InvalidInput

Floats = NDArray[np.float64]
# Arms are known by name or by id.
Arm = TypeVar("Arm", str, int)
Boots: TypeAlias = Mapping[Arm, Mapping[int, float | Sequence[float]]]
_SHIFT = 64


@dataclass(frozen=True, slots=True)
class BootMeans(Generic[Arm]):
    """Boot means of one case and metric: ``values[arm, block]``, NaN where no boot counts."""

    arms: tuple[Arm, ...]
    blocks: tuple[int, ...]
    values: Floats

    def shape_key(self) -> tuple[tuple[Arm, ...], tuple[int, ...], bytes]:
        """Equal for cases that the same arms and boots answer; such are judged together."""
        return self.arms, self.blocks, np.isnan(self.values).tobytes()


def boot_means(boots: Boots[Arm], *, baseline: Arm) -> BootMeans[Arm]:
    """Arrange the means of *boots* by arm (baseline first, then in order) and block.

    Raises :class:`InvalidInput` for a value that is not finite or a boot without values.
    """
    arms: list[Arm] = [baseline]
    arms.extend(sorted(arm for arm in boots if arm != baseline))
    none: Mapping[int, float] = {}
    by_arm = [boots.get(arm, none) for arm in arms]
    blocks = tuple(sorted({block for of_arm in by_arm for block in of_arm}))
    column = {block: index for index, block in enumerate(blocks)}
    values = np.full((len(arms), len(blocks)), np.nan)
    for row, of_arm in enumerate(by_arm):
        for block, iterations in of_arm.items():
            values[row, column[block]] = _mean(iterations, arms[row], block)
    return BootMeans(tuple(arms), blocks, values)


def mean_of(values: Sequence[float]) -> float:
    """The mean of finite numbers, which is one however large they are; not of no number."""
    try:
        # fsum: exactly rounded, so that the order of the values cannot matter.
        return math.fsum(values) / len(values)
    except OverflowError:
        # Their sum is larger than any float; that of their 2⁻⁶⁴-fold is not.
        part = math.fsum(math.ldexp(value, -_SHIFT) for value in values) / len(values)
        most = math.ldexp(sys.float_info.max, -_SHIFT)
        return math.ldexp(min(max(part, -most), most), _SHIFT)


def _mean(iterations: float | Sequence[float], arm: object, block: int) -> float:
    values = iterations if isinstance(iterations, Sequence) else (iterations,)
    if not len(values):
        raise InvalidInput(
            f"arm {arm!r}, block {block}: no value after warm-up",
            hint="Leave the boot out, or measure at least one iteration.",
        )
    if not all(map(math.isfinite, values)):
        index, value = next(
            (index, value)
            for index, value in enumerate(values, start=1)
            if not math.isfinite(value)
        )
        raise InvalidInput(
            f"arm {arm!r}, block {block}, iteration {index}: {value} is not a number",
            hint="Leave the boot out, with its reason, or correct the value.",
        )
    return mean_of(values)
