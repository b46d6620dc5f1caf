"""Archives and captures that a hostile host could leave, made quickly."""

from __future__ import annotations

import io
import json
import random
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Case

STATE = {"state": "finished", "finished_cases": [{"case_id": "1", "exit_code": 0}]}
HOST = {
    "state": "ok", "detail": "", "hz": 499, "perf": "6.1", "event": "cycles", "lost": 0,
    "seconds": 1.5, "counters": {}, "capture": "perf.script.zst",
}  # fmt: skip


def spin_case(**changes: Any) -> Case:
    """A case of the test catalogue."""
    metric = CaseMetric("ns", "lower", "Time", primary=True)
    fields: dict[str, Any] = {
        "id": 1, "workload": "spin", "title": "spin 1", "parameters": {"size": 1},
        "iterations": 3, "warmup": 1, "timeout_s": 30, "profile_hz": 499,
        "profile_guest": False, "metrics": {"time": metric},
    }  # fmt: skip
    return Case(**fields | changes)


def tar_of(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """Those members as an uncompressed tar, whatever they are called."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, content: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    """A member and its content; *fields* of TarInfo."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = len(content), 1_700_000_000, 0o644
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def job_files(files: Mapping[str, bytes], *, state: Any = None) -> list[Any]:
    """Members of a finished job called ``j``: its state and *files*, named below it."""
    said = json.dumps(STATE if state is None else state).encode()
    return [
        member("j/state.json", said),
        *(member(f"j/{name}", content) for name, content in files.items()),
    ]


def gzipped(content: bytes, level: int = 6) -> bytes:
    """As Python's tarfile packs: one gzip member."""
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(content) + packer.flush()


def many_members(path: Path, count: int, *, level: int = 1) -> None:
    """An archive of *count* empty files in one case's directory, 512 bytes each unpacked."""
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    template = np.frombuffer(tarfile.TarInfo("j/1/0000000").tobuf(tarfile.USTAR_FORMAT), np.uint8)
    with path.open("wb") as file:
        file.write(packer.compress(tar_of(job_files({})).rstrip(b"\0").ljust(1024, b"\0")))
        for begun in range(0, count, 20_000):
            file.write(packer.compress(_numbered(template, begun, min(count, begun + 20_000))))
        file.write(packer.compress(bytes(1024)) + packer.flush())


def _numbered(template: np.typing.NDArray[np.uint8], begun: int, ended: int) -> bytes:
    """Headers of files called by their numbers, with the checksums that tar wants."""
    numbers = np.arange(begun, ended)
    rows = np.tile(template, (len(numbers), 1))
    rows[:, 4:11] = 48 + numbers[:, None] // 10 ** np.arange(6, -1, -1) % 10
    rows[:, 148:156] = 32
    sums = rows.sum(axis=1, dtype=np.int64)
    rows[:, 148:154] = 48 + (sums[:, None] >> np.arange(15, -1, -3)) % 8
    rows[:, 154] = 0
    return rows.tobytes()


def hostile_profile(directory: Path, packed_bytes: int) -> None:
    """A capture of that size whose stacks are all different, sixty callers deep."""
    rng = random.Random(1)
    directory.mkdir(parents=True, exist_ok=True)
    callers = "".join(f"\t{rng.getrandbits(48):x} caller_{k} (/usr/lib/x)\n" for k in range(60))
    number = 0
    packer = zstandard.ZstdCompressor(level=1)
    with (
        (directory / "perf.script.zst").open("wb") as file,
        packer.stream_writer(file, closefd=False) as writer,
    ):
        while file.tell() < packed_bytes:
            samples = (_sample(rng, number + i, callers) for i in range(500))
            writer.write("".join(samples).encode())
            number += 500
    (directory / "profile.json").write_text(json.dumps(HOST))


def _sample(rng: random.Random, number: int, callers: str) -> str:
    return (
        f"perf {number} [000] 1.5: 7 cycles:\n"
        f"\t{rng.getrandbits(48):x} leaf_{number} (x)\n"
        f"\t{rng.getrandbits(44):x} middle_{rng.getrandbits(30)} (x)\n{callers}\n"
    )
