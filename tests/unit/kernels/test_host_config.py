"""A candidate is configured as the host's own kernel; the host's text is hostile."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels import host_config
from mitigauge.kernels.config_profile import not_taken, profile_of

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
    for word in ("BTF", "DWARF", "debian-uefi", "/run/keys", "LOCALVERSION", "INFO=y"):
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
    file = host_config.keep("racks", "icx-01", "6.12.118+deb13-amd64", DEBIAN)
    assert file.is_file()
    profile = profile_of("as-host:racks/icx-01")
    assert profile.whole
    assert "CONFIG_E1000E=m" in profile.text
    # A candidate of another version may lack an option, or know it by another name.
    assert not_taken(profile, "CONFIG_SATA_AHCI=m\n") == []
    assert profile.text.startswith("# The configuration of racks/icx-01, kernel 6.12.118")
    assert host_config.known_hosts() == ["as-host:racks/icx-01"]


def test_what_is_no_configuration_is_not_kept() -> None:
    before = host_config.keep("racks", "icx-01", "6.12", DEBIAN).read_text()
    with pytest.raises(InvalidInput, match="sets nothing"):
        host_config.keep("racks", "icx-01", "7.2", "nothing of a kernel's\n")
    with pytest.raises(InvalidInput, match="larger than 1 MiB"):
        host_config.keep("racks", "icx-01", "7.2", DEBIAN + "#" * (1 << 20))
    assert host_config.text_of("as-host:racks/icx-01") == before


def test_a_host_that_nobody_looked_at_and_a_name_that_leads_elsewhere_are_refused() -> None:
    with pytest.raises(NotFound, match="host racks/icx-02 is not known") as unknown:
        profile_of("as-host:racks/icx-02")
    assert "mitigauge host check" in unknown.value.hint
    for name in ("as-host:../../etc/passwd", "as-host:racks/../x", "as-host:", "as-host:racks"):
        with pytest.raises(InvalidInput, match="names no host"):
            profile_of(name)
