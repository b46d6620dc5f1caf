#!/usr/bin/python
"""Ansible module: bridge and tap between measuring guest and host, kept over reboots.

A systemd unit of our own makes them, so that it works alike on hosts with
systemd-networkd, ifupdown or NetworkManager and leaves their uplink alone.
"""

from __future__ import annotations

import ipaddress
import json
import re
import subprocess
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note, note_paths

DOCUMENTATION = r"""
module: guest_network
short_description: Persistent bridge and tap for the measuring guest
options:
  bridge: {description: name of the bridge, type: str, required: true}
  tap: {description: name of the tap in it, type: str, required: true}
  address: {description: "the bridge's IPv4 address with prefix length", type: str, required: true}
author: [Mitigauge contributors]
"""

UNIT = "mitigauge-guest-network.service"
SCRIPT = "/usr/local/libexec/mitigauge-guest-network"
MODULES_LOAD = "/etc/modules-load.d/mitigauge-guest.conf"
# Where workloads read names and addresses.
FACTS = "/etc/mitigauge/guest-network.json"
# Registered by the drivers; the nodes in /dev are there even without them.
DEVICES = ("kvm", "tun", "vhost-net")

SCRIPT_TEXT = """\
#!/bin/sh
# Managed by Ansible (role guest_network). Makes what is missing, leaves the rest.
set -eu

link_exists() { [ -e "/sys/class/net/$1" ]; }

if ! link_exists {bridge}; then
  ip link add name {bridge} type bridge stp_state 0 forward_delay 0
fi
if ! link_exists {tap}; then
  ip tuntap add dev {tap} mode tap
fi
# IPv6's own chatter (neighbour and router discovery) would be measured too.
for link in {bridge} {tap}; do
  echo 1 > "/proc/sys/net/ipv6/conf/$link/disable_ipv6" || true
done
ip address replace {address} dev {bridge}
ip link set dev {tap} master {bridge}
ip link set dev {bridge} up
ip link set dev {tap} up
"""

UNIT_TEXT = """\
# Managed by Ansible (role guest_network).
[Unit]
Description=Bridge {bridge} and tap {tap} for Mitigauge's guest
After=systemd-modules-load.service network-pre.target
Wants=systemd-modules-load.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={script}

[Install]
WantedBy=multi-user.target
"""

NETWORKD_TEXT = """\
# Managed by Ansible (role guest_network). A catch-all .network file of the host
# must not start DHCP on our links or wait for them at boot.
[Match]
Name={bridge} {tap}

[Link]
Unmanaged=yes
"""


class GuestNetworkError(Exception):
    """The host cannot have the guest's network; the text says why."""


def link_name(value: str) -> str:
    """`value` if the kernel takes it as the name of a link."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,14}", value):
        raise GuestNetworkError(
            f"{value!r} is no link name: 1 to 15 letters, digits, - or _, a letter first"
        )
    return value


def kvm_module(cpuinfo: str) -> str:
    """Vendor module of KVM for the processor that `cpuinfo` describes."""
    flags = set(re.findall(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)[:1].pop().split())
    for flag, name in (("svm", "kvm_amd"), ("vmx", "kvm_intel")):
        if flag in flags:
            return name
    raise GuestNetworkError(
        "the processor shows neither svm nor vmx: no guest can run on this host; "
        "enable virtualisation in its firmware or set guest_enabled to false"
    )


def guest_address(host: ipaddress.IPv4Interface) -> str:
    """The address after the host's, with prefix length."""
    guest = host.ip + 1
    if guest not in host.network or guest == host.network.broadcast_address:
        raise GuestNetworkError(f"guest network address {host}: no room for the guest's after it")
    return f"{guest}/{host.network.prefixlen}"


def wanted_files(
    bridge: str, tap: str, host: ipaddress.IPv4Interface, kvm: str
) -> dict[str, tuple[int, str]]:
    """Path → (mode, text) of the files that make the network come back at boot."""
    facts = {"bridge": bridge, "tap": tap, "host": str(host), "guest": guest_address(host)}
    modules = "".join(f"{name}\n" for name in (kvm, "tun", "bridge", "vhost_net"))
    script = SCRIPT_TEXT
    for key, value in (("{bridge}", bridge), ("{tap}", tap), ("{address}", str(host))):
        script = script.replace(key, value)
    return {
        SCRIPT: (0o755, script),
        f"/etc/systemd/system/{UNIT}": (
            0o644, UNIT_TEXT.format(bridge=bridge, tap=tap, script=SCRIPT)
        ),
        "/etc/systemd/network/05-mitigauge-guest.network": (
            0o644, NETWORKD_TEXT.format(bridge=bridge, tap=tap)
        ),
        MODULES_LOAD: (0o644, modules),
        FACTS: (0o644, json.dumps(facts) + "\n"),
    }  # fmt: skip


def differing(files: dict[str, tuple[int, str]]) -> list[str]:
    """Paths whose content or mode is not as wanted."""

    def differs(path: Path, mode: int, text: str) -> bool:
        return (
            not path.is_file()
            or path.read_text() != text
            or path.stat().st_mode & 0o7777 != mode
        )  # fmt: skip

    return [name for name, (mode, text) in files.items() if differs(Path(name), mode, text)]


def missing_state(bridge: str, tap: str, address: str) -> list[str]:
    """What is not there now, in words; the files alone only promise the next boot."""
    lacks = [f"/dev/{name}" for name in DEVICES if not Path("/sys/class/misc", name).exists()]
    lacks += [name for name in (bridge, tap) if not Path("/sys/class/net", name).exists()]
    if bridge in lacks or tap in lacks:
        return lacks
    if not Path("/sys/class/net", bridge, "brif", tap).exists():
        lacks.append(f"{tap} in {bridge}")
    shown = subprocess.run(
        ["ip", "-4", "-o", "address", "show", "dev", bridge],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    if f" {address} " not in shown:
        lacks.append(f"{address} on {bridge}")
    return lacks


def command(*words: str) -> None:
    """Run `words`; their error output is the message if they fail."""
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode:
        raise GuestNetworkError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")


def enabled() -> bool:
    """Whether the unit starts at boot."""
    done = subprocess.run(
        ["systemctl", "is-enabled", UNIT], check=False, capture_output=True, text=True
    )
    return done.stdout.strip() == "enabled"


def ensure(bridge: str, tap: str, address: str, *, check_mode: bool) -> list[str]:
    """What was (or would be) changed; empty if all was there."""
    try:
        interface = ipaddress.IPv4Interface(address)
    except ValueError as error:
        raise GuestNetworkError(f"guest network address {address!r}: {error}") from None
    kvm = kvm_module(Path("/proc/cpuinfo").read_text())
    files = wanted_files(link_name(bridge), link_name(tap), interface, kvm)
    changed = differing(files)
    lacks = missing_state(bridge, tap, str(interface))
    if not enabled():
        changed.append(f"{UNIT} enabled")
    if check_mode or not (changed or lacks):
        return changed + lacks
    note_paths(files)
    note("units", {UNIT: None})
    note("links", dict.fromkeys((tap, bridge)))
    for name in [name for name in changed if name in files]:
        path, (mode, text) = Path(name), files[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    for module in files[MODULES_LOAD][1].split():
        command("modprobe", module)
    command("systemctl", "daemon-reload")
    command("systemctl", "enable", UNIT)
    command("systemctl", "restart", UNIT)
    still = missing_state(bridge, tap, str(interface))
    if still:
        raise GuestNetworkError(f"{UNIT} ran, yet there is no {', no '.join(still)}")
    return changed + lacks


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "bridge": {"type": "str", "required": True},
            "tap": {"type": "str", "required": True},
            "address": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    params = module.params
    try:
        changes = ensure(
            params["bridge"], params["tap"], params["address"], check_mode=module.check_mode
        )
    except (GuestNetworkError, ChangesError) as error:
        module.fail_json(msg=str(error))
    else:
        module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
