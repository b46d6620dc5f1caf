"""The role host_tuning's module against a file system of our own and a recorded systemctl."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load

tuning = load("ansible/roles/host_tuning/library/host_tuning.py")

POLICY = "sys/devices/system/cpu/cpufreq/policy{}/{}"
NO_TURBO = "sys/devices/system/cpu/intel_pstate/no_turbo"
WATCHDOG = "proc/sys/kernel/nmi_watchdog"
THP = "sys/kernel/mm/transparent_hugepage/enabled"
UNITS = ["irqbalance.service", "fstrim.timer", "man-db.timer"]


class Systemctl:
    """Answers as systemctl does for the units it knows, and keeps what was asked."""

    def __init__(self, states: dict[str, str]) -> None:
        self.states = states
        self.asked: list[list[str]] = []

    def __call__(self, words: Sequence[str]) -> str:
        verb, units = words[1], list(words[words.index("--") + 1 :])
        if verb == "show":
            return "\n".join(self._shown(unit) for unit in units)
        self.asked.append([verb, *units])
        self.states |= dict.fromkeys(units, "inactive" if verb == "stop" else "active")
        return ""

    def _shown(self, unit: str) -> str:
        load_state = "loaded" if unit in self.states else "not-found"
        active = self.states.get(unit, "inactive")
        return f"Id={unit}\nLoadState={load_state}\nActiveState={active}\n"


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def read(root: Path, name: str) -> str:
    return (root / name).read_text().strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A bare-metal Intel host with two frequency policies."""
    as_booted(tmp_path)
    return tmp_path


def as_booted(root: Path) -> None:
    for policy in (0, 1):
        offered = "performance powersave"
        write(root, POLICY.format(policy, "scaling_available_governors"), offered)
        write(root, POLICY.format(policy, "scaling_governor"), "powersave")
    write(root, NO_TURBO, "0")
    write(root, WATCHDOG, "1")
    write(root, THP, "always")


@pytest.fixture
def systemctl() -> Systemctl:
    return Systemctl({"irqbalance.service": "active", "fstrim.timer": "inactive"})


@pytest.fixture
def host(root: Path, systemctl: Systemctl) -> Any:
    return tuning.Host(root, root / "var/lib/mitigauge/tuning.json", systemctl)


def apply(host: Any, thp: str = "leave", *, check: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = host.apply(tuning.knobs(thp), UNITS, check=check)
    return result


def test_applying_sets_every_knob_the_host_has_and_names_those_it_lacks(
    host: Any, root: Path, systemctl: Systemctl
) -> None:
    result = apply(host)
    assert [read(root, POLICY.format(p, "scaling_governor")) for p in (0, 1)] == ["performance"] * 2
    assert read(root, NO_TURBO) == "1"
    assert read(root, WATCHDOG) == "0"
    assert read(root, THP) == "always"
    assert systemctl.asked == [["stop", "irqbalance.service"]]
    assert result["changed"]
    assert result["tuning"] == {
        "recorded": {
            "knobs": {
                POLICY.format(0, "scaling_governor"): "powersave",
                POLICY.format(1, "scaling_governor"): "powersave",
                NO_TURBO: "0",
                WATCHDOG: "1",
            },
            "units": {"irqbalance.service": "active", "fstrim.timer": "inactive"},
        },
        "applied": {
            "scaling_governor": "performance",
            "no_turbo": "1",
            "nmi_watchdog": "0",
            "irqbalance.service": "inactive",
            "fstrim.timer": "inactive",
        },
        "absent": ["boost", "man-db.timer"],
    }


def test_applying_twice_changes_nothing_the_second_time(host: Any, systemctl: Systemctl) -> None:
    first = apply(host)
    second = apply(host)
    assert (second["changed"], second["changes"]) == (False, [])
    assert second["tuning"] == first["tuning"]
    assert len(systemctl.asked) == 1


def test_after_a_reboot_it_is_applied_again_and_not_recorded_again(
    host: Any, root: Path, systemctl: Systemctl
) -> None:
    first = apply(host)
    as_booted(root)
    write(root, WATCHDOG, "0")  # the arm's command line switched it off
    systemctl.states["irqbalance.service"] = "active"
    again = apply(host)
    assert again["changed"]
    assert read(root, NO_TURBO) == "1"
    assert again["tuning"]["recorded"] == first["tuning"]["recorded"]


def test_a_knob_that_only_another_kernel_has_is_added_to_the_record(host: Any, root: Path) -> None:
    (root / NO_TURBO).unlink()
    assert NO_TURBO not in apply(host)["tuning"]["recorded"]["knobs"]
    write(root, NO_TURBO, "0")
    assert apply(host)["tuning"]["recorded"]["knobs"][NO_TURBO] == "0"


def test_restoring_puts_every_value_back_and_drops_the_record(
    host: Any, root: Path, systemctl: Systemctl
) -> None:
    apply(host)
    result = host.restore(check=False)
    assert result["changed"]
    assert read(root, NO_TURBO) == "0"
    assert read(root, WATCHDOG) == "1"
    assert read(root, POLICY.format(1, "scaling_governor")) == "powersave"
    assert systemctl.asked[-1] == ["start", "irqbalance.service"]
    assert systemctl.states["fstrim.timer"] == "inactive"
    assert result["restored"]["units"]["irqbalance.service"] == "active"
    assert not host.record.exists()
    assert host.restore(check=False) == {"changed": False, "changes": [], "restored": {}}


def test_restoring_names_what_is_gone_and_puts_the_rest_back(host: Any, root: Path) -> None:
    apply(host)
    (root / NO_TURBO).unlink()
    result = host.restore(check=False)
    assert result["restored"]["gone"] == [NO_TURBO]
    assert read(root, WATCHDOG) == "1"


def test_check_mode_says_what_would_change_and_changes_nothing(
    host: Any, root: Path, systemctl: Systemctl
) -> None:
    result = apply(host, check=True)
    assert result["changed"]
    assert f"{NO_TURBO} = 1" in result["changes"]
    assert read(root, NO_TURBO) == "0"
    assert systemctl.asked == []
    assert not host.record.exists()
    apply(host)
    assert host.restore(check=True)["changed"]
    assert read(root, NO_TURBO) == "1"
    assert host.record.exists()


def test_huge_pages_are_touched_only_when_asked_for(host: Any, root: Path) -> None:
    assert "thp" not in apply(host)["tuning"]["applied"]
    asked = apply(host, "madvise")
    assert read(root, THP) == "madvise"
    assert asked["tuning"]["recorded"]["knobs"][THP] == "always"


def test_a_choice_is_read_as_its_chosen_word(tmp_path: Path) -> None:
    write(tmp_path, "enabled", "always [madvise] never")
    assert tuning.value_of(tmp_path / "enabled") == "madvise"


def test_a_governor_that_the_driver_does_not_offer_counts_as_absent(host: Any, root: Path) -> None:
    for policy in (0, 1):
        write(root, POLICY.format(policy, "scaling_available_governors"), "schedutil")
    assert "scaling_governor" in apply(host)["tuning"]["absent"]
    assert read(root, POLICY.format(0, "scaling_governor")) == "powersave"


def test_a_host_with_nothing_to_tune_is_recorded_once(tmp_path: Path) -> None:
    host = tuning.Host(tmp_path, tmp_path / "tuning.json", Systemctl({}))
    first = apply(host)
    assert (first["changed"], first["changes"]) == (True, [])
    assert first["tuning"]["applied"] == {}
    assert not apply(host)["changed"]


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "cannot be read"), ('{"version": 2}', "is of version 2"), ("[]", "cannot be read")],
)
def test_a_record_that_cannot_be_trusted_stops_the_play_before_any_change(
    host: Any, root: Path, text: str, says: str
) -> None:
    write(root, "var/lib/mitigauge/tuning.json", text)
    with pytest.raises(tuning.TuningError, match=says):
        apply(host)
    assert read(root, NO_TURBO) == "0"


def test_the_record_is_on_disk_before_a_knob_refuses(
    host: Any, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, value: str) -> None:
        raise tuning.TuningError(f"{path} does not take {value!r}")

    monkeypatch.setattr(tuning, "set_value", refuse)
    with pytest.raises(tuning.TuningError, match="does not take"):
        apply(host)
    kept = json.loads(host.record.read_text())
    assert kept["knobs"][NO_TURBO] == "0"


def test_a_value_the_kernel_ignores_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "enabled", "x")
    with pytest.raises(tuning.TuningError, match=r"wrote 'a \[b\]', the kernel says 'b'"):
        tuning.set_value(tmp_path / "enabled", "a [b]")


def test_a_failed_command_is_told_with_its_error_output() -> None:
    with pytest.raises(tuning.TuningError, match=r"sh -c .*: no such unit"):
        tuning.run(["sh", "-c", "echo no such unit >&2; exit 5"])
