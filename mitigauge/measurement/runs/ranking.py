"""How the arms of a tournament stand, as its run keeps it. Pure."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Place(StrEnum):
    """Where an arm stands. *first*: the best mean so far, of those that are left."""

    FIRST = "first"
    AS_GOOD = "as good"
    UNDECIDED = "undecided"
    WORSE = "worse"
    NOT_COUNTED = "not counted"


class RankedArm(BaseModel):
    """One arm. Percent are of the first arm's value, signed as measured, with 95 %.

    Of an arm that is *worse* they are those of the look at which it dropped out, against the arm
    that was first then. *blocks*: of which its figures are.
    """

    model_config = ConfigDict(frozen=True)

    position: int
    """Of the arm in its comparison: numbers of rows are others in another database."""
    place: Place
    blocks: int
    mean: float | None = None
    """In the metric's unit."""
    effect_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None

    @property
    def is_out(self) -> bool:
        """Whether it is booted no more."""
        return self.place in (Place.WORSE, Place.NOT_COUNTED)


class Ranking(BaseModel):
    """What the last look said. *arms*: the first one, then as good as it is known, losers last."""

    model_config = ConfigDict(frozen=True)

    blocks: int
    is_decided: bool = False
    arms: tuple[RankedArm, ...] = ()
    note: str = ""
    """Why there is no order, or who cannot be in it."""

    @property
    def losers(self) -> tuple[RankedArm, ...]:
        """Arms that dropped out, the last one first."""
        return tuple(arm for arm in self.arms if arm.place is Place.WORSE)
