"""What a worker says that it can do. Pure."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.jobs.states import Ability


class Missing(BaseModel):
    """Something that a worker cannot do, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: str
    why: str


class Abilities(BaseModel):
    """What one worker can do, and what it lacks.

    *hosts*: environment → the hosts of its inventory whose keys it has. *bases*: source packages
    from which it can build a kernel → their versions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    jobs: list[Ability] = Field(default_factory=list)
    hosts: dict[str, list[str]] = Field(default_factory=dict)
    bases: dict[str, str] = Field(default_factory=dict)
    architecture: str = ""
    lacks: list[Missing] = Field(default_factory=list)

    def reaches(self, environment: str, host: str) -> bool:
        """Whether it can do runs on that host."""
        return host in self.hosts.get(environment, ())
