"""What a spec would plan, said before it is submitted."""

from __future__ import annotations

from pydantic import Field

from mitigauge.core.view import View


class ComparisonForecast(View):
    """One comparison of the spec."""

    name: str
    arms: list[str] = Field(description="names, the baseline first")
    hosts: list[str]
    blocks: int = Field(description="at most; it ends as soon as all is decided")
    cases: int
    boots: int = Field(description="at most, over all hosts")
    values: int = Field(description="values that are stored, at most")


class HostForecast(View):
    """What the spec asks of one host."""

    host: str
    boots: int = Field(description="at most")
    measuring_s: float = Field(description="what the workloads' files say that measuring takes")
    takes_s: float | None = Field(
        description="boots and measuring, by the boots that were made on the host before; "
        "null: none was"
    )
    emulated: bool | None = Field(description="null: the host took part in nothing yet")
    waiting: int = Field(description="runs that hold it or wait for it now")
    kept: str = Field(description="why no run begins on it at present; empty: one may")


class SpecForecast(View):
    """What a spec, in which nothing is wrong, would plan. Nothing is stored."""

    name: str
    question: str
    environment: str
    comparisons: list[ComparisonForecast]
    hosts: list[HostForecast]
    boots: int = Field(description="at most, over all hosts")
    kernels_of_hosts: list[str] = Field(
        default_factory=list, description="releases that hosts must have or an archive gives"
    )
    takes_s: float | None = Field(
        description="until the last host is done, were all of them free; null: cannot be told"
    )
