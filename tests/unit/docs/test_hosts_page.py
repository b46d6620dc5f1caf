"""docs/hosts.md names whatever is changed on a host."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from mitigauge.core.settings import REPOSITORY
from tests.loading import load
from tests.unit.docs.pages import page, spans

ROLES = "ansible/roles"
network = load(f"{ROLES}/guest_network/library/guest_network.py")
keeper = load(f"{ROLES}/guest/library/guest_keeper.py")
entry = load(f"{ROLES}/boot_mode/library/boot_entry.py")
check = load(f"{ROLES}/host_check/library/host_check.py")
changes = load("ansible/module_utils/mitigauge_changes.py")


def default(role: str, name: str) -> str:
    """A role's default value."""
    values: dict[str, Any] = yaml.safe_load(
        (REPOSITORY / ROLES / role / "defaults/main.yml").read_text()
    )
    return str(values[name])


def changed() -> list[str]:
    """Every path that a role makes by its defaults."""
    import ipaddress

    address = ipaddress.IPv4Interface(default("guest_network", "guest_network_address"))
    return [
        str(changes.RECORD),
        str(entry.PIN),
        str(entry.KEXEC_GUARD),
        *network.wanted_files("b", "t", address, "kvm_amd"),
        str(keeper.PATH),
        default("guest", "guest_path"),
        default("guest_network", "guest_network_bridge"),
        default("guest_network", "guest_network_tap"),
        default("workload", "workload_path"),
        default("host_tuning", "host_tuning_record"),
    ]


@pytest.mark.parametrize("path", changed())
def test_the_page_names_what_is_changed(path: str) -> None:
    assert path in spans(page("docs/hosts.md"))


def test_every_path_of_ours_can_be_told_from_the_hosts_own() -> None:
    """A path without our name would be refused when it is noted, in the middle of a run."""
    paths = [path for path in changed() if path.startswith("/")]
    assert len(paths) > 8
    assert [path for path in paths if not changes.is_ours(path)] == []
    assert changes.is_ours(default("workload", "workload_jobs"))


def test_the_page_names_every_loader_that_is_refused() -> None:
    text = page("docs/hosts.md")
    for name in {name.split(" as ")[0] for name in check.OTHER_LOADERS.values()}:
        assert name in text
