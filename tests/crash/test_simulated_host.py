"""The simulated host: each way to misbehave does what it says, and survives its worker."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.wire.case import Case
from mitigauge.measurement.fleet.boot_method import BootMethod
from pipelines.host_control import LabFault, Unanswered
from tests.crash import behaviours as b
from tests.crash.scenarios import EVERY
from tests.crash.simulated_host import SimulatedHost, changed, new_world, opener, write_world


class Held:
    """A run's log whose lease is held, or was lost."""

    def __init__(self) -> None:
        self.held = True

    def line(self, kind: str, text: str) -> None:
        """Drop it."""

    def alive(self) -> bool:
        return self.held

    def holds(self) -> bool:
        return self.held


def host(home: Path, *pieces: b.Behaviour, **facts: Any) -> SimulatedHost:
    write_world(home / "alpha.json", *pieces, **facts)
    return opened(home)


def opened(home: Path) -> SimulatedHost:
    """The host as another worker finds it."""
    return opener(home)("lab", "alpha", Held())


def world(home: Path) -> dict[str, Any]:
    with changed(home / "alpha.json") as facts:
        return facts


def booted(on: SimulatedHost, nonce: str = "n1", knob: str = "off") -> Any:
    return on.arm(nonce=nonce, cmdline=f"knob={knob}", kernel="", method=BootMethod.RESET)


CASE = Case(
    case_id="7",
    workload="spin",
    parameters={"size": 1},
    iterations=3,
    warmup=1,
    timeout_s=9,
    profile_hz=None,
    profile_guest=False,
    profile_off_cpu=False,
    guest={},
    collect=(),
)


def polled(on: SimulatedHost, into: Path) -> Any:
    on.start("j", [CASE], into, wait_s=0, wanted=lambda: True)
    return on.poll("j", into, wait_s=0, wanted=lambda: True)


def read(archive: str, name: str) -> Any:
    with tarfile.open(archive) as tar:
        file = tar.extractfile(f"j/7/{name}")
        assert file
        return json.load(file)


def test_a_side_effect_is_counted_and_an_armed_boot_made_once(tmp_path: Path) -> None:
    first = host(tmp_path)
    assert booted(first)["previous_boot_id"]
    assert booted(opened(tmp_path))["already_up"]
    assert first.verify()["proof"]["nonce"] == "n1"
    assert world(tmp_path)["did"] == ["boot n1"]


def test_without_its_lease_nothing_is_touched(tmp_path: Path) -> None:
    asleep = host(tmp_path)
    assert isinstance(asleep.log, Held)
    asleep.log.held = False
    with pytest.raises(LabFault):
        booted(asleep)
    with pytest.raises(LabFault):
        asleep.power_cycle()
    assert world(tmp_path)["did"] == []


def test_silence_ends_after_so_many_calls_of_whichever_worker(tmp_path: Path) -> None:
    first = host(tmp_path, b.Silent(2))
    assert not first.answers()
    assert not opened(tmp_path).answers()
    assert opened(tmp_path).answers()


def test_silence_for_a_time_begins_with_its_call(tmp_path: Path) -> None:
    quiet = host(tmp_path, b.SilentFor(60.0, since="verify"))
    assert quiet.answers()
    with pytest.raises(Unanswered):
        quiet.verify()
    assert not quiet.answers()


def test_a_boot_that_hangs_needs_a_power_cycle_and_gives_the_fallback(tmp_path: Path) -> None:
    hung = host(tmp_path, b.StaysDown(1))
    booted(hung)
    assert not hung.answers()
    assert hung.serial_tail(0).startswith("simulated console")
    hung.power_cycle()
    assert hung.answers()
    assert hung.verify()["proof"]["nonce"] == ""
    assert world(tmp_path)["power_cycles"] == ["n1"]
    booted(hung, "n2")
    assert hung.verify()["proof"]["nonce"] == "n2"


def test_a_host_that_is_dead_stays_so(tmp_path: Path) -> None:
    dead = host(tmp_path, b.StaysDown(1, power_cycle_helps=False))
    booted(dead)
    dead.power_cycle()
    assert not dead.answers()


def test_a_panic_falls_back_and_is_known(tmp_path: Path) -> None:
    panicky = host(tmp_path, panics={"knob=on": 1})
    booted(panicky, knob="on")
    assert panicky.verify()["proof"]["nonce"] == ""
    assert world(tmp_path)["fell_back"] == ["n1"]


def test_a_lost_answer_is_one_of_something_done(tmp_path: Path) -> None:
    losing = host(tmp_path, b.LosesAnswer(1, "arm"))
    with pytest.raises(Unanswered):
        booted(losing)
    assert booted(losing)["already_up"]
    assert world(tmp_path)["did"] == ["boot n1"]


def test_lies_are_told_so_often_and_no_more(tmp_path: Path) -> None:
    liar = host(tmp_path, b.OldBootId(1), b.OthersNonce(1), b.WrongKernel(1))
    previous = booted(liar)["previous_boot_id"]
    said = liar.verify()["proof"]
    assert (said["boot_id"], said["nonce"]) == (previous, "0" * 16)
    assert said["kernel_release"] == "6.1-elsewhere"
    assert liar.verify()["proof"]["nonce"] == "n1"


def test_results_can_be_missing_huge_or_anothers(tmp_path: Path) -> None:
    liar = host(tmp_path, b.NoArchive(1), b.huge_values(), b.anothers_results())
    assert not Path(polled(liar, tmp_path)["archive"]).exists()
    archive = polled(liar, tmp_path)["archive"]
    assert read(archive, "values.json") == [1e308] * 3
    assert read(archive, "case.json")["case_id"] == "4711"
    assert world(tmp_path)["did"] == ["job j"]


def test_a_fingerprint_flaps_so_often_and_threads_follow_the_arm(tmp_path: Path) -> None:
    flapping = host(tmp_path, b.FlappingFingerprint(flaps=2), b.ThreadsOfArm())
    booted(flapping, knob="on")
    seen = [flapping.verify()["fingerprint"] for _ in range(3)]
    assert [facts["microcode"] for facts in seen] == ["0x1", "0x2", "0x2"]
    assert (seen[0]["smt"], seen[0]["threads"]) == ("off", 4)
    booted(flapping, "n2", knob="off")
    assert flapping.verify()["fingerprint"]["threads"] == 8


@pytest.mark.parametrize("kind", b.HOSTILE_TEXTS)
def test_hostile_bytes_come_from_every_place(tmp_path: Path, kind: str) -> None:
    places = ["serial", "stderr", "tools", "fingerprint", "proof", "prepared", "message"]
    hostile, text = host(tmp_path, b.HostileText(kind, places)), b.HOSTILE_TEXTS[kind]
    with pytest.raises(LabFault) as fault:
        polled(hostile, tmp_path)
    assert text in fault.value.message
    assert read(polled(hostile, tmp_path)["archive"], "tools.json") == {"spin": text}
    assert text in hostile.serial_tail(None)
    assert hostile.verify()["fingerprint"]["cpu_model"] == text


def test_a_host_leaves_its_inventory_and_comes_back(tmp_path: Path) -> None:
    write_world(tmp_path / "alpha.json", b.GoneFromInventory(1))
    with pytest.raises(NotFound, match="alpha"):
        opened(tmp_path)
    assert opened(tmp_path).answers()
    write_world(tmp_path / "alpha.json", b.GoneFromInventory(1, readable=False))
    with pytest.raises(InvalidInput, match="cannot be read"):
        opened(tmp_path)


@pytest.mark.parametrize("error", b.Raises.ERRORS)
def test_an_unforeseen_error_is_raised_at_its_call(tmp_path: Path, error: str) -> None:
    broken = host(tmp_path, b.Raises(1, "verify", error))
    with pytest.raises(b.Raises.ERRORS[error]):
        broken.verify()
    assert broken.verify()


def test_a_console_grows_and_is_read_from_where_it_was(tmp_path: Path) -> None:
    steady = host(tmp_path)
    booted(steady)
    since = steady.serial_offset()
    booted(steady, "n2")
    assert steady.serial_tail(since) == "simulated console of boot n2\n"


def test_a_console_that_was_rotated_is_read_whole(tmp_path: Path) -> None:
    rotating = host(tmp_path, b.RotatesConsole(), console="x" * 500)
    since = rotating.serial_offset()
    booted(rotating)
    assert rotating.serial_tail(since) == "simulated console of boot n1\n"


def test_every_scenario_survives_its_world(tmp_path: Path) -> None:
    for scenario in EVERY:
        made = new_world(*scenario.pieces(), **scenario.world)
        kept = b.behaviours_of(json.loads(json.dumps(made)))
        assert kept == list(scenario.pieces())
