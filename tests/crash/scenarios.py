"""Hosts and experiments of the campaign: what a run meets, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.crash import behaviours as b
from tests.specs import SPEC

SMALL = SPEC.replace("size: [1, 2]", "size: [1]")


@dataclass(frozen=True)
class Scenario:
    """One kind of host. *whole*: every planned boot counts in the end, come what may."""

    name: str
    pieces: Callable[[], Sequence[b.Behaviour]] = list
    world: dict[str, Any] = field(default_factory=dict)
    blocks: int = 1
    whole: bool = True
    weight: int = 1

    def spec(self, host: str) -> str:
        """The experiment's text, for one host."""
        return (
            SMALL.replace("[alpha]", f"[{host}]")
            .replace("blocks: 2", f"blocks: {self.blocks}")
            .replace("name: small", f"name: {self.name.replace(' ', '-')}")
        )


# Whatever misbehaves here, every boot that was planned is made and counted.
KIND = (
    Scenario("quick jobs", world={"quick": True}, weight=4),
    Scenario("polled jobs", weight=5),
    Scenario("long jobs", world={"job_s": 0.4}, weight=3),
    Scenario("two blocks", blocks=2, world={"quick": True}, weight=2),
    Scenario("a panic", world={"panics": {"knob=on": 1}}),
    Scenario("silent for a moment", lambda: [b.Silent(3, calls=["poll", "verify", "answers"])]),
    Scenario("slow to answer", lambda: [b.Slow("verify", 0.3), b.Slow("arm", 0.3)]),
    Scenario("needs a power cycle", lambda: [b.StaysDown(1)], {"boot_timeout_s": 3}, weight=3),
    Scenario("an answer lost", lambda: [b.LosesAnswer(1, "start")]),
    Scenario("threads of the arm", lambda: [b.ThreadsOfArm()]),
)
# These end, and leave nothing behind. What they measured is as it may be.
HOSTILE = (
    Scenario("always panics", world={"panics": {"knob=on": 99}}, blocks=3, whole=False, weight=2),
    Scenario("decided early", blocks=5, world={"quick": True}, whole=False, weight=2),
    Scenario(
        "dead after a boot",
        lambda: [b.StaysDown(1, power_cycle_helps=False)],
        {"boot_timeout_s": 3},
        whole=False,
    ),
    Scenario("answer of a reboot lost", lambda: [b.LosesAnswer(1, "arm")], whole=False),
    Scenario("old boot id", lambda: [b.OldBootId(2)], whole=False),
    Scenario("foreign nonce", lambda: [b.OthersNonce(2)], whole=False),
    Scenario("wrong kernel", lambda: [b.WrongKernel(1)], whole=False),
    Scenario("no archive", lambda: [b.NoArchive(1)], whole=False),
    Scenario("values of 1e308", lambda: [b.huge_values()], blocks=5, whole=False),
    Scenario("foreign results", lambda: [b.anothers_results()], whole=False),
    Scenario("flaps", lambda: [b.FlappingFingerprint(flaps=4)], whole=False),
    Scenario("flaps for ever", lambda: [b.FlappingFingerprint()], whole=False),
    Scenario("nul in the console", lambda: [b.HostileText("nul", ["serial"])],
             {"panics": {"knob=on": 1}}, whole=False),
    Scenario("escape in stderr", lambda: [b.HostileText("escape", ["stderr"])], whole=False),
    Scenario("nul in a tool", lambda: [b.HostileText("nul", ["tools"])], whole=False),
    Scenario("surrogate in facts", lambda: [b.HostileText("surrogate", ["fingerprint"])],
             whole=False),
    Scenario("nul in the proof", lambda: [b.HostileText("nul", ["proof"])], whole=False),
    Scenario("megabytes in a fault", lambda: [b.HostileText("huge", ["message"])], whole=False),
    Scenario("not in the inventory", lambda: [b.GoneFromInventory(2)], whole=False),
    Scenario("unreadable inventory", lambda: [b.GoneFromInventory(2, readable=False)],
             whole=False),
    Scenario("unforeseen error", lambda: [b.Raises(2, "verify")], whole=False),
    Scenario("out of memory", lambda: [b.Raises(1, "poll", "MemoryError")], whole=False),
)  # fmt: skip
EVERY = (*KIND, *HOSTILE)


def named(name: str) -> Scenario:
    """The scenario of that name. Raises KeyError."""
    return {scenario.name: scenario for scenario in EVERY}[name]
