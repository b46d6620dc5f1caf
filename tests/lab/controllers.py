"""Real controllers in software: ipmi_sim of OpenIPMI and the sushy emulator, before any chassis.

A chassis is a program that they call: ``get power`` prints ``power:1`` or ``power:0``;
``set power 1``, ``set power 0``, ``set reset 1`` and ``set nmi 1`` do what they say.
"""

from __future__ import annotations

import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from mitigauge.core.settings import REPOSITORY
from tests.lab.certificates import Authority
from tests.ports import free_port

USER, PASSWORD = "rig", "rig-password"
# PASSWORD by bcrypt, as the emulator's own file of users wants it.
_HASH = "$2y$04$Ouv4mS77qg74wczR5qbC/uxoyKKsdt/qKU8.2YmtrN31BgR1nruMm"
_READY_S = 20.0
SYSTEM = "27946b59-9e44-4fa7-8e91-f3527a1ef094"
_EMULATOR = REPOSITORY / ".mitigauge" / "tools" / "redfish" / "bin" / "python"

_LAN = """\
name "rig"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
{key}
  endlan
  chassis_control "{chassis}"
{serial}
  user 1 false "" "" user 10
  user 2 true "{user}" "{password}" admin 10
"""

_CONTROLLER = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
mc_enable 0x20
"""


def state_chassis(directory: Path) -> list[str]:
    """A chassis that is a file: its power is what ``power`` in *directory* says."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "power").write_text("1\n")
    program = directory / "state-chassis"
    program.write_text(
        "#!/bin/sh\n"
        f"cd {shlex.quote(str(directory))} || exit 1\n"
        'echo "$*" >>calls\n'
        'case "$1 $2 $3" in\n'
        '  "get power "*) echo "power:$(cat power)" ;;\n'
        '  "set power "?) echo "$3" >power ;;\n'
        "esac\n"
    )
    program.chmod(0o755)
    return [str(program)]


def host_chassis(qemu: Mapping[str, Any]) -> list[str]:
    """The chassis of an emulated host; *qemu* are the values of its own driver."""
    values = orjson.dumps(dict(qemu)).decode()
    return ["env", f"PYTHONPATH={REPOSITORY}", sys.executable, "-m", "tests.lab.chassis", values]


def password_file(directory: Path, password: str = PASSWORD, mode: int = 0o600) -> Path:
    """A file with a controller's password."""
    path = directory / f"password-{mode:o}-{password}"
    path.write_text(f"{password}\n")
    path.chmod(mode)
    return path


@contextmanager
def ipmi(
    directory: Path, chassis: Sequence[str], serial_port: int | None = None, kg: str = ""
) -> Iterator[dict[str, Any]]:
    """A controller over IPMI; its values for an inventory. *serial_port* is of its serial line.

    With *kg* it has that Kg key, which the values do not name.
    """
    _require("ipmi_sim", "openipmi")
    _require("ipmitool", "ipmitool")
    (directory / "state").mkdir(parents=True, exist_ok=True)
    port = free_port(socket.SOCK_DGRAM)
    serial = f'  sol "tcp:127.0.0.1:{serial_port}" 115200' if serial_port else ""
    (directory / "lan.conf").write_text(
        _LAN.format(
            port=port,
            chassis=_wrapper(directory, chassis),
            serial=serial,
            key=f'    bmc_key "{kg}"' if kg else "",
            user=USER,
            password=PASSWORD,
        )
    )
    (directory / "commands").write_text(_CONTROLLER)
    files = ("-c", "lan.conf", "-f", "commands", "-s", "state")
    values: dict[str, Any] = {
        "driver": "ipmi",
        "address": "127.0.0.1",
        "port": port,
        "user": USER,
        "password_file": str(password_file(directory)),
        # The simulator has no newer one.
        "cipher_suite": 3,
    }
    ask = ["ipmitool", "-I", "lanplus", "-H", "127.0.0.1", "-p", str(port), "-C", "3"]
    ask += ["-U", USER, "-f", values["password_file"], *(("-k", kg) if kg else ())]
    ask += ["chassis", "power", "status"]
    with _running(["ipmi_sim", "-n", *files], directory):
        _wait_until(lambda: subprocess.run(ask, capture_output=True, check=False).returncode == 0)
        yield values


@contextmanager
def redfish(directory: Path, chassis: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A controller over Redfish and TLS; its values for an inventory."""
    if not _EMULATOR.exists():
        pytest.skip("the Redfish emulator is missing: make setup")
    directory.mkdir(parents=True, exist_ok=True)
    authority = Authority(directory / "tls")
    issued = authority.issue("127.0.0.1")
    users = directory / "users"
    users.write_text(f"{USER}:{_HASH}\n")
    port = free_port(socket.SOCK_STREAM)
    config = directory / "emulator.conf"
    config.write_text(
        f"SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'\nSUSHY_EMULATOR_LISTEN_PORT = {port}\n"
        f"SUSHY_EMULATOR_SSL_CERT = {str(issued.certificate)!r}\n"
        f"SUSHY_EMULATOR_SSL_KEY = {str(issued.key)!r}\n"
        f"SUSHY_EMULATOR_AUTH_FILE = {str(users)!r}\n"
        f"SUSHY_EMULATOR_STATE_DIR = {str(directory)!r}\n"
        f"CHASSIS = {_wrapper(directory, chassis)!r}\n"
    )
    program = REPOSITORY / "tests" / "lab" / "redfish_emulator.py"
    with _running([str(_EMULATOR), str(program), "--fake", "--config", str(config)], directory):
        _wait_until(lambda: _listens(port))
        yield {
            "driver": "redfish",
            "url": f"https://127.0.0.1:{port}/redfish/v1/Systems/{SYSTEM}",
            "user": USER,
            "password_file": str(password_file(directory)),
            "ca_file": str(authority.ca_file),
            # It knows no sessions.
            "login": "basic",
        }


def console_of(values: dict[str, Any], port: int) -> dict[str, Any]:
    """Serial over LAN where the controller has it, else a console server's port."""
    if values["driver"] != "ipmi":
        return {"kind": "tcp", "address": "127.0.0.1", "port": port}
    return {"kind": "ipmi-sol", **{n: value for n, value in values.items() if n != "driver"}}


@contextmanager
def serial_port(line: Path) -> Iterator[int]:
    """A TCP port of the emulator's serial line, as a console server has one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve, args=(server, line), daemon=True).start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)


def _serve(server: socket.socket, line: Path) -> None:
    with suppress(OSError):
        while True:
            listener = server.accept()[0]
            with listener, socket.socket(socket.AF_UNIX) as serial, suppress(OSError):
                serial.connect(str(line))
                serial.settimeout(1)
                _copy(serial, listener)


def _copy(serial: socket.socket, listener: socket.socket) -> None:
    """Copy until the listener is gone, of which a silent line tells nothing by itself."""
    while True:
        with suppress(TimeoutError):
            piece = serial.recv(65536)
            if not piece:
                return
            listener.sendall(piece)
        listener.setblocking(False)
        with suppress(BlockingIOError):
            if not listener.recv(4096):
                return
        listener.setblocking(True)


@contextmanager
def _running(command: Sequence[str], directory: Path) -> Iterator[None]:
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        process.kill()
        process.wait()


def _wrapper(directory: Path, chassis: Sequence[str]) -> str:
    program = directory / "chassis"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(chassis)} "$@"\n')
    program.chmod(0o755)
    return str(program)


def _require(program: str, package: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is missing: apt-get install {package}")


def _wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _READY_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the controller was not there within {_READY_S} s")
        time.sleep(0.1)


def _listens(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False
