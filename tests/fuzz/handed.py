"""What people hand us: mails, diffs, perf's and folded text, CSV, grub.cfg, iperf3's JSON.

Real fixtures, changed, through what reads them, in this process, so that there are many. What is
taken says the same when it is written and read again; a diff is one to `git apply` as well.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mitigauge.analysis.profiles.capture.folded_text import read_folded, write_folded
from mitigauge.analysis.profiles.store.import_file import read_profile
from mitigauge.analysis.verdicts.boots_comparison import compare
from mitigauge.analysis.verdicts.boots_csv import BootsFile, CaseBoots
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.kernels.diff import diff_in
from mitigauge.kernels.mails import mailbox
from mitigauge.kernels.mails.heads import NoMail
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.mime import values_of
from mitigauge.kernels.mails.reader import _mail
from mitigauge.kernels.mails.unpack import NotUnpacked, unpacked
from mitigauge.tracking.series.mail_thread import revisions
from tests.fuzz.mutations import as_json, odd_bytes, odd_json
from tests.loading import load

SHARE = 10.0
FIXTURES = REPOSITORY / "tests" / "fixtures"
grub = load("ansible/roles/boot_mode/library/boot_entry.py")
iperf = load("workloads/iperf/parse.py")
BOM = b"\xef\xbb\xbf"
# Asked of git: a process each.
PEER = 0.005


def _seeds(*ends: str) -> list[bytes]:
    found = [file for file in sorted(FIXTURES.rglob("*")) if file.name.endswith(ends)]
    return [file.read_bytes() for file in found if file.stat().st_size < 100_000]


MAILS = _seeds(".mbox", ".eml", ".patch", ".mbox.gz")
PERF, FOLDED, CSV = _seeds(".perf.txt"), _seeds(".folded"), _seeds(".csv")
GRUB = _seeds(".grub.cfg", "saved.cfg")
TESTS = sorted(path.parent for path in REPOSITORY.glob("workloads/iperf/fixtures/*/case.json"))
LINES = [
    b"", b" ", b"\r", b"\xef\xbb\xbf", b"#", b"# x 7", b"sep=;", b"Total;;5", b",,,", b"a;b 1",
    b"From a@b Tue Nov  3 09:01:00 2026", b"From x 2026", b"Subject: [PATCH v2.1 1/2] x",
    b"Subject: [PATCH 5.10/5.15] x", b"Content-Type: text/plain; format=flowed; delsp=yes",
    b"diff --git a/x b/x", b"diff --git tools/a tools/a", b'--- "a/\\303"', b"+++ lib/x",
    b"rename from a b", b"@@ -1 +1 @@", b"bench -1 [-1] 1.5: -1 x:", b"a 1 1.5: 7 s:t: x=1",
    b"\tffff f (x)", b"\tf (x)", b'menuentry "', b"submenu 'x' {", b"}", b"linux /vmlinuz-1 -- '",
]  # fmt: skip


def once(rng: random.Random, scratch: Path) -> str:
    """One file of one kind."""
    return rng.choice(KINDS)(rng, scratch)


def _changed(rng: random.Random, seeds: list[bytes]) -> bytes:
    content = rng.choice(seeds)
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        lines = content.split(b"\n")
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                content = odd_bytes(rng, content)
                continue
            case 1:
                lines[at : at + rng.choice([1, 1, 5])] = []
            case 2:
                lines[at:at] = [lines[at][:999]] * rng.choice([1, 3, 50])
            case 3:
                lines[at] = rng.choice(LINES)
            case 4:
                lines[at] = odd_bytes(rng, lines[at])
            case _:
                lines.insert(at, rng.choice(LINES))
        content = rng.choice([b"\n", b"\n", b"\r\n"]).join(lines)
    return content


def _mails(rng: random.Random, _scratch: Path) -> str:
    try:
        content = unpacked(_changed(rng, MAILS), 1 << 20)
    except NotUnpacked:
        return "refused"
    raws = list(mailbox.split(content))
    # Splitting what was split finds no more.
    assert all(len(list(mailbox.split(raw))) <= len(raws) + 1 for raw in raws)
    found = [_read(raw) for raw in raws]
    with suppress(InvalidInput):
        for revision in revisions(found):
            assert revision.patches or revision.faults
            assert revision.first in found
            assert (revision.letter, revision.digest, revision.change_id) is not None
    words = [_diff(rng, text) for mail in found for text in (mail.body, *mail.attached)]
    return "taken" if "taken" in words else "refused"


def _read(raw: bytes) -> Mail:
    line = mailbox.line_of_another(raw)
    assert line >= 0
    try:
        return _mail(values_of(raw), raw)
    except NoMail as error:
        return Mail(raw=raw, fault=str(error))


def _diff(rng: random.Random, text: str) -> str:
    try:
        found = diff_in(text)
    except InvalidInput:
        return "refused"
    if not found.text:
        return "refused"
    again = diff_in(found.text)
    assert (again.text, again.paths) == (found.text, found.paths)
    if rng.random() < PEER:
        # With no file there git still reads all of it, before it looks for what is changed.
        done = subprocess.run(
            ["git", "apply", "--numstat", "-p1"], input=found.text.encode(errors="replace"),
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (done.stderr, found.text)
    return "taken"


def _perf(rng: random.Random, _scratch: Path) -> str:
    content, event = _changed(rng, PERF), rng.choice(["", "", "cycles"])
    stacks, _ = read_profile(io.BytesIO(content), name="file", digest="0" * 64, event=event)
    assert all(count > 0 for count in stacks.values())
    # A mark and ends of lines as editors write them change nothing.
    if not content.startswith(BOM):
        other = io.BytesIO(BOM + content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        assert read_profile(other, name="file", digest="0" * 64, event=event)[0] == stacks
    return "taken"


def _folded(rng: random.Random, _scratch: Path) -> str:
    stacks, _ = read_profile(io.BytesIO(_changed(rng, FOLDED)), name="file", digest="0" * 64)
    out = io.BytesIO()
    write_folded(stacks, out)
    if not any(stack.startswith(b"#") for stack in stacks):
        assert read_folded([out.getvalue()], name="again") == stacks
    return "taken"


def _csv(rng: random.Random, _scratch: Path) -> str:
    try:
        text = _changed(rng, CSV).decode("utf-8-sig")
    except UnicodeDecodeError:
        return "refused"
    measured = BootsFile(io.StringIO(text, newline=""), name="x.csv").measured()
    assert _as_csv(measured) == measured
    if rng.random() < 0.05:
        baseline = next(iter(measured[0].boots))
        for answer in compare(measured, baseline=baseline):
            few = answer.blocks_used < 2
            assert not (few and answer.verdict != "undecided")
    return "taken"


def _as_csv(measured: list[CaseBoots]) -> list[CaseBoots]:
    """The same, as it is read of a plain file."""
    out = io.StringIO()
    fields = ("case", "metric", "unit", "direction", "arm", "block", "boot", "value")
    rows = [
        (m.case, m.metric, m.unit, m.direction, arm, block, "1", repr(value))
        for m in measured
        for arm, of_arm in m.boots.items()
        for block, values in of_arm.items()
        for value in values
    ]
    for row in (fields, *rows):
        out.write(",".join('"' + str(each).replace('"', '""') + '"' for each in row) + "\n")
    return BootsFile(io.StringIO(out.getvalue(), newline=""), name="again").measured()


def _grub(rng: random.Random, _scratch: Path) -> str:
    text = _changed(rng, GRUB).decode(errors="replace")
    entries = grub.menu(text)
    saved = rng.choice(["", "1>1", "gnulinux-simple-77aa", "xen-gnulinux-simple-77aa", "0"])
    try:
        entry = grub.default_entry(entries, text, saved)
        options = grub.arm_options(entry.options, ["mitigations=off"], "n", watchdog=True)
        [again] = grub.menu(grub.arm_entry(entry, options))
    except grub.Refused:
        return "refused"
    assert list(again.options) == options
    before = options[: options.index("--")] if "--" in options else options
    assert {"mitigations=off", "mitigauge.nonce=n"} <= set(before)
    assert (again.path, again.release) == (entry.path, entry.release)
    return "taken"


def _iperf(rng: random.Random, scratch: Path) -> str:
    directory = shutil.copytree(rng.choice(TESTS), scratch / "case")
    path = directory / "iteration-01.json"
    content = path.read_bytes()
    if rng.random() < 0.7:
        path.write_bytes(as_json(rng, odd_json(rng, json.loads(content), rng.choice([1, 2, 5]))))
    else:
        path.write_bytes(odd_bytes(rng, content))
    try:
        metrics = iperf.parse(directory)["metrics"]
    except iperf.ParseError:
        return "refused"
    assert all(0 <= value < 1e300 for m in metrics.values() for value in m["values"])
    assert all(value <= iperf.MOST_LOST for value in metrics.get("loss", {"values": []})["values"])
    return "taken"


KINDS: list[Callable[[random.Random, Path], str]] = [_mails, _perf, _folded, _csv, _grub, _iperf]
