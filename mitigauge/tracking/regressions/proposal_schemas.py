"""A bisection as it could be started, before anybody starts it."""

from __future__ import annotations

from pydantic import Field

from mitigauge.core.view import View


class BisectionProposal(View):
    """The fields of a request for a bisection, filled in from what was measured.

    One of *series* and *arms* says over what; where neither does, *why* says what is needed.
    """

    title: str = Field(description="what became worse")
    regression_id: int | None
    environment: str
    hosts: list[str]
    workload: str
    parameters: dict[str, str | int | float]
    metric: str
    mode: str = Field(description="in which kernels of a series are booted")
    series: str = Field(description="the series whose revision was measured; empty: none was")
    revision: str
    arms: str = Field(description="an ordered list of arms, as YAML; empty: there is none")
    changes: int | None = Field(description="how many candidates there are; null: not known")
    effect_percent: float | None
    why: str = Field(description="what is proposed and why, in words")
