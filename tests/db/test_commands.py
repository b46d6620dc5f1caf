"""Every command of `--help`, each as a process of its own: nothing is imported but by itself.

A test that calls a command within its own process has imported what the command forgot.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from sqlalchemy import Engine

from cli.main import build
from mitigauge.core.settings import REPOSITORY
from tests.commands import CASES, Command

SPEC = REPOSITORY / "experiments" / "lab-demo.yml"
DEMO = REPOSITORY / "db" / "recorded" / "lab-demo.mitigauge.zst"
FOLDED = CASES / "01-profile-import.folded"
PATCHES = CASES / "18-patchwork-subjects"
SERIES = CASES / "10-stable-subject"
BOOTS = "arm,block,value\n" + "".join(
    f"{arm},{block},{value + block / 10}\n"
    for block in range(4)
    for arm, value in (("off", 100), ("loop", 120))
)
LETTER = (
    "From: A <a@b.c>\nSubject: [PATCH v2 0/1] x86: Fast\n\n  case  new\n  off   1 %\n  loop  2 %\n"
)

# Words and exit code. Only what needs hosts, a compiler or hours is refused instead of done.
COMMANDS = [
    ("audit export -o {dir}/audit.jsonl", 0),
    ("audit list", 0),
    ("bisect cancel 99", 1),
    ("bisect list", 0),
    ("bisect report 99", 1),
    ("bisect show 99", 1),
    ("bisect start", 1),
    ("bisect wait 99", 1),
    ("claims import", 0),
    ("claims show 1", 0),
    ("compare {dir}/boots.csv --baseline off", 0),
    ("db backup {dir}/kept", 0),
    ("db check", 0),
    ("db prune", 0),
    ("db prune --dry-run", 0),
    ("db restore {dir}/nothing", 1),
    ("db status", 0),
    ("cost --seconds 1 --price-seconds 0", 0),
    ("db upgrade", 0),
    ("demo --recorded --once", 0),
    ("experiment cancel 1", 1),
    ("experiment compare 1 1", 1),
    ("experiment table 1 counters", 0),
    ("experiment table 1 details", 0),
    ("experiment export 1 -o {dir}/again.zst", 0),
    (f"experiment import {DEMO}", 0),
    ("experiment iterations 1", 0),
    ("experiment judge 1", 0),
    ("experiment limits 1", 4),
    ("experiment limits 1 --file {dir}/nothing.yml", 1),
    ("experiment list", 0),
    ("experiment list --find lab --state finished --sort name --limit 1", 0),
    ("experiment list --since yesterday", 1),
    ("experiment list --state done", 1),
    ("experiment table 1 loss", 0),
    ("experiment report 1", 0),
    ("experiment show 1", 0),
    ("experiment show lab-demo", 0),
    ("experiment show nobody", 1),
    ("experiment qualify experiments/lab-small.yml --host lab-arm", 1),
    ("experiment submit --check experiments/lab-demo.yml", 0),
    (
        "experiment new --from vmscape-v8-iperf --environment lab --host lab-guests -o {dir}/a.yml",
        0,
    ),
    ("experiment new --from lab-demo --environment lab --host nobody -o {dir}/b.yml", 1),
    ("experiment new --from nothing --environment lab --host lab-amd -o {dir}/c.yml", 1),
    ("experiment new --from lab-demo --environment lab --host lab-amd -o {dir}/boots.csv", 1),
    ("experiment table 1 matrix", 0),
    ("experiment published 1", 0),
    ("experiment published 9999", 1),
    ("experiment table 1 revision-line", 0),
    ("experiment undecided 1", 0),
    ("experiment wait 1", 0),
    ("experiment wait 1 --by-limits", 4),
    ("host add lab-intel --environment lab --address 127.0.0.1 --no-look", 1),
    ("host check nobody", 1),
    ("host list", 0),
    ("host queue", 0),
    ("host release nobody", 1),
    ("host reserve nobody --until 8h --reason mine", 1),
    ("host restore nobody", 1),
    ("host resume nobody", 1),
    ("host set-aside nobody --reason broken", 1),
    ("host show nobody", 1),
    ("job cancel 99", 1),
    ("job list", 0),
    ("job show 99", 1),
    ("job wait 99", 1),
    ("kernel build --check {patches}", 0),
    ("kernel import {dir}/boots.csv", 1),
    ("kernel list", 0),
    ("kernel profiles", 0),
    ("kernel remove nobody", 1),
    ("kernel show nobody", 1),
    ("lab console nobody", 1),
    ("lab down", 0),
    ("lab status", 0),
    ("lab up nobody", 1),
    ("openapi", 0),
    ("price estimate 1 1", 1),
    ("price list", 0),
    ("price measure", 1),
    ("price measure --here --machine ../x", 1),
    ("price measure --here -o {dir}/nothing", 1),
    ("price predict", 0),
    ("price predict nothing", 1),
    ("price rates 1 --claims vmscape-v8-iperf", 1),
    ("price rank", 0),
    ("price rank nothing", 1),
    ("matrix select nobody", 1),
    ("snippet rank nothing.s nothing.s", 1),
    ("profile diff before after --tree web", 0),
    ("profile exact off loop --experiment 1 --case nobody", 1),
    ("profile exact off loop --experiment 1 --case 1", 0),
    ("profile export before --tree web", 0),
    (f"profile fold {CASES / '02-one-letter-comm.perf.txt'}", 0),
    ("profile functions nobody --experiment 1", 1),
    (f"profile import {FOLDED} --tree web --group more", 0),
    (f"profile show {FOLDED} --total --search main", 0),
    ("profile show {dir}/nothing", 1),
    ("profile show {dir}/boots.csv", 1),
    ("profile instructions off loop --experiment 1 --case nobody", 1),
    ("report check {dir}/letter", 1),
    ("report reply 1", 1),
    ("report weekly --list", 0),
    ("series add {patches}", 0),
    ("series approve 1 v1 0000", 1),
    ("series ignore 99", 1),
    ("series list", 0),
    ("series requests", 0),
    ("series retest 1 --with {dir}/boots.csv", 1),
    ("series set 1 --spec vmscape", 0),
    ("series show 1", 0),
    ("series start 1", 1),
    ("series start 1 --all-cases", 1),
    ("series studies 1", 0),
    ("series study 1 patch-cost", 1),
    ("series watch", 1),
    ("token create ci --role runner", 0),
    ("token list", 0),
    ("token revoke known", 0),
    ("regression confirm 99", 1),
    ("regression error-rates", 0),
    ("regression file 99 --host x --case 1 --arm a --metric m", 1),
    ("regression list", 0),
    ("regression list --state open --owner alice --find x", 0),
    ("regression list --state nothing", 1),
    ("regression set 99 --owner alice", 1),
    ("regression show 99", 1),
    ("subscription add week --mail a@example.org", 0),
    ("subscription add week --mail a@example.org --webhook https://example.org/", 1),
    ("subscription add week --webhook http://127.0.0.1/", 1),
    ("subscription add nothing --mail a@example.org", 1),
    ("subscription list", 0),
    ("subscription list --everybody --json", 0),
    ("subscription pause 99", 1),
    ("subscription remove 99", 1),
    ("subscription resume 99", 1),
    ("trends accept 99 known", 1),
    ("trends annotate 99 known", 1),
    ("trends list", 0),
    ("trends show 99", 1),
    ("trends update", 0),
    ("try {dir}/nothing.patch", 1),
    ("worker list", 0),
    ("find intel", 0),
    ("find nothing at all", 0),
    ("health", 0),
    ("health --json", 0),
    ("health --worker", 1),
]
# Those that go on until they are stopped.
LASTING = {"serve": ("serve", "--port", "0"), "worker": ("worker",)}


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, module_engine: tuple[Engine, str]) -> Command:
    """One database for all: with an experiment, two groups of profiles, a series, a token."""
    home = tmp_path_factory.mktemp("commands")
    (home / "boots.csv").write_text(BOOTS)
    (home / "letter").write_text(LETTER)
    command = Command(home, module_engine[1], bare=True)
    command.run("experiment", "import", DEMO)
    for group in ("before", "after"):
        command.run("profile", "import", FOLDED, "--tree", "web", "--group", group)
    command.run("series", "add", SERIES)
    command.run("token", "create", "known", "--role", "viewer")
    return command


@pytest.mark.parametrize(("words", "code"), COMMANDS)
def test_a_command_is_complete_as_a_process(command: Command, words: str, code: int) -> None:
    given = words.format(dir=command.home, patches=PATCHES).split()
    done = command.run(*given, code=code)
    assert "Traceback" not in done.stderr, done.stderr
    # Who is refused is told why, in words.
    assert code == 0 or done.stdout + done.stderr


def test_a_check_tells_how_long_it_takes_and_which_kernel_is_not_there(command: Command) -> None:
    done = command.run("experiment", "submit", "--check", str(SPEC))
    said = " ".join(done.stdout.split())
    # The demo's experiment was imported: this host made no boot of its own for it yet.
    assert "lab-intel: at least" in said
    assert "if all blocks are made, and boots: none was made on it yet" in said
    gone = command.home / "gone.yml"
    text = SPEC.read_text()
    assert "mode: spectre-bhi/loop" in text
    gone.write_text(
        text.replace("mode: spectre-bhi/loop", "mode: spectre-bhi/loop, kernel: built/v9")
    )
    done = command.run("experiment", "submit", "--check", str(gone), code=1)
    assert "built/v9" in done.stderr or "'v9'" in done.stderr
    assert "nothing is wrong" not in done.stdout


@pytest.mark.parametrize("name", LASTING)
def test_what_lasts_begins_and_ends_when_it_is_told(command: Command, name: str) -> None:
    with command.begun(*LASTING[name]) as process:
        assert process.stdout
        process.stdout.readline()
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[0]
    assert "Traceback" not in said
    assert process.returncode in (0, -signal.SIGTERM, 143), said


def test_no_command_is_left_out() -> None:
    tried = {words for words, _ in COMMANDS}
    left_out = {
        name
        for name in _names(typer.main.get_command(build()), ())
        if name not in LASTING and not any(f"{words} ".startswith(f"{name} ") for words in tried)
    }
    assert not left_out


def _names(command: Any, above: tuple[str, ...]) -> Iterator[str]:
    """The whole name of each command, `profile import`."""
    if not hasattr(command, "commands"):
        yield " ".join(above)
        return
    for name in command.commands:
        yield from _names(command.get_command(None, name), (*above, name))
