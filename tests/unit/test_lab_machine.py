"""How lab hosts are described, called and looked at, without starting any."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from ruamel.yaml import YAML

from lab import acceleration, inventory, machine, nmi, service
from lab.console import relay
from lab.errors import LabError
from lab.exact import serve
from lab.exact.plugin import NoPluginError
from lab.execution import COUNTED_SHIFT, Execution, execution_of
from lab.hosts import SOCKET_PATH_LIMIT, SPECS, Host, LabPaths, short_socket_path
from lab.image import Image, _partition, mmdebstrap_command, prune
from lab.inventory import host_vars
from lab.progress import ConsoleProgress
from lab.qemu import host_arguments
from lab.recipe import Recipe, lab_recipe, read_package_list
from mitigauge.core.clock import Clock
from mitigauge.core.settings import Settings
from mitigauge.core.wire.exact import INSTRUCTION_NS

ANOTHER_LAB = 43000
COUNTING = Execution("tcg", Clock.COUNTED)
FREE = Execution("tcg", Clock.REAL)
KVM = Execution("kvm", Clock.REAL)


@pytest.fixture
def paths(tmp_path: Path) -> LabPaths:
    return LabPaths.of(Settings(home=tmp_path, lab_port_base=ANOTHER_LAB))


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    for name in ("key", "host"):
        (tmp_path / f"{name}.pub").write_text(f"ssh-ed25519 {name} lab\n")
    return lab_recipe(tmp_path / "key", tmp_path / "host")


def test_ports_follow_the_base_so_that_two_labs_can_run(paths: LabPaths) -> None:
    assert [(host.name, host.ssh_port) for host in paths.hosts()] == [
        ("lab-amd", ANOTHER_LAB + 1),
        ("lab-intel", ANOTHER_LAB + 2),
        ("lab-guests", ANOTHER_LAB + 3),
        ("lab-metal", ANOTHER_LAB + 4),
        ("lab-sdboot", ANOTHER_LAB + 5),
    ]


def test_an_unknown_host_is_refused_with_the_known_names(paths: LabPaths) -> None:
    with pytest.raises(LabError, match="lab-arm") as refused:
        paths.host("lab-arm")
    assert "lab-amd, lab-intel, lab-guests, lab-metal, lab-sdboot" in refused.value.hint


def test_a_guest_gets_its_interrupts_from_a_program_of_this_installation(tmp_path: Path) -> None:
    home = tmp_path / "with a space, and a comma"
    host = LabPaths.of(Settings(home=home, lab_port_base=ANOTHER_LAB)).host("lab-intel")
    net = option(host_arguments(host, FREE), "-netdev")
    # QEMU reads two commas as one, and the command as a shell would.
    _, _, command = net.replace(",,", "\0").partition(f",guestfwd=tcp:{nmi.ADDRESS}-cmd:")
    assert "," not in command
    assert shlex.split(command.replace("\0", ",")) == [
        sys.executable, "-m", "lab.nmi", str(host.nmi_socket),
    ]  # fmt: skip


def test_a_counted_host_has_the_plugin_and_a_way_to_what_it_counts(tmp_path: Path) -> None:
    home = tmp_path / "with a space, and a comma"
    host = LabPaths.of(Settings(home=home, lab_port_base=ANOTHER_LAB)).host("lab-intel")
    plugin = home / "plugins" / "exact-1.so"
    arguments = host_arguments(host, replace(COUNTING, plugin=plugin))
    written = option(arguments, "-plugin").replace(",,", "\0").split(",")
    assert [part.replace("\0", ",") for part in written] == [str(plugin), f"out={host.windows}"]
    net = option(arguments, "-netdev").replace(",,", "\0")
    _, _, command = net.partition(f",guestfwd=tcp:{serve.ADDRESS}-cmd:")
    assert shlex.split(command.replace("\0", ",")) == [
        sys.executable, "-m", "lab.exact.serve", str(host.windows),
        str(home / "plugins" / "marks-1.so"),
    ]  # fmt: skip
    assert host_vars(host, replace(COUNTING, plugin=plugin))["mitigauge_exact_source"]


def test_a_host_without_the_plugin_says_that_nothing_is_counted(paths: LabPaths) -> None:
    host = paths.host("lab-intel")
    assert "-plugin" not in host_arguments(host, COUNTING)
    assert serve.ADDRESS not in option(host_arguments(host, COUNTING), "-netdev")
    assert host_vars(host, COUNTING)["mitigauge_exact_source"] == ""


def test_an_instruction_takes_what_the_ledger_reckons_with() -> None:
    assert 1 << COUNTED_SHIFT == INSTRUCTION_NS


def test_where_no_plugin_can_be_the_hosts_start_without_and_it_is_said(
    paths: LabPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> Path:
        raise NoPluginError("QEMU 9.0 has an interface for plugins that is not known here")

    monkeypatch.setattr(service, "ensure_plugin", refuse)
    said = io.StringIO()
    progress = ConsoleProgress(Console(file=said))
    executions = {"lab-amd": COUNTING, "lab-guests": FREE}
    assert service._with_plugin(executions, paths, progress) == executions
    assert "No exact counts: QEMU 9.0" in said.getvalue()
    monkeypatch.setattr(service, "ensure_plugin", lambda cache: cache / "exact-1.so")
    started = service._with_plugin(executions, paths, progress)
    assert started["lab-amd"].plugin == paths.plugins / "exact-1.so"
    assert started["lab-guests"].plugin is None


@pytest.mark.parametrize("line", ["", "\n", "0\n", "2001\n", "-5\n", "1.5\n", "²\n", "x" * 100])
def test_a_rate_of_interrupts_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is no rate: a whole number from 1 to 2000"):
        nmi.wanted_hz(line)
    assert nmi.wanted_hz("499\n") == 499


def test_a_machine_that_is_gone_is_said_on_the_connection(tmp_path: Path) -> None:
    done = subprocess.run(
        shlex.split(nmi.command(tmp_path / "none.sock")), input="499\n", text=True,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("error: ")
    assert done.stderr == ""


def serve_qmp(listener: socket.socket, resets_after: int) -> None:
    """Answer one client as QEMU does; tell it of a reset after so many NMIs."""
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b'{"QMP": {"version": {}, "capabilities": []}}\n')
        # The client waits for each answer, and sends no end of line.
        while request := connection.recv(4096):
            asked = json.loads(request)
            connection.sendall(json.dumps({"return": {}, "id": asked.get("id")}).encode() + b"\n")
            resets_after -= asked["execute"] == "inject-nmi"
            if resets_after == 0:
                event = {"event": "RESET", "data": {}, "timestamp": {"seconds": 1}}
                connection.sendall(json.dumps(event).encode() + b"\n")


def test_interrupts_end_when_the_system_is_reset(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "nmi.sock"))
        listener.listen()
        threading.Thread(target=serve_qmp, args=(listener, 5), daemon=True).start()
        program = subprocess.Popen(
            shlex.split(nmi.command(tmp_path / "nmi.sock")), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert program.stdin is not None
        assert program.stdout is not None
        # The guest never closes its connection.
        with program, program.stdin as guest:
            guest.write("100\n")
            guest.flush()
            assert program.wait(timeout=60) == 0
            assert program.stdout.read() == "ok\n"


def test_the_amd_host_hides_the_hypervisor_bit_and_the_intel_host_keeps_it(paths: LabPaths) -> None:
    cpu = {host.name: option(host_arguments(host, FREE), "-cpu") for host in paths.hosts()}

    amd = "EPYC-Rome,-hypervisor"
    intel = "Icelake-Server"
    servers = {"lab-metal": intel, "lab-sdboot": intel}
    assert cpu == {"lab-amd": amd, "lab-intel": intel, "lab-guests": amd, **servers}


def test_the_server_has_firmware_two_disks_and_its_console_on_the_second_line(
    paths: LabPaths,
) -> None:
    arguments = host_arguments(paths.host("lab-metal"), FREE)
    text = " ".join(arguments)
    assert [word for word in arguments if word.startswith("nvme,")] == [
        "nvme,drive=disk0,serial=lab0", "nvme,drive=disk1,serial=lab1",
    ]  # fmt: skip
    assert "readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd" in text
    assert str(paths.host("lab-metal").directory / "variables.fd") in text
    assert "isa-serial,chardev=serial,index=1" in arguments
    # The firmware would write its boot order anew at each start.
    assert "bootindex" not in text
    assert "virtio-net" not in text


def test_no_host_has_memory_above_4_gib_where_its_firmware_would_lose_the_disk() -> None:
    assert all(spec.memory_mib < 2816 for spec in SPECS)


def test_emulation_uses_a_thread_for_each_processor(paths: LabPaths) -> None:
    host = paths.host("lab-amd")

    assert option(host_arguments(host, FREE), "-accel") == "tcg,thread=multi"
    assert option(host_arguments(host, KVM), "-accel") == "kvm"
    for execution in (FREE, KVM):
        assert "-icount" not in host_arguments(host, execution)
        assert option(host_arguments(host, execution), "-smp") == "2"


def test_a_host_in_counted_time_is_one_processor_of_one_thread(paths: LabPaths) -> None:
    arguments = host_arguments(paths.host("lab-amd"), COUNTING)
    assert option(arguments, "-accel") == "tcg,thread=single"
    # Two nanoseconds an instruction. Idle time must pass as time does.
    assert option(arguments, "-icount") == "shift=1"
    assert option(arguments, "-smp") == "1"


@pytest.mark.parametrize(
    ("accel", "asked", "got"),
    [
        ("tcg", None, ("tcg", Clock.COUNTED)),
        ("kvm", None, ("kvm", Clock.REAL)),
        ("tcg", Clock.REAL, ("tcg", Clock.REAL)),
        ("kvm", Clock.REAL, ("kvm", Clock.REAL)),
        ("kvm", Clock.COUNTED, ("tcg", Clock.COUNTED)),
    ],
)
def test_emulated_hosts_count_unless_real_time_is_asked_for(
    accel: str, asked: Clock | None, got: tuple[str, Clock]
) -> None:
    assert execution_of(accel, asked) == Execution(*got)


def test_emulation_clears_where_the_kernel_lies_at_each_reset(paths: LabPaths) -> None:
    host = paths.host("lab-amd")

    clearing = f"loader,file={host.zeros},addr=0x100000,force-raw=on"
    assert clearing in host_arguments(host, FREE)
    assert clearing not in host_arguments(host, KVM)


def test_the_process_outlives_its_guest_and_listens_on_loopback_only(paths: LabPaths) -> None:
    arguments = host_arguments(paths.host("lab-intel"), FREE)

    assert "-no-shutdown" in arguments
    assert "-no-reboot" not in arguments
    assert f"hostfwd=tcp:127.0.0.1:{ANOTHER_LAB + 2}-:22" in option(arguments, "-netdev")
    assert "logappend=on" in " ".join(arguments)


def test_a_comma_in_a_path_does_not_end_a_qemu_option(tmp_path: Path) -> None:
    host = LabPaths(tmp_path / "a,b", ANOTHER_LAB).host("lab-amd")

    assert "a,,b/hosts/lab-amd/disk.qcow2" in option(host_arguments(host, FREE), "-drive")


def test_sockets_of_a_deep_home_move_to_a_short_private_directory(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)

    short = short_socket_path(deep, "control.sock")

    assert short_socket_path(tmp_path, "x") == tmp_path / "x"
    assert len(os.fsencode(short)) <= SOCKET_PATH_LIMIT
    assert short == short_socket_path(deep, "control.sock")
    assert short != short_socket_path(tmp_path / ("e" * 120), "control.sock")
    assert short.parent.stat().st_mode & 0o077 == 0
    short.parent.rmdir()


def test_a_stale_pid_file_is_not_taken_for_a_running_host(paths: LabPaths) -> None:
    host = paths.host("lab-amd")
    host.directory.mkdir(parents=True)
    assert machine.pid(host) is None

    host.pidfile.write_text(f"{os.getpid()}\n")

    assert machine.pid(host) is None
    assert machine.power_state(host) == "down"


@contextmanager
def seeming_to_run(host: Host, clock: Clock) -> Iterator[None]:
    """The host as if it ran by that clock: another process under QEMU's name."""
    host.directory.mkdir(parents=True)
    began = machine.Started("tcg", "image", "kernel", 0.0, host.ssh_port, clock)
    host.state.write_text(json.dumps(vars(began)))
    host.pidfile.touch()
    pretend = ["qemu-system-x86_64", "-f", str(host.pidfile)]
    with subprocess.Popen(pretend, executable="/usr/bin/tail") as process:
        try:
            # The kernel tells the arguments a moment after the process runs.
            while not Path(f"/proc/{process.pid}/cmdline").read_bytes():
                time.sleep(0.01)
            host.pidfile.write_text(str(process.pid))
            yield
        finally:
            process.kill()


def test_up_refuses_other_ports_than_those_of_a_running_host(tmp_path: Path) -> None:
    running = LabPaths.of(Settings(home=tmp_path, lab_port_base=ANOTHER_LAB)).host("lab-amd")
    other = LabPaths.of(Settings(home=tmp_path, lab_port_base=ANOTHER_LAB + 100))
    with (
        seeming_to_run(running, Clock.COUNTED),
        pytest.raises(LabError, match="not 43101") as refused,
    ):
        service.up(other, ConsoleProgress(Console(quiet=True)), names=["lab-amd"])

    assert f"MITIGAUGE_LAB_PORT_BASE={ANOTHER_LAB}" in refused.value.hint
    assert not other.known_hosts.exists()


@pytest.mark.parametrize(("runs", "asked"), [("real", "counted"), ("counted", "real")])
def test_up_refuses_another_clock_than_that_of_a_running_host(
    paths: LabPaths, runs: str, asked: str
) -> None:
    quiet = ConsoleProgress(Console(quiet=True))
    with (
        seeming_to_run(paths.host("lab-amd"), Clock(runs)),
        pytest.raises(LabError, match=f"lab-amd runs by {runs} time, not {asked}") as refused,
    ):
        service.up(paths, quiet, names=["lab-amd"], clock=Clock(asked))

    assert "mitigauge lab down lab-amd" in refused.value.hint
    assert not paths.known_hosts.exists()


def test_a_host_for_guests_is_in_real_time_only(paths: LabPaths) -> None:
    quiet = ConsoleProgress(Console(quiet=True))
    with pytest.raises(LabError, match="lab-guests has real time only, not counted"):
        service.up(paths, quiet, names=["lab-amd", "lab-guests"], clock=Clock.COUNTED)


def test_a_host_that_runs_is_in_the_inventory_as_it_was_started(paths: LabPaths) -> None:
    with seeming_to_run(paths.host("lab-amd"), Clock.COUNTED):
        assert service._running(paths) == {"lab-amd": COUNTING}
    machine.require_clock(paths.host("lab-amd"), Clock.REAL)


def test_status_of_a_lab_that_never_ran(paths: LabPaths) -> None:
    assert [(host.name, host.power, host.kernel) for host in service.status(paths)] == [
        ("lab-amd", "down", None),
        ("lab-intel", "down", None),
        ("lab-guests", "down", None),
        ("lab-metal", "down", None),
        ("lab-sdboot", "down", None),
    ]


def test_the_serial_tail_is_plain_text(paths: LabPaths) -> None:
    host = paths.host("lab-amd")
    assert machine.serial_tail(host, 5) == ""
    host.directory.mkdir(parents=True)
    host.serial_log.write_bytes(b"one\r\n[\x1b[0;32m  OK  \x1b[0m] two\r\n\x1b[!pthree\r\n")

    assert machine.serial_tail(host, 2) == "[  OK  ] two\nthree"


def test_the_inventory_has_what_the_rest_needs(paths: LabPaths) -> None:
    free_hosts = dict.fromkeys(("lab-intel", "lab-guests", "lab-metal", "lab-sdboot"), FREE)
    inventory.write(paths, {"lab-amd": COUNTING, **free_hosts})

    hosts = YAML(typ="safe").load(paths.inventory)["all"]["hosts"]
    host = hosts["lab-amd"]
    assert host["ansible_port"] == ANOTHER_LAB + 1
    assert host["mitigauge_emulated"] is True
    assert host["mitigauge_class"] == "QEMU TCG EPYC-Rome, 1 vCPU, counted time"
    assert (host["mitigauge_clock"], host["mitigauge_cpus"]) == ("counted", "0")
    free = hosts["lab-intel"]
    assert free["mitigauge_class"] == "QEMU TCG Icelake-Server, 2 vCPUs"
    assert (free["mitigauge_clock"], free["mitigauge_cpus"]) == ("real", "0-1")
    assert host["mitigauge_power"]["driver"] == "qemu"
    assert host["mitigauge_capabilities"] == ["kvm"]
    assert hosts["lab-metal"]["mitigauge_nmi_source"] == ""
    assert "StrictHostKeyChecking=yes" in host["ansible_ssh_common_args"]


def test_the_recipes_hash_changes_with_its_files_and_keys(recipe: Recipe, tmp_path: Path) -> None:
    before = recipe.digest
    assert lab_recipe(recipe.key, recipe.host_key).digest == before
    assert dataclasses.replace(recipe, kernel_line="7.3").digest != before

    (tmp_path / "key.pub").write_text("ssh-ed25519 another lab\n")

    assert recipe.digest != before


def test_without_a_mirror_the_image_tools_own_is_used_with_backports(recipe: Recipe) -> None:
    command = mmdebstrap_command(recipe, Path("/w"), None)

    assert command[-2:] == ["trixie", "/dev/null"]
    assert any("--setup-hook" in word and "trixie-backports" in word for word in command)


def test_package_lists_may_have_comments(tmp_path: Path) -> None:
    file = tmp_path / "packages.txt"
    file.write_text("# all\nabc  # why\n\ndef/trixie-backports\n")

    assert read_package_list(file) == ("abc", "def/trixie-backports")


def test_the_partition_table_has_one_bootable_linux_partition_to_the_end(tmp_path: Path) -> None:
    disk = tmp_path / "disk.raw"
    with disk.open("wb") as file:
        file.truncate(16 << 20)

    _partition(disk)

    table = disk.read_bytes()[446:512]
    assert (table[0], table[4], table[64:]) == (0x80, 0x83, b"\x55\xaa")
    assert int.from_bytes(table[8:12], "little") == 2048
    assert int.from_bytes(table[12:16], "little") == (16 << 11) - 2048


def test_pruning_keeps_the_images_that_disks_are_based_on(tmp_path: Path) -> None:
    kept, old = Image(tmp_path / "kept"), Image(tmp_path / "old")
    for image in (kept, old):
        image.directory.mkdir()
        image.disk.touch()

    prune(tmp_path, {kept.disk})

    assert kept.disk.exists()
    assert not old.directory.exists()


def test_another_vendors_processor_is_emulated_and_the_answer_is_kept(
    paths: LabPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kvm = tmp_path / "kvm"
    kvm.touch()
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nvendor_id\t: GenuineIntel\n")
    monkeypatch.setattr(acceleration, "_KVM", kvm)
    monkeypatch.setattr(acceleration, "_CPUINFO", cpuinfo)
    cache = tmp_path / "acceleration.json"
    image = Image(tmp_path / "image")

    first = acceleration.choose(paths.host("lab-amd").spec, image, cache)
    monkeypatch.setattr(acceleration, "_CPUINFO", tmp_path / "gone")
    second = acceleration.choose(paths.host("lab-amd").spec, image, cache)

    assert first.name == "tcg"
    assert "GenuineIntel" in first.reason
    assert second == first


def test_the_console_copies_both_ways_until_it_is_left() -> None:
    ours, line = socket.socketpair()
    keys_out, keys_in = os.pipe()
    screen_out, screen_in = os.pipe()
    session = threading.Thread(target=relay, args=(ours, keys_out, screen_in))
    session.start()

    line.sendall(b"login: ")
    assert os.read(screen_out, 64) == b"login: "
    os.write(keys_in, b"root\r\x1d")
    session.join(60)

    assert not session.is_alive()
    assert line.recv(64) == b"root\r"
    for pipe in (keys_out, keys_in, screen_out, screen_in):
        os.close(pipe)
    ours.close()
    line.close()


def option(arguments: list[str], name: str) -> str:
    """The value after ``name``."""
    return arguments[arguments.index(name) + 1]
