"""The inventory through which the rest of Mitigauge meets the lab."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML

from lab import nmi, ssh
from lab.hosts import Host, LabPaths

# Reboot to SSH takes some 20 s; a busy machine and a nested guest may need several times that.
BOOT_TIMEOUT_S = 240


def host_vars(host: Host, accel: str) -> dict[str, Any]:
    """Variables of one host as the inventory contract names them."""
    spec = host.spec
    model = spec.cpu.split(",")[0]
    return {
        "ansible_host": "127.0.0.1",
        "ansible_port": host.ssh_port,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(host.paths.key),
        "ansible_ssh_common_args": " ".join(("-F /dev/null", *ssh.common_options(host.paths))),
        "ansible_python_interpreter": "/usr/bin/python3",
        "mitigauge_emulated": True,
        "mitigauge_class": f"QEMU {accel.upper()} {model}, {spec.vcpus} vCPUs",
        "mitigauge_power": {
            "driver": "qemu",
            "qmp": str(host.qmp_socket),
            "serial_log": str(host.serial_log),
        },
        "mitigauge_boot_timeout_s": BOOT_TIMEOUT_S,
        "mitigauge_capabilities": list(spec.capabilities),
        "mitigauge_cpus": f"0-{spec.vcpus - 1}",
        "mitigauge_nmi_source": nmi.ADDRESS,
    }


def write(paths: LabPaths, acceleration: dict[str, str]) -> None:
    """Write ``inventory/hosts.yml`` for all hosts; ``acceleration`` is by host name."""
    hosts = {host.name: host_vars(host, acceleration[host.name]) for host in paths.hosts()}
    paths.inventory.parent.mkdir(parents=True, exist_ok=True)
    fresh = paths.inventory.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write("# Written by `mitigauge lab up`.\n")
        YAML().dump({"all": {"hosts": hosts}}, file)
    fresh.replace(paths.inventory)
