#!/usr/bin/python3
"""A desktop of profile office: `agent.py` in the guest, `agent.py --try FOLDER` anywhere else.

In the guest it says what the guest is on the serial port, fills the disk, and then does one action
for each line that the host sends through the virtio port, as profile light does (guest/serve).
With --try it does every action twice and prints kind, status and seconds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from office_actions import KINDS, Office

PORT = Path("/dev/virtio-ports/mitigauge")
SERIAL = Path("/dev/ttyS0")
HOME = Path("/srv/desktop")
# The serial number that the host gives the disk of the system.
ROOT_SERIAL = "root"


def facts() -> list[str]:
    """What role guest's `facts` says, in the same form."""
    said = []
    for line in Path("/proc/cpuinfo").read_text().split("\n\n", 1)[0].splitlines():
        if re.match(r"vendor_id|cpu family|model|stepping|flags", line):
            said.append(f"CPU {line}")
    for path in sorted(Path("/sys/devices/system/cpu/vulnerabilities").glob("*")):
        said.append(f"VULNERABILITY {path.name}: {path.read_text().strip()}")
    for name, file in (
        ("kernel", "/proc/sys/kernel/osrelease"), ("cmdline", "/proc/cmdline"),
        ("processors", "/sys/devices/system/cpu/online"), ("memory", "/proc/meminfo"),
    ):  # fmt: skip
        said.append(f"SYSTEM {name}: {Path(file).read_text().splitlines()[0]}")
    return [f"MITIGAUGE-GUEST-{line}" for line in said]


def data_disk() -> str:
    """Name of the disk that is not the system's."""
    for folder in sorted(Path("/sys/block").glob("vd*")):
        serial = folder / "serial"
        if not serial.exists() or serial.read_text().strip() != ROOT_SERIAL:
            return folder.name
    raise RuntimeError("no disk beside the system's")


def counters(disk: str) -> str:
    """Requests and their milliseconds, read and written (Documentation/block/stat.rst)."""
    words = Path(f"/sys/block/{disk}/stat").read_text().split()
    return " ".join(words[place] for place in (0, 3, 4, 7))


def answer(office: Office, kind: str, disk: str) -> tuple[str, bytes]:
    """Kind and body of the frame that answers a line."""
    if kind not in KINDS:
        return "FAILED", f"no action {kind}\n".encode()
    if kind == "login":
        # Whoever logs in finds nothing in memory.
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3")
    before, began = counters(disk), time.monotonic_ns()
    status, said = office.act(kind)
    ended = time.monotonic_ns()
    head = f"{kind} {status} {began} {ended} {before} {counters(disk)}\n"
    return "DONE", head.encode() + said.encode(errors="replace")[-300:]


def serve() -> None:
    """In the guest, for as long as it is up."""
    with SERIAL.open("w") as serial, PORT.open("r+b", buffering=0) as port:
        print(*facts(), sep="\n", file=serial, flush=True)
        try:
            disk, office = data_disk(), Office(HOME)
            work = re.search(r"\bmg_work=(\d+)", Path("/proc/cmdline").read_text())
            HOME.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0",
                            f"/dev/{disk}"], check=True)  # fmt: skip
            subprocess.run(["mount", "-o", "noatime", f"/dev/{disk}", HOME], check=True)
            office.furnish(int(work[1]) if work else 1)
        except Exception as error:  # noqa: BLE001  # whatever it is, the host is told
            print(f"MITIGAUGE-GUEST-FAILED {error}", file=serial, flush=True)
            return
        print("MITIGAUGE-GUEST-READY 1", file=serial, flush=True)
        line = b""
        while True:
            if not (read := port.read(1)):
                time.sleep(0.05)
                continue
            line += read
            if not line.endswith(b"\n"):
                continue
            kind, body = answer(office, line.decode(errors="replace").strip(), disk)
            port.write(b"MITIGAUGE %s %d\n" % (kind.encode(), len(body)) + body)
            line = b""


def try_all(folder: Path) -> int:
    """Every action twice, on this machine; the number of those that failed."""
    office, failed = Office(folder), 0
    folder.mkdir(parents=True, exist_ok=True)
    office.furnish(1)
    try:
        for kind in (*KINDS, *KINDS[1:]):
            began = time.monotonic()
            status, said = office.act(kind)
            failed += status != 0
            print(kind, status, f"{time.monotonic() - began:.3f}", said, flush=True)
    finally:
        office.close()
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--try"] and len(sys.argv) == 3:
        sys.exit(min(try_all(Path(sys.argv[2])), 1))
    serve()
