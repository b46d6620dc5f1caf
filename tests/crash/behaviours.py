"""Ways in which a simulated host misbehaves: small named pieces that a test combines.

Each is kept in its host's world as JSON, so that what it counts survives the workers. It sees
every call before it is done and every answer before it is given, and may change either.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotFound
from pipelines.host_control import LabFault, Unanswered

World = dict[str, Any]
Answer = dict[str, Any]

# Calls that need the host itself. Its power and its serial log answer without it.
OF_THE_HOST = ("prepare", "arm", "answers", "verify", "start", "poll", "restore")

HOSTILE_TEXTS: Mapping[str, str] = {
    "nul": "a\x00b",
    "escape": "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31mred",
    "surrogate": "half \ud800 of a pair",
    "right to left": "\u202egnp.exe\u2066",
    "huge": "x" * (2 << 20),
    "template": "{{ lookup('pipe', 'id') }}",
}
DEEP_LEVELS = 900


@dataclass
class Behaviour:
    """One way to misbehave. Every hook does nothing unless a piece says otherwise."""

    KINDS: ClassVar[dict[str, type[Behaviour]]] = {}

    def __init_subclass__(cls) -> None:
        Behaviour.KINDS[cls.__name__] = cls

    def opened(self, name: str) -> None:
        """The host *name* is looked up in its inventory; raise to leave it out."""

    def lasts_s(self, call: str) -> float:
        """Seconds by which the call takes longer."""
        return 0.0

    def before(self, call: str, world: World) -> None:
        """The call has arrived and nothing was done yet; raise so that nothing is."""

    def booted(self, world: World) -> None:
        """The host was told to reboot, or its power was cycled; *world* is how it came up."""

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        """The call was done; what is answered. Raise to lose the answer."""
        return answer


@dataclass
class Times(Behaviour):
    """A piece that happens so many times, and then no more."""

    times: int = 1

    def happens(self) -> bool:
        """Count one, if there is one left."""
        left = self.times > 0
        self.times -= left
        return left


@dataclass
class Silent(Times):
    """The next calls reach nothing, and nothing is done."""

    calls: Sequence[str] = OF_THE_HOST

    def before(self, call: str, world: World) -> None:
        if call in self.calls and self.happens():
            raise Unanswered(f"{call}: unreachable:\nConnection reset")


@dataclass
class SilentFor(Behaviour):
    """From the first call of one name on, nothing is heard for some time."""

    seconds: float
    since: str = "poll"
    until: float = 0.0
    """The machine's clock, seconds since 1970; 0: not begun."""

    def before(self, call: str, world: World) -> None:
        if call == self.since and not self.until:
            self.until = time.time() + self.seconds
        if call in OF_THE_HOST and time.time() < self.until:
            raise Unanswered(f"{call}: unreachable:\nConnection timed out")


@dataclass
class LosesAnswer(Times):
    """The call is done, and its answer never arrives."""

    call: str = "arm"

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        if call == self.call and self.happens():
            raise Unanswered(f"{call}: Shared connection closed")
        return answer


@dataclass
class StaysDown(Times):
    """The next boots do not come up; a power cycle brings the fallback, or nothing does."""

    power_cycle_helps: bool = True

    def booted(self, world: World) -> None:
        if world["power_cycled"]:
            return
        if self.happens():
            world["power"] = "hung" if self.power_cycle_helps else "dead"


@dataclass
class RebootsAfterJob(Times):
    """The host reboots by itself, into its fallback, once a job's results were fetched."""

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        if call == "poll" and self.happens():
            world.update(
                boot_id=str(uuid.uuid4()), nonce="", cmdline="", previous_boot_id=world["boot_id"]
            )
        return answer


@dataclass
class OldBootId(Times):
    """Says the boot id of the system that was up before."""

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        return _with_proof(self, call, answer, boot_id=world["previous_boot_id"])


@dataclass
class OthersNonce(Times):
    """Says another boot's nonce."""

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        return _with_proof(self, call, answer, nonce="0" * 16)


@dataclass
class WrongKernel(Times):
    """Another kernel than the one that was asked for is up."""

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        return _with_proof(self, call, answer, kernel_release="6.1-elsewhere")


@dataclass
class NoArchive(Times):
    """The job is said to be finished, and there is no archive of it."""

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        if answer.get("state") == "finished" and self.happens():
            return {**answer, "archive": f"{answer['archive']}.missing"}
        return answer


@dataclass
class Says(Behaviour):
    """What the job's files say beyond its values; see ``job_archive.packed``."""

    what: dict[str, Any]


def huge_values() -> Says:
    """Three values that cannot be summed."""
    return Says({"values": [1e308, 1e308, 1e308]})


def anothers_results() -> Says:
    """The results of another case."""
    return Says({"case": {"case_id": "4711"}})


@dataclass
class FlappingFingerprint(Behaviour):
    """Another host at every look; with *flaps*, for so many looks only."""

    flaps: int = 1 << 30
    looks: int = 0

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        if call != "verify":
            return answer
        self.looks += 1
        return _with_facts(answer, microcode=f"0x{min(self.looks, self.flaps):x}")


@dataclass
class ThreadsOfArm(Behaviour):
    """SMT and the number of threads are as the arm's command line says."""

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        if call != "verify":
            return answer
        off = world["cmdline"].endswith("knob=on")
        threads = 4 if off else 8
        return _with_facts(answer, smt="off" if off else "on", threads=threads)


@dataclass
class HostileText(Behaviour):
    """Bytes that no host should send, in the places that are named.

    Places: ``serial``, ``stderr``, ``tools``, ``fingerprint``, ``proof``, ``prepared``,
    ``message`` (of one fault of each call named in *faults*).
    """

    text: str
    places: Sequence[str]
    faults: list[str] = field(default_factory=lambda: ["poll"])

    @property
    def hostile(self) -> str:
        """The text itself; worlds keep its name, so that they stay small."""
        return HOSTILE_TEXTS[self.text]

    def before(self, call: str, world: World) -> None:
        if "message" in self.places and call in self.faults:
            self.faults.remove(call)
            raise LabFault(f"{call} failed: {self.hostile}")

    def after(self, call: str, answer: Answer, world: World) -> Answer:
        if call == "serial_tail" and "serial" in self.places:
            return {**answer, "tail": answer["tail"] + self.hostile}
        if call == "prepare" and "prepared" in self.places:
            return {**answer, "perf": self.hostile}
        if call == "verify" and "fingerprint" in self.places:
            return _with_facts(answer, cpu_model=self.hostile, deep=_deep())
        if call == "verify" and "proof" in self.places:
            return {**answer, "proof": {**answer["proof"], "os_release": self.hostile}}
        return answer


@dataclass
class GoneFromInventory(Times):
    """The host is not in its inventory, or the inventory cannot be read, for so many looks."""

    readable: bool = True

    def opened(self, name: str) -> None:
        if not self.happens():
            return
        if self.readable:
            raise NotFound(f"there is no host {name!r} in lab", hint="Known: none.")
        raise InvalidInput("the inventory hosts.yml cannot be read: line 3", hint="Mend it.")


@dataclass
class Raises(Times):
    """A call ends in an error that nobody foresaw."""

    call: str = "verify"
    error: str = "RuntimeError"
    text: str = "nobody foresaw this"

    ERRORS: ClassVar[Mapping[str, type[Exception]]] = {
        "RuntimeError": RuntimeError,
        "KeyError": KeyError,
        "MemoryError": MemoryError,
        "OSError": OSError,
        "MitigaugeError": MitigaugeError,
        "UnicodeDecodeError": UnicodeError,
        "RecursionError": RecursionError,
    }

    def before(self, call: str, world: World) -> None:
        if call == self.call and self.happens():
            raise self.ERRORS[self.error](self.text)


@dataclass
class Slow(Behaviour):
    """A call that takes its time."""

    call: str
    seconds: float

    def lasts_s(self, call: str) -> float:
        return self.seconds if call == self.call else 0.0


@dataclass
class RotatesConsole(Behaviour):
    """Every boot begins a new log of the console."""

    def booted(self, world: World) -> None:
        world["console"] = ""


def behaviours_of(world: World) -> list[Behaviour]:
    """The pieces that the world holds."""
    return [
        Behaviour.KINDS[each["kind"]](**{k: v for k, v in each.items() if k != "kind"})
        for each in world["behaviours"]
    ]


def as_json(behaviours: Sequence[Behaviour]) -> list[dict[str, Any]]:
    """The pieces as a world holds them."""
    return [{"kind": type(each).__name__, **asdict(each)} for each in behaviours]


def said_by(behaviours: Sequence[Behaviour]) -> dict[str, Any]:
    """All that the job's files say beyond its values."""
    said: dict[str, Any] = {}
    for each in behaviours:
        if isinstance(each, Says):
            said.update(each.what)
        if isinstance(each, HostileText):
            if "stderr" in each.places:
                said["stderr"] = each.hostile
            if "tools" in each.places:
                said["tools"] = {"spin": each.hostile}
    return said


def _with_proof(piece: Times, call: str, answer: Answer, **said: Any) -> Answer:
    if call != "verify" or not piece.happens():
        return answer
    return {**answer, "proof": {**answer["proof"], **said}}


def _with_facts(answer: Answer, **facts: Any) -> Answer:
    return {**answer, "fingerprint": {**answer["fingerprint"], **facts}}


def _deep() -> Any:
    """Lists within lists, deeper than a reader's stack."""
    value: Any = "bottom"
    for _ in range(DEEP_LEVELS):
        value = [value]
    return value
