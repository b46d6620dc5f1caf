"""Archives of jobs, as a hostile host could send them, through what takes them in."""

from __future__ import annotations

import json
import random
import tarfile
from pathlib import Path
from typing import Any

from pipelines.steps.measure import collect
from tests.fuzz.builders import STATE, gzipped, job_files, member, spin_case, tar_of
from tests.fuzz.mutations import as_json, odd_bytes, odd_json
from tests.specs import CATALOG

SHARE = 2.0

NAMES = [
    "j/1/x", "j/1/profile/profile.json", "j/1/profile/perf.script.gz", "j/1/case.json", "j/1",
    "j/2/x", "j", "", "/", "..", "../x", "/x", "j/../x", "j//x", "j/1/\x1b", "j/1/\udcff", "j/1/ü",
    "j/state.json", "state.json", "k/1/x", "j/1/stderr.txt", "j/1/run.json/x", "j/1/x/y",
]  # fmt: skip
KINDS = [
    tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE,
    tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.CONTTYPE, b"Z",
]  # fmt: skip
RECORDS = [
    "path=j/1/long", "path=../x", "path=", "size=5", "size=-512", "size=99999999999", "mtime=nan",
    "mtime=1e300", "mtime=-5.5", "uid=x", "GNU.sparse.size=9", "GNU.sparse.major=1",
    "GNU.sparse.map=0,1,2", "GNU.sparse.realsize=x", "hdrcharset=BINARY", "linkpath=/etc/passwd",
    "comment=" + "x" * 9000, "=", "path=j/1/\0x",
]  # fmt: skip


def once(rng: random.Random, scratch: Path) -> str:
    """One archive; `taken` if its case got as far as a result or its own failure."""
    archive = scratch / "job.tar.gz"
    archive.write_bytes(_archive(rng))
    case = spin_case(profile_hz=rng.choice([None, None, 499]), profile_guest=rng.random() < 0.3)
    [output] = collect(archive, [case], CATALOG)
    assert output.error.isprintable() or "\n" in output.error
    return "taken" if output.state in ("measured", "failed") else output.state


def _archive(rng: random.Random) -> bytes:
    # Few cases end well: each of them is a parser's process.
    code = 0 if rng.random() < 0.02 else rng.choice([1, 3, 75])
    state: Any = {**STATE, "finished_cases": [{"case_id": "1", "exit_code": code}]}
    if rng.random() < 0.2:
        state = odd_json(rng, state, rng.choice([1, 3]))
    members = job_files({"1/run.json": b"{}", "1/stderr.txt": b"\x1b[2J no luck"})
    said = as_json(rng, state) if rng.random() < 0.3 else json.dumps(state).encode()
    members[0] = member("j/state.json", said)
    content = tar_of([*members, *_odd_members(rng)] if rng.random() < 0.6 else members)
    if rng.random() < 0.25:
        content = _with_header(rng, content)
    if rng.random() < 0.2:
        content = odd_bytes(rng, content)
    if rng.random() < 0.01:
        content += bytes(rng.choice([1 << 10, 1 << 10, 1 << 10, 40 << 20]))
    packed = gzipped(content, 1)
    if rng.random() < 0.15:
        packed = odd_bytes(rng, packed)
    return packed + (rng.randbytes(20) if rng.random() < 0.05 else b"")


def _odd_members(rng: random.Random) -> list[Any]:
    return [
        member(
            rng.choice(NAMES) + rng.choice(["", "", "/", "x" * 300, "/d" * 20]),
            rng.choice([b"", b"{}", rng.randbytes(600)]),
            type=rng.choice(KINDS) if rng.random() < 0.4 else tarfile.REGTYPE,
            linkname=rng.choice(["", "/etc", "x"]),
            mtime=rng.choice([0, 1_700_000_000, 8**11 - 1]),
            mode=rng.choice([0o644, 0o7777, 0]),
        )
        for _ in range(rng.choice([1, 2, 5, 40]))
    ]


def _with_header(rng: random.Random, content: bytes) -> bytes:
    """*content* with extended headers before one of its members."""
    kind = rng.choice([tarfile.XHDTYPE, tarfile.XGLTYPE, b"L", b"K", b"S", b"X"])
    record = f" {rng.choice(RECORDS)}\n"
    text = f"{len(record) + len(str(len(record) + 2))}{record}".encode()
    info = tarfile.TarInfo("././@header")
    info.type, info.size = kind, rng.choice([len(text), len(text), 0, 1 << 30])
    block = info.tobuf(tarfile.USTAR_FORMAT) + text + bytes(-len(text) % 512)
    place = 512 * rng.randrange(len(content) // 512)
    return content[:place] + block * rng.choice([1, 1, 4, 2000]) + content[place:]
