"""The inventory through which the rest of Mitigauge meets the lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from lab import nmi, ssh
from lab.exact import serve
from lab.execution import Execution
from lab.hosts import Host, LabPaths
from mitigauge.core.wire.profile import OWN_NMIS

# By the control side's clock. Reboot to SSH takes some 20 to 50 s; a busy machine may need
# several times that.
BOOT_TIMEOUT_S = 480


def host_vars(host: Host, execution: Execution) -> dict[str, Any]:
    """Variables of one host as the inventory contract names them."""
    spec = host.spec
    model = spec.cpu.split(",")[0]
    vcpus = execution.vcpus(spec)
    processors = "1 vCPU" if vcpus == 1 else f"{vcpus} vCPUs"
    counted = ", counted time" if execution.counted else ""
    return {
        "ansible_host": "127.0.0.1",
        "ansible_port": host.ssh_port,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(host.paths.key),
        "ansible_ssh_common_args": " ".join(("-F /dev/null", *ssh.common_options(host.paths))),
        "ansible_python_interpreter": "/usr/bin/python3",
        "mitigauge_emulated": True,
        "mitigauge_class": f"QEMU {execution.accel.upper()} {model}, {processors}{counted}",
        "mitigauge_clock": str(execution.clock),
        "mitigauge_power": {
            "driver": "qemu",
            "qmp": str(host.qmp_socket),
            "serial_log": str(host.serial_log),
            "greeting": "login:",
        },
        "mitigauge_boot_timeout_s": BOOT_TIMEOUT_S,
        "mitigauge_capabilities": list(spec.capabilities),
        "mitigauge_cpus": "0" if vcpus == 1 else f"0-{vcpus - 1}",
        # By the host's own clock where that counts; else the emulator sends them by ours.
        "mitigauge_nmi_source": _nmi_source(host, execution),
        "mitigauge_exact_source": serve.ADDRESS if execution.plugin else "",
    }


def _nmi_source(host: Host, execution: Execution) -> str:
    if host.spec.system.is_server:
        return ""
    return OWN_NMIS if execution.counted else nmi.ADDRESS


def write(paths: LabPaths, executions: Mapping[str, Execution]) -> None:
    """Write ``inventory/hosts.yml`` for all hosts; ``executions`` is by host name."""
    hosts = {host.name: host_vars(host, executions[host.name]) for host in paths.hosts()}
    paths.inventory.parent.mkdir(parents=True, exist_ok=True)
    fresh = paths.inventory.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write("# Written by `mitigauge lab up`.\n")
        YAML().dump({"all": {"hosts": hosts}}, file)
    fresh.replace(paths.inventory)
