"""What a run needs of a host: each thing that may be missing is named, with the way to mend it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.clock import Clock
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.fleet.check import Item, State, items, modes, own_processors
from pipelines.adapters.host_answers import CheckAnswer, typed
from tests.loading import load

module = load("ansible/roles/host_check/library/host_check.py")

NOW = 1_770_000_000.0
GOOD: dict[str, Any] = {
    "user": 0,
    "os": {"id": "debian", "version": "13"},
    "firmware": {
        "refused": "the host was not started by EFI",
        "secure_boot": None,
        "hides_variables": False,
    },
    "kernel_release": "6.12.1",
    "python": "3.13.5",
    "lockdown": "none",
    "crash_kernel": False,
    "consoles": ["ttyS1"],
    "dpkg": True,
    "initial_disk_maker": "mkinitramfs",
    "drivers": {},
    "dkms": [],
    "unsteady": [],
    "numa_balancing": "0",
    "boot_loader": {"refused": None, "default_release": "6.12.1", "next_entry": None},
    "free_bytes": {"/": 9 << 30, "/boot": 1 << 30, "/var": 9 << 30},
    "watchdog": "iTCO_wdt",
    "programs": dict.fromkeys(("grub-reboot", "systemd-run", "perf", "iperf3"), "/usr/bin/x"),
    "now": NOW + 2,
    "synchronised": True,
    "kvm": True,
    "processor": {
        "smt": "on",
        "turbo": True,
        "governors": ["performance"],
        "idle_states": ["C6"],
        "energy_preferences": ["performance"],
        "numa_nodes": 2,
        "packages": 2,
        "present": "0-15",
        "online": "0-15",
    },
    "vulnerabilities": {"vmscape": "Vulnerable", "spectre_v2": "Mitigation: x; BHI: Not affected"},
    "readings": {"sys/module/kvm/parameters/nx_huge_pages": None},
}
BY_FIRMWARE: dict[str, Any] = {
    "refused": None, "secure_boot": False, "shim_checks": True, "hides_variables": False,
    "partition": "/dev/nvme0n1p1", "place": "/boot/efi", "free_bytes": 200 << 20,
    "needed_bytes": 60 << 20, "next": None, "first_is_ours": False,
}  # fmt: skip


def found(clock: Clock = Clock.REAL, **changes: Any) -> dict[str, Item]:
    return {item.name: item for item in items({**GOOD, **changes}, now=NOW, clock=clock)}


def test_a_good_host_lacks_nothing() -> None:
    assert [item for item in found().values() if item.state is State.MISSING] == []


@pytest.mark.parametrize(
    ("changes", "name", "said", "mend"),
    [
        ({"user": 1000}, "root", "user 1000", "ansible_become"),
        (
            {"os": {"id": "fedora", "version": "44"}, "dpkg": False},
            "system", "fedora 44", "debian or ubuntu",
        ),
        (
            {"os": {"id": "linuxmint", "version": "22"}, "firmware": BY_FIRMWARE},
            "system", "linuxmint 22, with dpkg", "dpkg (/var/lib/dpkg/status) is in the way",
        ),
        (
            {"boot_loader": {"refused": "grubenv lies on btrfs, which GRUB cannot write"}},
            "one-shot boot", "btrfs", "plain ext4",
        ),
        ({"free_bytes": {"/boot": 1 << 20}}, "room on /boot", "1 MiB free", "autoremove"),
        ({"programs": {"systemd-run": None}}, "systemd-run", "not found", "install systemd"),
        ({"now": NOW - 3600}, "clock", "3600 s behind", "timesyncd"),
        ({"now": NOW + 3600}, "clock", "3600 s ahead", "chrony"),
        ({"python": "3.8.10"}, "python", "3.8.10, needed 3.9", "ansible_python_interpreter"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_with_its_mend(
    changes: dict[str, Any], name: str, said: str, mend: str
) -> None:
    item = found(**changes)[name]
    assert item.state is State.MISSING
    assert said in item.found
    assert mend in item.mend


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"watchdog": None}, "watchdog"),
        ({"programs": {"perf": None}}, "perf"),
        ({"synchronised": None}, "clock"),
        ({"synchronised": False}, "clock"),
        ({"kvm": False}, "kvm"),
    ],
)
def test_what_a_run_can_do_without_is_a_note(changes: dict[str, Any], name: str) -> None:
    item = found(**changes)[name]
    assert item.state is State.NOTE
    assert item.mend


def test_a_clock_that_counts_instructions_is_no_fault_however_far_behind() -> None:
    item = found(Clock.COUNTED, now=NOW - 3600, synchronised=None)["clock"]
    assert (item.state, item.found) == (
        State.NOTE, "counts instructions; -3600 s from this machine's",
    )  # fmt: skip


def test_modes_that_can_never_be_in_force_are_told_apart() -> None:
    families = Catalog().families.values()
    said = {item.name: item.found for item in modes(GOOD, families)}
    assert said["modes of vmscape"] == "possible: off, ibpb, bhb-clear"
    assert "loop: the processor is not affected" in said["modes of spectre-bhi"]
    assert "no module parameter kvm.nx_huge_pages here" in said["modes of nx-huge-pages"]
    assert said["modes of guest-irqchip"] == "possible: on, split, off"
    without = {**GOOD, "vulnerabilities": {}, "kvm": False}
    said = {item.name: item.found for item in modes(without, families)}
    assert "the kernel has no file vmscape" in said["modes of vmscape"]
    assert "no /dev/kvm" in said["modes of guest-irqchip"]


def possible(family: str, **vulnerabilities: str) -> str:
    facts = {**GOOD, "vulnerabilities": vulnerabilities}
    return next(modes(facts, [Catalog().families[family]])).found


def test_a_mode_is_possible_only_where_each_of_its_places_is() -> None:
    """`mds/off` is known by four files; a kernel before 6.9 lacks one of them."""
    files = {
        "mds": "Vulnerable; SMT vulnerable",
        "mmio_stale_data": "Not affected",
        "tsx_async_abort": "Not affected",
    }
    assert "off: the kernel has no file reg_file_data_sampling" in possible("mds", **files)
    assert possible("mds", **files, reg_file_data_sampling="Not affected") == "possible: off, on"


def test_a_field_that_the_kernel_does_not_print_is_no_place() -> None:
    said = "Mitigation: Retpolines; STIBP: disabled; RSB filling"
    found = possible("ibpb", spectre_v2=said)
    assert found.startswith("possible: none; off: spectre_v2 says nothing of IBPB here")
    assert possible("ibrs", spectre_v2=said).startswith("possible: off, retpoline, entry, always")


def test_settings_that_give_another_mode_here_are_told() -> None:
    """bugs.c, bhi_apply_mitigation(): the processor decides between loop and BHI_DIS_S."""
    found = possible("spectre-bhi", spectre_v2="Mitigation: x; BHI: BHI_DIS_S")
    assert "loop: the same settings give hardware here" in found
    assert "hardware" in found.split(";")[0]
    found = possible("spectre-bhi", spectre_v2="Mitigation: x; BHI: SW loop, KVM: SW loop")
    assert "hardware: the same settings give loop here" in found


def names_in(facts: object, prefix: str = "") -> set[str]:
    """Dotted names of all that nested facts hold."""
    if not isinstance(facts, dict):
        return {prefix}
    return {prefix}.union(*(names_in(value, f"{prefix}.{name}") for name, value in facts.items()))


@pytest.mark.parametrize("root", [None, Path("/")])
def test_what_the_module_answers_arrives_whole_and_is_told(
    tmp_path: Path, root: Path | None
) -> None:
    """A fact that the adapter does not know is dropped there, and missed by whoever tells it."""
    answer = module.check(root or tmp_path, ["sh"], [])
    facts = typed(CheckAnswer, json.loads(json.dumps(answer)), "the check")
    assert names_in(facts) == names_in(answer)
    told = [*items(facts, now=answer["now"], clock=Clock.REAL), *modes(facts, [])]
    assert {"system", "kvm", "Secure Boot"} <= {item.name for item in told}


def test_the_module_reads_any_system(tmp_path: Path) -> None:
    facts = module.check(tmp_path, ["sh", "no-such-program"], ["etc/shadow"])
    assert "No such file" in facts["boot_loader"]["refused"]
    assert facts["programs"]["sh"]
    assert facts["programs"]["no-such-program"] is None
    assert (facts["watchdog"], facts["vulnerabilities"], facts["readings"]) == (None, {}, {})
    assert facts["processor"] == {
        "model": None, "smt": None, "turbo": None, "governors": [], "idle_states": [],
        "energy_preferences": [], "numa_nodes": 0, "packages": 0, "present": None,
        "online": None,
    }  # fmt: skip


def test_a_host_that_was_changed_shows_it(tmp_path: Path) -> None:
    assert not module.check(tmp_path, [], [])["changed"]
    record = tmp_path / "var/lib/mitigauge/changes.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    assert module.check(tmp_path, [], [])["changed"]


def test_a_broken_grub_configuration_is_refused_by_its_name(tmp_path: Path) -> None:
    grub = tmp_path / "boot/grub"
    grub.mkdir(parents=True)
    (grub / "grubenv").write_text("#" * 1024)
    (grub / "grub.cfg").write_text("set default=0\n")
    assert "no Linux entry" in module.boot_loader(tmp_path)["refused"]


RAID = {"refused": "grubenv lies on /dev/md0 (software RAID), a device layer"}


def test_a_host_that_starts_by_efi_needs_nothing_of_grubs() -> None:
    items = found(firmware=BY_FIRMWARE, boot_loader=RAID, programs={"grub-reboot": None})
    assert items["one-shot boot"].state is State.OK
    assert items["one-shot boot"].found == (
        "the firmware's own (EFI BootNext), from /dev/nvme0n1p1, mounted at /boot/efi"
    )
    assert "grub-reboot" not in items
    assert items["known-good kernel"].found == "6.12.1, which runs now"
    assert [name for name, item in items.items() if item.state is State.MISSING] == []


def test_where_neither_can_both_say_why() -> None:
    refused = {
        "refused": "there is no program efibootmgr: install it", "secure_boot": False,
        "hides_variables": False,
    }  # fmt: skip
    item = found(firmware=refused, boot_loader=RAID)["one-shot boot"]
    assert item.state is State.MISSING
    assert "by the firmware: there is no program efibootmgr" in item.found
    assert "by GRUB: grubenv lies on /dev/md0" in item.found


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"free_bytes": 30 << 20}, "room on the ESP", "30 MiB free, needed 60 MiB"),
        ({"first_is_ours": True}, "boot order", "stands first in BootOrder"),
    ],
)
def test_what_the_firmware_lacks_is_named(changes: dict[str, Any], name: str, words: str) -> None:
    item = found(firmware={**BY_FIRMWARE, **changes})[name]
    assert (item.state, words in item.found) == (State.MISSING, True)
    assert item.mend


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"firmware": {**BY_FIRMWARE, "next": "0003"}}, "pending boot", "Boot0003 next"),
        ({"consoles": ["tty0"]}, "kernel's console", "tty0"),
        ({"crash_kernel": True}, "kdump", "a crash kernel is loaded"),
        ({"dkms": ["zfs", "nvidia"]}, "dkms", "zfs, nvidia"),
        ({"unsteady": ["tuned.service"]}, "services at work", "tuned.service"),
        ({"numa_balancing": "1"}, "NUMA balancing", "on"),
        ({"watchdog": "Software Watchdog"}, "watchdog", "does not reset a machine that hangs"),
        ({"watchdog": "iamt_wdt"}, "watchdog", "does not reset a machine that hangs"),
    ],
)
def test_what_meddles_with_boots_and_figures_is_noted_with_a_way_out(
    changes: dict[str, Any], name: str, words: str
) -> None:
    item = found(**changes)[name]
    assert (item.state, words in item.found) == (State.NOTE, True)
    assert item.mend


def test_the_module_reads_what_a_host_shows(tmp_path: Path) -> None:
    for place, text in {
        "sys/kernel/security/lockdown": "none [integrity] confidentiality\n",
        "proc/consoles": "ttyS1                -W- (EC p  )    4:65\ntty0  -WU (E  p  )    4:7\n",
        "var/lib/dkms/zfs/2.3/source": "",
        "var/lib/dkms/mok.conf": "",
    }.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    assert module.lockdown(tmp_path) == "integrity"
    assert module.consoles(tmp_path) == ["ttyS1", "tty0"]
    assert module.dkms_modules(tmp_path) == ["zfs"]
    assert module.lockdown(tmp_path / "none") is None
    assert (module.consoles(tmp_path / "none"), module.dkms_modules(tmp_path / "none")) == ([], [])


def test_the_drivers_that_it_boots_by_are_named_by_what_needs_them() -> None:
    item = found(drivers={"nvme": "the root's disk", "sd_mod": "the root's disk",
                          "e1000e": "the network card"})["drivers that it boots by"]  # fmt: skip
    assert item.found == "the root's disk: nvme, sd_mod; the network card: e1000e"
    assert "drivers that it boots by" not in found()


def test_processors_of_workloads_that_the_host_lacks_are_named() -> None:
    def own(cpus: str, present: str | None, online: str | None = "0-31") -> list[Item]:
        return list(own_processors(cpus, {"present": present, "online": online}))

    [item] = own("2-19", "0-15")
    assert item.state is State.MISSING
    assert item.found == (
        "mitigauge_cpus is 2-19, and the host has 0-15: no processor 16, 17, 18, 19"
    )
    assert "inventory" in item.mend
    [many] = own("0-31", "0-7,16")
    assert many.found.endswith("no processor 8, 9, 10, 11, 12, 13, 14, 15, 15 more")
    for cpus, present in (("2-15", "0-15"), ("", "0"), ("5", None), ("5", "0-3; rm"), ("7", "0,7")):
        assert own(cpus, present) == []
    # With nosmt they are present, and nothing can run on them.
    [offline] = own("2-15", "0-15", "0-7")
    assert offline.state is State.MISSING
    assert offline.found == (
        "mitigauge_cpus is 2-15, and of the host's 0-15 only 0-7 are online: "
        "offline 8, 9, 10, 11, 12, 13, 14, 15"
    )
    assert "nosmt" in offline.mend
    lacks, sleeps = own("7-9", "0-8", "0-7")
    assert lacks.found.endswith("no processor 9")
    assert sleeps.found.endswith("offline 8")


def test_more_nodes_than_packages_are_told() -> None:
    snc = found(processor={**GOOD["processor"], "numa_nodes": 4})["NUMA nodes"]
    assert snc.found == "4 with processors on 2 packages"
    assert "SNC" in snc.mend
    assert "NUMA nodes" not in found()


def test_a_system_without_dpkg_that_starts_by_efi_takes_kernels_and_no_packages() -> None:
    fedora = {
        "os": {"id": "fedora", "version": "43"}, "dpkg": False, "initial_disk_maker": "dracut",
        "programs": {"perf": None, "systemd-run": "/usr/bin/systemd-run"},
        "firmware": {**BY_FIRMWARE, "place": None, "free_bytes": None},
    }  # fmt: skip
    items = found(**fedora)
    assert items["system"].state is State.NOTE
    assert "dracut makes their initial RAM disks" in items["system"].found
    assert items["perf"].mend == "Install by hand what Debian calls linux-perf."
    for change in ({"initial_disk_maker": None}, {"firmware": GOOD["firmware"]}):
        assert found(**{**fedora, **change})["system"].state is State.MISSING


NO_GRUB = {"refused": "the boot loader is systemd-boot, not GRUB below /boot/grub"}
SECURE = {"secure_boot": True, "shim_checks": True, "hides_variables": False}


@pytest.mark.parametrize(
    ("firmware", "boot_loader", "words"),
    [
        ({**BY_FIRMWARE, **SECURE}, RAID, "the firmware starts kernels that are signed"),
        ({**SECURE, "refused": "x"}, {"refused": None}, "its GRUB starts kernels that are signed"),
        ({**SECURE, "refused": "x"}, NO_GRUB, "nothing starts a kernel once here: see one-shot"),
    ],
)
def test_under_secure_boot_only_what_can_start_a_kernel_once_is_said_to(
    firmware: dict[str, Any], boot_loader: dict[str, Any], words: str
) -> None:
    item = found(firmware=firmware, boot_loader=boot_loader)["Secure Boot"]
    assert item.found.startswith("on; ")
    assert words in item.found
    assert '"Secure Boot" in docs/metal.md' in item.mend
    assert "## Secure Boot" in (REPOSITORY / "docs/metal.md").read_text().splitlines()


def test_secure_boot_cannot_be_told_where_the_firmware_hides_its_variables() -> None:
    hidden = {"refused": "efivars is empty", "secure_boot": None, "hides_variables": True}
    item = found(firmware=hidden)["Secure Boot"]
    assert item.found.startswith("cannot be told; ")
    assert "mount efivarfs" in item.mend
    assert found()["Secure Boot"].found.startswith("not there; ")


def test_the_module_tells_an_efi_host_without_efivarfs_from_a_bios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    efi = tmp_path / "efi"
    monkeypatch.setattr(module.efi, "FIRMWARE", efi)
    monkeypatch.setattr(module.efi, "EFIVARS", efi / "efivars")
    assert not module.firmware("auto")["hides_variables"]
    (efi / "efivars").mkdir(parents=True)
    (efi / "fw_platform_size").write_text("64\n")
    facts = module.firmware("auto")
    assert (facts["hides_variables"], facts["secure_boot"]) == (True, None)
    assert "is empty: mount efivarfs there" in facts["refused"]
    (efi / "efivars" / f"SecureBoot-{module.efi.GLOBAL}").write_bytes(b"\6\0\0\0\1")
    facts = module.firmware("grub")
    assert (facts["hides_variables"], facts["secure_boot"]) == (False, True)
    assert facts["shim_checks"]
    state = efi / "efivars/MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23"
    state.write_bytes(b"\6\0\0\0\1")
    assert not module.firmware("grub")["shim_checks"]
    state.write_bytes(b"\6\0\0\0\0")
    assert module.firmware("grub")["shim_checks"]


def test_a_shim_that_checks_nothing_is_said() -> None:
    unchecked = {**SECURE, "shim_checks": False, "refused": "x"}
    item = found(firmware=unchecked, boot_loader={"refused": None})["Secure Boot"]
    assert "its shim checks no signatures (MokSBStateRT)" in item.found
    assert item.mend == ""
    by_firmware = found(firmware={**BY_FIRMWARE, **SECURE, "shim_checks": False}, boot_loader=RAID)
    assert "the firmware starts kernels that are signed" in by_firmware["Secure Boot"].found


def test_a_node_of_memory_alone_is_not_counted(tmp_path: Path) -> None:
    for name, processors in (("node0", "0-15\n"), ("node1", "\n"), ("node2", "16-31\n")):
        folder = tmp_path / "sys/devices/system/node" / name
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(processors)
    assert module.processor(tmp_path)["numa_nodes"] == 2


@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_a_system_is_known_however_its_name_is_quoted(quote: str) -> None:
    text = f"NAME=x\nID={quote}debian{quote}\nVERSION_ID={quote}13{quote}\n"
    assert module.os_release(text) == {"id": "debian", "version": "13"}


@pytest.mark.parametrize("damaged", [lambda p: p[:-20], lambda p: p[:12] + b"\xff" * 20 + p[32:]])
def test_a_damaged_configuration_is_not_read(
    tmp_path: Path, damaged: Callable[[bytes], bytes]
) -> None:
    packed = gzip.compress(b"CONFIG_A=y\n" * 1000)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/config.gz").write_bytes(packed)
    assert "CONFIG_A=y" in module.own_config(tmp_path)
    (tmp_path / "proc/config.gz").write_bytes(damaged(packed))
    assert module.own_config(tmp_path) is None
