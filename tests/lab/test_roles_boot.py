"""The host's roles for real: applied twice, booted into modes and out of a panic, put back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.fleet.inventory import load_hosts
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.proof import Judgement, Requested, judge_boot
from mitigauge.measurement.runs.states import BootState
from pipelines.adapters.ansible import PlayFailure, PlayResult, run_playbook
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("lab")]

HOST = "lab-intel"
# Found dead within five minutes, of which the fallback's own boot is the second half.
FALLBACK_S = 300
GOING_DOWN_S = 60


def play(playbook: str, **variables: Any) -> PlayResult:
    begun = time.monotonic()
    result = run_playbook(playbook, environment="lab", host=HOST, variables=variables)
    print(f"  {playbook}: {time.monotonic() - begun:.1f} s, {result.changed} changed", flush=True)
    return result


def prepare() -> PlayResult:
    return play("prepare.yml", kernel_packages=[], workload_names=[], guest_enabled=False)


def arm(cmdline: str, nonce: str) -> dict[str, Any]:
    facts: dict[str, Any] = play(
        "boot.yml", boot_mode_nonce=nonce, boot_mode_cmdline=cmdline, boot_mode_kernel=""
    ).returned["boot"]
    return facts


def next_boot(previous_boot_id: str) -> dict[str, Any]:
    """The proof of the first boot that is not the previous one."""
    host = AnsibleHost(load_hosts("lab")[HOST], SilentLog())
    begun = time.monotonic()
    while time.monotonic() < begun + FALLBACK_S:
        time.sleep(1)
        if not host.answers():
            continue
        proof: dict[str, Any] = play("ping.yml").returned["proof"]
        if proof["boot_id"] != previous_boot_id:
            print(f"  another boot after {time.monotonic() - begun:.0f} s", flush=True)
            return proof
    raise TimeoutError(f"{HOST} did not come back within {FALLBACK_S} s")


def boot(cmdline: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Boot with options; what was armed, the proof, and the nonce."""
    nonce = uuid.uuid4().hex[:16]
    armed = arm(cmdline, nonce)
    return armed, next_boot(armed["previous_boot_id"]), nonce


def judged(mode: str) -> tuple[dict[str, Any], Judgement]:
    """Boot into ``family/mode``; the proof and what it is worth."""
    family_name, _, mode_name = mode.partition("/")
    family = Catalog().families[family_name]
    wanted = family.modes[mode_name]
    armed, proof, nonce = boot(" ".join([*family.emulated.cmdline, *wanted.settings.options()]))
    return proof, judge_boot(
        BootProof.model_validate(proof),
        Requested(
            nonce=nonce,
            previous_boot_id=armed["previous_boot_id"],
            kernel_release=armed["kernel_release"],
            build_id=None,
            kernel_version=armed["kernel_version"],
            expect=[Expectation.model_validate(e) for e in wanted.expect],
        ),
    )


@pytest.fixture(autouse=True, scope="module")
def put_back(lab: object) -> Iterator[None]:
    """The host is given back without our entry and tuning."""
    yield
    play("restore.yml")


def test_preparing_twice_changes_nothing_the_second_time() -> None:
    first = prepare()
    assert first.returned["kernels"]
    running = [k for k in first.returned["kernels"] if k["build_id"]]
    assert len(running) == 1
    assert running[0]["package"] == f"linux-image-{running[0]['release']}"
    second = prepare()
    assert second.changed == 0
    assert second.returned["tuning"]["recorded"] == first.returned["tuning"]["recorded"]


def test_verifying_twice_changes_nothing_and_sees_the_same_host() -> None:
    play("verify.yml")
    first, second = play("verify.yml"), play("verify.yml")
    assert (first.changed, second.changed) == (0, 0)
    assert first.returned["fingerprint"] == second.returned["fingerprint"]


@pytest.mark.parametrize("mode", ["spectre-bhi/loop", "spectre-bhi/off"])
def test_a_mode_is_booted_once_and_proven(mode: str) -> None:
    proof, judgement = judged(mode)
    assert judgement.state is BootState.EFFECTIVE, judgement
    assert "S" in proof["taint_flags"]
    assert proof["watchdog"]["state"] == "active"
    # Asked for again it is up already: no second reboot.
    again = arm("", proof["nonce"])
    assert again["already_up"] is True
    assert play("ping.yml").returned["proof"]["boot_id"] == proof["boot_id"]


def test_a_mode_that_the_kernel_ignores_is_not_effective() -> None:
    _, judgement = judged("vmscape/bhb-clear")
    assert judgement.state is BootState.NOT_EFFECTIVE
    assert "the kernel says vmscape: " in judgement.reason


def test_a_kernel_that_panics_falls_back_to_the_known_good_entry_by_itself() -> None:
    armed, proof, nonce = boot("rdinit=/nonexistent init=/nonexistent root=/dev/nonexistent")
    assert nonce in armed["cmdline"]
    assert proof["nonce"] is None
    assert proof["kernel_release"] == armed["kernel_release"]
    wanted = Requested(nonce, armed["previous_boot_id"], "", None, None, [])
    judgement = judge_boot(BootProof.model_validate(proof), wanted)
    assert judgement.state is BootState.DID_NOT_BOOT
    assert "fallback" in judgement.reason


@pytest.mark.parametrize("cmdline", ["a;reboot", 'b="c d"', "e}"])
def test_options_that_grub_would_interpret_are_refused_and_nothing_reboots(cmdline: str) -> None:
    before = play("ping.yml").returned["proof"]["boot_id"]
    with pytest.raises(PlayFailure, match="GRUB would interpret"):
        arm(cmdline, "refused")
    assert play("ping.yml").returned["proof"]["boot_id"] == before


def test_an_unknown_kernel_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PlayFailure, match=r"kernel 9\.9\.9 is not in grub\.cfg; there: .*amd64"):
        play("boot.yml", boot_mode_nonce="refused", boot_mode_cmdline="", boot_mode_kernel="9.9.9")


def test_restoring_twice_changes_nothing_the_second_time() -> None:
    assert prepare().ok
    first = play("restore.yml")
    assert first.changed
    assert set(first.returned["restored"]) >= {"boot_entry", "knobs"}
    assert play("restore.yml").changed == 0
