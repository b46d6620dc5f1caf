"""Why a boot fell back, by consoles of an emulated server whose boots were spoilt on purpose.

The logs of tests/fixtures/consoles are of OVMF, GRUB 2.12 and Debian's 6.12; each begins before the
reboot and ends in the fallback.
"""

from __future__ import annotations

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.runs.boot_evidence import BootProof, WrittenEntry
from mitigauge.measurement.runs.boot_failure import cause_of

CONSOLES = REPOSITORY / "tests/fixtures/consoles"
FALLBACK = BootProof(boot_id="b2", cmdline="root=/dev/mapper/vg0-root ro")
ENTRY = WrittenEntry(entry_id="Boot0005", loader="efi", kernel_release="6.12.118")
DOWN = "[  131.089749] reboot: machine restart\n"
THEIRS = "[    0.000000] Command line: BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro\n"


def of(
    log: str, nonce: str = "n1", *, cycled: bool = False, loader: str = "efi", **proof: str
) -> str:
    entry = ENTRY.model_copy(update={"loader": loader})
    return cause_of(log, entry, nonce, FALLBACK.model_copy(update=proof), cycled=cycled)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("truncated", "the firmware did not load the kernel (Unsupported): its file is damaged"),
        ("missing", "the firmware did not load the kernel (Not Found): its file is not on the EFI"),
        ("initrd-truncated", "no root file system was found"),
        ("no-initrd", "the kernel did not find its initial RAM disk on the EFI system partition"),
    ],
)
def test_a_real_console_says_why_the_boot_fell_back(fault: str, words: str) -> None:
    log = (CONSOLES / f"{fault}.log").read_text()
    assert words in of(log + "[   43.2] the fallback's own\n" * 5000, fault)


def test_what_the_fallback_says_is_not_held_against_the_boot() -> None:
    log = (CONSOLES / "missing.log").read_text()
    # GRUB goes on without this module at each of its boots, and another kernel may die later.
    fallbacks = log.partition("GNU GRUB")[2] + "Kernel panic - not syncing: later\n"
    assert "bli.mod" in log
    assert of(fallbacks, loader="grub") == ""
    assert of(DOWN + THEIRS + "Kernel panic - not syncing: the fallback's own\n") == ""
    # Nor what the system before it said on its way down.
    assert of("Kernel panic - not syncing: of a guest\n" + DOWN + THEIRS) == ""


OURS = "[    0.000000] Command line: root=/dev/sda1 ro mitigauge.nonce=n1 panic=10\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            'BdsDxe: failed to load Boot0005 "mitigauge" from HD(1,GPT,x)/v: Access Denied',
            "the firmware did not load the kernel (Access Denied): Secure Boot",
        ),
        ("error: bad shim signature.", "GRUB refused the kernel, as Secure Boot"),
        ("error: file `/boot/vmlinuz-7.2-x' not found.", "GRUB could not load the kernel"),
    ],
)
def test_each_sign_before_the_kernel_is_of_what_was_to_start_it(line: str, words: str) -> None:
    assert words in of(f"{DOWN}{line}\n{THEIRS}", loader="grub")
    # Once it was started, nothing before it did harm, and what it prints itself accuses no other.
    assert "panicked" in of(f"{DOWN}{line}\n{OURS}{PANIC}{THEIRS}", loader="grub")
    assert words not in of(f"{DOWN}{OURS}{line}\n{PANIC}{THEIRS}", loader="grub")


PANIC = "[ 2.0] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Gave up waiting for root file system device.", "no root file system was found"),
        ('[ 1.0] VFS: Cannot open root device "" or unknown-block(0,0)', "no root file system"),
        (PANIC, "the kernel panicked ([ 2.0] Kernel panic - not syncing: Attempted to kill init!"),
        ("[ 9.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s!", "the kernel hung"),
    ],
)
def test_each_sign_of_the_kernel_is_read_after_its_command_line(line: str, words: str) -> None:
    assert words in of(f"{DOWN}{OURS}{line}\n{THEIRS}")


@pytest.mark.parametrize(
    "harmless",
    ["error: file `/boot/grub/unicode.pf2' not found.",
     "error: file `/boot/grub/bli.mod' not found.", "error: out of memory.",
     'failed to load Boot0005 "mitigauge": the baseline kernel is broken'],
)  # fmt: skip
def test_what_does_no_harm_or_is_no_status_of_a_firmwares_accuses_nobody(harmless: str) -> None:
    assert of(f"{DOWN}{harmless}\n{THEIRS}", loader="grub") == ""
    assert "panicked" in of(f"{DOWN}{harmless}\n{OURS}{PANIC}{THEIRS}", loader="grub")


def test_a_processor_that_was_stuck_and_went_on_is_no_hang() -> None:
    stuck = "[ 9.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks\n"
    went_on = "".join(f"[ {n}.0] systemd[1]: unit {n}\n" for n in range(10, 60))
    assert "hung" not in of(f"{DOWN}{OURS}{stuck}{went_on}{THEIRS}")


def test_signs_of_grub_are_none_where_the_firmware_started_the_kernel() -> None:
    assert "GRUB" not in of(f"{DOWN}error: bad shim signature.\n{THEIRS}")


def test_no_root_is_no_mere_panic_and_a_panic_is_no_missing_root() -> None:
    log = f"{DOWN}{OURS}[ 1.0] VFS: Unable to mount root fs on unknown-block(0,0)\n" \
          "[ 1.1] Kernel panic - not syncing: VFS: Unable to mount root fs\n"  # fmt: skip
    assert of(log).startswith("no root file system was found")
    shown = f"{DOWN}{OURS}Gave up waiting for root file system device.\n{PANIC}{THEIRS}"
    assert of(shown).startswith("the kernel panicked")


def test_a_kernel_that_went_silent_is_told_by_its_last_line() -> None:
    log = f"{DOWN}{OURS}[   12.5] nvme nvme0: I/O 3 QID 1 timeout\n"
    last = "its kernel's last line on the console: [ 12.5] nvme nvme0: I/O 3 QID 1 timeout"
    assert " ".join(of(log, cycled=True).split()) == f"it did not answer in time; {last}"
    assert " ".join(of(log + THEIRS).split()) == f"the host was reset; {last}"


# As a BIOS and a firmware that does not say what it loads come up, and Debian's GRUB after them.
POST = """\
American Megatrends International, LLC.
UEFI firmware (version 2025.02-8 built at 12:00:00)
SeaBIOS (version 1.16.2-debian-1.16.2-1)
Booting from Hard Disk...
GRUB loading.
Loading Linux 6.12.118 ...
[    0.000000] Linux version 6.12.118 (debian-kernel@lists.debian.org) #1 SMP
"""


def test_what_firmware_and_fallback_say_is_not_the_last_line_of_the_boot() -> None:
    log = f"{DOWN}{OURS}[   12.5] nvme nvme0: I/O 3 QID 1 timeout\n{POST}{THEIRS}"
    for cycled in (False, True):
        assert of(log, cycled=cycled).endswith("nvme nvme0: I/O 3 QID 1 timeout")


@pytest.mark.parametrize(
    "loads",
    ["Welcome to GRUB!", "Loading Linux 6.12.118 ...", "EFI stub: Loaded initrd from LINUX"],
)
def test_the_login_of_a_quiet_fallback_is_not_the_boots(loads: str) -> None:
    hung = OURS + "[    2.5] e1000e: probing\n"
    fallback = f"{loads}\nmetal login:\n"
    words = "it did not answer in time; its kernel's last line on the console: [    2.5] e1000e"
    assert of(hung + fallback, cycled=True).startswith(words)
    assert "it came up to its login" in of(hung + "metal login:\n" + fallback, cycled=True)


def test_a_firmware_that_names_no_entry_hides_no_login() -> None:
    real = (CONSOLES / "no-network.log").read_text()
    silent = "".join(line for line in real.splitlines(True) if "BdsDxe" not in line)
    assert "BdsDxe" not in silent
    assert of(silent, "fault-no-network", cycled=True).startswith("it came up to its login")


def test_a_nonce_far_behind_on_the_command_line_is_found() -> None:
    words = " ".join(f"option{number}=value" for number in range(60))
    long = OURS.replace("root=", f"{words} root=")
    assert len(long) > 900
    assert "panicked" in of(f"{DOWN}{long}{PANIC}{THEIRS}")
    real = (CONSOLES / "initrd-truncated.log").read_text()
    assert real.count("Command line: ") > 1
    longer = real.replace("Command line: ", f"Command line: {words} ")
    assert "no root file system was found" in of(longer, "initrd-truncated")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dracut: FATAL: FIPS integrity test failed", "the host was reset"),
        ("dracut: FATAL: No or empty root= argument", "no root file system was found"),
        (
            "[FAILED] Failed to mount sysroot.mount - /sysroot.",
            "the root file system could not be mounted",
        ),
        (
            "dracut-initqueue: Warning: Could not boot.\nx login:\n[ 9.0] BUG: bad page",
            "the host was reset",
        ),
        (
            "[ 9.0] qemu[77]: Kernel panic - not syncing: a guest's\nx login:\n[ 9.9] last",
            "the host was reset",
        ),
        ("[ 9.0][    T1] Kernel panic - not syncing: own", "the kernel panicked"),
    ],
)
def test_a_sign_is_of_the_boot_s_end_and_of_what_it_says(line: str, words: str) -> None:
    assert of(f"{DOWN}{OURS}[ 1.0] first\n{line}\n{THEIRS}").startswith(words)


def test_a_login_is_told_with_the_kernel_s_last_line() -> None:
    log = f"{DOWN}{OURS}x login: \n[ 99.0] EXT4-fs error (device dm-0): bad\n"
    assert of(log, cycled=True).endswith(
        "; or it hung later; its kernel's last line on the console: [ 99.0] EXT4-fs error "
        "(device dm-0): bad"
    )


def test_a_system_that_was_up_without_network_is_told() -> None:
    log = f"{DOWN}{OURS}\nDebian GNU/Linux 13 metal ttyS1\n\nmetal login: \n"
    assert "did not answer by network" in of(log, cycled=True)
    # Nor where it hung after its login, or only spoke of one.
    for more in ("Last login: Mon Nov 30\n", "You are in emergency mode.\n"):
        assert "network" not in of(log + more, cycled=True)


@pytest.mark.parametrize(
    "trouble",
    [
        "[ 99.0] Oops: 0000 [#1]\n",
        "[ 99.0] reboot: Power down\n",
        "[ 99.0] INFO: task sshd:1 blocked for more than 120 seconds.\n",
        "[ 99.0] mypatch: broken\n[ 99.1] Call Trace:\n",
    ],
)
@pytest.mark.parametrize("prompt", ["metal login: \n", "metal login: "])
def test_trouble_behind_a_login_is_no_network_s(trouble: str, prompt: str) -> None:
    log = f"{DOWN}{OURS}\nDebian GNU/Linux 13 metal ttyS1\n\n{prompt}"
    assert "network" not in of(log + trouble, cycled=True)
    assert "network" in of(log + "[ 99.0] e1000e: loaded late\n", cycled=True)


def test_kernel_lines_behind_a_prompt_are_no_sign_of_a_hang() -> None:
    """Modules that udev loads late write into the prompt's line, and below it."""
    log = (CONSOLES / "no-network.log").read_text()
    assert "metal login: [   90.389727] cryptd" in log
    assert of(log, "fault-no-network", cycled=True).startswith(
        "it came up to its login and did not answer by network: its network card may lack a driver,"
    )


def test_a_firmware_that_left_bootnext_is_told_and_one_that_took_it_is_not() -> None:
    assert "the firmware left BootNext as it was (0005)" in of("", boot_next="0005")
    assert of("", boot_next="0004") == ""
    assert of("") == ""


def test_a_log_that_does_not_tell_says_nothing() -> None:
    # `quiet`: the kernel's first lines are not on the console.
    assert of(f"{DOWN}something\n{THEIRS}") == ""
    assert of("\x1b[2J\0\ufffd" * 1000) == ""
