"""What was done on a host before a run's first boot. Pure."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Preparation(BaseModel):
    """What the plays of a preparation returned; all but these two is kept as it came.

    *staged*: workload → digest of our own code of it. *boot_timeout_s*: None for the service's own.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    staged: dict[str, str] = Field(default_factory=dict)
    boot_timeout_s: float | None = Field(None, gt=0, allow_inf_nan=False)
