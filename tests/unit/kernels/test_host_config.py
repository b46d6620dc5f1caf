"""A candidate is configured as the host's own kernel; the host's text is hostile."""

from __future__ import annotations

from ipaddress import IPv4Interface
from pathlib import Path
from types import SimpleNamespace

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels import host_config
from mitigauge.kernels.config_profile import Profile, config_refused, not_taken, profile_of
from tests.loading import load

# Lines of Debian's config-6.12.118+deb13-amd64.
DEBIAN = """\
#
# Automatically generated file; DO NOT EDIT.
#
CONFIG_CC_VERSION_TEXT="x86_64-linux-gnu-gcc-14 (Debian 14.2.0-19) 14.2.0"
CONFIG_LOCALVERSION="+deb13"
CONFIG_SATA_AHCI=m
CONFIG_E1000E=m
CONFIG_NR_CPUS=8192
CONFIG_PHYSICAL_START=0x1000000
CONFIG_DEFAULT_HOSTNAME="(none)"
# CONFIG_KEXEC_SIG is not set
CONFIG_DEBUG_INFO=y
CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y
# CONFIG_DEBUG_INFO_NONE is not set
CONFIG_DEBUG_INFO_BTF=y
CONFIG_SYSTEM_TRUSTED_KEYS="debian/certs/debian-uefi-certs.pem"
CONFIG_MODULE_SIG_KEY="/run/keys/own.pem"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(host_config, "get_settings", lambda: SimpleNamespace(home=tmp_path))
    return tmp_path


def test_drivers_stay_and_debug_information_and_keys_go() -> None:
    lines = host_config.settings_in(DEBIAN).splitlines()
    for line in ("CONFIG_SATA_AHCI=m", "CONFIG_E1000E=m", "CONFIG_NR_CPUS=8192",
                 "CONFIG_PHYSICAL_START=0x1000000", 'CONFIG_DEFAULT_HOSTNAME="(none)"',
                 "# CONFIG_KEXEC_SIG is not set", "CONFIG_DEBUG_INFO_NONE=y",
                 'CONFIG_SYSTEM_TRUSTED_KEYS=""', "CONFIG_EFI_STUB=y"):  # fmt: skip
        assert line in lines
    for word in (
        "BTF",
        "DWARF",
        "debian-uefi",
        "/run/keys",
        "LOCALVERSION",
        "INFO=y",
        "CC_VERSION",
    ):
        assert not any(word in line for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        'CONFIG_INITRAMFS_SOURCE="/etc/shadow"',
        'CONFIG_EXTRA_FIRMWARE="../../secret"',
        'CONFIG_X="$(shell touch /tmp/canary)"',
        'CONFIG_X="`touch /tmp/canary`"',
        'CONFIG_X="a" ; touch /tmp/canary',
        "CONFIG_X=y\x1b[2J",
        "source /etc/passwd",
        "CONFIG_X=" + "9" * 1000,
    ],
)
def test_a_line_that_names_a_file_or_is_no_plain_setting_is_left_out(line: str) -> None:
    text = host_config.settings_in(DEBIAN + line + "\n")
    assert line not in text
    assert "canary" not in text


def test_a_hosts_configuration_is_kept_and_is_a_profile() -> None:
    digest = host_config.keep("racks", "icx-01", DEBIAN)
    profile = profile_of("as-host:racks/icx-01")
    assert profile.whole
    assert profile.sha256 == digest
    assert "CONFIG_E1000E=m" in profile.text
    # A candidate of another version may lack an option, or know it by another name.
    assert not_taken(profile, "CONFIG_SATA_AHCI=m\n") == []
    assert host_config.known_hosts() == ["as-host:racks/icx-01"]


def test_what_is_no_configuration_is_not_kept() -> None:
    host_config.keep("racks", "icx-01", DEBIAN)
    before = host_config.text_of("as-host:racks/icx-01")
    with pytest.raises(InvalidInput, match="sets nothing"):
        host_config.keep("racks", "icx-01", "nothing of a kernel's\n")
    with pytest.raises(InvalidInput, match="larger than 1 MiB"):
        host_config.keep("racks", "icx-01", DEBIAN + "#" * (1 << 20))
    assert host_config.text_of("as-host:racks/icx-01") == before


def test_a_host_that_nobody_looked_at_and_a_name_that_leads_elsewhere_are_refused() -> None:
    with pytest.raises(NotFound, match="configuration of racks/icx-02 is not known") as unknown:
        profile_of("as-host:racks/icx-02")
    assert "mitigauge host check" in unknown.value.hint
    for name in ("as-host:../../etc/passwd", "as-host:racks/../x", "as-host:", "as-host:racks",
                 "as-host:racks/a,", "as-host:racks/a,../b"):  # fmt: skip
        with pytest.raises(InvalidInput, match="names no host"):
            profile_of(name)


def test_hosts_of_one_configuration_have_one_build_and_a_changed_one_is_another() -> None:
    assert host_config.keep("racks", "icx-01", DEBIAN) == host_config.keep(
        "racks", "icx-02", DEBIAN
    )
    both = profile_of("as-host:racks/icx-01,icx-02")
    assert both.sha256 == profile_of("as-host:racks/icx-01").sha256
    other = host_config.keep("racks", "icx-02", DEBIAN.replace("CONFIG_E1000E=m", "CONFIG_IGB=m"))
    assert other != both.sha256
    assert profile_of("as-host:racks/icx-01,icx-02").sha256 not in (other, both.sha256)


def test_of_several_hosts_the_most_of_a_switch_stands_and_of_a_value_the_first_with_a_note() -> (
    None
):
    one = "CONFIG_A=m\nCONFIG_B=y\n# CONFIG_C is not set\nCONFIG_NR_CPUS=8192\n"
    two = "CONFIG_A=y\nCONFIG_B=m\nCONFIG_C=m\nCONFIG_D=m\nCONFIG_NR_CPUS=512\n"
    text = host_config.united({"icx-01": one, "rome-01": two})
    lines = text.splitlines()
    for line in ("CONFIG_A=y", "CONFIG_B=y", "CONFIG_C=m", "CONFIG_D=m", "CONFIG_NR_CPUS=8192"):
        assert line in lines
    assert "# CONFIG_C is not set" not in lines
    assert host_config.notes_in(text) == [
        "CONFIG_NR_CPUS=512, of rome-01: CONFIG_NR_CPUS=8192, of icx-01"
    ]
    assert host_config.notes_in(one) == []


# As Debian and another distribution have them; the members are those of Linux 6.12's Kconfig files.
CHOICES_A = """\
CONFIG_HZ_250=y
# CONFIG_HZ_1000 is not set
CONFIG_HZ=250
# CONFIG_PREEMPT_NONE is not set
CONFIG_PREEMPT_VOLUNTARY=y
CONFIG_KERNEL_XZ=y
CONFIG_UNWINDER_ORC=y
CONFIG_MODULE_COMPRESS_ALL=y
"""
CHOICES_B = """\
# CONFIG_HZ_250 is not set
CONFIG_HZ_1000=y
CONFIG_HZ=1000
CONFIG_PREEMPT_NONE=y
# CONFIG_PREEMPT_VOLUNTARY is not set
CONFIG_KERNEL_ZSTD=y
CONFIG_MODULE_COMPRESS_ZSTD=y
CONFIG_CPU_FREQ_DEFAULT_GOV_SCHEDUTIL=y
"""


def on_in(text: str, *starts: str) -> set[str]:
    names = tuple(f"CONFIG_{start}" for start in starts)
    return {line for line in text.splitlines() if line.endswith("=y") and line.startswith(names)}


@pytest.mark.parametrize(
    ("first", "second", "hz", "model"),
    [(CHOICES_A, CHOICES_B, "250", "VOLUNTARY"), (CHOICES_B, CHOICES_A, "1000", "NONE")],
)
def test_of_a_choice_the_first_hosts_stands_alone_and_the_others_are_named(
    first: str, second: str, hz: str, model: str
) -> None:
    text = host_config.united({"icx-01": first, "rome-01": second})
    assert on_in(text, "HZ_") == {f"CONFIG_HZ_{hz}=y"}
    assert on_in(text, "PREEMPT") == {f"CONFIG_PREEMPT_{model}=y"}
    assert f"CONFIG_HZ={hz}" in text.splitlines()
    assert len(on_in(text, "KERNEL_")) == 1
    # What one host alone chooses is taken, and what is no choice, as ever.
    assert on_in(text, "MODULE_COMPRESS", "UNWINDER", "CPU_FREQ") == {
        "CONFIG_MODULE_COMPRESS_ALL=y", "CONFIG_MODULE_COMPRESS_ZSTD=y", "CONFIG_UNWINDER_ORC=y",
        "CONFIG_CPU_FREQ_DEFAULT_GOV_SCHEDUTIL=y",
    }  # fmt: skip
    other = {"VOLUNTARY": "NONE", "NONE": "VOLUNTARY"}[model]
    assert (
        f"CONFIG_PREEMPT_{other}=y, of rome-01: CONFIG_PREEMPT_{model}=y, of icx-01"
        in host_config.notes_in(text)
    )


def test_a_host_that_has_two_of_a_choice_keeps_both() -> None:
    """PREEMPT_RT stands beside PREEMPT in some versions, and in its place in others."""
    real_time = "CONFIG_PREEMPT=y\nCONFIG_PREEMPT_RT=y\n"
    text = host_config.united({"a": real_time, "b": CHOICES_B, "c": real_time})
    assert on_in(text, "PREEMPT") == {"CONFIG_PREEMPT=y", "CONFIG_PREEMPT_RT=y"}
    assert len([note for note in host_config.notes_in(text) if "PREEMPT" in note]) == 1


def test_what_a_build_makes_otherwise_than_the_united_text_says_is_told() -> None:
    text = host_config.united({"icx-01": CHOICES_A, "rome-01": CHOICES_B})
    profile = Profile("as-host:racks/icx-01,rome-01", text, whole=True)
    notes = host_config.notes_in(text)
    built = "CONFIG_HZ=250\nCONFIG_HZ_250=y\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_KERNEL_XZ=y\n"
    assert config_refused(profile, built) == notes
    other = built.replace("250", "1000").replace("VOLUNTARY", "LAZY")
    assert set(config_refused(profile, other)) - set(notes) == {
        "CONFIG_HZ=250: CONFIG_HZ=1000", "CONFIG_HZ_250=y: not set",
        "# CONFIG_HZ_1000 is not set: CONFIG_HZ_1000=y", "CONFIG_PREEMPT_VOLUNTARY=y: not set",
    }  # fmt: skip


def test_every_host_without_a_known_configuration_is_named() -> None:
    host_config.keep("racks", "icx-01", DEBIAN)
    with pytest.raises(NotFound, match="racks/rome-01, racks/rome-02 is not known") as unknown:
        profile_of("as-host:racks/icx-01,rome-01,rome-02")
    assert "--environment racks" in unknown.value.hint


def test_a_local_profile_names_the_modules_that_a_host_has_loaded_and_those_of_runs() -> None:
    hostile = ["e1000e", "$(touch /tmp/canary)", "../x", "a b", "x" * 65]
    host_config.keep("racks", "icx-01", DEBIAN, hostile)
    host_config.keep("racks", "rome-01", DEBIAN, ["igb"])
    whole, local = profile_of("as-host:racks/icx-01"), profile_of("as-host:racks/icx-01+local")
    assert local.whole
    assert local.text.startswith(whole.text)
    named = local.text.removeprefix(whole.text).splitlines()
    assert "# module: e1000e" in named
    assert "# module: kvm_intel" in named
    assert not any(word in local.text for word in ("canary", "../x", "a b", "xxx"))
    both = profile_of("as-host:racks/icx-01,rome-01+local").text.splitlines()
    assert {"# module: e1000e", "# module: igb"} <= set(both)
    # The list decides what is built, so it is of the kernel's identity.
    host_config.keep("racks", "icx-01", DEBIAN, ["e1000e", "nvme"])
    assert profile_of("as-host:racks/icx-01+local").sha256 != local.sha256
    assert profile_of("as-host:racks/icx-01").sha256 == whole.sha256


def test_a_host_whose_modules_are_not_known_is_named(home: Path) -> None:
    host_config.keep("racks", "icx-01", DEBIAN)
    (home / "host-configs/racks/icx-01.modules").unlink()
    with pytest.raises(NotFound, match="the list of loaded modules of racks/icx-01 is not known"):
        profile_of("as-host:racks/icx-01+local")


def test_a_local_kernel_has_what_runs_load_on_hosts_and_in_guests() -> None:
    network = load("ansible/roles/guest_network/library/guest_network.py")
    guest = load("ansible/module_utils/mitigauge_guest.py")
    address = IPv4Interface("10.0.0.1/24")
    files = [network.wanted_files("b", "t", address, kvm) for kvm in ("kvm_intel", "kvm_amd")]
    loaded = {name for each in files for name in each[network.MODULES_LOAD][1].split()}
    assert len(loaded) > 4
    host_config.keep("racks", "icx-01", DEBIAN)
    text = profile_of("as-host:racks/icx-01+local").text.splitlines()
    assert {f"# module: {name}" for name in (*loaded, *guest.GUEST_MODULES)} <= set(text)
