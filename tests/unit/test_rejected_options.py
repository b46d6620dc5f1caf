"""Options that a kernel did not take, by logs of Debian's 6.12.118 and 7.2.12 in QEMU."""

from __future__ import annotations

import re

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.wire import kernel_log
from mitigauge.measurement.runs.rejected_options import rejected_options

UNKNOWN = "Unknown kernel command line parameters"
LOGS = REPOSITORY / "tests/fixtures/kernel_logs"
BAD = {
    "vmscape=never", "retbleed=foo", "spectre_v2=bar", "spec_store_bypass_disable=qux",
    "spec_rstack_overflow=zip", "indirect_target_selection=zap", "tsa=zug", "spectre_bhi=zog",
    "mitigations=auto,no_such_vector", "nosuchoption=1",
}  # fmt: skip
# 6.12 says nothing of these two: it has no setcpuid, and this processor no choice of the other.
SAID_BY_72 = {"spectre_v2_user=baz", "setcpuid=ibpb,nosuchflag"}


def log_of(name: str) -> tuple[str, list[str]]:
    """The command line, and the texts of the log's records as /dev/kmsg has them."""
    texts = [
        re.sub(r"^\[ *[\d.]+\] ", "", line)
        for line in (LOGS / f"{name}.log").read_text().splitlines()
    ]
    cmdline = next(text for text in texts if text.startswith("Command line: "))
    return cmdline.removeprefix("Command line: "), texts


def rejected_of(name: str) -> set[str]:
    cmdline, texts = log_of(name)
    lines = kernel_log.rejecting(texts)
    return {each.word for each in rejected_options(lines, cmdline.split(), cmdline)}


def test_what_a_kernel_did_not_understand_is_told() -> None:
    assert rejected_of("rejected-6.12") == BAD
    assert rejected_of("rejected-7.2") == BAD | SAID_BY_72


def test_what_it_took_is_not_though_its_list_of_unknown_ones_has_it() -> None:
    _, texts = log_of("taken-6.12")
    unknown = next(text for text in texts if UNKNOWN in text)
    assert "spectre_v2=retpoline" in unknown
    for name in ("taken-6.12", "taken-7.2"):
        # There is no `its=` either; a kernel that lacks what is switched off does what was asked.
        assert rejected_of(name) == {"swapgs=1"}


@pytest.mark.parametrize(
    ("line", "option", "cmdline", "expected"),
    [
        ("ITS: Mitigation disabled at compile time, ignoring option (stuff)",
         "indirect_target_selection=stuff", "indirect_target_selection=stuff quiet", True),
        # Another option has that value too: nobody can tell which it is about.
        ("ITS: Mitigation disabled at compile time, ignoring option (stuff)",
         "indirect_target_selection=stuff", "indirect_target_selection=stuff x=stuff", False),
        # What a kernel lacks is off.
        ("ITS: Mitigation disabled at compile time, ignoring option (off)",
         "indirect_target_selection=off", "indirect_target_selection=off quiet", False),
        ("Kernel compiled without mitigations, ignoring 'mitigations'; system may still be",
         "mitigations=off", "mitigations=off", False),
        (f'{UNKNOWN} "reg_file_data_sampling=off", will be passed to user space.',
         "reg_file_data_sampling=off", "mds=full reg_file_data_sampling=off", False),
        (f'{UNKNOWN} "nospectre_v1", will be passed to user space.', "nospectre_v1",
         "nospectre_v1", False),
        ("VMSCAPE: Ignoring unknown vmscape=off option.", "vmscape=off", "vmscape=off", True),
        # Of a program and of a driver.
        ("systemd-modules-load[200]: ignoring unknown option (force)",
         "gather_data_sampling=force", "gather_data_sampling=force", False),
        ("overlay: invalid option (user)", "tsa=user", "tsa=user", False),
        # Of 5.14, by its source.
        ("Unknown command line parameters: a=1 vmscape=on", "vmscape=on", "vmscape=on", True),
        # The host's own word is malformed, or the mode's: nobody can tell.
        ("Malformed early option 'vmscape'", "vmscape=ibpb", "vmscape vmscape=ibpb", False),
        ("Spectre V2 : RETPOLINE selected but not compiled in. Switching to AUTO select",
         "spectre_v2=retpoline", "spectre_v2=retpoline", True),
        ("Spectre V2 : IBRS selected but not compiled in. Switching to AUTO select",
         "spectre_v2=retpoline", "spectre_v2=retpoline", False),
        ("Kernel compiled without mitigations, ignoring 'mitigations'; system may still be",
         "mitigations=auto", "mitigations=auto", True),
        ("Malformed early option 'spectre-bhi'", "spectre_bhi=on", "spectre_bhi=on", True),
        (f'{UNKNOWN} "a=1 vmscape=o', "vmscape=on", "vmscape=on", False),
        (f'{UNKNOWN} "a=1 vmscape=on b', "vmscape=on", "vmscape=on", True),
        ("RETBleed: Ignoring unknown retbleed option (foo).", "spectre_v2=foo",
         "retbleed=foo spectre_v2=foo", False),
    ],
)  # fmt: skip
def test_a_line_is_held_against_the_option_that_it_names(
    line: str, option: str, cmdline: str, *, expected: bool
) -> None:
    assert kernel_log.rejecting([line]) == [line]
    assert bool(rejected_options([line], [option], cmdline)) is expected


def test_a_flood_of_lines_is_cut_off() -> None:
    lines = ("Ignoring unknown x option (" + "y" * 5000 + ").\n" for _ in range(10**6))
    kept = kernel_log.rejecting(lines)
    assert len(kept) == kernel_log.MOST_REJECTING
    assert max(map(len, kept)) == kernel_log.LONGEST_LINE
