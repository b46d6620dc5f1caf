"""The role fingerprint's module over file systems as hosts show them."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.loading import load

module = load("ansible/roles/fingerprint/library/host_fingerprint.py")

CPU = "sys/devices/system/cpu"
# Two cores of two threads each; MHz and bogomips differ from boot to boot.
PROCESSOR = """\
processor	: {number}
vendor_id	: GenuineIntel
cpu family	: 6
model		: 143
model name	: Intel(R) Xeon(R) Gold 6430
stepping	: 8
microcode	: {microcode}
cpu MHz		: {mhz}
physical id	: 0
core id		: {core}
flags		: fpu vme {flags}
bogomips	: 4200.{number}{number}
power management:
"""


def cpuinfo(mhz: str = "2100.000", *, microcode: str = "0x2b000620", flags: str = "vmx pti") -> str:
    return "\n".join(
        PROCESSOR.format(number=n, core=n % 2, mhz=mhz, flags=flags, microcode=microcode)
        for n in range(4)
    )


STATUS = """\
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12+deb13u4
Description: GNU C Library: Shared libraries
 Package: not this one
 Version: nor this

Package: iperf3
Status: deinstall ok config-files
Version: 3.18-2

Package: linux-perf
Status: hold ok installed
Version: 7.3.4-1~bpo13+1
"""

BARE_METAL = {
    "proc/cpuinfo": cpuinfo(),
    "proc/meminfo": "MemTotal:       65839488 kB\nMemFree:        123 kB\n",
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz ro vmscape=ibpb mitigauge.nonce=7f3a panic=10\n",
    "proc/sys/kernel/osrelease": "7.2.12+deb13-amd64\n",
    "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian 7.2.12-1\n",
    f"{CPU}/smt/control": "on\n",
    f"{CPU}/cpufreq/policy0/scaling_governor": "performance\n",
    f"{CPU}/cpufreq/policy1/scaling_governor": "performance\n",
    f"{CPU}/cpufreq/policy0/energy_performance_preference": "performance\n",
    f"{CPU}/cpu0/cpuidle/state0/name": "POLL\n",
    f"{CPU}/cpu0/cpuidle/state1/name": "C1\n",
    f"{CPU}/cpu0/cpuidle/state10/name": "C10\n",
    f"{CPU}/cpu0/cpuidle/state2/name": "C6\n",
    f"{CPU}/cpu0/cpuidle/state2/disable": "1\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/vulnerabilities/vmscape": "Mitigation: IBPB before exit to userspace\n",
    f"{CPU}/vulnerabilities/meltdown": "Not affected\n",
    "sys/devices/system/node/node0/cpulist": "0,2\n",
    "sys/devices/system/node/node1/cpulist": "1,3\n",
    "sys/class/dmi/id/bios_vendor": "Dell Inc.\n",
    "sys/class/dmi/id/bios_version": "2.5.4\n",
    "sys/class/dmi/id/bios_date": "01/16/2025\n",
    "sys/class/dmi/id/board_vendor": "Dell Inc.\n",
    "sys/class/dmi/id/board_name": "0MTFR8\n",
    "sys/class/dmi/id/board_version": "\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "var/lib/dpkg/status": STATUS,
    "etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nNAME="Debian GNU/Linux"\n'
    "DEBIAN_VERSION_FULL=13.7\nID=debian\n",
}
PACKAGES = ["libc6", "iperf3", "linux-perf", "openssh-server"]


def host(root: Path, **changes: str) -> Path:
    for name, text in (BARE_METAL | changes).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_bare_metal_host_shows_all_its_facts(tmp_path: Path) -> None:
    facts = module.fingerprint(host(tmp_path), PACKAGES)
    digest = facts.pop("cpu_flags_sha256")
    assert len(digest) == 64
    assert facts == {
        "clock": "real",
        "cpu_model": "Intel(R) Xeon(R) Gold 6430",
        "cpu_family": 6,
        "cpu_model_number": 143,
        "cpu_stepping": 8,
        "microcode": "0x2b000620",
        "cores": 2,
        "threads": 4,
        "hypervisor_bit": False,
        "smt": "on",
        "governor": "performance",
        "energy_preference": "performance",
        "idle_states": "POLL,C1,C10",
        "turbo": False,
        "memory_total_mib": 64256,
        "numa_nodes": 2,
        "firmware": {"vendor": "Dell Inc.", "version": "2.5.4", "date": "01/16/2025"},
        "board": {"vendor": "Dell Inc.", "name": "0MTFR8", "version": None},
        "clocksource": "tsc",
        "kernel_release": "7.2.12+deb13-amd64",
        "kernel_version": "#1 SMP PREEMPT_DYNAMIC Debian 7.2.12-1",
        "cmdline": "BOOT_IMAGE=/vmlinuz ro vmscape=ibpb panic=10",
        "vulnerabilities": {
            "meltdown": "Not affected",
            "vmscape": "Mitigation: IBPB before exit to userspace",
        },
        "thp": "madvise",
        "packages": {
            "iperf3": None,
            "libc6": "2.41-12+deb13u4",
            "linux-perf": "7.3.4-1~bpo13+1",
            "openssh-server": None,
        },
        "python": platform.python_version(),
        "os": "Debian GNU/Linux 13.7",
    }


def test_two_boots_of_an_arm_have_one_fingerprint(tmp_path: Path) -> None:
    other_boot = {
        "proc/cpuinfo": cpuinfo("1899.731"),
        "proc/meminfo": "MemTotal:       65836012 kB\nMemFree:        99 kB\n",
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz ro vmscape=ibpb mitigauge.nonce=0c11 panic=10\n",
    }
    one = module.fingerprint(host(tmp_path / "one"), PACKAGES)
    other = module.fingerprint(host(tmp_path / "other", **other_boot), PACKAGES[::-1])
    assert one == other


@pytest.mark.parametrize(
    ("fact", "change"),
    [
        ("microcode", {"proc/cpuinfo": cpuinfo(microcode="0x2b000639")}),
        ("cpu_flags_sha256", {"proc/cpuinfo": cpuinfo(flags="vmx")}),
        ("hypervisor_bit", {"proc/cpuinfo": cpuinfo(flags="vmx hypervisor")}),
        ("smt", {f"{CPU}/smt/control": "off\n"}),
        ("governor", {f"{CPU}/cpufreq/policy1/scaling_governor": "powersave\n"}),
        (
            "energy_preference",
            {f"{CPU}/cpufreq/policy1/energy_performance_preference": "balance_power\n"},
        ),
        ("idle_states", {f"{CPU}/cpu0/cpuidle/state1/disable": "1\n"}),
        ("numa_nodes", {"sys/devices/system/node/node2/cpulist": "\n"}),
        ("turbo", {f"{CPU}/intel_pstate/no_turbo": "0\n"}),
        ("firmware", {"sys/class/dmi/id/bios_version": "2.6.0\n"}),
        ("packages", {"var/lib/dpkg/status": STATUS.replace("deb13u4", "deb13u5")}),
    ],
)
def test_a_host_that_changed_has_another_fingerprint(
    tmp_path: Path, fact: str, change: dict[str, str]
) -> None:
    before = module.fingerprint(host(tmp_path / "before"), PACKAGES)
    after = module.fingerprint(host(tmp_path / "after", **change), PACKAGES)
    assert before[fact] != after[fact]


def test_what_a_host_does_not_show_is_null_and_never_zero(tmp_path: Path) -> None:
    facts = module.fingerprint(tmp_path, ["libc6"])
    assert facts.pop("python")
    assert facts.pop("packages") == {"libc6": None}
    # Of its time the host's inventory tells, not the host.
    assert facts.pop("clock") == "real"
    assert set(facts.values()) == {None}


def test_a_host_that_counts_has_another_fingerprint(tmp_path: Path) -> None:
    assert module.fingerprint(host(tmp_path), PACKAGES, "counted")["clock"] == "counted"


def test_memory_is_counted_in_the_kernels_blocks_where_it_has_them(tmp_path: Path) -> None:
    memory = "sys/devices/system/memory"
    blocks = {f"{memory}/memory{n}/state": "online\n" for n in range(3)}
    host(tmp_path, **blocks)
    host(tmp_path, **{f"{memory}/block_size_bytes": "8000000\n"})
    host(tmp_path, **{f"{memory}/memory3/state": "offline\n"})
    assert module.memory_total_mib(tmp_path) == 3 * 128


def test_policies_that_disagree_are_all_named() -> None:
    assert module.joined(["powersave", "performance", None, "powersave"]) == "performance,powersave"


def test_boost_tells_of_turbo_where_the_driver_is_not_intels(tmp_path: Path) -> None:
    boost = tmp_path / CPU / "cpufreq/boost"
    boost.parent.mkdir(parents=True)
    boost.write_text("1\n")
    assert module.turbo(tmp_path) is True


def test_an_os_without_a_point_release_is_named_as_it_names_itself() -> None:
    assert module.operating_system('NAME="X"\nPRETTY_NAME="X 1"\n') == "X 1"
