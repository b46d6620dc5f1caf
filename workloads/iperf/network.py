"""The network between the guest and its host."""

from __future__ import annotations

from pathlib import Path

from _kit.guest import Endpoint, read_json
from _kit.guest_disk import free_port

NETWORK = Path("/etc/mitigauge/guest-network.json")
PORT = 5201  # iperf3's own; what the guest's server listens on


def endpoint(network: str) -> Endpoint:
    """How guest and host see each other over `network`."""
    if network == "user":
        port = free_port()
        forward = ",".join(
            f"hostfwd={protocol}:127.0.0.1:{port}-10.0.2.15:{PORT}" for protocol in ("tcp", "udp")
        )
        return Endpoint(["-netdev", f"user,id=n0,{forward}"], "10.0.2.15/24", "127.0.0.1", port)
    facts = read_json(NETWORK, "apply Ansible role guest_network to this host")
    vhost = "on" if network == "vhost" else "off"
    tap = f"tap,id=n0,ifname={facts['tap']},script=no,downscript=no,vhost={vhost}"
    guest = str(facts["guest"])
    return Endpoint(["-netdev", tap], guest, guest.partition("/")[0], PORT)
